"""An agent's own stream and its speech, as one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from types import AsyncGeneratorType, TracebackType
from typing import Any, Final, cast

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from kokoro_sagemaker_agents.events import Heard

from .handler import KokoroSpeechCallbackHandler
from .turn import SpeechTurn, TurnEvent


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """What the agent's own `astream` yielded.

    Args:
        item: As it came; with `stream_mode="messages"` a message and its metadata.
    """

    item: Any


class AgentSpeech:
    """What `astream_speech` returns: an async iterator of `AgentEvent` and a turn's events.

    Leaving the loop early, by `break`, an exception or a cancelled task, cancels agent and speech;
    `async with astream_speech(…) as stream` does the same at a certain point in time.
    """

    def __init__(
        self,
        agent: Runnable[Any, Any],
        inputs: Any,
        speech: KokoroSpeechCallbackHandler,
        config: RunnableConfig,
        options: dict[str, Any],
    ) -> None:
        self.turn: SpeechTurn = speech.turn(runs=None)
        """The turn, to ask what was heard and to commit it."""
        self._call = agent, inputs, speech, config, options
        self._agent_task: asyncio.Task[None] | None = None
        self._events = cast(
            AsyncGeneratorType[AgentEvent | TurnEvent, None], self._merged()
        )  # not begun before the first event is asked for

    def __aiter__(self) -> AgentSpeech:
        return self

    async def __anext__(self) -> AgentEvent | TurnEvent:
        """The next event; raises what the agent raises."""
        return await anext(self._events)

    async def interrupt(self) -> Heard:
        """Stop agent and speech at once (barge-in) and tell what was heard.

        The agent's task is over when this returns: `turn.commit_heard` may follow.
        """
        heard = await self.turn.interrupt()
        if self._agent_task is not None:
            self._agent_task.cancel()
            await asyncio.wait([self._agent_task])
        return heard

    async def aclose(self) -> None:
        """Stop early; nothing if it is over."""
        if self._events.ag_running:  # a task that reads it is woken, and ends it
            await self.interrupt()
        else:
            await self._events.aclose()

    async def __aenter__(self) -> AgentSpeech:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _merged(self) -> AsyncGenerator[AgentEvent | TurnEvent, None]:
        """Both streams in one queue. The agent's is never held up; speech is taken one by one."""
        events: asyncio.Queue[Any] = asyncio.Queue()
        room = asyncio.Semaphore(1)
        speech = self._call[2]
        async with self.turn:
            with speech.routed_to(self.turn):
                agent = asyncio.create_task(self._run_agent(events), name="kokoro-agent")
            self._agent_task = agent
            reader = asyncio.create_task(_read(self.turn, events, room), name="kokoro-speech")
            try:
                left = 2
                while left:
                    event = await events.get()
                    if event is _OVER:
                        left -= 1
                        continue
                    if isinstance(event, _Failed):
                        raise event.error
                    yield event
                    if not isinstance(event, AgentEvent):
                        room.release()
            finally:
                agent.cancel()
                reader.cancel()
                await asyncio.wait([agent, reader])

    async def _run_agent(self, events: asyncio.Queue[Any]) -> None:
        agent, inputs, speech, config, options = self._call
        try:
            stream = agent.astream(inputs, _with_handler(config, speech), **options)
            async for item in stream:
                events.put_nowait(AgentEvent(item))
        except Exception as error:
            events.put_nowait(_Failed(error))
        finally:
            await self.turn.end()
            events.put_nowait(_OVER)


def astream_speech(
    agent: Runnable[Any, Any],
    inputs: Any,
    speech: KokoroSpeechCallbackHandler,
    config: RunnableConfig | None = None,
    **options: Any,
) -> AgentSpeech:
    """Run an agent and speak its answer: its own events and those of the speech, as they come.

    Args:
        agent: A graph, a chain or a model; called by its `astream`.
        inputs: Its input.
        speech: The handler that decides what is spoken, and in which voice.
        config: As the agent takes it.
        **options: Further arguments of its `astream`; `stream_mode` is `messages` for a graph if
            it is not given.

    Returns:
        An async iterator of `AgentEvent` and the events of a turn; those of the speech in playback
        order. If the agent raises, so does it, and the speech stops.
    """
    if hasattr(agent, "stream_mode"):  # a graph of LangGraph
        options.setdefault("stream_mode", "messages")
    return AgentSpeech(agent, inputs, speech, config or {}, options)


async def _read(turn: SpeechTurn, events: asyncio.Queue[Any], room: asyncio.Semaphore) -> None:
    try:
        await room.acquire()
        async for event in turn:
            events.put_nowait(event)
            await room.acquire()  # audio counts as played from when it is taken
    finally:
        events.put_nowait(_OVER)


def _with_handler(config: RunnableConfig, speech: KokoroSpeechCallbackHandler) -> RunnableConfig:
    """The config with the handler among its callbacks."""
    callbacks = ensure_config(config).get("callbacks")
    if callbacks is None:
        return {**config, "callbacks": [speech]}
    if isinstance(callbacks, list):
        return {**config, "callbacks": [*(c for c in callbacks if c is not speech), speech]}
    manager = callbacks.copy()
    manager.add_handler(speech, inherit=True)
    return {**config, "callbacks": manager}


@dataclass(frozen=True, slots=True)
class _Failed:
    error: Exception


_OVER: Final = object()
