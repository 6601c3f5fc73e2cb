"""An HTTP/1.1 connection of a client (boto3 and curl speak it): `h11` on asyncio."""

from __future__ import annotations

import asyncio
import logging
from typing import Final, cast

import h11

from .exchange import TASK, Counters, Exchange, Handler, Headers, PeerGone, Request
from .http2 import abort_by_reset

logger = logging.getLogger(__name__)

# Room for AWS's longest headers; h11's own 16 KiB would do for most.
_MAX_HEAD_BYTES: Final = 64 * 1024


class Http1Connection(asyncio.Protocol):
    """One client's connection; its requests are served one after the other.

    Args:
        handler: serves a request.
        counters: is kept up to date.
    """

    def __init__(self, handler: Handler, counters: Counters) -> None:
        self._handler = handler
        self._counters = counters
        self.h11 = h11.Connection(h11.SERVER, max_incomplete_event_size=_MAX_HEAD_BYTES)
        self._arrived = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._lost = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The TLS handshake is done."""
        self.transport = cast(asyncio.Transport, transport)
        self._counters.add(connections=1, open_connections=1)
        self._task = asyncio.create_task(self._serve(), name=TASK)
        self._task.add_done_callback(self._served)

    def connection_lost(self, exc: Exception | None) -> None:
        """The request that is served is over."""
        self._lost = True
        self._writable.set()
        self._task.cancel()
        self._counters.add(open_connections=-1)

    def pause_writing(self) -> None:
        """The client does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It does again."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """More of a request."""
        self.h11.receive_data(data)
        self._arrived.set()

    def eof_received(self) -> bool:
        """The client sends no more, but may still read."""
        self.h11.receive_data(b"")
        self._arrived.set()
        return False  # TLS cannot be half open

    def _served(self, task: asyncio.Future[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("serving a request failed", exc_info=error)
        self.transport.close()

    async def _serve(self) -> None:
        while not self.transport.is_closing():
            try:
                event = await self.next_event()
            except h11.RemoteProtocolError as error:
                logger.warning("a client broke HTTP/1.1's rules: %s", error)
                return
            if not isinstance(event, h11.Request):
                return
            self._counters.add(streams=1, open_streams=1)
            try:
                await self._handler(Http1Exchange(self, _request(event)))
            finally:
                self._counters.add(open_streams=-1)
            await self._drop_rest()
            if self.h11.our_state is not h11.DONE or self.h11.their_state is not h11.DONE:
                return
            self.h11.start_next_cycle()

    async def _drop_rest(self) -> None:
        """The body of a request that was answered before it was read."""
        while self.h11.their_state is h11.SEND_BODY and not self.transport.is_closing():
            await self.next_event()

    async def next_event(self) -> h11.Event | type[h11.PAUSED]:
        """What the client sends next."""
        while (event := self.h11.next_event()) is h11.NEED_DATA:
            if self.h11.they_are_waiting_for_100_continue:
                await self.write(h11.InformationalResponse(status_code=100, headers=[]))
            self._arrived.clear()
            await self._arrived.wait()
        return cast("h11.Event | type[h11.PAUSED]", event)

    async def write(self, event: h11.Event) -> None:
        """Send something.

        Raises:
            PeerGone: nobody is there.
        """
        await self._writable.wait()
        if self._lost or self.transport.is_closing():
            raise PeerGone("the client's connection ended")
        data = self.h11.send(event)
        if data:
            self.transport.write(data)


class Http1Exchange(Exchange):
    """One request on such a connection."""

    def __init__(self, connection: Http1Connection, request: Request) -> None:
        self.request = request
        self._connection = connection

    async def receive(self) -> bytes:
        """See `Exchange.receive`."""
        while True:
            try:
                event = await self._connection.next_event()
            except h11.RemoteProtocolError as error:
                raise PeerGone(f"the client's request broke off: {error}") from error
            if not isinstance(event, h11.Data):
                return b""
            if event.data:
                return bytes(event.data)

    async def respond(self, status: int, headers: Headers) -> None:
        """See `Exchange.respond`."""
        await self._connection.write(h11.Response(status_code=status, headers=list(headers)))

    async def send(self, data: bytes) -> None:
        """See `Exchange.send`."""
        await self._connection.write(h11.Data(data=data))

    async def end(self) -> None:
        """See `Exchange.end`."""
        if not self._connection.transport.is_closing():
            await self._connection.write(h11.EndOfMessage())

    def reset(self) -> None:
        """See `Exchange.reset`."""
        self._connection.transport.abort()

    def goaway(self, *, graceful: bool) -> None:
        """HTTP/1.1 has nothing to say it with: the connection ends, or will."""
        if not graceful:
            self._connection.transport.close()

    def abort(self) -> None:
        """See `Exchange.abort`."""
        abort_by_reset(self._connection.transport)


def _request(event: h11.Request) -> Request:
    headers: dict[str, str] = {}
    for raw_name, raw_value in event.headers:
        name, value = raw_name.decode(), raw_value.decode()
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    path, _, query = event.target.decode().partition("?")
    headers.setdefault("host", "")
    return Request(event.method.decode(), path, query, headers, "1.1")
