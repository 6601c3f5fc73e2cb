"""Straight to a container's WebSocket, as in development, in tests and in one's own cluster."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ssl
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit, urlunsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidMessage,
    InvalidProxy,
    InvalidStatus,
    InvalidURI,
)

from kokoro_sagemaker_agents.errors import ConnectionFailed, ConnectionLost, InvalidInput

from .base import Transport

#: Where a container for SageMaker speaks (AWS's documentation of bidirectional streaming).
ROUTE: Final = "/invocations-bidirectional-stream"
# The longest piece of audio: a chunk of 510 phonemes takes about 40 s, at half speed twice that, at
# 48 kHz and two bytes a sample 7.7 MB. A frame beyond this is a fault, not audio.
_MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
# For the closing handshake, which is only a courtesy: the session's end was already sent.
_CLOSE_TIMEOUT_S: Final = 2.0
_SCHEMES: Final = {"ws": "ws", "wss": "wss", "http": "ws", "https": "wss"}
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_ADVICE_OF_STATUS: Final = {
    401: "it wants credentials: pass them in headers=",
    403: "it refuses these credentials, or this client: check headers= and its access rules",
    404: f"nothing speaks at this path; a container does at {ROUTE}",
    429: "it is too busy: try again later, or another instance",
    503: "it is starting, too busy or shutting down: try again in a moment",
}


class WebSocketTransport(Transport):
    """A container reached by its address.

    Args:
        url: `ws://host:port` or `wss://…` (`http` and `https` are taken for these); without a path
            the container's own route is meant.
        headers: Sent with the opening request, such as `Authorization`.
        ssl: For `wss` other than by the system's certificates.

    Raises:
        InvalidInput: `url` is none.
    """

    def __init__(
        self,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        ssl: ssl.SSLContext | None = None,
    ) -> None:
        parts = _parse(url)
        self._url = urlunsplit(parts)
        # What may stand in a message: no user, password or query, which can hold secrets.
        self._address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        self._headers = dict(headers or {})
        self._options: dict[str, Any] = {}
        if ssl is not None:
            self._options["ssl"] = ssl
        if parts.hostname in _LOOPBACK:
            self._options["proxy"] = None  # a proxy would look for it on its own machine
        self._socket: ClientConnection | None = None

    async def open(self) -> None:
        """Connect; see `Transport.open`."""
        try:
            self._socket = await connect(
                self._url,
                additional_headers=self._headers,
                compression=None,  # audio does not get smaller, only later
                max_size=_MAX_FRAME_BYTES,
                open_timeout=None,  # deadlines and keepalive are the session's, for all transports
                ping_interval=None,
                close_timeout=_CLOSE_TIMEOUT_S,
                **self._options,
            )
        except InvalidURI as error:
            raise InvalidInput(f"url {self._address!r} is no WebSocket address") from error
        except (OSError, InvalidHandshake, InvalidProxy, ConnectionClosed) as error:
            raise ConnectionFailed(f"{self._address}: {_explain(error)}") from error

    async def send(self, frame: str) -> None:
        """Send one text frame; see `Transport.send`."""
        try:
            await self._opened().send(frame)
        except ConnectionClosed as error:
            raise self._lost(error) from error

    async def receive(self) -> str | bytes:
        """Wait for the next frame; see `Transport.receive`."""
        try:
            return await self._opened().recv()
        except ConnectionClosed as error:
            raise self._lost(error) from error

    async def close(self) -> None:
        """End the connection; see `Transport.close`."""
        if self._socket is None:
            return
        try:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_CLOSE_TIMEOUT_S):
                    await self._socket.close()
        finally:
            self._socket.transport.abort()  # does nothing if it is closed

    def _opened(self) -> ClientConnection:
        if self._socket is None:
            raise ConnectionLost(f"{self._address}: not connected; call open() first")
        return self._socket

    def _lost(self, error: ConnectionClosed) -> ConnectionLost:
        if error.rcvd is None:
            how = "the connection broke without a closing frame"
        else:
            reason = f", {error.rcvd.reason}" if error.rcvd.reason else ""
            how = f"the server closed the connection (code {error.rcvd.code}{reason})"
        return ConnectionLost(f"{self._address}: {how}; open a new session and speak again")


def _parse(url: str) -> SplitResult:
    """The address with its scheme and path put right."""
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except (ValueError, AttributeError, TypeError):
        usable = False
    if not usable:
        raise InvalidInput(
            "url is no WebSocket address; give one such as ws://127.0.0.1:8080 or wss://host"
        )
    path = parts.path if parts.path not in ("", "/") else ROUTE
    return parts._replace(scheme=_SCHEMES[parts.scheme], path=path, fragment="")


def _explain(error: Exception) -> str:
    """Why a connection could not be opened and what to do."""
    match error:
        case InvalidStatus():
            status = error.response.status_code
            advice = _ADVICE_OF_STATUS.get(status, "see the server's log")
            return f"the server answered HTTP {status} instead of opening a WebSocket; {advice}"
        case InvalidMessage():
            return "the server does not speak HTTP as expected; check port and scheme (ws or wss)"
        case ssl.SSLCertVerificationError():
            return (
                f"the server's certificate is not trusted ({error.verify_message}); pass"
                " ssl= with a context that knows its authority"
            )
        case ssl.SSLError():
            return "TLS failed; use ws:// for a server without it, or check ssl="
        case InvalidProxy():
            return f"the proxy's address cannot be used ({error}); check HTTPS_PROXY and NO_PROXY"
        case OSError() if _is_refused(error):
            return (
                "nothing listens there; start a server (kokoro-agents serve), or check host and"
                " port"
            )
        case OSError():
            reason = error.strerror or str(error) or type(error).__name__
            return f"cannot connect ({reason}); check host, port and network"
        case _:
            return f"the server did not open a WebSocket ({error}); check host, port and path"


def _is_refused(error: OSError) -> bool:
    """Whether nobody listens; of several addresses asyncio tells the reasons only in words."""
    return error.errno == errno.ECONNREFUSED or f"[Errno {errno.ECONNREFUSED}]" in str(error)
