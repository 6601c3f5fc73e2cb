"""Several sessions as one, so that no single connection or instance carries everything.

SageMaker's router decides to which instance a connection goes; the server's `ready` tells which one
it was. New utterances go where the fewest are: first by instance, then by connection. Whenever two
connections share an instance and one of them has nothing to do, that one is opened anew, so that
instances which a scale-out has added are found.
"""

from __future__ import annotations

import asyncio
import logging
import random
import ssl as _ssl
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Unpack

from .config import SessionOptions, UtteranceOptions
from .errors import InvalidInput, KokoroAgentsError, LocalProtocolError, SessionClosed
from .session import SpeechSession
from .sources import TextSource
from .speech import Speech
from .text import SentenceChunker
from .utterance import Utterance

_log = logging.getLogger(__name__)

DEFAULT_SIZE: Final = 2
# A scale-out takes minutes; a new connection costs one request.
DEFAULT_SPREAD_S: Final = 60.0
# Pools that were opened together are not to reconnect together.
_JITTER: Final = 0.2
_DRAIN_POLL_S: Final = 0.05


class SessionPool:
    """As many sessions as `size`, used as one: `speak` and `utterance` choose among them.

    Use it as `async with SessionPool(make_session) as pool`, or call `open` and `close`.

    Args:
        make_session: Gives a session that is not opened yet.
        size: How many sessions.
        spread_s: How often to look for a better spread over the instances, in seconds.

    Raises:
        InvalidInput: no possible size or time.
    """

    def __init__(
        self,
        make_session: Callable[[], SpeechSession],
        *,
        size: int = DEFAULT_SIZE,
        spread_s: float = DEFAULT_SPREAD_S,
    ) -> None:
        if size < 1 or not spread_s > 0:
            raise InvalidInput("a pool needs a size of 1 or more and a spread_s of more than 0")
        self._make_session = make_session
        self._size = size
        self._spread_s = spread_s
        self._sessions: list[SpeechSession] = []
        self._upkeep: asyncio.Task[None] | None = None
        self._closed = False

    @classmethod
    def connect(
        cls,
        url: str,
        *,
        size: int = DEFAULT_SIZE,
        spread_s: float = DEFAULT_SPREAD_S,
        headers: Mapping[str, str] | None = None,
        ssl: _ssl.SSLContext | None = None,
        **options: Unpack[SessionOptions],
    ) -> SessionPool:
        """A pool of sessions as `SpeechSession.connect` makes them; see there and the class."""

        def make_session() -> SpeechSession:
            return SpeechSession.connect(url, headers=headers, ssl=ssl, **options)

        make_session()  # a bad option is told at once
        return cls(make_session, size=size, spread_s=spread_s)

    async def open(self) -> None:
        """Open the sessions; those that fail are tried again later, unless all do.

        Raises:
            ConnectionFailed: or whatever else the first session failed with.
            LocalProtocolError: it was opened before.
        """
        if self._upkeep is not None or self._closed:
            raise LocalProtocolError("a pool is opened once; make another one")
        outcomes = await asyncio.gather(*(self._open_one() for _ in range(self._size)))
        failures = [error for error in outcomes if error is not None]
        if len(failures) == self._size:
            raise failures[0]
        if failures:
            _log.warning("%d of %d sessions could not be opened yet", len(failures), self._size)
        self._upkeep = asyncio.create_task(self._keep_up(), name="kokoro-pool")

    async def _open_one(self) -> KokoroAgentsError | None:
        session = self._make_session()
        try:
            await session.open()
        except KokoroAgentsError as error:
            return error
        if self._closed:
            await session.close()
        else:
            self._sessions.append(session)
        return None

    async def close(self) -> None:
        """End every session: utterances that are not done raise `SessionClosed`. Idempotent."""
        self._closed = True
        if self._upkeep is not None:
            self._upkeep.cancel()
            await asyncio.wait([self._upkeep])
        sessions, self._sessions = self._sessions, []
        await asyncio.gather(*(session.close() for session in sessions))

    async def drain(self, timeout_s: float = 30.0) -> bool:
        """Take no new utterances, wait until those there are have been spoken, then close.

        Args:
            timeout_s: How long to wait at most, in seconds.

        Returns:
            Whether all of them were spoken in time.
        """
        self._closed = True
        try:
            async with asyncio.timeout(timeout_s):
                # Utterances are held weakly, so nobody says when the last one is dropped.
                while self.load:  # noqa: ASYNC110  (no event to wait for, see above)
                    await asyncio.sleep(_DRAIN_POLL_S)
        except TimeoutError:
            _log.warning("%d utterances were not spoken within %g s", self.load, timeout_s)
            return False
        finally:
            await self.close()
        return True

    async def __aenter__(self) -> SessionPool:
        await self.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def sessions(self) -> tuple[SpeechSession, ...]:
        """Those that are open."""
        return tuple(self._sessions)

    @property
    def load(self) -> int:
        """How many utterances are not done."""
        return sum(session.load for session in self._sessions)

    def utterance(
        self, *, chunker: SentenceChunker | None = None, **options: Unpack[UtteranceOptions]
    ) -> Utterance:
        """A new utterance on the session with the least to do; see `SpeechSession.utterance`."""
        return self._least_loaded().utterance(chunker=chunker, **options)

    def speak(
        self,
        text: TextSource,
        *,
        chunker: SentenceChunker | None = None,
        **options: Unpack[UtteranceOptions],
    ) -> Speech:
        """Speak a text on the session with the least to do; see `SpeechSession.speak`."""
        return self._least_loaded().speak(text, chunker=chunker, **options)

    def _least_loaded(self) -> SpeechSession:
        if self._closed:
            raise SessionClosed("the pool was closed; make a new one")
        if not self._sessions:
            raise LocalProtocolError(
                "the pool is not open: use `async with`, or `await pool.open()` first"
            )
        of_instance = Counter[str]()
        for session in self._sessions:
            of_instance[session.ready.instance_id] += session.load
        return min(
            self._sessions,
            key=lambda s: (not s.connected, of_instance[s.ready.instance_id], s.load),
        )

    # --- upkeep ---

    async def _keep_up(self) -> None:
        while True:
            await asyncio.sleep(self._spread_s * (1 + _JITTER * (random.random() - 0.5)))
            missing = self._size - len(self._sessions)
            for error in await asyncio.gather(*(self._open_one() for _ in range(missing))):
                if error is not None:
                    _log.warning("a session of the pool cannot be opened: %s", error)
            self._spread()

    def _spread(self) -> None:
        """Open an idle connection anew if it shares its instance with another one."""
        sharing = Counter(session.ready.instance_id for session in self._sessions)
        for session in self._sessions:
            if session.connected and not session.load and sharing[session.ready.instance_id] > 1:
                session.rotate()
                return  # one at a time: the others may be all right then
