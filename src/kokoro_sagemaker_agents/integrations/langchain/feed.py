"""What a stream of LangChain yields, fed into a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage

from kokoro_sagemaker_agents.errors import InvalidInput

from .content import calls_tool, event_calls_tool, text_of_event
from .runs import Audience, ModelRun
from .script import Speaker
from .turn import SpeechTurn


class Feed:
    """Takes what streams yield: strings, messages, and what LangGraph wraps them in.

    Of messages only an agent's own are spoken, and of those what an audience wants; a message whose
    pieces were spoken is not spoken again when it comes as a whole.

    Args:
        turn: Where the words go; open.
        audience: Decides on messages that come with metadata.
    """

    def __init__(self, turn: SpeechTurn, audience: Audience) -> None:
        self._turn = turn
        self._audience = audience
        self._runs: dict[str | None, UUID | None] = {}  # by message id; None if it is not spoken
        self._open: set[UUID] = set()

    def take(self, item: Any) -> None:
        """Speak an item.

        Raises:
            InvalidInput: nothing that a stream of text, messages or graph updates yields.
        """
        if isinstance(item, str):
            self._say(None, item, {})
        elif isinstance(item, BaseMessage):
            self._message(item, {})
        elif isinstance(item, tuple) and len(item) == 2:
            self._pair(*item)
        elif isinstance(item, Mapping):
            self._state(item)
        else:
            raise InvalidInput(
                f"speak() takes strings, messages, and what an agent's astream yields, not"
                f" {type(item).__name__}"
            )

    def take_event(self, payload: Any, metadata: Mapping[str, Any]) -> None:
        """Speak what LangGraph's event streaming tells of messages: a piece of one, or a whole."""
        if not isinstance(payload, Mapping):
            if not isinstance(payload, AIMessageChunk):  # whose text the events bring as well
                self._message(payload, metadata)
            return
        key = f"run {metadata.get('run_id')}"
        if payload["event"] == "message-start" and payload.get("role", "ai") == "ai":
            message_id = payload.get("id") or None
            self._runs[key] = self._start(message_id, metadata)
            if message_id is not None:
                self._runs[message_id] = self._runs[key]
        run_id = self._runs.get(key)
        if run_id is None:
            return
        if text := text_of_event(payload):
            self._turn.say(run_id, text)
        elif event_calls_tool(payload):
            self._turn.flush(run_id)
        elif payload["event"] in ("message-finish", "error"):
            self._finish(run_id)

    def close(self) -> None:
        """Nothing more comes."""
        for run_id in list(self._open):
            self._finish(run_id)

    def _pair(self, first: Any, second: Any) -> None:
        """`(message, metadata)` of `messages`, or with its namespace or mode before it."""
        if isinstance(first, BaseMessage) and isinstance(second, Mapping):
            self._message(first, second)
        else:
            self.take(second)

    def _state(self, state: Mapping[str, Any]) -> None:
        """A graph's state, of which the last message counts, or what its nodes have changed."""
        messages = state.get("messages")
        if messages is not None:
            for message in messages[-1:]:
                self._message(message, {})
            return
        for change in state.values():
            if isinstance(change, Mapping):
                for message in change.get("messages") or ():
                    self._message(message, {})

    def _message(self, message: Any, metadata: Mapping[str, Any]) -> None:
        if isinstance(message, AIMessageChunk):
            self._say(message.id, str(message.text), metadata)
            run_id = self._runs.get(message.id)
            if run_id is None:
                return
            if calls_tool(message):
                self._turn.flush(run_id)
            if getattr(message, "chunk_position", None) == "last":
                self._finish(run_id)
        elif isinstance(message, AIMessage):
            if message.id is None or message.id not in self._runs:
                self._say(message.id, str(message.text), metadata)
            run_id = self._runs.get(message.id)
            if run_id is not None:
                self._finish(run_id)

    def _say(self, message_id: str | None, text: str, metadata: Mapping[str, Any]) -> None:
        if message_id not in self._runs:
            self._runs[message_id] = self._start(message_id, metadata)
        run_id = self._runs[message_id]
        if run_id is not None and text:
            self._turn.say(run_id, text)

    def _start(self, message_id: str | None, metadata: Mapping[str, Any]) -> UUID | None:
        run = ModelRun(
            run_id=uuid4(),
            tags=tuple(metadata.get("tags") or ()),
            metadata=metadata,
            inside_tool=str(metadata.get("langgraph_checkpoint_ns", "")).startswith("tools"),
        )
        if not self._audience.wants(run):
            return None
        self._open.add(run.run_id)
        self._turn.start(Speaker(run.run_id, run.node, run.agent), None, None)
        if message_id is not None:
            self._turn.name(run.run_id, message_id)
        return run.run_id

    def _finish(self, run_id: UUID) -> None:
        if run_id in self._open:
            self._open.discard(run_id)
            self._turn.finish(run_id, failed=False)
            # A string or a message without an id that follows is another one.
            if self._runs.get(None) == run_id:
                del self._runs[None]
