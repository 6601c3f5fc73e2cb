"""One HTTP/2 connection over TLS, as a client, with the failures left visible.

The protocol itself is `h2`'s. This is what an event stream needs around it: both directions at
once, end-to-end backpressure (data counts as received when somebody took it), no Nagle, PINGs with
a deadline, and every abnormal end as an exception: a reset stream, GOAWAY, a lost connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections import deque
from collections.abc import Iterable
from typing import Final

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import h2.stream

Headers = list[tuple[str, str]]

# A second of audio is 48 kB at most; a stream may have some seconds of it under way.
_STREAM_WINDOW_BYTES: Final = 1 << 20
_CONNECTION_WINDOW_BYTES: Final = 1 << 24
_FRAME_HEADER_BYTES: Final = 9  # RFC 9113, section 4.1
# Stream numbers are odd and end at 2**31 - 1 (RFC 9113, section 5.1.1).
_LAST_STREAM_ID: Final = (1 << 31) - 3


class Http2Error(OSError):
    """The connection or a stream of it has failed; the message says how.

    Args:
        message: What happened.
        retryable: Whether another connection may do better.
    """

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        super().__init__(message)
        self.retryable = retryable


class Http2Stream:
    """A request and its response, both at once; made by `Http2Connection.request`."""

    def __init__(self, connection: Http2Connection, stream_id: int) -> None:
        self._connection = connection
        self.id = stream_id
        self.headers: asyncio.Future[Headers] = connection.loop.create_future()
        """The response's headers, `:status` among them; raises `Http2Error` if there are none."""
        self._received: deque[tuple[bytes, int]] = deque()  # data, and its flow-controlled length
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._ended = False
        self._over = asyncio.Event()
        self.error: Http2Error | None = None
        self.sent_all = False

    async def read(self) -> bytes:
        """The next bytes of the response; nothing at its end.

        May be cancelled, and called again.

        Raises:
            Http2Error: it broke off before its end.
        """
        while not self._received:
            if self.error is not None:
                raise self.error
            if self._ended:
                return b""
            self._news.clear()
            await self._news.wait()
        data, length = self._received.popleft()
        self._connection.acknowledge(self.id, length)
        return data

    async def write(self, data: bytes) -> None:
        """Send bytes; waits while the peer takes no more.

        Raises:
            Http2Error: the stream has failed.
        """
        view = memoryview(data)
        while view:
            if self.error is not None:
                raise self.error
            self._room.clear()
            size = self._connection.send_part(self.id, view)
            view = view[size:]
            if not size:
                await self._room.wait()
        await self._connection.drained()

    async def end(self) -> None:
        """Say that the request is complete; nothing if the stream is over."""
        if self.error is None and not self.sent_all:
            self.sent_all = True
            self._connection.send_end(self.id)

    async def failed(self) -> None:
        """Wait until it has failed."""
        await self._over.wait()

    def cancel(self) -> None:
        """Give the stream up, at both ends, and free what it holds. Idempotent."""
        self._connection.cancel(self)

    # --- from the connection ---

    def on_headers(self, headers: Headers) -> None:
        """The response has begun."""
        if not self.headers.done():
            self.headers.set_result(headers)

    def on_data(self, data: bytes, length: int) -> None:
        """A part of the response's body."""
        self._received.append((data, length))
        self._news.set()

    def on_end(self) -> None:
        """The response is complete."""
        self._ended = True
        self._news.set()
        if not self.headers.done():
            self.fail(Http2Error("the response ended before its headers"))

    def on_room(self) -> None:
        """The peer takes more."""
        self._room.set()

    def fail(self, error: Http2Error) -> None:
        """It is over, and not as it should be."""
        if self.error is None and not (self._ended and self.sent_all):
            self.error = error
            self._over.set()
        if not self.headers.done():
            self.headers.set_exception(error)
            self.headers.exception()  # seen, whether or not anybody waits for it
        self._news.set()
        self._room.set()

    def drop(self) -> int:
        """Forget what was received and not taken; returns how many bytes of window it holds."""
        held = sum(length for _, length in self._received)
        self._received.clear()
        return held


class Http2Connection(asyncio.Protocol):
    """See the module's text; made by `connect`.

    Args:
        ping_s: After so long without a byte from the peer it is asked for one, in seconds.
        ping_timeout_s: How long it may take to answer.
    """

    def __init__(self, *, ping_s: float, ping_timeout_s: float) -> None:
        self.loop = asyncio.get_running_loop()
        config = h2.config.H2Configuration(client_side=True, header_encoding="utf-8")
        self._h2 = h2.connection.H2Connection(config)
        self._ping_s = ping_s
        self._ping_timeout_s = ping_timeout_s
        self._streams: dict[int, Http2Stream] = {}
        self._transport: asyncio.Transport | None = None
        self._unparsed = bytearray()
        self._writable = asyncio.Event()
        self._writable.set()
        self._closed = asyncio.Event()
        self._heard_at_s = self.loop.time()
        self._timer: asyncio.TimerHandle | None = None
        self._error: Http2Error | None = None
        self._going_away = False

    @property
    def usable(self) -> bool:
        """Whether another stream may be opened on it."""
        if self._error is not None or self._going_away or self._transport is None:
            return False
        most = self._h2.remote_settings.max_concurrent_streams
        return len(self._streams) < most and self._h2.highest_outbound_stream_id < _LAST_STREAM_ID

    @property
    def streams(self) -> int:
        """How many are open."""
        return len(self._streams)

    @property
    def error(self) -> Http2Error | None:
        """Why nothing can be sent any more."""
        return self._error

    # --- requests ---

    def request(self, headers: Headers) -> Http2Stream:
        """Begin a request.

        Raises:
            Http2Error: the connection takes no more.
        """
        if not self.usable:
            raise self._error or Http2Error("the connection takes no more streams")
        stream_id = self._h2.get_next_available_stream_id()
        stream = self._streams[stream_id] = Http2Stream(self, stream_id)
        self._h2.send_headers(stream_id, headers)
        self._flush()
        return stream

    def send_part(self, stream_id: int, data: memoryview) -> int:
        """Send as much of it as the peer takes now; returns how much."""
        size = min(
            len(data),
            self._h2.local_flow_control_window(stream_id),
            self._h2.max_outbound_frame_size,
        )
        if size > 0:
            self._h2.send_data(stream_id, bytes(data[:size]))
            self._flush()
        return max(0, size)

    def send_end(self, stream_id: int) -> None:
        """Say that a request is complete."""
        with contextlib.suppress(h2.exceptions.ProtocolError):  # reset meanwhile
            self._h2.end_stream(stream_id)
            self._flush()

    async def drained(self) -> None:
        """Wait until what was sent has left this process, or nearly."""
        await self._writable.wait()

    def acknowledge(self, stream_id: int, length: int) -> None:
        """So many bytes of a stream were taken: the peer may send as many more."""
        if length and self._error is None:
            with contextlib.suppress(h2.exceptions.ProtocolError):  # it is going away
                self._h2.acknowledge_received_data(length, stream_id)
                self._flush()

    def cancel(self, stream: Http2Stream) -> None:
        """Give a stream up."""
        if self._streams.pop(stream.id, None) is None:
            return
        stream.fail(Http2Error("the stream was closed on this side"))
        if self._error is None:
            with contextlib.suppress(h2.exceptions.ProtocolError):  # it is over by itself
                self._h2.reset_stream(stream.id, h2.errors.ErrorCodes.CANCEL)
            self.acknowledge(stream.id, stream.drop())
            self._flush()
        if self._going_away and not self._streams:
            self._abort(Http2Error("the server closed the connection (GOAWAY)"))

    # --- its life ---

    async def aclose(self) -> None:
        """End it; streams that are open fail. Idempotent."""
        if self._error is None:
            with contextlib.suppress(h2.exceptions.ProtocolError):
                self._h2.close_connection()
                self._flush()
        self._fail(Http2Error("the connection was closed on this side"))
        if self._transport is not None:
            self._transport.close()
            try:
                async with asyncio.timeout(1.0):  # TLS's own goodbye is a courtesy
                    await self._closed.wait()
            except TimeoutError:
                self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """TCP and TLS are there."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        sock: socket.socket = transport.get_extra_info("socket")
        # Else a small event waits up to 40 ms for the acknowledgement of the one before (measured).
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._h2.local_settings = h2.settings.Settings(
            client=True,
            initial_values={
                h2.settings.SettingCodes.ENABLE_PUSH: 0,
                h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: _STREAM_WINDOW_BYTES,
            },
        )
        self._h2.initiate_connection()
        self._h2.increment_flow_control_window(
            _CONNECTION_WINDOW_BYTES - self._h2.inbound_flow_control_window
        )
        self._flush()
        self._timer = self.loop.call_later(self._ping_s, self._check_alive)

    def connection_lost(self, error: Exception | None) -> None:
        """The peer or the network has ended it."""
        how = f" ({error})" if error is not None and str(error) else ""
        self._fail(Http2Error(f"the connection broke{how}"))
        self._closed.set()

    def pause_writing(self) -> None:
        """The socket is full."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """It no longer is."""
        self._writable.set()

    def data_received(self, data: bytes) -> None:
        """Bytes from the peer."""
        self._heard_at_s = self.loop.time()
        self._unparsed += data
        try:
            for frame in self._frames():
                for event in self._h2.receive_data(frame):
                    self._on_event(event)
        except h2.exceptions.ProtocolError as error:
            self._abort(Http2Error(f"the server broke HTTP/2's rules: {error}"))
        else:
            self._flush()

    def _frames(self) -> Iterable[bytes]:
        """The whole frames among the bytes, one by one.

        `h2` refuses every frame that it reads together with, or after, a GOAWAY; a server that
        goes away gracefully sends many. So it gets them singly, and `_on_goaway` lets it go on.
        """
        while len(self._unparsed) >= _FRAME_HEADER_BYTES:
            size = _FRAME_HEADER_BYTES + int.from_bytes(self._unparsed[:3])
            if len(self._unparsed) < size:
                return
            frame = bytes(self._unparsed[:size])
            del self._unparsed[:size]
            yield frame

    def _on_event(self, event: h2.events.Event) -> None:
        match event:
            case h2.events.DataReceived():
                stream = self._stream(event.stream_id)
                if stream is None:  # given up: its bytes still count for the others' window
                    self.acknowledge(event.stream_id or 0, event.flow_controlled_length or 0)
                else:
                    stream.on_data(event.data or b"", event.flow_controlled_length or 0)
            case h2.events.ResponseReceived():
                stream = self._stream(event.stream_id)
                if stream is not None:
                    stream.on_headers([(str(k), str(v)) for k, v in event.headers or []])
            case h2.events.StreamEnded():
                stream = self._stream(event.stream_id)
                if stream is not None:
                    stream.on_end()
            case h2.events.StreamReset():
                stream = self._stream(event.stream_id)
                if stream is not None:
                    code = _name_of(event.error_code)
                    stream.fail(Http2Error(f"the server reset the stream ({code})"))
            case h2.events.WindowUpdated() | h2.events.RemoteSettingsChanged():
                for stream in self._streams.values():
                    stream.on_room()
            case h2.events.ConnectionTerminated():
                self._on_goaway(event)
            case _:
                pass

    def _on_goaway(self, event: h2.events.ConnectionTerminated) -> None:
        code = _name_of(event.error_code)
        error = Http2Error(f"the server closed the connection (GOAWAY, {code})")
        if event.error_code != h2.errors.ErrorCodes.NO_ERROR:
            self._abort(error)
            return
        self._going_away = True
        for stream_id, stream in list(self._streams.items()):
            if stream_id > (event.last_stream_id or 0):
                stream.fail(error)
                del self._streams[stream_id]
        if not self._streams:
            self._abort(error)
        else:  # the streams that it knows go on (RFC 9113, section 6.8), which `h2` does not allow
            self._h2.state_machine.state = h2.connection.ConnectionState.CLIENT_OPEN

    def _stream(self, stream_id: int | None) -> Http2Stream | None:
        return self._streams.get(stream_id or 0)

    def _check_alive(self) -> None:
        """Ask a silent peer for a sign of life, and give it up if none comes."""
        silent_s = self.loop.time() - self._heard_at_s
        if self._error is not None:
            return
        if silent_s >= self._ping_s + self._ping_timeout_s:
            self._abort(Http2Error(f"the server gave no sign of life for {silent_s:.0f} s"))
            return
        if silent_s >= self._ping_s:
            self._h2.ping(b"kokoro  ")
            self._flush()
            pause_s = self._ping_s + self._ping_timeout_s - silent_s
        else:
            pause_s = self._ping_s - silent_s
        self._timer = self.loop.call_later(max(pause_s, 0.01), self._check_alive)

    def _flush(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        data = self._h2.data_to_send()
        if data:
            self._transport.write(data)

    def _abort(self, error: Http2Error) -> None:
        self._flush()
        self._fail(error)
        if self._transport is not None:
            self._transport.abort()

    def _fail(self, error: Http2Error) -> None:
        if self._error is None:
            self._error = error
        if self._timer is not None:
            self._timer.cancel()
        self._writable.set()
        streams = list(self._streams.values())
        self._streams.clear()
        for stream in streams:
            stream.fail(self._error)


async def connect(
    host: str, port: int, tls: ssl.SSLContext, *, ping_s: float, ping_timeout_s: float
) -> Http2Connection:
    """Open a connection. The caller has a deadline.

    Args:
        host: Name or address.
        port: Its port.
        tls: Offers `h2` by ALPN.
        ping_s: See `Http2Connection`.
        ping_timeout_s: See there.

    Raises:
        OSError: it cannot be reached, or is not to be trusted (`ssl.SSLError`).
        Http2Error: it speaks no HTTP/2.
    """
    loop = asyncio.get_running_loop()
    transport, connection = await loop.create_connection(
        lambda: Http2Connection(ping_s=ping_s, ping_timeout_s=ping_timeout_s),
        host,
        port,
        ssl=tls,
    )
    secured = transport.get_extra_info("ssl_object")
    if secured is None or secured.selected_alpn_protocol() != "h2":
        transport.abort()
        raise Http2Error(f"{host}:{port} does not speak HTTP/2", retryable=False)
    return connection


def _name_of(code: int | h2.errors.ErrorCodes | None) -> str:
    try:
        return h2.errors.ErrorCodes(code or 0).name
    except ValueError:
        return str(code)
