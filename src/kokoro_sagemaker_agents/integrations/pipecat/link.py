"""The session of a service: one that is shared, or one of its own that is made when needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from kokoro_sagemaker_agents.errors import KokoroAgentsError, LocalProtocolError, SessionClosed
from kokoro_sagemaker_agents.session import SpeechSession

from .turn import Speaker


class Link:
    """Opens, keeps, replaces and closes a session; one that was given it only uses.

    Args:
        shared: An open session or pool of somebody else's.
        make: Makes an own one, not opened yet, if none is shared.
    """

    def __init__(self, shared: Speaker | None, make: Callable[[], SpeechSession]) -> None:
        self._shared = shared
        self._make = make
        self._own: SpeechSession | None = None
        self._up = asyncio.Event()
        self._closed = False

    @property
    def speaker(self) -> Speaker | None:
        """The session, once it is open."""
        if not self._up.is_set():
            return None
        return self._shared or self._own

    async def connected(self) -> Speaker:
        """Wait for the session. It may be in an outage: then it is reconnecting by itself."""
        await self._up.wait()
        speaker = self._shared or self._own
        if speaker is None:
            raise SessionClosed("the service was stopped")
        return speaker

    async def open(self) -> None:
        """Have a session that works, a new one if the last has ended for good.

        Raises:
            KokoroAgentsError: what `SpeechSession.open` raises; or a shared session that is not
                open, or was closed.
        """
        if self._closed:
            raise SessionClosed("the service was stopped")
        if self._shared is not None:
            _check_open(self._shared)
        elif self._own is None or _error_of(self._own) is not None:
            self._up.clear()
            await self._drop()
            session = self._make()
            try:
                await session.open()
            except BaseException:
                await session.close()
                raise
            self._own = session
        self._up.set()

    async def close(self) -> None:
        """Close an own session. Idempotent."""
        self._closed = True
        await self._drop()
        self._up.set()

    async def _drop(self) -> None:
        session, self._own = self._own, None
        if session is not None:
            await session.close()


def _error_of(session: SpeechSession) -> KokoroAgentsError | None:
    """Why the session can speak nothing more; None while it can, if only after an outage."""
    try:
        utterance = session.utterance()
    except KokoroAgentsError as error:
        return error
    del utterance  # nothing was pushed, so no server knows of it
    return None


def _check_open(shared: Speaker) -> None:
    if isinstance(shared, SpeechSession):
        if (error := _error_of(shared)) is not None:
            raise error
    elif not shared.sessions:
        raise LocalProtocolError(
            "the pool is not open: `await pool.open()` before the pipeline runs, and close it after"
        )
