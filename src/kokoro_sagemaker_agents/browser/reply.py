"""An agent's text and its speech as one stream, in the order in which a page wants them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import aclosing
from types import TracebackType
from typing import Any, Unpack

from kokoro_sagemaker_agents.config import UtteranceOptions
from kokoro_sagemaker_agents.events import Heard, SpeechEvent
from kokoro_sagemaker_agents.session import SpeechSession
from kokoro_sagemaker_agents.sources import TextSource, check_source, tokens_of
from kokoro_sagemaker_agents.speech import Speech


class Reply:
    """What an agent says: an async iterator of its text, each token at once, and of its speech.

    Text never waits for audio. Audio that nobody takes stops coming, as with any utterance. Use it
    as `async with Reply(…) as reply`, or hand it to `SpeechResponse` or `SpeechSocket`, which
    close it.

    Args:
        session: Where it is spoken.
        tokens: The text, as for `SpeechSession.speak`.
        **options: The voice and so on; see `UtteranceOptions`.

    Raises:
        InvalidInput: no source of text, or an option that this server does not offer.
        SessionClosed: or whatever else has ended the session.
    """

    def __init__(
        self, session: SpeechSession, tokens: TextSource, **options: Unpack[UtteranceOptions]
    ) -> None:
        check_source(tokens)
        self._texts: deque[str] = deque()
        self._wake = asyncio.Event()
        self._speech: Speech = session.speak(self._noted(tokens), **options)
        self._next: asyncio.Task[SpeechEvent | None] | None = None
        self._over = False

    def __aiter__(self) -> Reply:
        return self

    async def __anext__(self) -> str | SpeechEvent:
        """The next piece of text or event; raises what `Speech` does."""
        if self._next is None and not self._over:
            self._next = asyncio.create_task(_next(self._speech), name="kokoro-reply")
            self._next.add_done_callback(lambda _: self._wake.set())
        while not self._texts and self._next is not None and not self._next.done():
            self._wake.clear()
            await self._wake.wait()
        if self._texts:
            return self._texts.popleft()
        task, self._next = self._next, None
        if task is None or task.cancelled():
            raise StopAsyncIteration
        event = task.result()
        if event is None:
            self._over = True
            raise StopAsyncIteration
        return event

    def played(self, samples: int) -> None:
        """Tell how much was really played; see `Utterance.played`."""
        self._speech.played(samples)

    def heard(self) -> Heard:
        """What the listener has heard by now; see `Utterance.heard`."""
        return self._speech.heard()

    async def cancel(self) -> Heard:
        """Stop at once (barge-in) and tell what was heard; see `Utterance.cancel`."""
        heard = await self._speech.cancel()
        self._texts.clear()
        return heard

    async def aclose(self) -> None:
        """Stop early, and close the source of the text. Idempotent."""
        self._over = True
        await self._speech.utterance.aclose()
        if self._next is not None:
            await drop(self._next)
        await self._speech.aclose()

    async def __aenter__(self) -> Reply:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _noted(self, source: TextSource) -> AsyncGenerator[str, None]:
        async with aclosing(tokens_of(source)) as tokens:
            async for token in tokens:
                self._texts.append(token)
                self._wake.set()
                yield token


async def _next(speech: Speech) -> SpeechEvent | None:
    return await anext(speech, None)


async def drop(task: asyncio.Future[Any]) -> None:
    """Cancel a task and wait for its end; nobody is interested in how it ends."""
    task.cancel()
    await asyncio.wait([task])
    if not task.cancelled():
        task.exception()  # or asyncio logs it as never retrieved


async def aclose(reply: object) -> None:
    """Close what can be closed."""
    close = getattr(reply, "aclose", None)
    if close is not None:
        await close()
