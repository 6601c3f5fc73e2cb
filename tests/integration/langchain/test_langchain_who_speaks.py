"""Whose words are heard, and whose are not."""

import asyncio
import logging
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import FakeListLLM
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import tool
from langgraph.graph import END, START, MessagesState, StateGraph

from kokoro_sagemaker_agents import SpeechSession
from kokoro_sagemaker_agents.integrations.langchain import KokoroSpeechCallbackHandler, ModelRun

INPUT = {"messages": [("user", "Weather?")]}


@pytest.fixture
async def session(fake: Any) -> Any:
    async with SpeechSession.connect(fake.url) as opened:
        yield opened


async def hear(runnable: Any, speech: Any, listening: Any, given: Any = INPUT) -> list[Any]:
    """What a turn tells of a call whose tokens are streamed."""
    async with speech.turn() as turn:
        listener = listening(turn)
        if hasattr(runnable, "get_graph") and hasattr(runnable, "checkpointer"):
            stream = runnable.astream(given, {"callbacks": [speech]}, stream_mode="messages")
        else:
            stream = runnable.astream(given, {"callbacks": [speech]})
        async for _ in stream:
            pass
        events: list[Any] = await listener.done()
        assert len(speech._runs) == 0
        return events


def calling(model: Any, config: Any = None) -> Any:
    """A tool that asks a model."""

    @tool
    async def ask(question: str) -> str:
        """Ask."""
        return str((await model.ainvoke("x", config)).text)

    return ask


def calling_blocking(model: Any) -> Any:
    """A tool without async: LangChain runs it in a thread, and its callbacks with it."""

    @tool
    def ask(question: str) -> str:
        """Ask."""
        return str(model.invoke("x").text)

    return ask


def asking(scripted: Any) -> Any:
    return scripted([{"tool": "ask", "args": '{"question": "q"}'}], ["The answer."])


@pytest.mark.parametrize("how", ["inherited", "explicit", "thread", "subagent"])
async def test_a_model_inside_a_tool_is_silent(
    how: str, session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    inner = scripted(["Inner words."])
    if how == "thread":
        ask = calling_blocking(inner)
    elif how == "explicit":
        ask = calling(inner, {"callbacks": [speech]})
    elif how == "subagent":
        ask = calling_agent(create_agent(inner, name="researcher"))
    else:
        ask = calling(inner)
    await hear(create_agent(asking(scripted), tools=[ask]), speech, listening)
    assert fake.texts() == ["The answer."]


def calling_agent(agent: Any) -> Any:
    @tool
    async def ask(question: str) -> str:
        """Ask."""
        return str((await agent.ainvoke({"messages": [("user", question)]}))["messages"][-1].text)

    return ask


async def test_a_model_inside_a_tool_is_heard_on_demand(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session, inside_tools=True)
    agent = create_agent(asking(scripted), tools=[calling(scripted(["Inner words."]))])
    await hear(agent, speech, listening)
    assert fake.texts() == ["Inner words.", "The answer."]


def routed(router: Any, answerer: Any) -> Any:
    """A graph whose first node decides and whose second one answers."""

    async def route(state: MessagesState) -> Any:
        await router.ainvoke(state["messages"])
        return {}

    async def answer(state: MessagesState) -> Any:
        return {"messages": [await answerer.ainvoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("router", route)
    graph.add_node("answer", answer)
    graph.add_edge(START, "router")
    graph.add_edge("router", "answer")
    graph.add_edge("answer", END)
    return graph.compile()


@pytest.mark.parametrize(
    "choice",
    [
        {"nodes": ["answer"]},
        {"tags": ["voice"]},
        {"when": lambda run: isinstance(run, ModelRun) and run.node == "answer"},
    ],
    ids=lambda choice: next(iter(choice)),
)
async def test_a_router_is_silent_where_the_speaker_is_named(
    choice: Any, session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    router = scripted(['{"category": ', '"technical"}'])
    graph = routed(router, scripted(["Hello."]).with_config(tags=["voice"]))
    await hear(graph, KokoroSpeechCallbackHandler(session, **choice), listening)
    assert fake.texts() == ["Hello."]


async def test_only_named_agents_are_heard(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    graph = StateGraph(MessagesState)
    graph.add_node("first", create_agent(scripted(["From first."]), name="first"))
    graph.add_node("second", create_agent(scripted(["From second."]), name="second"))
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    speech = KokoroSpeechCallbackHandler(session, agents=["second"])
    events = await hear(graph.compile(), speech, listening)
    assert fake.texts() == ["From second."]
    assert (events[0].agent, events[0].node) == ("second", "model")


async def test_nostream_structured_output_and_summaries_are_silent(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    hidden = scripted(["Hidden words."]).with_config(tags=["nostream"])
    data = scripted(['{"a": 1}']).bind(
        ls_structured_output_format={"kwargs": {}, "schema": {"title": "a", "type": "object"}}
    )
    speech = KokoroSpeechCallbackHandler(session)
    await hear(routed(hidden, scripted(["Hello."])), speech, listening)
    await hear(routed(data, scripted(["Hello again."])), speech, listening)
    summarizer = scripted(["The summary."])
    agent = create_agent(
        scripted(["Good day."]),
        middleware=[
            SummarizationMiddleware(summarizer, trigger=("messages", 2), keep=("messages", 1))
        ],
    )
    given = {"messages": [("user", "a"), ("ai", "b"), ("user", "c")]}
    await hear(agent, speech, listening, given)
    assert summarizer.asked  # it did say something
    assert fake.texts() == ["Hello.", "Hello again.", "Good day."]


async def test_only_the_final_message_is_heard_when_that_is_wanted(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    model = scripted(["Let me look that up.", {"tool": "ask"}], ["Done. ", "Bye."])
    agent = create_agent(model, tools=[calling(scripted(["x"]))])
    await hear(agent, KokoroSpeechCallbackHandler(session, speak="final"), listening)
    assert fake.texts() == ["Done.", "Bye."]


async def test_a_node_without_streaming_is_heard_when_it_is_done(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    graph = routed(
        scripted(["x"], can_stream=False), scripted(["Whole ", "message."], can_stream=False)
    )
    await hear(graph, KokoroSpeechCallbackHandler(session, nodes=["answer"]), listening)
    assert fake.texts() == ["Whole message."]


async def test_a_completion_model_is_heard(session: Any, fake: Any, listening: Any) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    await hear(FakeListLLM(responses=["Just text."]), speech, listening, "prompt")
    assert fake.texts() == ["Just text."]


async def test_nothing_is_asked_of_the_server_for_a_message_without_words(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    model = scripted([{"tool": "ask", "args": '{"question": "q"}'}], [""])
    agent = create_agent(model, tools=[calling(scripted(["x"]))])
    events = await hear(agent, KokoroSpeechCallbackHandler(session), listening)
    assert fake.texts() == []
    assert [type(event).__name__ for event in events] == ["UtteranceDone"]


async def test_each_text_is_heard_once_when_the_handler_is_given_twice(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    model = scripted(["Only once."])
    model.callbacks = [speech]
    await hear(create_agent(model), speech, listening)
    assert fake.texts() == ["Only once."]


async def test_a_handler_given_to_the_model_alone_speaks_the_whole_turn(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    model = scripted(["One moment", {"tool": "ask", "args": '{"question": "q"}'}], ["Done."])
    model.callbacks = [speech]
    agent = create_agent(model, tools=[calling(scripted(["x"]))])
    async with speech.turn() as turn:
        listener = listening(turn)
        await agent.ainvoke(INPUT)
        await listener.done()
    assert fake.texts() == ["One moment", "Done."]


# --- several at a time ---


async def test_a_batch_is_spoken_one_reply_after_the_other(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    class Pace:
        async def __call__(self) -> None:
            await asyncio.sleep(0)

    models = {n: scripted([f"{n} one. ", Pace(), f"{n} two. ", Pace(), f"{n} three"]) for n in "AB"}
    chain = RunnableLambda(lambda which: models[which])
    speech = KokoroSpeechCallbackHandler(session, force_streaming=True)
    async with speech.turn(runs=2) as turn:
        listener = listening(turn)
        await chain.abatch(["A", "B"], {"callbacks": [speech]})
        await listener.done()
    said = fake.texts()
    assert sorted(said) == sorted(f"{n} {k}" for n in "AB" for k in ("one.", "two.", "three"))
    first = said[0][0]
    assert [text[0] for text in said] == [first] * 3 + [{"A": "B", "B": "A"}[first]] * 3


async def test_concurrent_turns_of_one_handler_do_not_mix(
    session: Any, fake: Any, scripted: Any, listening: Any
) -> None:
    speech = KokoroSpeechCallbackHandler(session)

    async def converse(name: str) -> bytes:
        agent = create_agent(scripted([f"I am {name}. ", f"{name} ", "says bye."]))
        events = await hear(agent, speech, listening)
        return b"".join(event.pcm for event in events if hasattr(event, "pcm"))

    names = ["Ann", "Bob", "Cleo"]
    heard = await asyncio.gather(*(one_of(converse, name) for name in names))
    for name, pcm in zip(names, heard, strict=True):
        assert pcm == fake.pcm(f"I am {name}.") + fake.pcm(f"{name} says bye.")


async def one_of(converse: Any, name: str) -> Any:
    return await asyncio.create_task(converse(name))


async def test_a_call_outside_every_turn_is_silent_and_says_so_once(
    session: Any, fake: Any, scripted: Any, caplog: pytest.LogCaptureFixture
) -> None:
    speech = KokoroSpeechCallbackHandler(session)
    agent = create_agent(scripted(["Nobody hears this."]))
    with caplog.at_level(logging.WARNING, logger="kokoro_sagemaker_agents"):
        for _ in range(2):
            await agent.ainvoke(INPUT, {"callbacks": [speech]})
    told = [record.message for record in caplog.records if "not spoken" in record.message]
    assert len(told) == 1
    assert "inside `async with speech.turn() as turn`" in told[0]
    assert fake.texts() == []
    assert len(speech._runs) == 0
