"""What of a model's output is its answer: text, and nothing else.

A provider's chunk may be a string, or blocks of text, reasoning, tool calls and citations;
LangChain tells the text of all of them as `.text`. Only what ends a stretch of text is read here by
itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, GenerationChunk, LLMResult

# Blocks between which an answer goes on; any other one is a tool call of some provider, on the
# client's side or the server's, before which what was said must not be held back.
_SPEECH_BLOCKS: Final = frozenset(
    {"text", "output_text", "reasoning", "thinking", "redacted_thinking", "refusal"}
)


def text_of_token(token: object, chunk: GenerationChunk | ChatGenerationChunk | None) -> str:
    """The text in the arguments of `on_llm_new_token`."""
    if chunk is not None:
        return chunk.text
    return token if isinstance(token, str) else ""


def calls_tool(message: BaseMessage) -> bool:
    """Whether a message, or a piece of one, calls a tool."""
    if getattr(message, "tool_call_chunks", None) or getattr(message, "tool_calls", None):
        return True
    content = message.content
    return isinstance(content, list) and any(
        isinstance(block, dict) and block.get("type", "text") not in _SPEECH_BLOCKS
        for block in content
    )


def text_of_event(event: Mapping[str, Any]) -> str:
    """The text in an event of LangChain's protocol (`astream_events(version="v3")`)."""
    if event["event"] != "content-block-delta":
        return ""
    delta = event["delta"]
    return str(delta["text"]) if delta["type"] == "text-delta" else ""


def event_calls_tool(event: Mapping[str, Any]) -> bool:
    """Whether a tool call begins with such an event."""
    if event["event"] != "content-block-start":
        return False
    return event["content"].get("type", "text") not in _SPEECH_BLOCKS


def answer_of(response: LLMResult) -> tuple[str, BaseMessage | None]:
    """The text of a finished call, and its message if a chat model made it."""
    generations = response.generations
    if not generations or not generations[0]:
        return "", None
    first = generations[0][0]
    if isinstance(first, ChatGeneration):
        return str(first.message.text), first.message
    return first.text, None
