"""OpenAI's names: `speech.audio.delta` and `speech.audio.done` as its speech route streams them.

The rest is in the same manner: text, sentences, word times, interruption. Consumers skip types that
they do not know, so an OpenAI client sees only its own two. The WebSocket speaks this one, with
binary frames in the place of `speech.audio.delta`.
"""

from __future__ import annotations

from dataclasses import asdict

from kokoro_sagemaker_agents.events import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    Heard,
    SpeechEvent,
    UtteranceCancelled,
    UtteranceDone,
    WordTimestamps,
)

from .parts import AudioFormat, Failure, Message, to_base64


class OpenAI:
    """See the module's text; `Vocabulary` says what the methods are for."""

    named = False

    def __init__(self, reply_id: str) -> None:
        self._reply_id = reply_id

    def start(self, audio: AudioFormat) -> list[Message]:
        """`speech.start`, with what a player needs to know."""
        return [{"type": "speech.start", "reply_id": self._reply_id, **_fields(audio)}]

    def text(self, delta: str) -> list[Message]:
        """`speech.text.delta`."""
        return [{"type": "speech.text.delta", "delta": delta}]

    def format(self, audio: AudioFormat) -> list[Message]:
        """`speech.audio.format`."""
        return [{"type": "speech.audio.format", **_fields(audio)}]

    def event(self, event: SpeechEvent) -> list[Message]:
        """`speech.sentence.start`, `speech.words`, `speech.audio.delta` and so on."""
        match event:
            case ChunkStarted():
                return [_sentence(event)]
            case WordTimestamps():
                return [_words(event)]
            case AudioChunk():
                return [
                    {
                        "type": "speech.audio.delta",
                        "audio": to_base64(event.pcm),
                        "chunk_id": event.chunk_id,
                        "first_sample": event.first_sample,
                    }
                ]
            case ChunkDone():
                return [
                    {
                        "type": "speech.sentence.done",
                        "chunk_id": event.chunk_id,
                        "samples": event.samples,
                        "warnings": list(event.warnings),
                    }
                ]
            case ChunkFailed():
                return [{"type": "speech.sentence.failed", **asdict(event)}]
            case UtteranceDone():
                return [_done(event)]
            case UtteranceCancelled():
                return [interrupted(event.heard)]

    def error(self, failure: Failure) -> list[Message]:
        """`speech.error`."""
        return [{"type": "speech.error", **asdict(failure)}]

    def end(self) -> list[Message]:
        """`speech.end`: after the audio's end the text may still go on, after this nothing."""
        return [{"type": "speech.end"}]


def interrupted(heard: Heard) -> Message:
    """`speech.interrupted`: what the listener heard, to the word."""
    return {"type": "speech.interrupted", **asdict(heard)}


def _fields(audio: AudioFormat) -> Message:
    return {"sample_rate": audio.sample_rate, "encoding": audio.encoding, "channels": 1}


def _sentence(event: ChunkStarted) -> Message:
    return {
        "type": "speech.sentence.start",
        "chunk_id": event.chunk_id,
        "text": event.text,
        "spoken": event.spoken,
        "char_start": event.start,
        "char_end": event.end,
        "first_sample": event.first_sample,
    }


def _words(event: WordTimestamps) -> Message:
    words = [asdict(word) for word in event.words]
    return {"type": "speech.words", "chunk_id": event.chunk_id, "words": words}


def _done(event: UtteranceDone) -> Message:
    # OpenAI counts tokens, of which there are none here; its generated clients want the numbers.
    usage = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0}
    return {
        "type": "speech.audio.done",
        "samples": event.samples,
        "duration_s": event.duration_s,
        "chunks": event.chunks,
        "failed": event.failed,
        "warnings": list(event.warnings),
        "usage": usage,
    }
