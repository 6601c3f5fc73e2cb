"""What the runtime accepts: the fixed paths, and the headers by the service's own patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from .refusals import Refused

STREAM: Final = "invocations-bidirectional-stream"
RESPONSE_STREAM: Final = "invocations-response-stream"
INVOKE: Final = "invocations"

#: The most an InvokeEndpoint body may hold (AWS's documentation of real-time inference: 25 MB).
MAX_BODY_BYTES: Final = 25 * 1024 * 1024

_ROUTE: Final = re.compile(r"/endpoints/([^/]*)/([a-z-]+)")
_NAME: Final = re.compile(r"[a-zA-Z0-9](-*[a-zA-Z0-9])*")
# The Smithy model of 2025-10-01. Its pattern of the query string is written without the nested
# repetition, for which a long string without an end would take for ever.
_PATH: Final = re.compile(r"[A-Za-z0-9\-._]+(?:/[A-Za-z0-9\-._]+)*")
_PAIR: Final = re.compile(r"[a-zA-Z0-9][A-Za-z0-9_-]*=(?:[A-Za-z0-9._~\-]|%[0-9A-Fa-f]{2})+")
_VARIANT_HEADER: Final = "x-amzn-sagemaker-target-variant"
_PATH_HEADER: Final = "x-amzn-sagemaker-model-invocation-path"
_QUERY_HEADER: Final = "x-amzn-sagemaker-model-query-string"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an endpoint.

    Attributes:
        operation: `STREAM`, `RESPONSE_STREAM` or `INVOKE`.
        endpoint: its name.
        variant: the production variant that was asked for.
        target: path and query for the container.
    """

    operation: str
    endpoint: str
    variant: str | None
    target: str

    @classmethod
    def of(cls, path: str, headers: Mapping[str, str]) -> Call | None:
        """Read a request; None if the path is none of the runtime's.

        Raises:
            Refused: 400, a name or header breaks the service's patterns.
        """
        match = _ROUTE.fullmatch(path)
        if match is None or match[2] not in (STREAM, RESPONSE_STREAM, INVOKE):
            return None
        endpoint, operation = match[1], match[2]
        kind = "InputValidationError" if operation == STREAM else "ValidationError"
        variant = headers.get(_VARIANT_HEADER)
        _check(kind, "EndpointName", endpoint, _NAME.fullmatch(endpoint) is not None, 63)
        if variant is not None:
            _check(kind, "TargetVariant", variant, _NAME.fullmatch(variant) is not None, 63)
        return cls(operation, endpoint, variant, _target(operation, headers))


def _target(operation: str, headers: Mapping[str, str]) -> str:
    """Where the container is called; only a stream may name its own path and query."""
    if operation != STREAM:
        return f"/{INVOKE}"
    kind = "InputValidationError"
    target = f"/{STREAM}"
    if (path := headers.get(_PATH_HEADER)) is not None:
        _check(kind, "ModelInvocationPath", path, _PATH.fullmatch(path) is not None, 100)
        target = f"/{path}"
    if (query := headers.get(_QUERY_HEADER)) is not None:
        fits = all(_PAIR.fullmatch(pair) for pair in query.split("&"))
        _check(kind, "ModelQueryString", query, fits, 2048)
        target += f"?{query}"
    return target


def _check(kind: str, name: str, value: str, fits: bool, limit: int) -> None:
    if len(value) > limit:
        raise Refused(400, kind, f"{name} has {len(value)} characters; at most {limit} are allowed")
    if not fits:
        raise Refused(400, kind, f"{name} does not match the pattern of the service's model")
