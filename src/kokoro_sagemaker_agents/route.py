"""A session's way to its server: one connection after the other, as if there were only one.

*Outage*: a connection that is lost is replaced, with pauses that grow (`backoff.py`), for up to
`reconnect_s`. Utterances wait meanwhile, take text, and then ask again for what was not answered.

*Rotation*: a connection that must end soon, because of its age or because its server is draining,
gets a successor first; what it was asked for is still spoken on it.

A session without utterances loses nothing by an outage that is too long: the next utterance begins
a new attempt.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakValueDictionary

from .backoff import Backoff
from .connection import Connection
from .errors import (
    ConnectionFailed,
    ConnectionLost,
    DeadlineExceeded,
    KokoroAgentsError,
    LocalProtocolError,
    OverloadedError,
    SessionClosed,
)
from .multiplexer import OnConnection
from .transports.base import Transport

_log = logging.getLogger(__name__)

# Another connection may do better. What is not here will fail there as well.
_PASSING: Final = (ConnectionFailed, ConnectionLost, DeadlineExceeded, OverloadedError)
# A connection that has worked for so long was no part of the outage before it.
_PROVEN_S: Final = 10.0
# Sessions that were opened together are not to be replaced together: up to so much of the age is
# left, beside what synthesis of the longest chunk takes.
_ROTATION_SPREAD: Final = 0.1
_ROTATION_AT: Final = 0.9
_WARNINGS_KEPT: Final = 32


class Route:
    """See the module's text.

    Args:
        make_transport: Gives a new transport, not opened yet.
        configure: The session's options, as the arguments of `ClientProtocol.configure`.
        connect_timeout_s: For each attempt to connect.
        keepalive_s: See `Connection`.
        reconnect_s: How long after a loss a new connection is tried; 0 for never.
    """

    def __init__(
        self,
        make_transport: Callable[[], Transport],
        configure: dict[str, Any],
        *,
        connect_timeout_s: float,
        keepalive_s: float,
        reconnect_s: float,
    ) -> None:
        self._make_transport = make_transport
        self._configure = configure
        self._connect_timeout_s = connect_timeout_s
        self._keepalive_s = keepalive_s
        self._reconnect_s = reconnect_s
        self._current: Connection | None = None
        self._retired: set[Connection] = set()
        self._stranded: WeakValueDictionary[str, OnConnection] = WeakValueDictionary()
        self._backoff = Backoff(reconnect_s)
        self._renewal: asyncio.Task[None] | None = None
        self._rotation: asyncio.TimerHandle | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._error: KokoroAgentsError | None = None
        self._opening: Connection | None = None
        self.warnings: deque[str] = deque(maxlen=_WARNINGS_KEPT)
        """What the server had to say that concerns no single utterance."""
        self.connections = 0
        """How many have been opened."""

    # --- its life ---

    async def open(self) -> None:
        """Connect for the first time; raises what `Connection.open` does.

        A server that says it is too busy is asked again within `connect_timeout_s`.
        """
        clock = asyncio.get_running_loop().time
        backoff = Backoff(self._connect_timeout_s)
        backoff.pause_s(clock())
        while True:
            if self._error is not None:  # closed meanwhile
                raise self._error
            try:
                connection = await self._connect()
                break
            except OverloadedError:
                pause_s = backoff.pause_s(clock())
                if pause_s is None:
                    raise
                await asyncio.sleep(pause_s)
        if self._error is not None:
            await connection.close()
            raise self._error
        self._use(connection)

    async def close(self) -> None:
        """End every connection: utterances that are not done are told. Idempotent."""
        self._give_up(SessionClosed("the session was closed; open a new one"))
        if self._rotation is not None:
            self._rotation.cancel()
        if self._opening is not None:
            await self._opening.close()
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.wait([self._renewal])
        connections = [*self._retired, *([self._current] if self._current else [])]
        await asyncio.gather(*(connection.close() for connection in connections))
        if self._closing:
            await asyncio.wait(list(self._closing))

    @property
    def error(self) -> KokoroAgentsError | None:
        """Why nothing can be spoken any more; None while it may be, if only after an outage."""
        return self._error

    @property
    def current(self) -> Connection:
        """The connection for what comes next; in an outage, the one that was lost."""
        if self._current is None:
            raise LocalProtocolError(
                "the session is not open: use `async with`, or `await session.open()` first"
            )
        return self._current

    @property
    def load(self) -> int:
        """How many utterances are not done."""
        used = {*self._retired, *([self._current] if self._current else [])}
        return len(self._stranded) + sum(len(c.utterances.utterances) for c in used)

    @property
    def up(self) -> bool:
        """Whether what is asked for now is sent at once."""
        return self._current is not None and self._current.error is None

    def attach(self, utterance: OnConnection) -> None:
        """Let an utterance take part; in an outage it waits for the next connection."""
        if self.up:
            self.current.utterances.attach(utterance)
        else:
            self._stranded[utterance.id] = utterance
            self._renew()

    def rotate(self) -> None:
        """Go on with a new connection, as soon as it is open; see the module's text."""
        if self._error is None:
            self._backoff = Backoff(self._reconnect_s or self._connect_timeout_s)
            self._renew()

    # --- what happens to its connections (`connection.Owner`) ---

    def lost(self, connection: Connection, error: KokoroAgentsError) -> None:
        """A connection has ended by itself."""
        if connection is not self._current and connection not in self._retired:
            return  # it was never used: `open` raises why
        stranded = connection.utterances.stop()
        self._retired.discard(connection)
        if self._error is not None:
            return
        if not self._reconnect_s or not isinstance(error, _PASSING):
            self._give_up(error, stranded)
            return
        _log.warning("connection lost (%s), opening another one", type(error).__name__)
        for utterance in stranded:
            if utterance.interrupted(error):
                self.go_on(utterance)
        if connection is self._current:
            proven_s = asyncio.get_running_loop().time() - connection.opened_at_s
            if connection.utterances.progressed or proven_s > _PROVEN_S:
                self._backoff = Backoff(self._reconnect_s)
            self._renew(error)

    def draining(self, connection: Connection) -> None:
        """A connection will end soon."""
        if connection is self._current:
            self.rotate()

    def warned(self, message: str) -> None:
        """The server had something to say that concerns no single utterance."""
        self.warnings.append(message)
        _log.warning("the server has a warning; see SpeechSession.warnings")

    # --- one connection after the other ---

    async def _connect(self) -> Connection:
        connection = Connection(
            self._make_transport(),
            self,
            connect_timeout_s=self._connect_timeout_s,
            keepalive_s=self._keepalive_s,
        )
        self._opening = connection
        try:
            await connection.open(self._configure)
        finally:
            self._opening = None
        return connection

    def _renew(self, reason: KokoroAgentsError | None = None) -> None:
        """See to it that a new connection is being opened."""
        if self._renewal is None:
            self._renewal = asyncio.create_task(self._reopen(reason), name="kokoro-reconnect")
            self._renewal.add_done_callback(self._renewed)

    def _renewed(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            _log.error("reconnecting failed by a mistake here", exc_info=task.exception())
            self._give_up(ConnectionLost("the session failed inside this library"))

    async def _reopen(self, reason: KokoroAgentsError | None) -> None:
        clock = asyncio.get_running_loop().time
        while (pause_s := self._backoff.pause_s(clock())) is not None:
            await asyncio.sleep(pause_s)
            try:
                connection = await self._connect()
            except _PASSING as error:
                reason = error
                if not getattr(error, "retryable", True):
                    break
            except KokoroAgentsError as error:
                self._renewal = None
                if not self.up:
                    self._give_up(error)
                return
            else:
                self._renewal = None  # what follows may want the next one
                self._use(connection)
                return
        self._renewal = None
        self._backoff = Backoff(self._reconnect_s)  # for whoever comes next
        if not self.up:
            self._outage(reason or self.current.error)

    def _outage(self, reason: KokoroAgentsError | None) -> None:
        """No connection within the time allowed: who waits for one is told, the session lives."""
        error = ConnectionLost(
            f"the connection was lost and no other could be opened within reconnect_s ="
            f" {self._reconnect_s:g} s ({reason}); speak again later, or on another endpoint"
        )
        error.__cause__ = reason
        stranded = list(self._stranded.values())
        self._stranded.clear()
        for utterance in stranded:
            utterance.lost(error)

    def _use(self, connection: Connection) -> None:
        """From now on this is the connection for everything new."""
        before, self._current = self._current, connection
        self.connections += 1
        self._schedule_rotation()
        if before is not None and before.error is None:
            self._retired.add(before)
            before.utterances.retire(_Handover(self, before))
        for utterance in list(self._stranded.values()):
            if not utterance.suspect:
                del self._stranded[utterance.id]
                self.go_on(utterance)
        self._try_suspects()
        if connection.error is not None:  # lost since `open` returned
            self.lost(connection, connection.error)
        elif connection.draining:
            self.rotate()

    def _try_suspects(self) -> None:
        """One at a time, so that a text that brings servers down takes no others with it."""
        suspect = next(iter(self._stranded.values()), None)
        if suspect is not None and self.up:
            del self._stranded[suspect.id]
            self.current.utterances.attach_on_trial(suspect, self._try_suspects)
            suspect.move(self.current.utterances)

    def go_on(self, utterance: OnConnection) -> None:
        """Another connection for an utterance whose own can do no more for it."""
        if self._error is not None:
            utterance.lost(self._error)
        elif self.up:
            self.current.utterances.attach(utterance)
            utterance.move(self.current.utterances)
        else:
            self._stranded[utterance.id] = utterance

    def end(self, connection: Connection) -> None:
        """Close a retired connection that nobody needs any more."""
        self._retired.discard(connection)
        task = asyncio.create_task(connection.close(), name="kokoro-retire")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _schedule_rotation(self) -> None:
        if self._rotation is not None:
            self._rotation.cancel()
            self._rotation = None
        max_age_s = self.current.max_age_s
        if max_age_s is not None:
            part = _ROTATION_AT - _ROTATION_SPREAD * random.random()
            self._rotation = asyncio.get_running_loop().call_later(max_age_s * part, self.rotate)

    def _give_up(self, error: KokoroAgentsError, also: list[OnConnection] | None = None) -> None:
        """Nothing can be spoken any more."""
        if self._error is not None:
            return
        self._error = error
        stranded = [*self._stranded.values(), *(also or [])]
        self._stranded.clear()
        for connection in {*self._retired, *([self._current] if self._current else [])}:
            stranded += connection.utterances.stop()
        for utterance in stranded:
            utterance.lost(error)


class _Handover:
    """From a retired connection to whichever is the present one (`multiplexer.Successor`)."""

    def __init__(self, route: Route, retired: Connection) -> None:
        self._route = route
        self._retired = retired

    def take_over(self, utterance: OnConnection) -> None:
        self._route.go_on(utterance)

    def all_taken(self) -> None:
        self._route.end(self._retired)
