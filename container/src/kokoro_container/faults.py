"""What a client is told when something fails: one place for codes, words and HTTP statuses."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Final

from kokoro_sagemaker_agents.errors import InvalidInput, OverloadedError
from kokoro_sagemaker_agents.protocol import RETRYABLE, ErrorCode

from .engines.base import EngineFailed
from .g2p_pool import PhonemesFailed
from .service import NotReady

logger = logging.getLogger(__name__)

# Codes that only a POST is answered with; the names are the AWS Kokoro sample's.
REQUEST_STALE: Final = "request_stale"
QUEUE_SATURATED: Final = "queue_saturated"

# What is none of these is the client's mistake: 400.
_STATUS_OF_CODE: Final[dict[str, int]] = {
    REQUEST_STALE: 408,
    QUEUE_SATURATED: 503,
    ErrorCode.TEXT_TOO_LONG: 413,
    ErrorCode.OVERLOADED: 503,
    ErrorCode.DRAINING: 503,
    ErrorCode.SYNTHESIS_FAILED: 500,
    ErrorCode.INTERNAL: 500,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure in the client's words.

    Attributes:
        code: an `ErrorCode`, or one of the POST's own.
        message: what happened and what to do.
    """

    code: str
    message: str

    @property
    def status(self) -> int:
        """The HTTP status that says the same."""
        return _STATUS_OF_CODE.get(self.code, 400)

    @property
    def retryable(self) -> bool:
        """Whether the same request may work later or elsewhere."""
        return self.code in RETRYABLE or self.code == QUEUE_SATURATED


def fault_of(error: Exception, request_id: str | None = None) -> Fault:
    """The fault that an exception stands for.

    What nobody foresaw is logged with the place it came from, without its message, which might
    quote the user's text.

    Args:
        error: what was raised.
        request_id: whose request it was, for the log.
    """
    whose = {"request_id": request_id} if request_id else None
    match error:
        case InvalidInput() | OverloadedError():
            return Fault(error.code, str(error))
        case NotReady():
            return Fault(ErrorCode.OVERLOADED, str(error))
        case EngineFailed():
            kind = type(error.__cause__ or error).__name__
            logger.error("the engine failed: %s", kind, extra=whose)
            return Fault(ErrorCode.SYNTHESIS_FAILED, str(error))
        case PhonemesFailed():  # logged where it happened
            return Fault(ErrorCode.SYNTHESIS_FAILED, str(error))
    logger.error("unforeseen %s at %s", type(error).__name__, _place(error), extra=whose)
    return Fault(
        ErrorCode.INTERNAL,
        f"the server failed with {type(error).__name__}; try again, and report it if that does"
        " not help",
    )


def code_of(error: Exception) -> str:
    """The code that `fault_of` gives, and nothing is logged."""
    match error:
        case InvalidInput() | OverloadedError():
            return error.code
        case NotReady():
            return ErrorCode.OVERLOADED
        case EngineFailed() | PhonemesFailed():
            return ErrorCode.SYNTHESIS_FAILED
    return ErrorCode.INTERNAL


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return "an unknown place"
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
