"""Audio as server-sent events, in the two vocabularies that POST clients know.

The audio is in base64, a third more than its bytes: for callers whose way carries text only. A
reader splits the stream at blank lines, never at the parts it arrives in.

`SampleEvents`: the AWS Kokoro sample's (aws-samples/sample-kokoro-tts-for-ai-agents, `serve.py` at
093f6fc): `audio_stream_start`, `audio_chunk`…, `audio_stream_end`, or `error` in place of the end.
`OpenAIEvents`: `speech.audio.delta`…, `speech.audio.done`, or `error`.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, Protocol

from .faults import Fault
from .requests import Invocation


class Events(Protocol):
    """What a streamed answer consists of."""

    def start(self) -> bytes:
        """Before the first audio."""
        ...

    def audio(self, data: bytes) -> bytes:
        """The next part of the audio, not empty."""
        ...

    def end(self, duration_s: float, warnings: Sequence[str]) -> bytes:
        """The audio is all sent and lasts this long; the warnings say what is not in it."""
        ...

    def error(self, fault: Fault) -> bytes:
        """No more audio comes, though it is not all."""
        ...


def events_of(invocation: Invocation) -> Events:
    """The vocabulary of the request's dialect."""
    return OpenAIEvents() if invocation.dialect == "openai" else SampleEvents(invocation)


class SampleEvents:
    """The AWS Kokoro sample's events, with our error codes beside its messages.

    Args:
        invocation: what was asked for.
    """

    def __init__(self, invocation: Invocation) -> None:
        self._invocation = invocation
        self._sent = 0

    def start(self) -> bytes:
        """`audio_stream_start`: what the audio will be."""
        options = self._invocation.options
        return self._event(
            "audio_stream_start",
            format=self._invocation.container,
            voice=options.voice,
            sample_rate=options.sample_rate,
        )

    def audio(self, data: bytes) -> bytes:
        """`audio_chunk`, numbered by `seq` from 0."""
        event = self._event("audio_chunk", seq=self._sent, data=_base64(data))
        self._sent += 1
        return event

    def end(self, duration_s: float, warnings: Sequence[str]) -> bytes:
        """`audio_stream_end`: how many chunks there were, and how long they play."""
        more = {"warnings": list(warnings)} if warnings else {}
        return self._event(
            "audio_stream_end", total_chunks=self._sent, duration_s=round(duration_s, 3), **more
        )

    def error(self, fault: Fault) -> bytes:
        """`error`."""
        return self._event(
            "error", message=fault.message, code=fault.code, retryable=fault.retryable
        )

    def _event(self, name: str, **fields: Any) -> bytes:
        data = json.dumps({"request_id": self._invocation.request_id, **fields})
        return f"event: {name}\ndata: {data}\n\n".encode()


class OpenAIEvents:
    """OpenAI's events. It counts tokens, which there are none of here: they are 0."""

    def start(self) -> bytes:
        """Nothing: the first delta begins it."""
        return b""

    def audio(self, data: bytes) -> bytes:
        """`speech.audio.delta`."""
        return self._event("speech.audio.delta", audio=_base64(data))

    def end(self, duration_s: float, warnings: Sequence[str]) -> bytes:
        """`speech.audio.done`, which has no place for warnings."""
        usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
        return self._event("speech.audio.done", usage=usage)

    def error(self, fault: Fault) -> bytes:
        """`error`."""
        return self._event("error", error={"code": fault.code, "message": fault.message})

    @staticmethod
    def _event(name: str, **fields: Any) -> bytes:
        return f"data: {json.dumps({'type': name, **fields})}\n\n".encode()


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
