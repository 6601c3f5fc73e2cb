"""The same words, once and in order, whichever way an agent is called and its model answers."""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.tools import tool

from kokoro_sagemaker_agents import AudioChunk, SpeechSession, UtteranceDone
from kokoro_sagemaker_agents.integrations.langchain import KokoroSpeechCallbackHandler

PREAMBLE = ["Let ", "me ", "check"]
ANSWER = ["It is ", "sunny. ", "Good", "bye."]
INPUT = {"messages": [("user", "Weather?")]}
SECRET = {"reasoning": "SECRET thought. "}


@tool
def weather(city: str) -> str:
    """The weather."""
    return "TOOL OUTPUT: 20 degrees."


async def _invoke(agent: Any, config: Any) -> None:
    await asyncio.to_thread(agent.invoke, INPUT, config)


async def _ainvoke(agent: Any, config: Any) -> None:
    await agent.ainvoke(INPUT, config)


async def _stream(agent: Any, config: Any) -> None:
    await asyncio.to_thread(lambda: list(agent.stream(INPUT, config, stream_mode="messages")))


async def _astream(agent: Any, config: Any) -> None:
    async for _ in agent.astream(INPUT, config, stream_mode="messages", subgraphs=True):
        pass


async def _astream_updates(agent: Any, config: Any) -> None:
    async for _ in agent.astream(INPUT, config, stream_mode="updates"):
        pass


async def _events_v2(agent: Any, config: Any) -> None:
    async for _ in agent.astream_events(INPUT, config, version="v2"):
        pass


async def _events_v3(agent: Any, config: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = await agent.astream_events(INPUT, config, version="v3")
        async for _ in run:
            pass


CALLS = [_invoke, _ainvoke, _stream, _astream, _astream_updates, _events_v2, _events_v3]


@pytest.mark.parametrize("shape", ["str", "blocks", "v1"])
@pytest.mark.parametrize("tells", [False, True], ids=["quiet", "tells"])
@pytest.mark.parametrize("streaming", [None, True, False], ids=["default", "streams", "whole"])
@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.__name__[1:])
async def test_every_call_path_says_the_same(
    call: Callable[[Any, Any], Any],
    streaming: bool | None,
    tells: bool,
    shape: str,
    fake: Any,
    scripted: Any,
    listening: Any,
) -> None:
    model = scripted(
        [SECRET, *PREAMBLE, {"tool": "weather", "args": '{"city": "TOOL ARGS"}'}],
        [SECRET, *ANSWER],
        tells=tells,
        shape=shape,
        streaming=streaming,
        can_stream=streaming is not False,
    )
    agent = create_agent(model, tools=[weather])
    async with SpeechSession.connect(fake.url) as session:
        speech = KokoroSpeechCallbackHandler(session)
        async with speech.turn() as turn:
            listener = listening(turn)
            await call(agent, {"callbacks": [speech]})
            events = await listener.done()
    assert fake.texts() == ["Let me check", "It is sunny.", "Goodbye."]
    pcm = b"".join(event.pcm for event in events if isinstance(event, AudioChunk))
    assert pcm == b"".join(fake.pcm(text) for text in fake.texts())
    assert [type(event) for event in events].count(UtteranceDone) == 1
    assert isinstance(events[-1], UtteranceDone)
    started = [event for event in events if type(event).__name__ == "MessageStarted"]
    assert [event.start for event in started] == [0, len("Let me check\n")]
    assert len(speech._runs) == 0


@pytest.mark.parametrize("call", ["invoke", "ainvoke"])
async def test_force_streaming_speaks_before_the_message_is_complete(
    call: str, fake: Any, scripted: Any, listening: Any
) -> None:
    heard = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait() -> Any:
        if call == "ainvoke":
            return asyncio.wait_for(heard.wait(), 10)
        return asyncio.run_coroutine_threadsafe(heard.wait(), loop).result(10)

    model = scripted(["One. ", "Two", wait, ". Three."])
    async with SpeechSession.connect(fake.url) as session:
        speech = KokoroSpeechCallbackHandler(session, force_streaming=True)
        async with speech.turn() as turn:
            listener = listening(turn)
            config = {"callbacks": [speech]}
            if call == "ainvoke":
                task = asyncio.create_task(create_agent(model).ainvoke(INPUT, config))
            else:
                task = asyncio.create_task(
                    asyncio.to_thread(create_agent(model).invoke, INPUT, config)
                )
            await listener.until(lambda events: any("One." in str(e) for e in events))
            heard.set()  # only now is the rest written
            await task
            await listener.done()
    assert fake.texts() == ["One.", "Two.", "Three."]
