"""What is spoken in one of Pipecat's audio contexts, over one utterance or several.

Texts come in as the aggregator completes them and are sent at once; audio and words come out in the
order in which they are heard. Settings that change in between begin another utterance, whose audio
follows that of the one before.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from pipecat.utils.errors import ErrorCategory

from kokoro_sagemaker_agents.config import DEFAULT_SAMPLE_RATE, UtteranceOptions
from kokoro_sagemaker_agents.errors import OverloadedError, SessionClosed, SpeechFailed
from kokoro_sagemaker_agents.events import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    SpeechEvent,
    WordTime,
    WordTimestamps,
)
from kokoro_sagemaker_agents.pool import SessionPool
from kokoro_sagemaker_agents.session import SpeechSession
from kokoro_sagemaker_agents.text import Span, TextChunk
from kokoro_sagemaker_agents.utterance import Utterance

from .failures import category_of_code
from .words import Passage, TimedText

Speaker: TypeAlias = SpeechSession | SessionPool

_NS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Sound:
    """A piece of audio, and the words that are complete with it."""

    audio: AudioChunk
    said: list[TimedText]


@dataclass(frozen=True, slots=True)
class Said:
    """A text, or part of one, is over: `said` is what remained of it."""

    said: list[TimedText]
    failure: ChunkFailed | None = None


class _Part:
    """One utterance, or what waits for it to be opened."""

    def __init__(self, options: UtteranceOptions) -> None:
        self.options = options
        self.utterance: Utterance | None = None
        self.passages: list[tuple[Passage, TextChunk, bool]] = []  # of each chunk, by its id
        self._waiting: deque[TextChunk] = deque()
        self._ended = False
        self.unanswered = 0
        """How many of its chunks were not."""
        self.broken = False
        self.sample_rate = options.get("sample_rate") or DEFAULT_SAMPLE_RATE

    async def push(self, passage: Passage, chunk: TextChunk, last: bool) -> None:
        self.passages.append((passage, chunk, last))
        self.unanswered += 1
        if self.utterance is None:
            self._waiting.append(chunk)
        else:
            await self.utterance.push_chunk(chunk)

    async def open(self, speaker: Speaker) -> None:
        """Begin to speak what waits; raises what `SpeechSession.utterance` does."""
        if self.utterance is not None:
            return
        self.utterance = speaker.utterance(**self.options)
        while self._waiting:
            await self.utterance.push_chunk(self._waiting.popleft())
        if self._ended:
            await self.utterance.end()

    async def end(self) -> None:
        self._ended = True
        if self.utterance is not None:
            await self.utterance.end()

    async def cancel(self) -> None:
        self._waiting.clear()
        if self.utterance is not None:
            await self.utterance.cancel()


class Turn:
    """See the module's text.

    Args:
        context_id: Pipecat's name for it.
        speaker: Gives the session once there is one.
    """

    def __init__(self, context_id: str, speaker: Callable[[], Speaker | None]) -> None:
        self.context_id = context_id
        self.tasks: list[asyncio.Task[None]] = []
        """Those that its owner runs for it."""
        self.active_at_s = 0.0
        """When something last came for it, or was asked for while nothing was owed; loop time."""
        self.over = False
        """Whether no more audio comes: it was spoken, failed or cancelled."""
        self._speaker = speaker
        self._parts: list[_Part] = []
        self._passages: list[Passage] = []
        self._finished = False
        self._done = 0  # parts that are over
        self._base_s = 0.0  # where the present part begins
        self._chunk_start_s = 0.0
        self._changed = asyncio.Event()
        self._appended = self._pushed = 0  # nanoseconds of audio
        self._origin_ns: int | None = None  # when the first of it was heard
        self._gap_ns = 0  # how much later than without pauses the next is heard

    # --- text in ---

    async def say(
        self, passage: Passage, chunks: list[TextChunk], options: UtteranceOptions
    ) -> None:
        """Speak a text, cut into chunks.

        Raises:
            InvalidInput: an option that the server does not offer; or whatever else `utterance`
                and `push_chunk` raise.
        """
        if self._finished:
            raise SessionClosed("the turn was ended; its text comes too late to be spoken")
        part = self._parts[-1] if self._parts else None
        if part is None or part.broken or part.options != options:
            if part is not None:
                await part.end()
            part = _Part(options)
            self._parts.append(part)
        if not self.owes:
            self.active_at_s = asyncio.get_running_loop().time()
        self._passages.append(passage)
        for i, chunk in enumerate(chunks):
            await part.push(passage, chunk, i == len(chunks) - 1)
        self._changed.set()
        speaker = self._speaker()
        if speaker is not None:
            await part.open(speaker)

    async def finish(self) -> None:
        """No more text comes."""
        if not self._finished:
            self._finished = True
            self.active_at_s = asyncio.get_running_loop().time()
            self._changed.set()
            if self._parts:
                await self._parts[-1].end()

    async def cancel(self) -> None:
        """Speak nothing more of it. Does not wait for the server."""
        self.over = self._finished = True
        for part in self._parts:
            await part.cancel()
        self._changed.set()

    @property
    def owes(self) -> bool:
        """Whether something is still to be spoken or answered."""
        unanswered = any(part.unanswered for part in self._parts[self._done :])
        return not self.over and (unanswered or self._finished)

    def unsaid(self) -> list[str]:
        """The texts, or what remains of them, that were neither said nor given up."""
        return [text for passage in self._passages if (text := passage.unsaid)]

    # --- speech out ---

    async def events(
        self, connected: Callable[[], Awaitable[Speaker]]
    ) -> AsyncIterator[Sound | Said]:
        """What is to be heard, in order, until all of it was spoken or it was cancelled.

        After an exception and `drop_part` it can be asked for the rest.

        Args:
            connected: Waits for the session.

        Raises:
            KokoroAgentsError: what a session or an utterance raises.
        """
        while True:
            while self._done == len(self._parts):
                if self._finished:
                    self.over = True
                    return
                self._changed.clear()
                await self._changed.wait()
            part = self._parts[self._done]
            self._base_s = self._appended / _NS
            await part.open(await connected())
            if part.utterance is None or self.over:
                return
            async for event in part.utterance:
                self.active_at_s = asyncio.get_running_loop().time()
                out = self._step(part, event)
                if out is not None:
                    yield out
            self._done += 1

    async def drop_part(self) -> list[TimedText]:
        """Give up what is being spoken; text that comes later is spoken all the same."""
        if self._done == len(self._parts):
            return []
        part = self._parts[self._done]
        self._done += 1
        part.broken = True
        part.unanswered = 0
        await part.cancel()
        passages = {id(passage): passage for passage, _, _ in part.passages if passage.unsaid}
        return [out for p in passages.values() for out in p.chunk_failed(len(p.text), True)]

    def _step(self, part: _Part, event: SpeechEvent) -> Sound | Said | None:
        match event:
            case ChunkStarted():
                self._chunk_start_s = self._base_s + event.first_sample / part.sample_rate
            case WordTimestamps():
                part.passages[event.chunk_id][0].tell(_moved(event, self._base_s))
            case AudioChunk():
                passage = part.passages[event.chunk_id][0]
                end_s = self._base_s + event.first_sample / event.sample_rate + event.duration_s
                return Sound(event, passage.heard(end_s))
            case ChunkDone():
                passage, chunk, last = part.passages[event.chunk_id]
                part.unanswered -= 1
                start_s = self._chunk_start_s
                return Said(
                    passage.chunk_done(chunk.end, start_s, start_s + event.duration_s, last)
                )
            case ChunkFailed():
                passage, chunk, last = part.passages[event.chunk_id]
                category = category_of_code(event.code)
                if category.is_permanent or category is ErrorCategory.RATE_LIMIT:
                    raise _raised(event)
                part.unanswered -= 1
                return Said(passage.chunk_failed(chunk.end, last), event)
            case _:
                pass
        return None

    # --- the time in which it is heard ---

    def heard_after_s(self, start_s: float) -> float:
        """When audio at `start_s` is heard, counted from when the first was, pauses included."""
        return start_s + self._gap_ns / _NS

    def came(self, now_ns: int) -> None:
        """Audio is there to be handed to Pipecat: if all before it was heard, there was a pause."""
        if self._origin_ns is not None and self._appended == self._pushed:
            self._gap_ns = max(self._gap_ns, now_ns - self._origin_ns - self._pushed)

    def appended(self, duration_ns: int) -> None:
        """Audio was handed to Pipecat."""
        self._appended += duration_ns

    def pushed(self, begin_ns: int, duration_ns: int) -> None:
        """Audio was passed down the pipeline, to be heard at `begin_ns`."""
        if self._origin_ns is None:
            self._origin_ns = begin_ns
        self._gap_ns = max(self._gap_ns, begin_ns - self._origin_ns - self._pushed)
        self._pushed += duration_ns


def whole_chunk(text: str) -> TextChunk:
    """A text as one chunk, to be spoken as it is."""
    return TextChunk(text, text, 0, len(text), "sentence", (Span(0, len(text), 0, len(text)),))


def _moved(event: WordTimestamps, base_s: float) -> list[WordTime]:
    """The words on the turn's clock instead of the utterance's."""
    if not base_s:
        return list(event.words)
    return [
        replace(word, start_s=word.start_s + base_s, end_s=word.end_s + base_s)
        for word in event.words
    ]


def _raised(event: ChunkFailed) -> SpeechFailed:
    """The failure of a chunk after which the next ones would fail as well."""
    kind = OverloadedError if event.retryable else SpeechFailed
    return kind(event.message, code=event.code, retryable=event.retryable)
