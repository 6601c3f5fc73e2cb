"""What the AWS SDK sends and receives its bytes with, in place of its own transports.

The SDK's CRT transport shows a lost connection as a clean end, hangs when it is closed afterwards,
leaves Nagle's algorithm on and opens connections as it likes; its aiohttp transport cannot send and
receive at once. This one is `http2.py`'s connections, shared by whoever talks to the same place.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from typing import Any, ClassVar, Final
from weakref import WeakKeyDictionary

from smithy_http import Field, Fields
from smithy_http.aio import HTTPResponse

from .http2 import Headers, Http2Connection, Http2Error, Http2Stream, connect

# An answer to these does not belong into HTTP/2 (RFC 9113, section 8.2.2).
_NOT_SENT: Final = frozenset({"host", "connection", "transfer-encoding"})
PING_S: Final = 15.0
PING_TIMEOUT_S: Final = 10.0
# A connection shares its fate with all its streams. SageMaker's own limit is not known.
STREAMS_PER_CONNECTION: Final = 50

Place = tuple[str, int]


class ConnectionPool:
    """The connections of one event loop to places that one TLS context trusts.

    Args:
        tls: Offers `h2` by ALPN.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self._connections: dict[Place, list[Http2Connection]] = {}
        self._opening: dict[Place, asyncio.Lock] = {}
        self._users = 0

    @property
    def connections(self) -> list[Http2Connection]:
        """Those that work."""
        return [c for found in self._connections.values() for c in found if c.error is None]

    async def request(self, place: Place, headers: Headers) -> Http2Stream:
        """Begin a request on a connection that has room, or on a new one."""
        lock = self._opening.setdefault(place, asyncio.Lock())
        async with lock:  # whoever comes while one is being opened uses it too
            found = self._connections.setdefault(place, [])
            found[:] = [connection for connection in found if connection.error is None]
            for connection in found:
                if connection.usable and connection.streams < STREAMS_PER_CONNECTION:
                    return connection.request(headers)
            connection = await connect(
                *place, self._tls, ping_s=PING_S, ping_timeout_s=PING_TIMEOUT_S
            )
            found.append(connection)
            return connection.request(headers)

    def acquire(self) -> None:
        """Somebody uses it."""
        self._users += 1

    async def release(self) -> None:
        """Somebody no longer does; the last one takes the connections along."""
        self._users -= 1
        if not self._users:
            connections = self.connections
            self._connections.clear()
            await asyncio.gather(*(connection.aclose() for connection in connections))


_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Any, ConnectionPool]]
_pools = WeakKeyDictionary()


def shared_pool(ca_bundle: str | None) -> ConnectionPool:
    """The running loop's pool for places whose certificates these authorities sign.

    Args:
        ca_bundle: A PEM file in place of the system's authorities.

    Raises:
        OSError: there is no such file, or it holds no certificate.
    """
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    if ca_bundle not in pools:
        tls = ssl.create_default_context(cafile=ca_bundle)
        tls.set_alpn_protocols(["h2"])
        pools[ca_bundle] = ConnectionPool(tls)
    return pools[ca_bundle]


class DuplexHttp2Transport:
    """One stream's way through a pool, as the SDK wants a transport to look like.

    Args:
        pool: Shared with others.
    """

    SUPPORTS_DUPLEX_STREAMING: ClassVar[bool] = True
    TIMEOUT_EXCEPTIONS: ClassVar[tuple[type[Exception], ...]] = (TimeoutError,)

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool = pool
        self._stream: Http2Stream | None = None
        self._pump: asyncio.Task[None] | None = None
        self.failure: BaseException | None = None
        """What the request failed with before its response; the SDK wraps it."""
        self.status: int | None = None
        """The response's status; None before it came."""
        self.error_type = ""
        """What AWS calls the refusal, if it is one."""

    def __deepcopy__(self, _memo: object) -> DuplexHttp2Transport:
        return self  # the SDK copies its configuration for each call

    async def send(self, request: Any, *, request_config: Any = None) -> HTTPResponse:
        """Begin a request; returns when the response's headers are there.

        Args:
            request: The SDK's, with a body that is iterated while the response is read.
            request_config: Not used; deadlines are the session's.
        """
        url = request.destination
        place = (url.host, url.port or 443)
        try:
            self._stream = await self._pool.request(place, _headers(request))
            self._pump = asyncio.create_task(
                _send_body(request.body, self._stream), name="kokoro-sagemaker-send"
            )
            headers = await self._stream.headers
        except BaseException as error:
            self.failure = error
            await request.body.close(flush=False)
            raise
        fields = Fields(
            [Field(name=name, values=[value]) for name, value in headers if name[0] != ":"]
        )
        found = dict(headers)
        self.status = status = int(found[":status"])
        self.error_type = found.get("x-amzn-errortype", "").partition(":")[0].rpartition("#")[2]
        return HTTPResponse(status=status, fields=fields, body=_Body(self._stream), reason=None)

    async def abandon(self) -> None:
        """Give the request up and free what it holds. Idempotent."""
        if self._stream is not None:
            self._stream.cancel()
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])

    async def close(self) -> None:
        """Nothing: the pool's users close it."""


class _Body:
    """A response's bytes; unlike a generator it survives a cancelled wait for the next ones."""

    def __init__(self, stream: Http2Stream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        data = await self._stream.read()
        if not data:
            raise StopAsyncIteration
        return data


async def _send_body(body: Any, stream: Http2Stream) -> None:
    """Send what the SDK puts into the body, until it closes it or the stream fails."""
    waiting = asyncio.create_task(_closed_on_failure(body, stream), name="kokoro-sagemaker-watch")
    try:
        async for data in body:
            await stream.write(data)
        await stream.end()
    except Http2Error:
        await body.close(flush=False)  # what waits to write into it is told
    finally:
        waiting.cancel()
        await asyncio.wait([waiting])


async def _closed_on_failure(body: Any, stream: Http2Stream) -> None:
    """Close the body when the stream fails, so that the first write after that already does."""
    await stream.failed()
    with contextlib.suppress(Exception):
        await body.close(flush=False)


def _headers(request: Any) -> Headers:
    url = request.destination
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    headers = [
        (":method", request.method),
        (":scheme", url.scheme or "https"),
        (":authority", url.netloc),
        (":path", path),
    ]
    for field in request.fields:
        name = field.name.lower()
        if name not in _NOT_SENT:
            headers += [(name, value) for value in field.values]
    return headers
