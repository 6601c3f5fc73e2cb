"""The other ways to speak: a link of a chain, one merged stream, LangGraph's event streaming."""

import asyncio
import json
import warnings
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from kokoro_sagemaker_agents import (
    AudioChunk,
    InvalidInput,
    SpeechSession,
    UtteranceCancelled,
    UtteranceDone,
)
from kokoro_sagemaker_agents.integrations.langchain import (
    AgentEvent,
    KokoroSpeechCallbackHandler,
    KokoroSpeechMiddleware,
    SpeechTransformer,
    Spoken,
    TurnFailed,
    astream_speech,
    speak,
)

INPUT: Any = {"messages": [("user", "Weather?")]}
CALL = {"tool": "weather", "args": '{"city": "Paris"}'}


@tool
async def weather(city: str) -> str:
    """The weather."""
    return "TOOL OUTPUT"


@pytest.fixture
async def session(fake: Any) -> AsyncIterator[Any]:
    async with SpeechSession.connect(fake.url) as opened:
        yield opened


class Gate:
    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await self.open.wait()


def talking(scripted: Any, **options: Any) -> Any:
    model = scripted(["Let me check", CALL], ["It is ", "sunny. ", "Bye."], **options)
    return create_agent(model, tools=[weather], name="main")


SAID = ["Let me check", "It is sunny.", "Bye."]

# --- speak ---


async def test_a_chain_with_speak_streams_speech_while_the_model_writes(
    session: Any, fake: Any, scripted: Any
) -> None:
    gate = Gate()
    chain = scripted(["One. ", "Two", gate, " three."]) | speak(session)
    events = []
    async for spoken in chain.astream("x"):
        events += spoken.events
        if isinstance(events[-1], AudioChunk):
            gate.open.set()  # only now is the rest written
    assert isinstance(events[-1], UtteranceDone)
    assert fake.texts() == ["One.", "Two three."]


async def test_a_chain_with_speak_gives_the_whole_speech(
    session: Any, fake: Any, scripted: Any
) -> None:
    whole = await (scripted(["One. ", "Two."]) | speak(session)).ainvoke("x")
    assert isinstance(whole, Spoken)
    assert whole.text == "One. Two."
    assert whole.pcm == fake.pcm("One.") + fake.pcm("Two.")


@pytest.mark.parametrize("subgraphs", [False, True])
async def test_speak_takes_an_agents_stream(
    subgraphs: bool, session: Any, fake: Any, scripted: Any
) -> None:
    stream = talking(scripted).astream(INPUT, stream_mode="messages", subgraphs=subgraphs)
    events = [event async for event in speak(session).atransform(stream)]
    assert fake.texts() == SAID
    assert isinstance(events[-1].events[0], UtteranceDone)


async def test_speak_takes_what_an_agent_hands_on(session: Any, fake: Any, scripted: Any) -> None:
    await (talking(scripted) | speak(session)).ainvoke(INPUT)
    assert fake.texts() == ["It is sunny.", "Bye."]
    async for _ in (talking(scripted) | speak(session)).astream(INPUT):
        pass
    assert fake.texts()[2:] == SAID


async def test_a_message_whose_pieces_were_spoken_is_not_spoken_again(
    session: Any, fake: Any
) -> None:
    async def items() -> AsyncIterator[Any]:
        yield AIMessageChunk("Once", id="1"), {}
        yield AIMessageChunk(" only.", id="1"), {}
        yield AIMessage("Once only.", id="1"), {}
        yield ToolMessage("Output.", tool_call_id="c"), {}
        yield HumanMessage("Summary."), {}
        yield AIMessageChunk("Inner.", id="2"), {"langgraph_checkpoint_ns": "tools:7|model:8"}
        yield AIMessageChunk("Hidden.", id="3"), {"tags": ["nostream"]}

    async for _ in speak(session).atransform(items()):
        pass
    assert fake.texts() == ["Once only."]


async def test_speak_raises_what_its_source_does_after_what_was_written(
    session: Any, fake: Any
) -> None:
    async def items() -> AsyncIterator[Any]:
        yield "One. "
        raise ConnectionError("lost")

    with pytest.raises(ConnectionError, match="lost"):
        async for _ in speak(session).atransform(items()):
            pass
    assert fake.texts() == ["One."]


async def test_speak_tells_what_it_cannot_take(session: Any) -> None:
    with pytest.raises(InvalidInput, match="not int"):
        await speak(session).ainvoke(7)


# --- astream_speech ---


async def test_one_stream_has_the_agents_events_and_the_speech(
    session: Any, fake: Any, scripted: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    events = [e async for e in astream_speech(talking(scripted), INPUT, speech)]
    assert fake.texts() == SAID
    written = [e.item[0].text for e in events if isinstance(e, AgentEvent)]
    assert "sunny. " in written
    assert "TOOL OUTPUT" in written
    assert b"".join(e.pcm for e in events if isinstance(e, AudioChunk)) == b"".join(
        map(fake.pcm, SAID)
    )
    assert [type(e) for e in events].count(UtteranceDone) == 1


async def test_the_merged_stream_has_audio_while_the_agent_is_writing(
    session: Any, fake: Any, scripted: Any
) -> None:
    gate = Gate()
    speech = KokoroSpeechCallbackHandler(session)
    model = scripted(["One. ", "Two", gate, "."])
    async for event in astream_speech(model, "x", speech, {"tags": ["mine"]}):
        if isinstance(event, AudioChunk):
            gate.open.set()
    assert fake.texts() == ["One.", "Two."]


async def test_the_merged_stream_raises_what_the_agent_does(session: Any, scripted: Any) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    with pytest.raises(ValueError, match="broken"):
        async for _ in astream_speech(scripted(["One. ", ValueError("broken")]), "x", speech):
            pass


async def test_a_merged_stream_without_a_voice_is_that_of_the_agent(
    fake: Any, scripted: Any
) -> None:
    async with SpeechSession.connect(fake.url) as session:
        speech = KokoroSpeechCallbackHandler(session)
    events = [e async for e in astream_speech(scripted(["One. ", "Two."]), "x", speech)]
    assert "".join(e.item.text for e in events if isinstance(e, AgentEvent)) == "One. Two."
    assert [type(e) for e in events].count(TurnFailed) == 1


async def test_two_merged_streams_read_by_one_task_do_not_mix(
    session: Any, fake: Any, scripted: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    streams = [
        astream_speech(create_agent(scripted([f"I am {n}. ", f"Bye {n}."])), INPUT, speech)
        for n in ("Ann", "Bob")
    ]
    pcm = [b"", b""]
    open_streams = {0, 1}
    while open_streams:
        for at in sorted(open_streams):
            event = await anext(streams[at], None)
            if event is None:
                open_streams.discard(at)
            elif isinstance(event, AudioChunk):
                pcm[at] += event.pcm
    assert pcm == [fake.pcm(f"I am {n}.") + fake.pcm(f"Bye {n}.") for n in ("Ann", "Bob")]


async def test_interrupting_a_merged_stream_stops_both_and_the_thread_knows(
    session: Any, fake: Any, scripted: Any
) -> None:
    gate = Gate()
    model = scripted(["One two. ", "Three", gate], ["Bye."])
    agent = create_agent(model, checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    speech = KokoroSpeechCallbackHandler(session)
    stream = astream_speech(agent, INPUT, speech, config)
    events = []
    async for event in stream:
        events.append(event)
        if isinstance(event, AudioChunk) and gate.reached.is_set():
            stream.turn.played(240 * len("One"))
            assert (await stream.interrupt()).text == "One"
            await stream.turn.commit_heard(agent, config)
    assert isinstance(events[-1], UtteranceCancelled)
    await agent.ainvoke({"messages": [("user", "And?")]}, config)
    assert [m.text for m in model.asked[-1]] == ["Weather?", "One", "And?"]


async def test_leaving_a_merged_stream_stops_the_agent(session: Any, scripted: Any) -> None:
    gate = Gate()
    speech = KokoroSpeechCallbackHandler(session)
    async with astream_speech(scripted(["One. ", gate]), "x", speech) as stream:
        async for _ in stream:
            break
    assert not any(task.get_name() == "kokoro-agent" for task in asyncio.all_tasks())
    assert len(speech._runs) == 0


# --- LangGraph's event streaming ---


@pytest.mark.parametrize("how", ["transformers", "middleware"])
@pytest.mark.parametrize("tells", [False, True])
async def test_an_agents_event_stream_has_its_speech(
    how: str, tells: bool, session: Any, fake: Any, scripted: Any
) -> None:
    inner = create_agent(scripted(["Inner words."]))

    @tool
    async def weather(city: str) -> str:
        """The weather."""
        return str((await inner.ainvoke({"messages": [("user", city)]}))["messages"][-1].text)

    model = scripted(["Let me check", CALL], ["It is ", "sunny. ", "Bye."], tells=tells)
    options: Any = (
        {"transformers": [SpeechTransformer.factory(session)]}
        if how == "transformers"
        else {"middleware": [KokoroSpeechMiddleware(session, voice="bf_emma")]}
    )
    agent = create_agent(model, tools=[weather], **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # v3 is a beta of LangChain's
        run = await agent.astream_events(INPUT, version="v3")
        events = [event async for event in run.extensions["speech"]]
    assert fake.texts() == SAID
    assert b"".join(e.pcm for e in events if isinstance(e, AudioChunk)) == b"".join(
        map(fake.pcm, SAID)
    )
    assert isinstance(events[-1], UtteranceDone)
    assert (await run.output())["messages"][-1].text == "It is sunny. Bye."


async def test_speech_comes_while_the_graph_has_nothing_to_tell(
    session: Any, fake: Any, scripted: Any
) -> None:
    gate = Gate()
    model = scripted(["One. ", "Two", gate, "."])
    agent = create_agent(model, transformers=[SpeechTransformer.factory(session)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = await agent.astream_events(INPUT, version="v3")
        async for event in run.extensions["speech"]:
            if isinstance(event, AudioChunk):
                gate.open.set()
    assert fake.texts() == ["One.", "Two."]


async def test_the_graphs_own_stream_carries_the_speech_as_json(
    session: Any, fake: Any, scripted: Any
) -> None:
    agent = create_agent(scripted(["One."]), transformers=[SpeechTransformer.factory(session)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = await agent.astream_events(INPUT, version="v3")
        told = [e["params"]["data"] async for e in run if e["method"] == "custom:speech"]
    told = json.loads(json.dumps(told))
    kinds = [event["type"] for event in told]
    assert kinds[:3] == ["message_started", "chunk_started", "word_timestamps"]
    assert kinds[-2:] == ["chunk_done", "utterance_done"]
    assert told[2]["words"][0]["text"] == "One."
    assert {e["sample_rate"] for e in told if e["type"] == "audio_chunk"} == {24_000}


async def test_a_graph_that_fails_stops_its_speech(session: Any, fake: Any, scripted: Any) -> None:
    model = scripted(["One. ", ValueError("broken")])
    agent = create_agent(model, transformers=[SpeechTransformer.factory(session)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run = await agent.astream_events(INPUT, version="v3")
        with pytest.raises(ValueError, match="broken"):
            async for _ in run.extensions["speech"]:
                pass
