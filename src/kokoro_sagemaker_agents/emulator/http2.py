"""An HTTP/2 connection of a client: `h2` on asyncio, with what a test wants to break."""

from __future__ import annotations

import asyncio
import logging
import socket
import struct
from collections import deque
from typing import Any, Final, cast

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    DataReceived,
    Event,
    RemoteSettingsChanged,
    RequestReceived,
    StreamEnded,
    StreamReset,
    WindowUpdated,
)
from h2.exceptions import ProtocolError
from hyperframe.frame import GoAwayFrame

from .exchange import TASK, Counters, Exchange, Handler, Headers, PeerGone, Request

logger = logging.getLogger(__name__)

# Streams keep h2's window of 64 KiB, so that a slow container is felt by its client; the connection
# has room for many of them. AWS's own windows are not known.
_CONNECTION_WINDOW_BYTES: Final = 16 * 1024 * 1024
_LINGER_NOT: Final = struct.pack("ii", 1, 0)


def abort_by_reset(transport: asyncio.Transport) -> None:
    """End a TCP connection with RST, as a machine that vanished would."""
    sock = transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER_NOT)
    transport.abort()


class Http2Connection(asyncio.Protocol):
    """One client's connection; each of its streams is one task of `handler`.

    Args:
        handler: serves a request.
        counters: is kept up to date.
    """

    def __init__(self, handler: Handler, counters: Counters) -> None:
        self._handler = handler
        self._counters = counters
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self._streams: dict[int, Http2Stream] = {}
        self._writable = asyncio.Event()
        self._writable.set()
        self._draining = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The TLS handshake is done."""
        self.transport = cast(asyncio.Transport, transport)
        self._counters.add(connections=1, open_connections=1)
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(_CONNECTION_WINDOW_BYTES - 65_535)
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        """All streams are over."""
        for stream in list(self._streams.values()):
            stream.break_off()
        self._writable.set()
        self._counters.add(open_connections=-1)

    def pause_writing(self) -> None:
        """The client does not read."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It does again."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Hand what came to its streams."""
        try:
            events = self.h2.receive_data(data)
        except ProtocolError as error:
            logger.warning("a client broke HTTP/2's rules: %s", error)
            self.flush()
            self.transport.close()
            return
        for event in events:
            self._dispatch(event)
        self.flush()

    def _dispatch(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._begin(event)
            return
        if isinstance(event, (WindowUpdated, RemoteSettingsChanged)):
            for stream in self._streams.values():
                stream.window_open.set()
            return
        stream_id = getattr(event, "stream_id", None)
        known = self._streams.get(stream_id) if stream_id else None
        match event:
            case DataReceived():
                length = event.flow_controlled_length or 0
                if known is None or not known.take(event.data or b"", length):
                    self.acknowledge(length, event.stream_id or 0)
            case StreamEnded() if known is not None:
                known.input_ended()
            case StreamReset() if known is not None:
                known.break_off()
            case _:
                pass

    def _begin(self, event: RequestReceived) -> None:
        stream_id = event.stream_id or 0
        if self._draining:
            self.h2.reset_stream(stream_id, ErrorCodes.REFUSED_STREAM)
            return
        fields = cast("list[tuple[str, str]]", event.headers or [])
        stream = Http2Stream(self, stream_id, _request(fields))
        self._streams[stream_id] = stream
        self._counters.add(streams=1, open_streams=1)
        stream.start(self._handler)

    def forget(self, stream_id: int) -> None:
        """A stream is over on both sides."""
        if self._streams.pop(stream_id, None) is not None:
            self._counters.add(open_streams=-1)

    def acknowledge(self, length: int, stream_id: int) -> None:
        """Let the client send so much more, on the connection and on the stream if it is open."""
        if not length or self.transport.is_closing():
            return
        try:
            self.h2.acknowledge_received_data(length, stream_id)
        except ProtocolError:
            logger.debug("the stream ended before its data was taken")

    def flush(self) -> None:
        """Write what h2 has to say."""
        data = self.h2.data_to_send()
        if data and not self.transport.is_closing():
            self.transport.write(data)

    async def writable(self) -> None:
        """Wait until the client reads.

        Raises:
            PeerGone: the connection ended.
        """
        await self._writable.wait()
        if self.transport.is_closing():
            raise PeerGone("the client's connection ended")

    def goaway(self, *, graceful: bool) -> None:
        """See `Exchange.goaway`."""
        last = self.h2.highest_inbound_stream_id
        if graceful:
            # h2 would end all streams with it.
            self._draining = True
            self.transport.write(GoAwayFrame(stream_id=0, last_stream_id=last).serialize())
        else:
            self.h2.close_connection(ErrorCodes.INTERNAL_ERROR, last_stream_id=last)
            self.flush()
            self.transport.close()


class Http2Stream(Exchange):
    """One request on such a connection."""

    def __init__(self, connection: Http2Connection, stream_id: int, request: Request) -> None:
        self.request = request
        self._connection = connection
        self._id = stream_id
        self.window_open = asyncio.Event()
        self._arrived = asyncio.Event()
        self._inbox: deque[tuple[bytes, int]] = deque()
        self._unacknowledged = 0
        self._input_ended = self._broken = self._answered = False

    def start(self, handler: Handler) -> None:
        """Serve it in a task of its own."""
        self._task = asyncio.create_task(handler(self), name=TASK)
        self._task.add_done_callback(self._served)

    def _served(self, task: asyncio.Future[None]) -> None:
        self._answered = True
        if not task.cancelled() and (error := task.exception()) is not None:
            logger.error("serving a request failed", exc_info=error)
        while self._inbox:  # or the connection's window would leak
            self._connection.acknowledge(self._inbox.popleft()[1], self._id)
        self._connection.acknowledge(self._unacknowledged, self._id)
        if not self._connection.transport.is_closing():
            self._connection.flush()
        self._forget_if_over()

    def _forget_if_over(self) -> None:
        if self._answered and (self._input_ended or self._broken):
            self._connection.forget(self._id)

    def take(self, data: bytes, length: int) -> bool:
        """Queue a piece of the body; False if nobody will ask for it."""
        if self._answered or self._broken:
            return False
        self._inbox.append((data, length))
        self._arrived.set()
        return True

    def input_ended(self) -> None:
        """The client has sent all."""
        self._input_ended = True
        self._arrived.set()
        self._forget_if_over()

    def break_off(self) -> None:
        """The client is gone."""
        self._broken = True
        self._task.cancel()
        self._forget_if_over()

    async def receive(self) -> bytes:
        """See `Exchange.receive`."""
        self._connection.acknowledge(self._unacknowledged, self._id)
        self._unacknowledged = 0
        self._connection.flush()
        while True:
            while self._inbox:
                data, length = self._inbox.popleft()
                self._unacknowledged += length
                if data:
                    return data
            if self._input_ended:
                return b""
            self._arrived.clear()
            await self._arrived.wait()

    async def respond(self, status: int, headers: Headers) -> None:
        """See `Exchange.respond`."""
        self._do(self._connection.h2.send_headers, self._id, [(":status", str(status)), *headers])

    async def send(self, data: bytes) -> None:
        """See `Exchange.send`."""
        h2 = self._connection.h2
        rest = memoryview(data)
        while rest:
            await self._connection.writable()
            room = min(self._do(h2.local_flow_control_window, self._id), h2.max_outbound_frame_size)
            if room <= 0:
                self.window_open.clear()
                await self.window_open.wait()
                continue
            self._do(h2.send_data, self._id, bytes(rest[:room]))
            rest = rest[room:]

    async def end(self) -> None:
        """See `Exchange.end`."""
        if not self._broken and not self._connection.transport.is_closing():
            self._do(self._connection.h2.end_stream, self._id)

    def _do(self, call: Any, *arguments: Any) -> Any:
        try:
            result = call(*arguments)
        except ProtocolError as error:
            raise PeerGone(f"the client's stream is over: {error}") from error
        self._connection.flush()
        return result

    def reset(self) -> None:
        """See `Exchange.reset`."""
        self._broken = True
        self._do(self._connection.h2.reset_stream, self._id, ErrorCodes.INTERNAL_ERROR)

    def goaway(self, *, graceful: bool) -> None:
        """See `Exchange.goaway`."""
        self._connection.goaway(graceful=graceful)

    def abort(self) -> None:
        """See `Exchange.abort`."""
        abort_by_reset(self._connection.transport)


def _request(fields: list[tuple[str, str]]) -> Request:
    headers: dict[str, str] = {}
    for name, value in fields:
        headers[name] = f"{headers[name]},{value}" if name in headers else value
    path, _, query = headers.pop(":path", "/").partition("?")
    headers["host"] = headers.pop(":authority", headers.get("host", ""))
    headers.pop(":scheme", None)
    return Request(headers.pop(":method", "GET"), path, query, headers, "2")
