"""One connection to a server, from its opening to its end.

Three tasks, owned by one: the reader hands every event to its utterance and waits for none of them,
the writer sends what `ClientProtocol` wants sent, the keepalive asks a silent server whether it is
there. Whichever fails first ends the connection; what becomes of its utterances then is its owner's
business (`route.py`).

Every wait has its deadline: opening `connect_timeout_s`, a frame's way out `SEND_TIMEOUT_S`, a sign
of life `keepalive_s`, closing `CLOSE_TIMEOUT_S`; what an utterance is owed, `answer_timeout_s` (in
`utterance.py`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import Any, Final, Protocol

from . import protocol
from .errors import (
    ConnectionFailed,
    ConnectionLost,
    DeadlineExceeded,
    InvalidInput,
    KokoroAgentsError,
    OverloadedError,
    RemoteProtocolError,
    SessionClosed,
)
from .multiplexer import Multiplexer
from .protocol import ClientEvent, ClientProtocol, Ready
from .transports.base import Transport

_log = logging.getLogger(__name__)

# A server that reads takes a frame within milliseconds; audio it owes us does not slow its reading.
SEND_TIMEOUT_S: Final = 10.0
# Saying goodbye is a courtesy; the transport's own close is bounded by itself.
CLOSE_TIMEOUT_S: Final = 1.0
# A timer that fires so much too late says that the event loop was blocked, not the server.
_LATE: Final = 1.1
# The ping behind the session's options: its pong says that they were read and not refused.
_OPENING_PING: Final = 0


class Owner(Protocol):
    """What a connection needs of whoever opened it; its methods must neither wait nor raise."""

    def lost(self, connection: Connection, error: KokoroAgentsError) -> None:
        """It has ended, otherwise than by `close`."""

    def draining(self, connection: Connection) -> None:
        """The server said that it will close it soon."""

    def warned(self, message: str) -> None:
        """The server had something to say that concerns no single utterance."""


class Connection:
    """See the module's text.

    Args:
        transport: Not opened yet.
        owner: Told what happens to it.
        connect_timeout_s: For opening and for the server's `ready`, together.
        keepalive_s: Silence after which a sign of life is asked for, and how long it may take.
    """

    def __init__(
        self,
        transport: Transport,
        owner: Owner,
        *,
        connect_timeout_s: float,
        keepalive_s: float,
    ) -> None:
        self._transport = transport
        self._owner = owner
        self._connect_timeout_s = connect_timeout_s
        self._keepalive_s = keepalive_s
        self._protocol = ClientProtocol()
        self._to_send = asyncio.Event()
        self.utterances = Multiplexer(self._protocol, self._to_send.set)
        """What is spoken on it."""
        self._opened = asyncio.Event()  # accepted, refused or lost
        self._received = asyncio.Event()
        self._received_at_s = 0.0
        self._refusal: KokoroAgentsError | None = None
        self._error: KokoroAgentsError | None = None
        self._closed = False
        self._closing = asyncio.Lock()
        self._run_task: asyncio.Task[None] | None = None
        self.opened_at_s = 0.0
        """When it was ready, on the loop's clock."""
        self.draining = False
        """Whether the server said that it will close soon."""

    @property
    def ready(self) -> Ready:
        """What the server announced; only once `open` is done."""
        ready = self._protocol.ready
        assert ready is not None, "open() returns after `ready` came"
        return ready

    @property
    def max_age_s(self) -> float | None:
        """How long such a connection may last; None if it may for ever."""
        return self._transport.max_age_s

    @property
    def error(self) -> KokoroAgentsError | None:
        """Why nothing can be asked of it any more; None while it works."""
        return self._error

    # --- its life ---

    async def open(self, options: dict[str, Any]) -> None:
        """Connect, set the session's options and wait until the server is ready and took them.

        Args:
            options: The arguments of `ClientProtocol.configure`.

        Raises:
            ConnectionFailed: it could not be opened, in time or at all.
            DeadlineExceeded: it is open but the server does not get ready in time.
            InvalidInput: the server refuses the options.
            OverloadedError: the server has no room.
            RemoteProtocolError: the server speaks something else.
        """
        deadline_s = asyncio.get_running_loop().time() + self._connect_timeout_s
        try:
            await self._open_transport(deadline_s)
            if self._error is not None:  # closed meanwhile
                raise self._error
            self._protocol.configure(**options)
            self._protocol.ping(_OPENING_PING)
            self._to_send.set()
            self._run_task = asyncio.create_task(self._run(), name="kokoro-connection")
            await self._wait_until_opened(deadline_s)
        except BaseException:
            await self.close()
            await self._transport.close()  # it may have opened after a close from elsewhere
            raise
        self.opened_at_s = asyncio.get_running_loop().time()
        _log.debug("connected", extra={"instance_id": self.ready.instance_id})

    async def _open_transport(self, deadline_s: float) -> None:
        try:
            async with asyncio.timeout_at(deadline_s):
                await self._transport.open()
        except TimeoutError as error:
            raise ConnectionFailed(
                f"the server could not be reached within connect_timeout_s ="
                f" {self._connect_timeout_s:g} s; check address and network, or allow more time"
            ) from error

    async def _wait_until_opened(self, deadline_s: float) -> None:
        try:
            async with asyncio.timeout_at(deadline_s):
                await self._opened.wait()
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"connected, but the server was not ready within connect_timeout_s ="
                f" {self._connect_timeout_s:g} s; is it one of kokoro-sagemaker-container, and up?"
            ) from error
        if self._refusal is not None:
            raise self._refusal
        if isinstance(self._error, ConnectionLost):
            raise ConnectionFailed(
                f"the connection ended before the server was ready: {self._error}"
            ) from self._error
        if self._error is not None:
            raise self._error

    async def close(self) -> None:
        """Say goodbye and free everything; what is still spoken on it is dropped. Idempotent."""
        async with self._closing:
            if self._closed:
                return
            self._closed = True
            alive = self._error is None and self._run_task is not None
            self._error = self._error or SessionClosed("the session was closed; open a new one")
            self._opened.set()
            self.utterances.stop()
            try:
                if self._run_task is not None:
                    self._run_task.cancel()
                    await asyncio.wait([self._run_task])
                if alive:
                    await self._say_goodbye()
            finally:
                await self._transport.close()

    async def _say_goodbye(self) -> None:
        self._protocol.close()
        with contextlib.suppress(ConnectionLost, TimeoutError):  # it is over either way
            async with asyncio.timeout(CLOSE_TIMEOUT_S):
                for frame in self._protocol.data_to_send():
                    await self._transport.send(frame)

    async def _run(self) -> None:
        """Own the three tasks until one of them fails, or until cancelled by `close`."""
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._read(), name="kokoro-read")
                tasks.create_task(self._write(), name="kokoro-write")
                tasks.create_task(self._keep_alive(), name="kokoro-keepalive")
        except* Exception as group:
            self._give_up(_reason(group))
        await self._transport.close()

    def _give_up(self, error: KokoroAgentsError) -> None:
        if self._error is not None:
            return
        self._error = error
        self._opened.set()
        _log.debug("connection over", extra={"reason": type(error).__name__})
        self._owner.lost(self, error)

    async def _read(self) -> None:
        clock = asyncio.get_running_loop().time
        while True:
            frame = await self._transport.receive()
            self._received_at_s = clock()
            self._received.set()
            for event in self._protocol.receive(frame):
                self._on_event(event)

    async def _write(self) -> None:
        while True:
            await self._to_send.wait()
            self._to_send.clear()
            for frame in self._protocol.data_to_send():
                try:
                    async with asyncio.timeout(SEND_TIMEOUT_S):
                        await self._transport.send(frame)
                except TimeoutError as error:
                    raise DeadlineExceeded(
                        f"the server took no more text for {SEND_TIMEOUT_S:g} s; open a new session"
                    ) from error

    async def _keep_alive(self) -> None:
        clock = asyncio.get_running_loop().time
        self._received_at_s = clock()
        while True:
            quiet_s = clock() - self._received_at_s
            if quiet_s < self._keepalive_s:
                await asyncio.sleep(self._keepalive_s - quiet_s)
                continue
            self._received.clear()
            self._protocol.ping()
            self._to_send.set()
            asked_s = clock()
            try:
                async with asyncio.timeout(self._keepalive_s):
                    await self._received.wait()
            except TimeoutError as error:
                if clock() - asked_s > self._keepalive_s * _LATE:
                    continue  # this loop was held up: the answer may lie in the socket, ask again
                raise DeadlineExceeded(
                    f"the server gave no sign of life for {2 * self._keepalive_s:g} s (twice"
                    " keepalive_s); open a new session"
                ) from error

    # --- what the server says ---

    def _on_event(self, event: ClientEvent) -> None:
        match event:
            case protocol.ProtocolViolated():
                raise RemoteProtocolError(
                    f"the server broke the protocol: {event.message}; open a new session"
                )
            case protocol.Ready():
                pass
            case protocol.Pong():
                if event.id == _OPENING_PING:
                    self._opened.set()
            case protocol.Draining():
                self.draining = True
                _log.info("the server is draining", extra={"deadline_s": event.deadline_s})
                self._owner.draining(self)
            case protocol.Error(context_id=None):
                self._on_session_error(event)
            case protocol.ServerWarning(context_id=None):
                self._owner.warned(event.message)
            case _:
                self.utterances.receive(event)

    def _on_session_error(self, error: protocol.Error) -> None:
        if self._opened.is_set():
            _log.warning("the server reports %s, about no utterance", error.code)
        elif error.retryable:
            self._refuse(OverloadedError(error.message, code=error.code))
        else:
            self._refuse(InvalidInput(error.message, code=error.code))

    def _refuse(self, refusal: KokoroAgentsError) -> None:
        self._refusal = self._refusal or refusal
        self._opened.set()


def _reason(group: BaseExceptionGroup[Exception]) -> KokoroAgentsError:
    """Why the connection ended: the first failure; one that is our own mistake is logged."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, KokoroAgentsError):
        return error
    _log.error("the connection failed by a mistake in this library", exc_info=error)
    lost = ConnectionLost(f"the connection failed inside this library ({type(error).__name__})")
    lost.__cause__ = error
    return lost
