"""The history of a thread as its listener knows it: what was not heard was not said."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    RemoveMessage,
    ToolMessage,
)
from langchain_core.runnables import RunnableConfig

from kokoro_sagemaker_agents.errors import InvalidInput

from .turn import TurnMessage

# LangGraph's own names.
_END: Final = "__end__"
_REMOVE_ALL: Final = "__remove_all__"

_INTERRUPTED: Final = (
    "The user interrupted before this tool's result was used. It may or may not have run."
)


async def commit(
    graph: Any,
    config: RunnableConfig,
    messages: Sequence[TurnMessage],
    messages_key: str,
    as_node: str,
) -> None:
    """Make a thread's checkpoint say what was heard; see `SpeechTurn.commit_heard`."""
    state = await _call(graph, "get_state", config)
    if state.next:  # what was going on is over; results of tools that were done are kept
        config = await _call(graph, "update_state", config, None, as_node=_END)
        state = await _call(graph, "get_state", config)
    present = state.values.get(messages_key) if state.values else []  # a thread without anything
    if not isinstance(present, list) or not all(isinstance(m, BaseMessage) for m in present):
        raise InvalidInput(
            f"the graph's state has no list of messages under {messages_key!r}: pass messages_key"
        )
    updates = heard_updates(present, messages)
    if not updates:
        return
    config = await _call(graph, "update_state", config, {messages_key: updates}, as_node=as_node)
    await _call(graph, "update_state", config, None, as_node=_END)


async def _call(graph: Any, name: str, *args: Any, **kwargs: Any) -> Any:
    """A method of a graph, also of one whose checkpointer has only synchronous ones."""
    try:
        return await getattr(graph, f"a{name}")(*args, **kwargs)
    except NotImplementedError:
        return await asyncio.to_thread(getattr(graph, name), *args, **kwargs)


def heard_updates(
    present: Sequence[BaseMessage], messages: Sequence[TurnMessage]
) -> list[BaseMessage]:
    """What to give `add_messages`, so that a history has of a turn what was heard.

    Args:
        present: The history.
        messages: The turn's messages.
    """
    ours = {message.message_id: message for message in messages if message.message_id}
    wanted: list[BaseMessage] = []
    for message in present:
        told = ours.get(message.id or "")
        if told is None or not isinstance(message, AIMessage):
            wanted.append(message)
        elif (kept := _as_heard(message, told.heard)) is not None:
            wanted.append(kept)
    known = {message.id for message in present}
    for told in messages:
        if told.heard and (told.message_id is None or told.message_id not in known):
            said = AIMessage(content=told.heard, id=told.message_id)
            wanted.insert(_place_after(wanted, told.after_id), said)
    for message in wanted:
        if isinstance(message, AIMessage) and message.id in ours:
            _answer_calls(wanted, message)
    return _difference(present, wanted)


def _as_heard(message: AIMessage, heard: str) -> AIMessage | None:
    """The message without what was not heard; None if nothing is left of it."""
    if str(message.text).rstrip() == heard:
        return message
    if message.tool_calls or message.invalid_tool_calls:
        return message.model_copy(update={"content": _cut(message.content, len(heard))})
    if not heard:
        return None
    # Plain text: reasoning that led to the rest would not fit it, and no provider asks for it.
    return AIMessage(
        content=heard, id=message.id, name=message.name, usage_metadata=message.usage_metadata
    )


def _cut(content: str | list[Any], length: int) -> str | list[Any]:
    """The first characters of the text in a message's content; all that is not text."""
    if isinstance(content, str):
        return content[:length]
    kept: list[Any] = []
    for block in content:
        is_text = isinstance(block, str) or block.get("type") == "text"
        if not is_text:
            kept.append(block)
            continue
        text = block if isinstance(block, str) else block["text"]
        if text[:length]:
            kept.append(
                text[:length] if isinstance(block, str) else {**block, "text": text[:length]}
            )
        length = max(0, length - len(text))
    return kept


def _place_after(messages: Sequence[BaseMessage], message_id: str | None) -> int:
    """Where a message belongs that came after another one; at the end if that is gone."""
    for index, message in enumerate(messages):
        if message_id is not None and message.id == message_id:
            return index + 1
    return len(messages)


def _answer_calls(messages: list[BaseMessage], caller: AIMessage) -> None:
    """Give each of a message's tool calls that has no result one that says so."""
    answered = {m.tool_call_id for m in messages if isinstance(m, ToolMessage)}
    at = messages.index(caller) + 1
    while at < len(messages) and isinstance(messages[at], ToolMessage):
        at += 1
    for call in (*caller.tool_calls, *caller.invalid_tool_calls):
        call_id = call["id"]
        if call_id is not None and call_id not in answered:
            missing = ToolMessage(
                content=_INTERRUPTED,
                tool_call_id=call_id,
                name=call["name"],
                status="error",
                id=f"{call_id}-interrupted",
            )
            messages.insert(at, missing)
            at += 1


def _difference(present: Sequence[BaseMessage], wanted: list[BaseMessage]) -> list[BaseMessage]:
    """The updates that make one list of messages the other."""
    before = {message.id: message for message in present}
    after = {message.id for message in wanted}
    kept = [message for message in wanted if message.id in before]
    if wanted[: len(kept)] != kept:  # something is new in the middle
        return [RemoveMessage(id=_REMOVE_ALL), *wanted]
    gone = [RemoveMessage(id=message.id or "") for message in present if message.id not in after]
    changed = [message for message in kept if message is not before[message.id]]
    return [*gone, *changed, *wanted[len(kept) :]]
