"""LangChain (extra `[langchain]`): any agent, chain or model gets a voice.

    async with SpeechSession.sagemaker("kokoro", region="us-east-1") as session:
        speech = KokoroSpeechCallbackHandler(session, voice="af_heart")
        async for event in astream_speech(agent, inputs, speech):
            ...

`KokoroSpeechCallbackHandler` speaks what it hears through callbacks, whichever way an agent is
called; `astream_speech` runs the agent, too, and merges its stream with the speech; `speak` is a
link of a chain. For LangGraph's event streaming there are `SpeechTransformer` (needs langgraph) and
`KokoroSpeechMiddleware` (needs langchain).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .handler import KokoroSpeechCallbackHandler
from .merged import AgentEvent, AgentSpeech, astream_speech
from .runnable import Spoken, speak
from .runs import Audience, ModelRun
from .turn import MessageStarted, SpeechTurn, TurnEvent, TurnFailed, TurnMessage

if TYPE_CHECKING:
    from .middleware import KokoroSpeechMiddleware
    from .transformer import SpeechTransformer

__all__ = [
    "AgentEvent",
    "AgentSpeech",
    "Audience",
    "KokoroSpeechCallbackHandler",
    "KokoroSpeechMiddleware",
    "MessageStarted",
    "ModelRun",
    "SpeechTransformer",
    "SpeechTurn",
    "Spoken",
    "TurnEvent",
    "TurnFailed",
    "TurnMessage",
    "astream_speech",
    "speak",
]

# What needs more than langchain-core.
_MODULE_OF = {"KokoroSpeechMiddleware": "middleware", "SpeechTransformer": "transformer"}


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
