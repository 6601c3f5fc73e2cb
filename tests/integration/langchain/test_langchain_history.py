"""After a barge-in the thread says what was heard, and the next turn is right."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from kokoro_sagemaker_agents import AudioChunk, InvalidInput, SpeechSession
from kokoro_sagemaker_agents.integrations.langchain import (
    KokoroSpeechCallbackHandler,
    TurnMessage,
)
from kokoro_sagemaker_agents.integrations.langchain.history import heard_updates

CONFIG: Any = {"configurable": {"thread_id": "t"}}
CALL = {"tool": "weather", "args": '{"city": "Paris"}'}
SAMPLES_PER_CHAR = 240


class Gate:
    """Where a model or a tool waits for the test, in the first turn."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.open = asyncio.Event()

    async def __call__(self) -> None:
        self.reached.set()
        await self.open.wait()


class Conversation:
    """An agent with a thread, and one turn of it that is interrupted."""

    def __init__(
        self, session: Any, model: Any, saver: Any, listening: Any, gate: Gate, **options: Any
    ) -> None:
        self.gate = gate
        tool_waits = options.pop("tool_waits", False)
        self.model = model
        self.speech = KokoroSpeechCallbackHandler(session, **options)
        self._listening = listening

        @tool
        async def weather(city: str) -> str:
            """The weather."""
            if tool_waits:
                await gate()
            return "20 degrees"

        self.agent = create_agent(model, tools=[weather], checkpointer=saver)

    async def interrupted(self, said: str, *, finished: bool = False) -> Any:
        """Ask; interrupt once `said` was heard and the agent waits or has finished."""
        config = {**CONFIG, "callbacks": [self.speech]}
        async with self.speech.turn() as turn:
            listener = self._listening(turn)
            task = asyncio.create_task(self._run(config))
            await (task if finished else self.gate.reached.wait())
            samples = len(said) * SAMPLES_PER_CHAR
            await listener.until(
                lambda events: (
                    sum(e.samples for e in events if isinstance(e, AudioChunk)) >= samples
                )
            )
            turn.played(samples)
            await turn.interrupt()
            task.cancel()
            await asyncio.wait([task])
            heard = await turn.commit_heard(self.agent, CONFIG)
            await listener.done()
        self.gate.open.set()
        return heard

    async def _run(self, config: Any) -> None:
        given = {"messages": [("user", "Weather?")]}
        async for _ in self.agent.astream(given, config, stream_mode="messages"):
            pass

    async def history(self) -> list[tuple[type, str]]:
        state = await self.agent.aget_state(CONFIG)
        assert state.next == ()
        return [(type(m), str(m.text)) for m in state.values["messages"]]

    async def next_turn(self) -> list[tuple[type, str]]:
        """What the model is given at the next question; it has been answered."""
        result = await self.agent.ainvoke({"messages": [("user", "And now?")]}, CONFIG)
        assert isinstance(result["messages"][-1], AIMessage)
        return [(type(m), str(m.text)) for m in self.model.asked[-1]]


@pytest.fixture(params=["memory", "sqlite"])
async def saver(request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
    else:
        async with AsyncSqliteSaver.from_conn_string(":memory:") as opened:
            yield opened


@pytest.fixture
async def session(fake: Any) -> AsyncIterator[Any]:
    async with SpeechSession.connect(fake.url) as opened:
        yield opened


ASKED = (HumanMessage, "Weather?")
AGAIN = (HumanMessage, "And now?")


@pytest.mark.parametrize("shape", ["str", "blocks"])
async def test_barge_in_before_a_tool_call(
    shape: str, saver: Any, session: Any, scripted: Any, listening: Any
) -> None:
    gate = Gate()
    model = scripted(["Let me see now. ", "I will", gate, CALL], ["Bye."], shape=shape)
    talk = Conversation(session, model, saver, listening, gate)
    heard = await talk.interrupted("Let me see")
    assert heard.text == "Let me see"
    assert await talk.history() == [ASKED, (AIMessage, "Let me see")]
    assert await talk.next_turn() == [ASKED, (AIMessage, "Let me see"), AGAIN]


@pytest.mark.parametrize("shape", ["str", "blocks"])
async def test_barge_in_during_a_tool_call(
    shape: str, saver: Any, session: Any, scripted: Any, listening: Any
) -> None:
    model = scripted(["Let me check that", CALL], ["Bye."], shape=shape)
    talk = Conversation(session, model, saver, listening, Gate(), tool_waits=True)
    await talk.interrupted("Let me check")
    history = await talk.history()
    assert [kind for kind, _ in history] == [HumanMessage, AIMessage, ToolMessage]
    assert history[1][1] == "Let me check"
    assert "interrupted" in history[2][1]
    assert await talk.next_turn() == [*history, AGAIN]
    _, asking, answer, *_ = model.asked[-1]
    assert asking.tool_calls[0]["id"] == answer.tool_call_id


@pytest.mark.parametrize("shape", ["str", "blocks"])
async def test_barge_in_after_a_tool_call(
    shape: str, saver: Any, session: Any, scripted: Any, listening: Any
) -> None:
    gate = Gate()
    answer = ["It is sunny. ", "And", gate, " warm."]
    model = scripted(["Let me check", CALL], answer, ["Bye."], shape=shape)
    talk = Conversation(session, model, saver, listening, gate)
    heard = await talk.interrupted("Let me check" + "It is")
    assert heard.text == "Let me check\nIt is"
    expected = [
        ASKED,
        (AIMessage, "Let me check"),
        (ToolMessage, "20 degrees"),
        (AIMessage, "It is"),
    ]
    assert await talk.history() == expected
    assert await talk.next_turn() == [*expected, AGAIN]


@pytest.mark.parametrize("shape", ["str", "blocks"])
async def test_a_message_that_is_in_the_thread_already_is_cut_under_its_own_id(
    shape: str, saver: Any, session: Any, scripted: Any, listening: Any
) -> None:
    thought = {"reasoning": "Hm."}
    model = scripted([thought, "One two three. ", "Four five."], ["Bye."], shape=shape)
    talk = Conversation(session, model, saver, listening, Gate())
    await talk.interrupted("One two", finished=True)
    assert await talk.history() == [ASKED, (AIMessage, "One two")]
    assert await talk.next_turn() == [ASKED, (AIMessage, "One two"), AGAIN]


async def test_an_answer_of_which_nothing_was_heard_was_not_given(
    saver: Any, session: Any, scripted: Any, listening: Any
) -> None:
    talk = Conversation(session, scripted(["One two."], ["Bye."]), saver, listening, Gate())
    await talk.interrupted("", finished=True)
    assert await talk.next_turn() == [ASKED, AGAIN]


async def test_an_answer_that_was_heard_whole_is_left_as_it_is(
    saver: Any, session: Any, scripted: Any, listening: Any
) -> None:
    model = scripted(["Let me check", CALL], ["**One** two.\n"], ["Bye."], shape="blocks")
    talk = Conversation(session, model, saver, listening, Gate())
    await talk.interrupted("Let me check" + "One two.", finished=True)
    state = await talk.agent.aget_state(CONFIG)
    assert len([one async for one in talk.agent.aget_state_history(CONFIG)]) == 5
    assert state.values["messages"][-1].content[0]["text"] == "**One** two.\n"


async def test_what_an_agent_says_after_the_barge_in_was_not_heard(
    saver: Any, session: Any, scripted: Any, listening: Any
) -> None:
    model = scripted(["One moment", CALL], ["Too late."], ["Bye."])
    gate = Gate()
    talk = Conversation(session, model, saver, listening, gate, tool_waits=True)
    config = {**CONFIG, "callbacks": [talk.speech]}
    async with talk.speech.turn() as turn:
        listener = listening(turn)
        task = asyncio.create_task(talk._run(config))
        await gate.reached.wait()
        await listener.until(lambda events: any(isinstance(e, AudioChunk) for e in events))
        turn.played(len("One") * SAMPLES_PER_CHAR)
        await turn.interrupt()
        gate.open.set()
        await task  # nobody has cancelled it
        await turn.commit_heard(talk.agent, CONFIG)
    expected = [ASKED, (AIMessage, "One"), (ToolMessage, "20 degrees")]
    assert await talk.history() == expected
    assert await talk.next_turn() == [*expected, AGAIN]


async def test_a_checkpointer_without_async_methods_will_do(
    session: Any, scripted: Any, listening: Any
) -> None:
    connection = sqlite3.connect(":memory:", check_same_thread=False)
    agent = create_agent(scripted(["One two. "]), checkpointer=SqliteSaver(connection))
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        listener = listening(turn)
        given = {"messages": [("user", "Weather?")]}
        await asyncio.to_thread(agent.invoke, given, {**CONFIG, "callbacks": [speech]})
        await listener.done()
        turn.played(len("One") * SAMPLES_PER_CHAR)
        await turn.commit_heard(agent, CONFIG)
    messages = agent.get_state(CONFIG).values["messages"]
    assert [m.text for m in messages] == ["Weather?", "One"]
    connection.close()


async def test_a_state_without_messages_is_told(
    session: Any, scripted: Any, listening: Any
) -> None:
    agent = create_agent(scripted(["One two. "]), checkpointer=InMemorySaver())
    speech = KokoroSpeechCallbackHandler(session)
    async with speech.turn() as turn:
        await agent.ainvoke({"messages": [("user", "x")]}, {**CONFIG, "callbacks": [speech]})
        with pytest.raises(InvalidInput, match="messages_key"):
            await turn.commit_heard(agent, CONFIG, messages_key="jump_to")


def test_a_message_that_comes_too_late_is_put_where_it_was_said() -> None:
    history = [HumanMessage("a", id="1"), HumanMessage("b", id="2")]
    said = TurnMessage(
        run_id=AIMessage("").id,  # type: ignore[arg-type]  # of no importance here
        message_id="ai", after_id="1", text="Hello there.", heard="Hello", complete=False,
    )  # fmt: skip
    _, *updates = heard_updates(history, [said])
    assert [(m.id, m.text) for m in updates] == [("1", "a"), ("ai", "Hello"), ("2", "b")]
