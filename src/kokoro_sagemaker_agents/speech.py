"""Text of any kind, spoken: the source is read in its own task while its audio is heard."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import AsyncGeneratorType, TracebackType
from typing import Final, cast

from .errors import SessionClosed
from .events import Heard, SpeechEvent
from .sources import TextSource, tokens_of
from .utterance import Utterance

_log = logging.getLogger(__name__)

# A source that is being closed may have a connection of its own to end.
SOURCE_CLOSE_TIMEOUT_S: Final = 2.0


class Speech:
    """What `SpeechSession.speak` returns: an async iterator of the utterance's events.

    The source is read from when the first event is asked for, at its own pace, however slowly the
    audio is taken. If it raises, speech stops and the reader gets the exception.

    Leaving the loop early, by `break`, an exception or a cancelled task, cancels the utterance on
    the server and closes the source. `async with session.speak(…) as speech` does the same at a
    certain point in time, whoever still refers to it.
    """

    def __init__(self, utterance: Utterance, source: TextSource) -> None:
        self.utterance = utterance
        """The utterance behind it, to cancel it from elsewhere and to ask what was heard."""
        # Refers to nothing that refers to it, so that it is finalised as soon as this is dropped.
        self._events = cast(AsyncGeneratorType[SpeechEvent, None], _speak(utterance, source))

    def __aiter__(self) -> Speech:
        return self

    async def __anext__(self) -> SpeechEvent:
        """The next event; raises what `Utterance.__anext__` and the source raise."""
        return await anext(self._events)

    async def cancel(self) -> Heard:
        """Stop at once (barge-in) and tell what was heard; see `Utterance.cancel`."""
        return await self.utterance.cancel()

    def heard(self) -> Heard:
        """What the listener has heard by now; see `Utterance.heard`."""
        return self.utterance.heard()

    def played(self, samples: int) -> None:
        """Tell how much was really played; see `Utterance.played`."""
        self.utterance.played(samples)

    async def aclose(self) -> None:
        """Stop early: cancel the utterance, if it is not done, and close the source."""
        await self.utterance.aclose()
        if not self._events.ag_running:  # else a task that reads it is woken, and ends it
            await self._events.aclose()

    async def __aenter__(self) -> Speech:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()


async def _speak(utterance: Utterance, source: TextSource) -> AsyncGenerator[SpeechEvent, None]:
    """The events of the utterance, with a task beside them that feeds it."""
    feeder = asyncio.create_task(_feed(utterance, source), name="kokoro-text")
    try:
        async with utterance:
            async for event in utterance:
                yield event
    finally:
        feeder.cancel()
        _, unfinished = await asyncio.wait([feeder], timeout=SOURCE_CLOSE_TIMEOUT_S)
        if unfinished:
            _log.warning(
                "the source of an utterance does not end within %g s of being cancelled",
                SOURCE_CLOSE_TIMEOUT_S,
            )


async def _feed(utterance: Utterance, source: TextSource) -> None:
    """Push the source's text; what the source raises is raised to the utterance's reader."""
    try:
        async with aclosing(tokens_of(source)) as tokens:
            async for token in tokens:
                await utterance.room()
                await utterance.push(token)
        await utterance.end()
    except SessionClosed:
        return  # cancelled meanwhile: nobody wants more text
    except BaseException as error:  # also a cancellation of the source's own
        utterance.fail(error)  # does nothing if that is where it came from, or if it is over
        if not isinstance(error, Exception):
            raise
