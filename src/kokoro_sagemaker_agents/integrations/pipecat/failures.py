"""Our exceptions and the server's codes as Pipecat sorts errors."""

from __future__ import annotations

from typing import Final

from pipecat.utils.errors import ErrorCategory

from kokoro_sagemaker_agents.errors import (
    ConnectionFailed,
    ConnectionLost,
    DeadlineExceeded,
    InvalidInput,
    RemoteProtocolError,
    SessionClosed,
    SpeechFailed,
)
from kokoro_sagemaker_agents.protocol import ErrorCode

_BUSY: Final = (
    ErrorCode.OVERLOADED,
    ErrorCode.QUEUE_FULL,
    ErrorCode.TOO_MANY_CONTEXTS,
    ErrorCode.DRAINING,
)
# About the settings: the next sentence fails as this one did.
_SETTINGS: Final = (
    ErrorCode.INVALID_VOICE,
    ErrorCode.UNKNOWN_VOICE,
    ErrorCode.INVALID_SPEED,
    ErrorCode.UNSUPPORTED_LANGUAGE,
    ErrorCode.UNSUPPORTED_SAMPLE_RATE,
    ErrorCode.UNSUPPORTED_ENCODING,
    ErrorCode.INVALID_LEXICON,
)
_OF_TEXT: Final = (ErrorCode.TEXT_TOO_LONG, ErrorCode.INVALID_MESSAGE)


def category_of_code(code: str) -> ErrorCategory:
    """The category of an error that the server reported."""
    if code in _BUSY:
        return ErrorCategory.RATE_LIMIT
    if code in _SETTINGS:
        return ErrorCategory.INVALID_REQUEST
    if code in _OF_TEXT:
        return ErrorCategory.APPLICATION
    return ErrorCategory.SERVER


def category_of(error: BaseException) -> ErrorCategory | None:
    """The category of an exception; None for one that is not ours."""
    match error:
        case SpeechFailed() | InvalidInput():
            return category_of_code(error.code)
        case ConnectionFailed(retryable=False):
            return ErrorCategory.AUTHORIZATION
        case ConnectionFailed() | ConnectionLost() | DeadlineExceeded() | SessionClosed():
            return ErrorCategory.CONNECTIVITY
        case RemoteProtocolError():
            return ErrorCategory.SERVER
        case _:
            return None
