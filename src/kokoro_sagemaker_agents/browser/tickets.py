"""Who may open a socket: browsers send no headers of ours with one, so a page gets a ticket first.

The page asks for it over HTTP, where it is logged in, and hands it over as a subprotocol, which no
server logs, unlike an address: `new WebSocket(url, ["kokoro.speech.v1", "ticket." + ticket])`.
"""

from __future__ import annotations

import base64
import hmac
import secrets
import time
from collections.abc import Mapping
from hashlib import sha256
from typing import Final
from urllib.parse import urlsplit

from kokoro_sagemaker_agents.errors import InvalidInput

_SHORTEST_SECRET_BYTES: Final = 16


class Tickets:
    """Issues tickets, and takes each of them once, as long as it is fresh.

    Processes that share the secret take each other's; "once" holds for each of them.

    Args:
        secret: At least 16 random bytes, for example `secrets.token_bytes(32)`.
        ttl_s: How long a ticket is good for: the time from the page's request to its socket.

    Raises:
        InvalidInput: the secret is too short.
    """

    def __init__(self, secret: bytes, *, ttl_s: float = 30.0) -> None:
        if len(secret) < _SHORTEST_SECRET_BYTES:
            raise InvalidInput(
                f"the tickets' secret has {len(secret)} bytes; use secrets.token_bytes(32)"
            )
        self._secret = secret
        self._ttl_s = ttl_s
        self._used: dict[str, float] = {}  # tickets taken, until when they would have been good

    def issue(self, subject: str = "", *, now_s: float | None = None) -> str:
        """A ticket for one socket.

        Args:
            subject: Whom it is for; comes back with each `Question` of that socket.
            now_s: The time, in seconds since the epoch; by default now.
        """
        until_s = (time.time() if now_s is None else now_s) + self._ttl_s
        claim = f"{until_s:.3f} {secrets.token_hex(8)} {subject}".encode()
        return f"{_text(claim)}.{_text(self._sign(claim))}"

    def redeem(self, ticket: str, *, now_s: float | None = None) -> str | None:
        """The subject of a ticket, which is used up by this; None if it is not good (any more)."""
        now_s = time.time() if now_s is None else now_s
        for used in [used for used, until_s in self._used.items() if until_s < now_s]:
            del self._used[used]
        claim_text, _, signature = ticket.partition(".")
        try:
            claim = _bytes(claim_text)
            genuine = hmac.compare_digest(_bytes(signature), self._sign(claim))
        except ValueError:
            return None
        if not genuine:
            return None
        until, nonce, subject = claim.decode().split(" ", 2)
        if float(until) < now_s or nonce in self._used:
            return None
        self._used[nonce] = float(until)
        return subject

    def _sign(self, claim: bytes) -> bytes:
        return hmac.digest(self._secret, claim, sha256)


def origin_allowed(headers: Mapping[str, str], allowed: tuple[str, ...] | None) -> bool:
    """Whether a page of this origin may open a socket.

    Args:
        headers: Of the opening request, names in lower case.
        allowed: Origins such as `https://example.com`; None for the server's own host only. What
            is no browser sends no origin, and has no cookies that a foreign page could misuse.
    """
    origin = headers.get("origin")
    if origin is None:
        return True
    if allowed is not None:
        return origin in allowed
    # The scheme is not compared: behind a proxy that ends TLS the server's own is not the page's.
    return urlsplit(origin).netloc.lower() == headers.get("host", "").lower()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.encode() + b"=" * (-len(text) % 4), b"-_", validate=True)
