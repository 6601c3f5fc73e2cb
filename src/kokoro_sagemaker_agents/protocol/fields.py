"""What a field may hold, and the name of the error when it holds something else.

The leaves of the vocabulary: constants with their sources, error codes, and one check per kind of
field. A check raises `InvalidInput` with the wire's code; `messages.py` calls it when a message is
made.
"""

import re
from enum import StrEnum
from math import isfinite
from typing import Annotated, Final, Literal, TypeAlias, get_args

import msgspec

from kokoro_sagemaker_agents.errors import InvalidInput

Encoding: TypeAlias = Literal["pcm_s16le", "pcm_mulaw", "pcm_alaw", "mp3", "opus"]
Timestamps: TypeAlias = Literal["none", "word"]
Markup: TypeAlias = Literal["none", "inline"]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]

ENCODINGS: Final[tuple[str, ...]] = get_args(Encoding)
# What players and telephony ask for; the model itself speaks at 24 000.
SAMPLE_RATES: Final = (8000, 16000, 22050, 24000, 44100, 48000)
# Opus has five rates of its own (RFC 6716, section 2); of ours it lacks these.
RATES_OPUS_LACKS: Final = (22050, 44100)
# One sample of these is this many bytes; a compressed frame has no fixed size.
BYTES_PER_SAMPLE: Final = {"pcm_s16le": 2, "pcm_mulaw": 1, "pcm_alaw": 1}
# The range this project promises and tests (issue C, item 6), not a limit of the model.
SPEED_MIN: Final = 0.5
SPEED_MAX: Final = 2.0
CONTEXT_ID_CHARS: Final = 128
VOICE_CHARS: Final = 200  # a mix of five or six voices with weights
LANGUAGE_CHARS: Final = 35  # the longest language tag that must be supported (RFC 5646, 4.4.1)

_CONTEXT_ID = re.compile(rf"[!-~]{{1,{CONTEXT_ID_CHARS}}}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class ErrorCode(StrEnum):
    """Why something was refused or failed. Stable: clients may compare against them."""

    # The frame
    INVALID_JSON = "invalid_json"  # not JSON at all
    INVALID_MESSAGE = "invalid_message"  # JSON, but a field is missing or of the wrong type
    UNKNOWN_TYPE = "unknown_type"
    UNEXPECTED_AUDIO = "unexpected_audio"  # bytes that are no text, sent to the server
    # A field
    INVALID_CONTEXT_ID = "invalid_context_id"
    INVALID_VOICE = "invalid_voice"  # no possible name: too long, not printable, bad mix
    UNKNOWN_VOICE = "unknown_voice"  # a possible name this server does not have
    INVALID_SPEED = "invalid_speed"
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    UNSUPPORTED_SAMPLE_RATE = "unsupported_sample_rate"
    UNSUPPORTED_ENCODING = "unsupported_encoding"
    INVALID_LEXICON = "invalid_lexicon"
    INVALID_PRELOAD = "invalid_preload"
    TEXT_TOO_LONG = "text_too_long"
    # The state of the connection
    CONTEXT_FINISHED = "context_finished"  # `speak` after `end`, `cancel` or the context's end
    CHUNK_ID_REUSED = "chunk_id_reused"  # answers the second `speak`; the first one goes on
    TOO_MANY_CONTEXTS = "too_many_contexts"  # the context is cancelled with it
    QUEUE_FULL = "queue_full"
    # The server
    OVERLOADED = "overloaded"
    DRAINING = "draining"
    SYNTHESIS_FAILED = "synthesis_failed"
    INTERNAL = "internal"


# Codes after which the same request may work later, on a new connection or on another instance.
RETRYABLE: Final = frozenset(
    {
        ErrorCode.TOO_MANY_CONTEXTS,
        ErrorCode.QUEUE_FULL,
        ErrorCode.OVERLOADED,
        ErrorCode.DRAINING,
        ErrorCode.SYNTHESIS_FAILED,
        ErrorCode.INTERNAL,
    }
)


def shown(value: object) -> str:
    """A value as it may stand in an error message: quoted, printable, at most 40 characters."""
    text = value if isinstance(value, str) else repr(value)
    return repr(text if len(text) <= 40 else text[:39] + "…")


def scrub(text: str) -> str:
    """The text with each lone surrogate replaced by U+FFFD; the same object if it has none."""
    if text.isascii() or not _LONE_SURROGATE.search(text):
        return text
    return _LONE_SURROGATE.sub("\ufffd", text)


def is_context_id(value: object) -> bool:
    """Whether it can name a context: 1 to 128 printable ASCII characters without spaces."""
    return isinstance(value, str) and _CONTEXT_ID.fullmatch(value) is not None


def check_context_id(value: str) -> None:
    """Raise `InvalidInput` (`invalid_context_id`) unless `is_context_id`."""
    if not is_context_id(value):
        raise InvalidInput(
            f"context_id {shown(value)} cannot name a context; use 1 to {CONTEXT_ID_CHARS}"
            " printable ASCII characters without spaces",
            code=ErrorCode.INVALID_CONTEXT_ID,
        )


def is_count(value: object) -> bool:
    """Whether it is an integer from 0 to 2**53 - 1."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def check_count(name: str, value: int) -> None:
    """Raise `InvalidInput` (`invalid_message`) unless `is_count`."""
    if not is_count(value):
        raise InvalidInput(f"{name} must be an integer from 0 to 2**53 - 1")


def check_voice(value: str) -> None:
    """Raise `InvalidInput` (`invalid_voice`) for what no server could have as a voice.

    Whether a voice exists, and what a mix means, is for the server's own check.
    """
    if not value or len(value) > VOICE_CHARS or not value.isprintable():
        raise InvalidInput(
            f"voice {shown(value)} ({len(value)} characters) is no voice's name; give 1 to"
            f" {VOICE_CHARS} printable characters, such as af_heart or af_bella(2)+af_sky(1)",
            code=ErrorCode.INVALID_VOICE,
        )


def check_speed(value: float) -> None:
    """Raise `InvalidInput` (`invalid_speed`) unless finite and within 0.5 to 2.0."""
    if not (
        isinstance(value, (int, float)) and isfinite(value) and SPEED_MIN <= value <= SPEED_MAX
    ):
        raise InvalidInput(
            f"speed {shown(value)} is not a number from {SPEED_MIN} to {SPEED_MAX}",
            code=ErrorCode.INVALID_SPEED,
        )


def check_language(value: str) -> None:
    """Raise `InvalidInput` (`unsupported_language`) for what is no language tag at all."""
    if not value or len(value) > LANGUAGE_CHARS or not value.isprintable():
        raise InvalidInput(
            f"language {shown(value)} is no language tag; give one such as en-us",
            code=ErrorCode.UNSUPPORTED_LANGUAGE,
        )


def check_sample_rate(value: int) -> None:
    """Raise `InvalidInput` (`unsupported_sample_rate`) unless one of `SAMPLE_RATES`."""
    if value not in SAMPLE_RATES:
        raise InvalidInput(
            f"sample_rate is not one of {', '.join(map(str, SAMPLE_RATES))}",
            code=ErrorCode.UNSUPPORTED_SAMPLE_RATE,
        )
