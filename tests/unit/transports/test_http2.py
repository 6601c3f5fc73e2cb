"""The HTTP/2 client against a peer in memory: flow control, and every way to end."""

import asyncio
import importlib.util
from typing import Any

import pytest

if importlib.util.find_spec("h2") is None:
    pytest.skip("the extra [sagemaker] is not installed", allow_module_level=True)

import h2.config
import h2.connection
import h2.errors
import h2.events

from kokoro_sagemaker_agents.transports.aws.http2 import Http2Connection, Http2Error, Http2Stream

REQUEST = [(":method", "POST"), (":scheme", "https"), (":authority", "here"), (":path", "/")]


class Socket:
    """Takes the options that a connection sets on its own."""

    def __init__(self) -> None:
        self.options: list[tuple[int, int, int]] = []

    def setsockopt(self, *option: int) -> None:
        self.options.append(option)  # type: ignore[arg-type]  # three of them


class Wire(asyncio.Transport):
    """A connection's other end: a server's state machine, in the same process."""

    def __init__(self) -> None:
        super().__init__()
        self.socket = Socket()
        self.server = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self.server.initiate_connection()
        self.events: list[Any] = []
        self.written = asyncio.Event()
        self.answers = True
        self.aborted = False
        self.connection = Http2Connection(ping_s=60, ping_timeout_s=60)

    def open(self, **pings: float) -> Http2Connection:
        if pings:
            self.connection = Http2Connection(**pings)
        self.connection.connection_made(self)
        self.deliver()
        return self.connection

    def deliver(self, *more: bytes) -> None:
        """What the server has to say arrives, in one piece."""
        data = b"".join([self.server.data_to_send(), *more])
        if data and self.answers:
            self.connection.data_received(data)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self.socket if name == "socket" else default

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.events += self.server.receive_data(bytes(data))
        self.written.set()
        if self.answers:
            asyncio.get_running_loop().call_soon(self.deliver)

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        if not self.aborted:
            self.aborted = True
            asyncio.get_running_loop().call_soon(self.connection.connection_lost, None)

    close = abort

    def received(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture
async def wire() -> Wire:
    return Wire()


async def answered(wire: Wire, body: bytes = b"") -> Http2Stream:
    """A stream whose response has begun."""
    stream = wire.connection.request(REQUEST)
    wire.server.send_headers(stream.id, [(":status", "200")])
    if body:
        wire.server.send_data(stream.id, body)
    wire.deliver()
    assert dict(await stream.headers)[":status"] == "200"
    return stream


async def test_nagle_is_off(wire: Wire) -> None:
    import socket

    wire.open()

    assert (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1) in wire.socket.options


async def test_bytes_come_as_they_were_sent_and_end(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire, b"one")
    wire.server.send_data(stream.id, b"two", end_stream=True)
    wire.deliver()

    assert [await stream.read() for _ in range(3)] == [b"one", b"two", b""]


async def test_a_cancelled_read_loses_nothing(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire)
    reading = asyncio.create_task(stream.read())
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    wire.server.send_data(stream.id, b"later")
    wire.deliver()

    assert await stream.read() == b"later"


async def test_what_nobody_reads_is_not_acknowledged(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire)
    before = wire.server.local_flow_control_window(stream.id)
    sent = 0
    while (room := wire.server.local_flow_control_window(stream.id)) > 0:
        size = min(room, wire.server.max_outbound_frame_size)
        wire.server.send_data(stream.id, bytes(size))
        wire.deliver()
        sent += size
    assert sent == before == 1 << 20

    while sent:
        sent -= len(await stream.read())
    await asyncio.sleep(0)

    assert wire.server.local_flow_control_window(stream.id) > before // 2


async def test_a_stream_that_is_given_up_does_not_eat_the_others_window(wire: Wire) -> None:
    wire.open()
    for _ in range(40):  # of 1 MB each: the connection's window is 16 MB
        stream = await answered(wire)
        for _ in range(63):
            wire.server.send_data(stream.id, bytes(16_384))
        wire.deliver()
        stream.cancel()
        await asyncio.sleep(0)
    (other) = await answered(wire, b"still here")

    assert await other.read() == b"still here"
    assert len(wire.received(h2.events.StreamReset)) == 40


async def test_a_write_waits_for_the_peers_window(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire)
    payload = bytes(100_000)  # a server's window is 64 kB
    writing = asyncio.create_task(stream.write(payload))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not writing.done()
    got = sum(len(event.data) for event in wire.received(h2.events.DataReceived))
    assert got == 65_535

    wire.server.increment_flow_control_window(100_000)
    wire.server.increment_flow_control_window(100_000, stream.id)
    wire.deliver()
    await asyncio.wait_for(writing, 5)

    got = sum(len(event.data) for event in wire.received(h2.events.DataReceived))
    assert got == len(payload)


# --- ends ---


async def test_a_reset_fails_reader_and_writer_and_no_other_stream(wire: Wire) -> None:
    wire.open()
    stream, other = await answered(wire), await answered(wire, b"fine")
    reading = asyncio.create_task(stream.read())
    await asyncio.sleep(0)
    wire.server.reset_stream(stream.id, h2.errors.ErrorCodes.INTERNAL_ERROR)
    wire.deliver()

    with pytest.raises(Http2Error, match=r"reset the stream \(INTERNAL_ERROR\)"):
        await reading
    with pytest.raises(Http2Error, match="reset"):
        await stream.write(b"more")
    assert await other.read() == b"fine"


async def test_a_reset_before_the_headers_fails_them(wire: Wire) -> None:
    wire.open()
    stream = wire.connection.request(REQUEST)
    wire.server.reset_stream(stream.id, h2.errors.ErrorCodes.REFUSED_STREAM)
    wire.deliver()

    with pytest.raises(Http2Error, match="REFUSED_STREAM"):
        await stream.headers


async def test_a_graceful_goaway_lets_open_streams_finish(wire: Wire) -> None:
    """Also what comes in one piece with it, which h2 by itself refuses."""
    wire.open()
    stream = await answered(wire, b"before")
    wire.server.send_data(stream.id, b"after", end_stream=True)
    after = wire.server.data_to_send()
    wire.server.close_connection(last_stream_id=stream.id)
    wire.deliver(after)
    wire.server.state_machine.state = h2.connection.ConnectionState.SERVER_OPEN  # it goes on

    assert not wire.connection.usable
    with pytest.raises(Http2Error):
        wire.connection.request(REQUEST)
    assert [await stream.read() for _ in range(3)] == [b"before", b"after", b""]
    await stream.write(b"and up")
    assert not wire.aborted
    stream.cancel()
    assert wire.aborted  # the last one closes the door


async def test_a_goaway_with_an_error_ends_everything(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire)
    wire.server.close_connection(error_code=h2.errors.ErrorCodes.ENHANCE_YOUR_CALM)
    wire.deliver()

    with pytest.raises(Http2Error, match="GOAWAY, ENHANCE_YOUR_CALM"):
        await stream.read()


async def test_streams_that_the_goaway_leaves_out_fail(wire: Wire) -> None:
    wire.open()
    stream, late = await answered(wire), wire.connection.request(REQUEST)
    wire.server.close_connection(last_stream_id=stream.id)
    wire.deliver()

    with pytest.raises(Http2Error, match="GOAWAY"):
        await late.headers
    assert stream.error is None


async def test_a_lost_connection_is_an_error_never_an_end(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire, b"half")
    wire.connection.connection_lost(ConnectionResetError("gone"))

    assert await stream.read() == b"half"
    with pytest.raises(Http2Error, match=r"the connection broke \(gone\)"):
        await stream.read()
    with pytest.raises(Http2Error):
        wire.connection.request(REQUEST)


async def test_a_silent_peer_is_asked_and_then_given_up(wire: Wire) -> None:
    wire.open(ping_s=0.05, ping_timeout_s=0.05)
    stream = await answered(wire)
    wire.answers = False

    with pytest.raises(Http2Error, match="no sign of life"):
        await asyncio.wait_for(stream.read(), 10)
    assert wire.received(h2.events.PingReceived)


async def test_a_peer_that_answers_pings_is_kept(wire: Wire) -> None:
    connection = wire.open(ping_s=0.02, ping_timeout_s=5)
    async with asyncio.timeout(10):
        while len(wire.received(h2.events.PingReceived)) < 3:
            wire.written.clear()
            await wire.written.wait()

    assert connection.usable
    await connection.aclose()


async def test_nonsense_ends_the_connection_with_a_reason(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire)
    wire.connection.data_received(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 300_000)

    with pytest.raises(Http2Error):
        await stream.read()
    assert wire.aborted


async def test_closing_fails_what_is_open_and_may_be_repeated(wire: Wire) -> None:
    wire.open()
    stream = await answered(wire)
    await wire.connection.aclose()
    await wire.connection.aclose()

    with pytest.raises(Http2Error, match="closed on this side"):
        await stream.read()
