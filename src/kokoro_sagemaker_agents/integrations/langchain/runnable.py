"""A link of a chain that speaks what comes through it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any, Unpack

from langchain_core.runnables import Runnable, RunnableGenerator

from kokoro_sagemaker_agents.config import UtteranceOptions
from kokoro_sagemaker_agents.events import AudioChunk, ChunkStarted

from .feed import Feed
from .runs import Audience
from .turn import MakesUtterances, SpeechTurn, TurnEvent


@dataclass(frozen=True, slots=True)
class Spoken:
    """Events of speech, as a chain's output: of a stream one at a time, and added up for all.

    Args:
        events: In playback order.
    """

    events: tuple[TurnEvent, ...] = ()

    def __add__(self, other: Spoken) -> Spoken:
        return Spoken(self.events + other.events)

    @property
    def pcm(self) -> bytes:
        """The audio."""
        return b"".join(event.pcm for event in self.events if isinstance(event, AudioChunk))

    @property
    def text(self) -> str:
        """What is said in it."""
        return " ".join(e.spoken for e in self.events if isinstance(e, ChunkStarted))


def speak(
    session: MakesUtterances,
    *,
    audience: Audience | None = None,
    **options: Unpack[UtteranceOptions],
) -> Runnable[Any, Spoken]:
    """A runnable that speaks text or messages while they are written: `model | speak(session)`.

    An agent does not stream through `|`: LangChain hands on its final state. Speak an agent by
    `KokoroSpeechCallbackHandler` or `astream_speech`, or give this its stream:
    `speak(session).atransform(agent.astream(inputs, stream_mode="messages"))`.

    It works in asynchronous calls only (`ainvoke`, `astream`); a failure of the speech is the event
    `TurnFailed`. If what it speaks fails, what was written is spoken, then the error is raised.

    Args:
        session: A `SpeechSession` or `SessionPool`; open when the chain runs.
        audience: Which messages of a graph are spoken; by default as a handler decides.
        **options: See `UtteranceOptions`.
    """

    async def transform(items: AsyncIterator[Any]) -> AsyncIterator[Spoken]:
        turn = SpeechTurn(session, options, runs=None, skip_prefix=True)
        async with contextlib.aclosing(_speak(turn, items, audience or Audience())) as events:
            async for event in events:
                yield Spoken((event,))

    return RunnableGenerator(transform, name="KokoroSpeech")


async def _speak(
    turn: SpeechTurn, items: AsyncIterator[Any], audience: Audience
) -> AsyncGenerator[TurnEvent, None]:
    """The events of a turn, with a task beside them that feeds it."""
    async with turn:
        feeder = asyncio.create_task(_feed(turn, items, audience), name="kokoro-feed")
        try:
            async for event in turn:
                yield event
            await feeder  # raises what the source has raised
        finally:
            feeder.cancel()
            await asyncio.wait([feeder])


async def _feed(turn: SpeechTurn, items: AsyncIterator[Any], audience: Audience) -> None:
    feed = Feed(turn, audience)
    try:
        async for item in items:
            feed.take(item)
    finally:
        feed.close()
        await turn.end()
