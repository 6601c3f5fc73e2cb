"""Sentence by sentence, an LLM's tokens become speech.

    from kokoro_sagemaker_agents import SpeechSession

    async with SpeechSession.connect("ws://127.0.0.1:8080") as session:
        async for event in session.speak("A string, or any (async) iterable of tokens."):
            ...

Names are loaded when they are first used: whoever only cuts text loads no network code.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .errors import (
        ConnectionFailed,
        ConnectionLost,
        DeadlineExceeded,
        InvalidInput,
        KokoroAgentsError,
        LocalProtocolError,
        OverloadedError,
        ProtocolError,
        RemoteProtocolError,
        SessionClosed,
        SpeechFailed,
    )
    from .events import (
        AudioChunk,
        ChunkDone,
        ChunkFailed,
        ChunkStarted,
        ChunkTimings,
        Heard,
        SpeechEvent,
        UtteranceCancelled,
        UtteranceDone,
        WordTime,
        WordTimestamps,
    )
    from .pool import SessionPool
    from .session import SpeechSession
    from .speech import Speech
    from .text import LANGUAGES, SentenceChunker, Span, TextChunk
    from .utterance import Utterance

__all__ = [
    "LANGUAGES",
    "AudioChunk",
    "ChunkDone",
    "ChunkFailed",
    "ChunkStarted",
    "ChunkTimings",
    "ConnectionFailed",
    "ConnectionLost",
    "DeadlineExceeded",
    "Heard",
    "InvalidInput",
    "KokoroAgentsError",
    "LocalProtocolError",
    "OverloadedError",
    "ProtocolError",
    "RemoteProtocolError",
    "SentenceChunker",
    "SessionClosed",
    "SessionPool",
    "Span",
    "Speech",
    "SpeechEvent",
    "SpeechFailed",
    "SpeechSession",
    "TextChunk",
    "Utterance",
    "UtteranceCancelled",
    "UtteranceDone",
    "WordTime",
    "WordTimestamps",
]

_MODULE_OF = {
    **dict.fromkeys(("LANGUAGES", "SentenceChunker", "Span", "TextChunk"), "text"),
    "SessionPool": "pool",
    "SpeechSession": "session",
    "Speech": "speech",
    "Utterance": "utterance",
}
_EVENTS = (
    "AudioChunk",
    "ChunkDone",
    "ChunkFailed",
    "ChunkStarted",
    "ChunkTimings",
    "Heard",
    "SpeechEvent",
    "UtteranceCancelled",
    "UtteranceDone",
    "WordTime",
    "WordTimestamps",
)


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULE_OF.get(name) or ("events" if name in _EVENTS else "errors")
    value = getattr(import_module(f".{module}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
