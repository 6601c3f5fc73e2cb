"""The AWS Kokoro sample's names, for pages written for its agent.

`agent_start`, `text_delta`…, `audio_stream_start`, `audio_chunk`…, `audio_stream_end`, `agent_end`,
or `error` (aws-samples/sample-kokoro-tts-for-ai-agents, at 093f6fc). Each piece of audio that it
calls a stream is one sentence here: it can be played as it comes. `word_timestamps` is our own.
"""

from __future__ import annotations

from dataclasses import asdict

from kokoro_sagemaker_agents.events import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    SpeechEvent,
    UtteranceCancelled,
    WordTimestamps,
)

from .parts import AudioFormat, Failure, Message, to_base64


class AwsSample:
    """See the module's text; `Vocabulary` says what the methods are for."""

    named = True

    def __init__(self, reply_id: str) -> None:
        self._reply_id = reply_id
        self._audio = AudioFormat(0, "")
        self._sentence = ""
        self._open = False  # an `audio_stream_start` without its end
        self._sent = 0  # chunks of it

    def start(self, audio: AudioFormat) -> list[Message]:
        """`agent_start`."""
        self._audio = audio
        return [self._message("agent_start")]

    def text(self, delta: str) -> list[Message]:
        """`text_delta`."""
        return [self._message("text_delta", text=delta)]

    def format(self, audio: AudioFormat) -> list[Message]:
        """Nothing: each sentence's start says it."""
        self._audio = audio
        return []

    def event(self, event: SpeechEvent) -> list[Message]:
        """The three of the audio, and `error` for a sentence that could not be spoken."""
        match event:
            case ChunkStarted():
                self._sentence = event.text
                return []  # the format is known for certain with the first audio
            case WordTimestamps():
                words = [asdict(word) for word in event.words]
                return [self._message("word_timestamps", words=words)]
            case AudioChunk():
                return [*self._stream_start(), self._chunk(event.pcm)]
            case ChunkDone():
                return self._stream_end(event.duration_s)
            case ChunkFailed():
                failure = Failure(event.code, event.message, event.retryable)
                return [*self._stream_end(0.0), *self.error(failure)]
            case UtteranceCancelled():
                return self._stream_end(event.heard.played_s)
            case _:
                return []

    def error(self, failure: Failure) -> list[Message]:
        """`error`."""
        return [self._message("error", **asdict(failure))]

    def end(self) -> list[Message]:
        """`agent_end`."""
        return [self._message("agent_end")]

    def _stream_start(self) -> list[Message]:
        if self._open:
            return []
        self._open, self._sent = True, 0
        return [
            self._message(
                "audio_stream_start",
                text=self._sentence,
                sample_rate=self._audio.sample_rate,
                format=self._audio.encoding,
            )
        ]

    def _chunk(self, audio: bytes) -> Message:
        message = self._message("audio_chunk", seq=self._sent, data=to_base64(audio))
        self._sent += 1
        return message

    def _stream_end(self, duration_s: float) -> list[Message]:
        if not self._open:
            return []
        self._open = False
        return [
            self._message(
                "audio_stream_end", total_chunks=self._sent, duration_s=round(duration_s, 3)
            )
        ]

    def _message(self, name: str, **fields: object) -> Message:
        return {"type": name, "request_id": self._reply_id, **fields}
