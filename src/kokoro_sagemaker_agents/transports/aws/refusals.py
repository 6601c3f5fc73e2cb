"""AWS's refusals as our exceptions, each with what to do about it. Without I/O."""

from __future__ import annotations

import re
from typing import Final

from kokoro_sagemaker_agents.errors import (
    ConnectionFailed,
    InvalidInput,
    KokoroAgentsError,
    OverloadedError,
)

# IAM's names of the operations (AWS service authorization reference, Amazon SageMaker).
ACTION: Final = "sagemaker:InvokeEndpointWithBidirectionalStream"
REST_ACTION: Final = "sagemaker:InvokeEndpointWithResponseStream"
_THROTTLED: Final = ("Throttling", "TooManyRequests", "RequestLimitExceeded", "SlowDown")
_BAD_CREDENTIALS: Final = (
    "ExpiredToken",
    "UnrecognizedClient",
    "InvalidClientTokenId",
    "InvalidSignature",
    "SignatureDoesNotMatch",
    "IncompleteSignature",
    "MissingAuthenticationToken",
    "RequestExpired",
)
_NOT_FOUND: Final = re.compile(r"not found|could not find|does not exist", re.IGNORECASE)


# How a container says that it has no such route: HTTP's own answers, and 403, which is what an ASGI
# server makes of a WebSocket that nobody accepts.
_NO_ROUTE: Final = (403, 404, 405, 426, 501)


class NotStreamable(ConnectionFailed):
    """There is no bidirectional streaming here; the REST operations may work."""


def refusal(
    status: int,
    error_type: str,
    message: str,
    *,
    endpoint: str,
    region: str,
    action: str = ACTION,
    container_status: int | None = None,
) -> KokoroAgentsError:
    """The exception for a response that is no stream.

    Args:
        status: HTTP's.
        error_type: `x-amzn-errortype`, without its namespace; may be empty.
        message: What the service said.
        endpoint: The endpoint that was asked for.
        region: Where.
        action: IAM's name of what was asked.
        container_status: With what status the container refused, if it did.
    """
    where = f"SageMaker endpoint {endpoint!r} in {region}"
    said = f" ({error_type or status}: {message})" if message else f" ({error_type or status})"
    if status == 429 or error_type.startswith(_THROTTLED):
        return OverloadedError(
            f"{where} is throttled{said}; try again later, or raise the account's quota",
            code="throttled",
        )
    if error_type.startswith(_BAD_CREDENTIALS):
        return ConnectionFailed(
            f"{where}: AWS does not accept these credentials{said}; log in again, and check the"
            " clock of this machine",
            retryable=False,
        )
    if status in (401, 403):
        return ConnectionFailed(
            f"{where}: access denied{said}; allow the action {action} on the endpoint's ARN",
            retryable=False,
        )
    if status == 424 and container_status in _NO_ROUTE:
        return NotStreamable(
            f"{where}: its container takes no bidirectional stream{said}; use an image that does,"
            " or transport='invocations'",
            retryable=False,
        )
    if status == 424:
        return OverloadedError(
            f"{where}: its container refused the connection{said}; it may be at capacity, still"
            " starting, or without bidirectional streaming: see the CloudWatch log group"
            f" /aws/sagemaker/Endpoints/{endpoint}",
            code="model_error",
        )
    if status == 404 and not _NOT_FOUND.search(message):
        return NotStreamable(
            f"{where}: the service has no bidirectional streaming there{said}; use another region,"
            " or transport='invocations'",
            retryable=False,
        )
    if _NOT_FOUND.search(message) or error_type == "ResourceNotFound":
        return ConnectionFailed(
            f"{where} was not found{said}; check name, region and variant, and that it is"
            " InService",
            retryable=False,
        )
    if status >= 500:
        return ConnectionFailed(f"{where}: the service failed{said}; try again")
    return InvalidInput(f"{where}: the service refused the request{said}", code="validation_error")
