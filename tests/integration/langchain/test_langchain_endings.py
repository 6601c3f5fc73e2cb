"""How a turn ends: tool calls, retries, cancellation, failures on either side."""

import asyncio
import logging
import warnings
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware, ModelRetryMiddleware
from langchain_core.caches import InMemoryCache
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkFailed,
    InvalidInput,
    SessionClosed,
    SpeechSession,
    UtteranceCancelled,
    UtteranceDone,
)
from kokoro_sagemaker_agents.integrations.langchain import (
    KokoroSpeechCallbackHandler,
    TurnFailed,
)

INPUT = {"messages": [("user", "Weather?")]}


@pytest.fixture
async def session(fake: Any) -> Any:
    async with SpeechSession.connect(fake.url, reconnect_s=0) as opened:
        yield opened


def tool_that(wait: Any) -> Any:
    @tool
    async def weather(city: str) -> str:
        """The weather."""
        await wait()
        return "20 degrees"

    return weather


CALL = {"tool": "weather", "args": '{"city": "Paris"}'}


async def drain(stream: Any) -> None:
    async for _ in stream:
        pass


async def test_words_before_a_tool_call_are_heard_before_the_tool_is_done(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    model = scripted(["Let me check", CALL], ["Sunny."])
    speech = KokoroSpeechCallbackHandler(session)
    agent = create_agent(model, tools=[tool_that(lambda: fake.until(lambda: fake.texts()))])
    async with speech.turn() as turn:
        listener = listening(turn)
        await drain(agent.astream(INPUT, {"callbacks": [speech]}, stream_mode="messages"))
        await listener.done()
    assert fake.texts() == ["Let me check", "Sunny."]


@pytest.mark.parametrize(
    ("pieces", "said"),
    [
        (["<thi", "nk>sec", "ret</th", "ink>", "Hi."], ["Hi."]),
        (["<think>", "never closed. ", "Not this. "], []),
        (
            ["# Title\n", "**bold**\n", "- item\n", "`code` and [the ", "link](http://a.b/c)."],
            None,
        ),
        (["✅ Done ⚙️ ", "now. ┌─┐"], ["Done now."]),
    ],
    ids=["split tags", "unclosed", "markdown", "emoji"],
)
async def test_reasoning_and_markup_in_the_text_are_not_said(
    pieces: list[str],
    said: list[str] | None,
    session: Any,
    fake: Any,
    scripted: Any,
    listening: Any,
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        await drain(scripted(pieces).astream("x", {"callbacks": [speech]}))
        assert isinstance((await listener.done())[-1], UtteranceDone)
    if said is not None:
        assert fake.texts() == said
    text = " ".join(fake.texts())
    assert not set("*#`[]()") & set(text)
    assert "http" not in text


# --- cancellation ---


class Gate:
    """Where a model waits for the test."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await self.open.wait()


def events_v3(agent: Any, config: Any) -> Any:
    async def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            await drain(await agent.astream_events(INPUT, config, version="v3"))

    return run()


PATHS = {
    "agent.astream": lambda a, m, c: drain(a.astream(INPUT, c, stream_mode="messages")),
    "agent.ainvoke": lambda a, m, c: a.ainvoke(INPUT, c),
    "agent.astream_events": events_v3,
    "model.astream": lambda a, m, c: drain(m.astream("x", c)),
    "model.ainvoke": lambda a, m, c: m.ainvoke("x", c),
}


@pytest.mark.parametrize("path", PATHS)
async def test_a_cancelled_call_ends_the_turn_and_the_session_goes_on(
    path: str, session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    gate = Gate()
    model = scripted(["One. ", "Tw", gate, "o."])
    agent = create_agent(model)
    speech = KokoroSpeechCallbackHandler(session)
    call = PATHS[path]
    async with speech.turn() as turn:
        listener = listening(turn)
        config = {"callbacks": [speech]}
        arguments = (agent, config) if path == "agent.astream_events" else (agent, model, config)
        task = asyncio.create_task(call(*arguments))
        await gate.reached.wait()
        task.cancel()
        await asyncio.wait([task])
        assert isinstance((await listener.done())[-1], UtteranceDone)
    assert fake.texts() in ([], ["One."])  # the half sentence is dropped
    assert len(speech._runs) == 0
    async with speech.turn() as turn:
        listener = listening(turn)
        await drain(scripted(["Again."]).astream("x", {"callbacks": [speech]}))
        await listener.done()
    assert fake.texts()[-1] == "Again."


async def test_a_stream_that_is_left_half_way_ends_the_turn(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    agent = create_agent(scripted(["One. ", "Two", Gate(), ". Three."]))
    async with speech.turn() as turn:
        listener = listening(turn)
        stream = agent.astream(INPUT, {"callbacks": [speech]}, stream_mode="messages")
        async for _ in stream:
            break
        await stream.aclose()
        assert isinstance((await listener.done())[-1], UtteranceDone)
    assert fake.texts() == ["One."]


async def test_a_stream_read_by_many_tasks_is_heard_whole(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        stream = scripted(["One. ", "Two. ", "Three."]).astream("x", {"callbacks": [speech]})
        while await asyncio.create_task(anext(stream, None)) is not None:
            pass
        await listener.done()
    assert fake.texts() == ["One.", "Two.", "Three."]


async def test_leaving_the_turn_early_cancels_the_speech_but_not_the_agent(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    gate = Gate()
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        agent = create_agent(scripted(["One. ", "x", gate, "Two."], streaming=True))
        task = asyncio.create_task(agent.ainvoke(INPUT, {"callbacks": [speech]}))
        await gate.reached.wait()
    assert isinstance((await listener.done())[-1], UtteranceCancelled)
    gate.open.set()
    assert (await task)["messages"][-1].text == "One. xTwo."
    assert len(speech._runs) == 0


async def test_an_interrupt_for_a_human_is_a_normal_end(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    agent = create_agent(
        scripted(["May I", CALL]),
        tools=[tool_that(lambda: asyncio.sleep(0))],
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"weather": True})],
        checkpointer=InMemorySaver(),
    )
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        config = {"callbacks": [speech], "configurable": {"thread_id": "1"}}
        await drain(agent.astream(INPUT, config, stream_mode="messages"))
        assert isinstance((await listener.done())[-1], UtteranceDone)
    assert fake.texts() == ["May I"]


async def test_interrupt_tells_what_was_heard_to_the_word(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    text = ["One two three four five", " six seven. ", "And more."]
    async with speech.turn() as turn:
        listener = listening(turn)
        await drain(scripted(text).astream("x", {"callbacks": [speech]}))
        said = 240 * len("One two three four five")
        await listener.until(
            lambda events: sum(e.samples for e in events if isinstance(e, AudioChunk)) >= said
        )
        turn.played(said)
        heard = await turn.interrupt()
        rest = "".join(text)[heard.char_end :]
        assert heard.text == "One two three four five"
        assert heard.text + rest == "".join(text)
        (message,) = turn.messages
        assert (message.heard, message.complete) == ("One two three four five", False)
        await listener.done()


# --- another attempt ---


def failing(scripted: Any, *attempts: list[Any], **options: Any) -> Any:
    return scripted(*attempts, streaming=True, **options)


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (["Hello wor", "ld. It", " is"], ["Hello ", "world. ", "It is late."],
         ["Hello world.", "It is late."]),
        (["Hello wor"], ["Hello world."], ["Hello world."]),
        (["Hello world. It"], ["Hello wonder. ", "Hm."], ["Hello world.", "Hello wonder.", "Hm."]),
        (["One. Two. Th"], ["One. ", "Too. ", "Three."], ["One.", "Two.", "Too.", "Three."]),
        (["One. Two. Th"], ["One. "], ["One.", "Two."]),
    ],
    ids=["same", "nothing said", "other words", "other sentence", "shorter"],
)  # fmt: skip
async def test_another_attempt_does_not_repeat_what_was_said(
    first: list[str],
    second: list[str],
    said: list[str],
    session: Any,
    fake: Any,
    scripted: Any,
    listening: Any,
) -> None:
    model = failing(scripted, [*first, ConnectionError("lost")], second)
    agent = create_agent(model, middleware=[ModelRetryMiddleware(max_retries=1, initial_delay=0)])
    speech = KokoroSpeechCallbackHandler(session, first_chunk="sentence")
    async with speech.turn() as turn:
        listener = listening(turn)
        await agent.ainvoke(INPUT, {"callbacks": [speech]})
        await listener.done()
        (message,) = turn.messages  # the failed attempt is not one
        assert message.text == "".join(second)
    assert fake.texts() == said


async def test_a_fallback_model_goes_on_where_the_first_one_stopped(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    broken = failing(scripted, ["Hello there. Wh", ConnectionError("lost")])
    model = broken.with_fallbacks([failing(scripted, ["Hello there. ", "What now?"])])
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        await model.ainvoke("x", {"callbacks": [speech]})
        await listener.done()
    assert fake.texts() == ["Hello there.", "What now?"]


async def test_another_attempt_may_start_over(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    model = failing(scripted, ["Hello there. Wh", ConnectionError("lost")], ["Hello there. Bye."])
    speech = KokoroSpeechCallbackHandler(session, on_retry="restart")
    async with speech.turn() as turn:
        listener = listening(turn)
        retried = model.with_retry(stop_after_attempt=2, wait_exponential_jitter=False)
        await retried.ainvoke("x", {"callbacks": [speech]})
        await listener.done()
    assert fake.texts() == ["Hello there.", "Hello there.", "Bye."]


async def test_an_agent_that_fails_ends_the_turn(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    agent = create_agent(scripted(["Done. Half", ValueError("no more")]))
    async with speech.turn() as turn:
        listener = listening(turn)
        with pytest.raises(ValueError, match="no more"):
            await drain(agent.astream(INPUT, {"callbacks": [speech]}, stream_mode="messages"))
        assert isinstance((await listener.done())[-1], UtteranceDone)
    assert fake.texts() == ["Done."]


async def test_a_cached_reply_is_heard(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    model = scripted(["From the cache."])
    model.cache = InMemoryCache()
    speech = KokoroSpeechCallbackHandler(session)
    await model.ainvoke("x")
    for _ in range(2):
        async with speech.turn() as turn:
            listener = listening(turn)
            await model.ainvoke("x", {"callbacks": [speech]})
            await listener.done()
    assert len(model.asked) == 1
    assert fake.texts() == ["From the cache."] * 2


# --- the speech fails ---


async def test_a_lost_server_does_not_disturb_the_agent(
    session: Any, fake: Any, scripted: Any, listening: Any, caplog: pytest.LogCaptureFixture
) -> None:
    async def vanish() -> None:
        fake.vanish()
        await asyncio.wait_for(listener.task, 10)

    agent = create_agent(scripted(["One. ", "Two. ", vanish, "Three. ", "Four."], streaming=True))
    speech = KokoroSpeechCallbackHandler(session)
    fake.allow(0)
    async with speech.turn() as turn:
        listener = listening(turn)
        with caplog.at_level(logging.WARNING, logger="langchain_core"):
            result = await agent.ainvoke(INPUT, {"callbacks": [speech]})
        assert isinstance((await listener.done())[-1], TurnFailed)
    assert result["messages"][-1].text == "One. Two. Three. Four."
    assert not caplog.records or all(r.name.startswith("kokoro") for r in caplog.records)


async def test_a_closed_session_does_not_disturb_the_agent(
    fake: Any, scripted: Any, listening: Any
) -> None:
    async with SpeechSession.connect(fake.url) as session:
        speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        result = await create_agent(scripted(["Hello."])).ainvoke(INPUT, {"callbacks": [speech]})
        (event,) = await listener.done()
        assert isinstance(event, TurnFailed)
        assert isinstance(event.error, SessionClosed)
        assert (await turn.interrupt()).text == ""
    assert result["messages"][-1].text == "Hello."


async def test_a_sentence_that_cannot_be_said_is_left_out(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        await drain(scripted(["One. ", "FAIL. ", "Two."]).astream("x", {"callbacks": [speech]}))
        events = await listener.done()
    assert [type(e) for e in events].count(ChunkFailed) == 1
    assert isinstance(events[-1], UtteranceDone)


async def test_an_engine_that_does_nothing_does_not_hold_the_agent(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    fake.allow(0)
    speech = KokoroSpeechCallbackHandler(session)
    agent = create_agent(scripted([f"Sentence {n}. " for n in range(50)]))
    async with speech.turn() as turn:
        listener = listening(turn)
        await drain(agent.astream(INPUT, {"callbacks": [speech]}, stream_mode="messages"))
        assert not listener.task.done()  # the agent is, although nothing was spoken
        fake.allow(float("inf"))
        await listener.done()
    assert len(fake.texts()) == 50


# --- other loops ---


async def test_a_blocking_call_in_asynchronous_code_is_heard(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        create_agent(scripted(["One. ", "Two."], streaming=True)).invoke(
            INPUT, {"callbacks": [speech]}
        )
        await listener.done()
    assert fake.texts() == ["One.", "Two."]


async def test_an_agent_in_another_event_loop_is_heard(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    agent = create_agent(scripted(["One. ", "Two. ", "Three."], streaming=True))
    async with speech.turn() as turn:
        listener = listening(turn)
        await asyncio.to_thread(lambda: asyncio.run(agent.ainvoke(INPUT, {"callbacks": [speech]})))
        await listener.done()
    assert fake.texts() == ["One.", "Two.", "Three."]


async def test_options_that_cannot_be_are_told_at_once(session: Any) -> None:
    with pytest.raises(InvalidInput, match="speak 'some'"):
        KokoroSpeechCallbackHandler(session, speak="some")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="runs must be"):
        KokoroSpeechCallbackHandler(session).turn(runs=0)
    with pytest.raises(InvalidInput, match="xx"):
        async with KokoroSpeechCallbackHandler(session, language="xx").turn():
            pass
