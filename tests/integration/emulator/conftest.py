"""An emulator in front of a container that shows and sends single frames, and a bare h2 client."""

import asyncio
import importlib.util
import json
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, cast

import pytest

if importlib.util.find_spec("h2") is None or importlib.util.find_spec("cryptography") is None:
    collect_ignore_glob = ["test_*.py"]  # the extra [emulator] is not installed
else:
    from h2.connection import H2Connection
    from h2.events import (
        ConnectionTerminated,
        DataReceived,
        ResponseReceived,
        StreamEnded,
        StreamReset,
    )
    from websockets.frames import Frame, Opcode
    from websockets.protocol import State
    from websockets.server import ServerProtocol

    from kokoro_sagemaker_agents.emulator import Emulator
    from kokoro_sagemaker_agents.emulator.eventstream import Decoder, Message, encode
    from kokoro_sagemaker_agents.emulator.exchange import TASK

DEADLINE_S = 30.0
STREAM = "/endpoints/kokoro/invocations-bidirectional-stream"
EVENTS = "application/vnd.amazon.eventstream"


def flush(ws: "ServerProtocol", writer: asyncio.StreamWriter) -> None:
    for data in ws.data_to_send():
        if data:
            writer.write(data)
        else:
            writer.close()


class FrameContainer:
    """A container of single frames.

    Attributes:
        url: where it is.
        paths: that were asked for.
        frames: opcode, FIN and payload of what came; CLOSE frames too.
        refusing: it answers the handshake with 503.
        deaf: it answers no pings.
    """

    def __init__(self) -> None:
        self.url = ""
        self.paths: list[str] = []
        self.frames: asyncio.Queue[tuple[Opcode, bool, bytes]] = asyncio.Queue()
        self.refusing = self.deaf = False
        self.healthy = True
        self._writers: list[asyncio.StreamWriter] = []

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        first = await reader.read(65_536)
        if b"/ping " in first:
            status = b"200 OK" if self.healthy else b"503 No"
            writer.write(b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\n\r\n")
            return
        # The latest is the one that tests speak through.
        ws, self.ws, self.writer = (made := ServerProtocol(max_size=None)), made, writer
        ws.receive_data(first)
        while True:
            for event in ws.events_received():
                if isinstance(event, Frame):
                    self.frames.put_nowait((event.opcode, event.fin, bytes(event.data)))
                else:
                    self.paths.append(event.path)
                    self._accept(ws, event)
            flush(ws, writer)
            data = await reader.read(65_536)
            if not data:
                return
            ws.receive_data(data)
            if self.deaf and ws.state is State.OPEN:
                ws.writes.clear()  # the pong

    def _accept(self, ws: "ServerProtocol", request: Any) -> None:
        if self.refusing:
            ws.send_response(ws.reject(503, "no room"))
        else:
            ws.send_response(ws.accept(request))

    def text(self, data: bytes, final: bool = True) -> None:
        self.ws.send_text(data, final)
        flush(self.ws, self.writer)

    def binary(self, data: bytes, final: bool = True) -> None:
        self.ws.send_binary(data, final)
        flush(self.ws, self.writer)

    def more(self, data: bytes, final: bool = True) -> None:
        self.ws.send_continuation(data, final)
        flush(self.ws, self.writer)

    def close(self, code: int, reason: str = "") -> None:
        self.ws.send_close(code, reason)
        flush(self.ws, self.writer)

    async def frame(self) -> "tuple[Opcode, bool, bytes]":
        """The next that is no ping."""
        async with asyncio.timeout(DEADLINE_S):
            while (frame := await self.frames.get())[0] is Opcode.PING:
                pass
            return frame

    def vanish(self) -> None:
        for writer in self._writers:
            writer.transport.abort()


@asynccontextmanager
async def serving_frames() -> AsyncIterator[FrameContainer]:
    made = FrameContainer()
    server = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()
    made.vanish()


@pytest.fixture
async def container() -> AsyncIterator[FrameContainer]:
    async with serving_frames() as made:
        yield made


@pytest.fixture
async def second() -> AsyncIterator[FrameContainer]:
    """Another instance."""
    async with serving_frames() as made:
        yield made


class Call:
    """One request of the bare client; `next` is what came of it, in order.

    An outcome is an event (Message), or one of the words end, reset, lost.
    """

    def __init__(self, peer: "Peer", stream_id: int) -> None:
        self._peer = peer
        self._id = stream_id
        self._decoder: Decoder | None = None
        self._outcomes: asyncio.Queue[Any] = asyncio.Queue()
        self._head: asyncio.Future[dict[str, str]] = asyncio.get_running_loop().create_future()
        self.body = bytearray()

    async def head(self) -> dict[str, str]:
        """The response's headers."""
        async with asyncio.timeout(DEADLINE_S):
            return await asyncio.shield(self._head)

    async def refusal(self) -> tuple[int, str, dict[str, Any]]:
        """Status, AWS's name and body of an error response, which must be whole."""
        head = await self.head()
        assert await self.next() == "end"
        return int(head[":status"]), head["x-amzn-errortype"], json.loads(self.body)

    async def next(self) -> Any:
        async with asyncio.timeout(DEADLINE_S):
            return await self._outcomes.get()

    def part(self, data: bytes, **headers: str) -> None:
        fixed = {":message-type": "event", ":event-type": "PayloadPart"}
        self.send(Message({**fixed, **headers}, data))

    def send(self, message: "Message") -> None:
        self.raw(encode(message))

    def raw(self, data: bytes) -> None:
        self._peer.h2.send_data(self._id, data)
        self._peer.flush()

    def end(self) -> None:
        self._peer.h2.end_stream(self._id)
        self._peer.flush()

    def reset(self) -> None:
        self._peer.h2.reset_stream(self._id)
        self._peer.flush()

    def answered(self, headers: dict[str, str]) -> None:
        if headers[":status"] == "200":
            self._decoder = Decoder()
        self._head.set_result(headers)

    def received(self, data: bytes) -> None:
        self.body += data
        if self._decoder is not None:
            for message in self._decoder.feed(data):
                self._outcomes.put_nowait(message)

    def over(self, how: str) -> None:
        if self._decoder is not None and self._decoder.pending_bytes and how == "end":
            how = "truncated"
        self._outcomes.put_nowait(how)
        if not self._head.done():
            self._head.set_exception(ConnectionError(how))
            self._head.exception()  # it may be that nobody asks


class Peer(asyncio.Protocol):
    """A client that knows HTTP/2 and nothing else."""

    def __init__(self) -> None:
        self.h2 = H2Connection()
        self.calls: dict[int, Call] = {}
        self.goaway = asyncio.Event()
        self.lost = asyncio.Event()
        self.unread: dict[int, int] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.h2.initiate_connection()
        self.h2.increment_flow_control_window(2**24)
        self.flush()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set()
        for call in self.calls.values():
            call.over("lost")

    def flush(self) -> None:
        self.transport.write(self.h2.data_to_send())

    def call(self, path: str = STREAM, **headers: str) -> Call:
        stream_id = self.h2.get_next_available_stream_id()
        call = self.calls[stream_id] = Call(self, stream_id)
        named = {"content-type": EVENTS} | {k.replace("_", "-"): v for k, v in headers.items()}
        fixed = [(":method", "POST"), (":scheme", "https"), (":path", path)]
        fixed.append((":authority", "localhost"))
        self.h2.send_headers(stream_id, [*fixed, *named.items()])
        self.flush()
        return call

    def stop_reading(self) -> None:
        """Acknowledge nothing, so that each stream's window closes."""
        self.unread = {}

    def go_on_reading(self) -> None:
        unread, self.unread = self.unread or {}, None
        for stream_id, length in unread.items():
            self.h2.acknowledge_received_data(length, stream_id)
        self.flush()

    def _acknowledge(self, stream_id: int, length: int) -> None:
        if self.unread is not None:
            self.unread[stream_id] = self.unread.get(stream_id, 0) + length
        else:
            self.h2.acknowledge_received_data(length, stream_id)

    def data_received(self, data: bytes) -> None:
        for event in self.h2.receive_data(data):
            call = self.calls.get(getattr(event, "stream_id", None) or 0)
            match event:
                case ResponseReceived() if call:
                    call.answered({k.decode(): v.decode() for k, v in event.headers})
                case DataReceived() if call:
                    call.received(event.data)
                    self._acknowledge(event.stream_id, event.flow_controlled_length)
                case StreamEnded() if call:
                    call.over("end")
                case StreamReset() if call:
                    call.over("reset")
                case ConnectionTerminated():
                    self.goaway.set()
        self.flush()


Start = Callable[..., AbstractAsyncContextManager[tuple["Emulator", Peer]]]


@pytest.fixture
def emulating(container: FrameContainer) -> Start:
    """Starts an emulator in front of the frame container, and a client of it."""

    @asynccontextmanager
    async def start(**options: Any) -> AsyncIterator[tuple[Emulator, Peer]]:
        async with Emulator(container.url, **options) as emulator:
            context = ssl.create_default_context(cafile=emulator.ca_path)
            context.set_alpn_protocols(["h2"])
            port = int(emulator.endpoint_url.rpartition(":")[2])
            _, peer = await asyncio.get_running_loop().create_connection(
                Peer, "127.0.0.1", port, ssl=context, server_hostname="localhost"
            )
            try:
                yield emulator, peer
            finally:
                peer.transport.abort()

    return start


@pytest.fixture(autouse=True)
async def _nothing_is_left() -> AsyncIterator[None]:
    """Whatever an emulator began ends with it."""
    yield
    async with asyncio.timeout(DEADLINE_S):
        while left := {task for task in asyncio.all_tasks() if task.get_name() == TASK}:
            await asyncio.wait(left)
