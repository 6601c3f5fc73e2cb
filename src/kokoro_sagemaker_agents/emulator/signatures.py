"""AWS signatures checked: of a request, and of each event after it. No I/O.

Signature version 4 as AWS documents it; the chain of event signatures as research measured it on
the SDK: each event signs its own date and bytes together with the signature before it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final
from urllib.parse import quote

from .eventstream import Message, encode_headers
from .refusals import Refused

#: What stands for the body's hash where a stream of signed events follows.
STREAMING: Final = "STREAMING-AWS4-HMAC-SHA256-EVENTS"
# AWS refuses older requests (documentation of Signature Version 4).
_MAX_SKEW: Final = timedelta(minutes=5)
_AUTHORIZATION: Final = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/,\s]+)/([^,\s]+),\s*SignedHeaders=([^,\s]+),"
    r"\s*Signature=([0-9a-f]{64})"
)
_TIME: Final = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Credentials:
    """What the emulator takes for the right ones.

    Attributes:
        access_key: the id, which requests show.
        secret_key: what they sign with.
        session_token: of temporary credentials.
    """

    access_key: str
    secret_key: str
    session_token: str | None = None

    def __repr__(self) -> str:
        return f"Credentials(access_key={self.access_key!r})"

    def key(self, scope: str) -> bytes:
        """The signing key for `day/region/service/aws4_request`."""
        key = f"AWS4{self.secret_key}".encode()
        for part in scope.split("/"):
            key = _hmac(key, part)
        return key


class EventChain:
    """The signatures of one stream's events, in their order.

    Args:
        credentials: the right ones.
        scope: `day/region/service/aws4_request` of the request.
        signature: the request's own, in hex.
    """

    def __init__(self, credentials: Credentials, scope: str, signature: str) -> None:
        self._credentials = credentials
        self._rest = scope.partition("/")[2]
        self._prior = signature

    def accepts(self, event: Message) -> bool:
        """Whether this is what must come next; a refused event ends the chain."""
        date, signature = event.headers.get(":date"), event.headers.get(":chunk-signature")
        if not isinstance(date, datetime) or not isinstance(signature, bytes):
            return False
        scope = f"{date:%Y%m%d}/{self._rest}"
        lines = (
            "AWS4-HMAC-SHA256-PAYLOAD",
            date.strftime(_TIME),
            scope,
            self._prior,
            _sha256(encode_headers({":date": date})),
            _sha256(event.payload),
        )
        expected = _hmac(self._credentials.key(scope), "\n".join(lines))
        self._prior = expected.hex()
        return hmac.compare_digest(expected, signature)


def check_request(
    credentials: Credentials,
    *,
    method: str,
    path: str,
    query: str,
    headers: Mapping[str, str],
    body: bytes,
    now: datetime | None = None,
) -> EventChain:
    """Check a request's signature.

    Args:
        credentials: the right ones.
        method: of the request.
        path: as it was sent.
        query: as it was sent, without the question mark.
        headers: names in lower case, with `host`.
        body: all of it; nothing for a stream of events.
        now: the server's time.

    Returns:
        What checks the events that follow.

    Raises:
        Refused: 403, by the name that AWS gives each case.
    """
    match = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if match is None:
        raise Refused(403, "MissingAuthenticationTokenException", "Missing Authentication Token")
    access_key, scope, names, signature = match.groups()
    _check_caller(credentials, access_key, headers, now or datetime.now(UTC))
    payload_hash = headers.get("x-amz-content-sha256") or _sha256(body)
    if payload_hash not in (STREAMING, _sha256(body)):
        raise _mismatch("the body is not the one that was signed")
    canonical = "\n".join(
        (
            method,
            quote(path, safe="/-_.~"),
            "&".join(sorted(pair if "=" in pair else f"{pair}=" for pair in query.split("&")))
            if query
            else "",
            *(f"{name}:{' '.join(headers.get(name, '').split())}" for name in names.split(";")),
            "",
            names,
            payload_hash,
        )
    )
    lines = ("AWS4-HMAC-SHA256", headers["x-amz-date"], scope, _sha256(canonical.encode()))
    if not hmac.compare_digest(_hmac(credentials.key(scope), "\n".join(lines)).hex(), signature):
        raise _mismatch("check the secret key and what was signed")
    return EventChain(credentials, scope, signature)


def _check_caller(
    credentials: Credentials, access_key: str, headers: Mapping[str, str], now: datetime
) -> None:
    token = headers.get("x-amz-security-token")
    if access_key != credentials.access_key or token != credentials.session_token:
        raise Refused(
            403,
            "UnrecognizedClientException",
            "The security token included in the request is invalid.",
        )
    try:
        sent = datetime.strptime(headers.get("x-amz-date", ""), _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise _mismatch("X-Amz-Date is missing or no date") from None
    if abs(now - sent) > _MAX_SKEW:
        raise _mismatch(f"it was made at {sent:%H:%M:%S}, and it is {now:%H:%M:%S} UTC")


def _mismatch(why: str) -> Refused:
    message = f"The request signature does not match: {why}."
    return Refused(403, "InvalidSignatureException", message)


def _hmac(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
