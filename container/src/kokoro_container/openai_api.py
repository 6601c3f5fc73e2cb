"""OpenAI's speech request in our words (`POST /v1/audio/speech`, openai 3.57).

`model` and `instructions` are accepted and change nothing: there is one model here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import ErrorCode

VOICE_ALIASES: Final = {
    "alloy": "af_heart",
    "ash": "am_fenrir(1)+am_michael(1)",
    "ballad": "bm_george(1)+am_michael(1)",
    "cedar": "am_fenrir(1)+bm_george(1)",
    "coral": "af_bella(1)+af_heart(1)",
    "echo": "am_michael",
    "fable": "bm_george",
    "marin": "af_bella(1)+bf_emma(1)",
    "nova": "af_bella",
    "onyx": "am_fenrir",
    "sage": "af_heart(1)+bf_emma(1)",
    "shimmer": "bf_emma",
    "verse": "am_michael(2)+bm_george(1)",
}
"""OpenAI's voices, each with a man's or a woman's voice of its own made of those in the package."""

FORMATS: Final = ("mp3", "opus", "wav", "pcm")
_STREAM_FORMATS: Final = ("audio", "sse")
# OpenAI's, and ours that its clients can send as extra fields.
_SHARED: Final = (
    "speed",
    "language",
    "sample_rate",
    "markup",
    "request_id",
    "request_timestamp",
)


def is_speech_body(fields: Mapping[str, Any]) -> bool:
    """Whether a body on a route that takes both is OpenAI's."""
    return "input" in fields and "text" not in fields


def translated(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The same request with our names for things; values are checked where ours are.

    Audio is always sent as it is made, as OpenAI does; `response_format` is `mp3` unless it says
    otherwise. A voice that is none of OpenAI's is one of ours.

    Raises:
        InvalidInput: there is no `input`, or a format that this server has not.
    """
    text = fields.get("input")
    if not isinstance(text, str):
        raise InvalidInput("input is missing or no string; give the text to say")
    ours = {name: fields[name] for name in _SHARED if fields.get(name) is not None}
    voice = fields.get("voice")
    if isinstance(voice, dict):  # a custom voice: {"id": …}
        voice = voice.get("id", voice)
    if voice is not None:
        ours["voice"] = VOICE_ALIASES.get(voice, voice) if isinstance(voice, str) else voice
    container = _choice(fields, "response_format", FORMATS)
    transport = "sse" if _choice(fields, "stream_format", _STREAM_FORMATS) == "sse" else "binary"
    return ours | {"text": text, "format": container, "stream": True, "transport": transport}


def _choice(fields: Mapping[str, Any], name: str, choices: tuple[str, ...]) -> str:
    value = fields.get(name)
    if value is None:
        return choices[0]
    if not isinstance(value, str) or value not in choices:
        given = json.dumps(value)[:40] if isinstance(value, str) else f"({type(value).__name__})"
        raise InvalidInput(
            f"{name} {given} is not one of {', '.join(choices)}, which this server has",
            code=ErrorCode.UNSUPPORTED_ENCODING,
        )
    return value
