"""LangChain's agent protocol: the reply is one message, its text one block, each sentence another.

Shapes from langchain-protocol 0.0.20. `MediaAssembler` of `@langchain/langgraph-sdk` 1.15.0 copies
all that it has of a block with every delta, so a block for the whole reply would take quadratic
time; a sentence is short.
"""

from __future__ import annotations

import time

from kokoro_sagemaker_agents.events import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    SpeechEvent,
    UtteranceCancelled,
)

from .parts import AudioFormat, Failure, Message, to_base64

_TEXT_INDEX = 0


class LangChain:
    """See the module's text; `Vocabulary` says what the methods are for."""

    named = False

    def __init__(self, reply_id: str) -> None:
        self._reply_id = reply_id
        self._audio = AudioFormat(0, "")
        self._text: list[str] | None = None
        self._index = _TEXT_INDEX
        self._sentence = ""
        self._open = False

    def start(self, audio: AudioFormat) -> list[Message]:
        """`message-start`."""
        self._audio = audio
        return [_message("message-start", role="ai", id=self._reply_id)]

    def text(self, delta: str) -> list[Message]:
        """A `text-delta` of block 0."""
        begin = []
        if self._text is None:
            self._text = []
            block = {"type": "text", "text": ""}
            begin = [_message("content-block-start", index=_TEXT_INDEX, content=block)]
        self._text.append(delta)
        return [*begin, _delta(_TEXT_INDEX, {"type": "text-delta", "text": delta})]

    def format(self, audio: AudioFormat) -> list[Message]:
        """Nothing: each block's start says it."""
        self._audio = audio
        return []

    def event(self, event: SpeechEvent) -> list[Message]:
        """An audio block for each sentence, with `data-delta`s."""
        match event:
            case ChunkStarted():
                self._sentence = event.spoken
                return []  # the format is known for certain with the first audio
            case AudioChunk():
                data = {"type": "data-delta", "data": to_base64(event.pcm), "encoding": "base64"}
                return [*self._block_start(), _delta(self._index, data)]
            case ChunkDone() | ChunkFailed() | UtteranceCancelled():
                return self._block_finish()
            case _:
                return []

    def error(self, failure: Failure) -> list[Message]:
        """`error`, which ends the message."""
        return [_message("error", message=failure.message, code=failure.code)]

    def end(self) -> list[Message]:
        """The text's end, and `message-finish`."""
        finish = []
        if self._text is not None:
            block = {"type": "text", "text": "".join(self._text)}
            finish = [_message("content-block-finish", index=_TEXT_INDEX, content=block)]
        return [*finish, _message("message-finish")]

    def _block(self) -> Message:
        return {
            "type": "audio",
            "mime_type": self._audio.mime_type,
            "transcript": self._sentence,
        }

    def _block_start(self) -> list[Message]:
        if self._open:
            return []
        self._open = True
        self._index += 1
        return [_message("content-block-start", index=self._index, content=self._block())]

    def _block_finish(self) -> list[Message]:
        if not self._open:
            return []
        self._open = False
        return [_message("content-block-finish", index=self._index, content=self._block())]


def _delta(index: int, delta: Message) -> Message:
    return _message("content-block-delta", index=index, delta=delta)


def _message(name: str, **data: object) -> Message:
    params = {
        "namespace": [],
        "timestamp": round(time.time() * 1000),
        "data": {"event": name, **data},
    }
    return {"type": "event", "method": "messages", "params": params}
