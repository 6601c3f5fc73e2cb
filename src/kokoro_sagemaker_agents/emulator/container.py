"""The container behind the emulator: its WebSocket frame by frame, its POST, its ping."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import SplitResult, urlsplit

import h11
from websockets.client import ClientProtocol
from websockets.frames import Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.uri import parse_uri

from .exchange import Headers
from .mapping import BROKEN

_READ_BYTES: Final = 64 * 1024
# The closing handshake with a container that does not answer it.
_CLOSE_S: Final = 2.0
_TLS: Final = ("wss", "https")


class ContainerRefused(Exception):
    """The container did not take the connection.

    Args:
        status: what it answered, 0 if nothing.
        text: what it said, or why nothing came.
    """

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


class ContainerSocket:
    """A WebSocket to the container that shows single frames, unlike `websockets.connect`."""

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, protocol: ClientProtocol
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._protocol = protocol
        self._events: list[Frame] = []

    @classmethod
    async def open(cls, url: str, target: str, headers: Headers) -> ContainerSocket:
        """Connect and shake hands.

        Args:
            url: of the container, `ws://host:port`.
            target: path and query.
            headers: for the container to see.

        Raises:
            ContainerRefused: it could not be done.
        """
        parts = urlsplit(url)
        try:
            reader, writer = await _dial(parts)
        except OSError as error:
            raise ContainerRefused(0, f"cannot connect: {error}") from error
        scheme = "wss" if parts.scheme in _TLS else "ws"
        uri = parse_uri(f"{scheme}://{parts.netloc}{target}")
        socket = cls(reader, writer, ClientProtocol(uri, max_size=None))
        try:
            await socket._shake_hands(headers)
        except BaseException:
            socket.abort()
            raise
        return socket

    async def _shake_hands(self, headers: Headers) -> None:
        request = self._protocol.connect()
        for name, value in headers:
            request.headers[name] = value
        self._protocol.send_request(request)
        self._flush()
        while self._protocol.state is State.CONNECTING and not self._protocol.handshake_exc:
            await self._read()
            for event in self._protocol.events_received():
                if isinstance(event, Frame):
                    self._events.append(event)
                elif isinstance(event, Response) and event.status_code != 101:
                    text = (event.body or b"").decode(errors="replace")[:500]
                    raise ContainerRefused(event.status_code, text or event.reason_phrase)
        if self._protocol.handshake_exc is not None:
            raise ContainerRefused(0, f"no WebSocket: {self._protocol.handshake_exc}")

    async def _read(self) -> None:
        try:
            data = await self._reader.read(_READ_BYTES)
        except OSError:
            data = b""
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._flush()

    async def receive(self) -> Frame | None:
        """The next data or pong frame; None when the connection is over."""
        while True:
            while self._events:
                frame = self._events.pop(0)
                if frame.opcode not in (Opcode.PING, Opcode.CLOSE):
                    return frame
            if self._protocol.state is not State.OPEN:
                return None
            await self._read()
            self._events += [e for e in self._protocol.events_received() if isinstance(e, Frame)]

    @property
    def closing(self) -> tuple[int, str]:
        """With what it ended: code and reason."""
        if self._protocol.close_rcvd is not None:
            return self._protocol.close_rcvd.code, self._protocol.close_rcvd.reason
        return BROKEN, ""

    async def send(self, opcode: Opcode, payload: bytes, final: bool) -> None:
        """Send one data frame; nothing once the connection is over, which `receive` tells."""
        if self._protocol.state is not State.OPEN:
            return
        if opcode is Opcode.TEXT:
            self._protocol.send_text(payload, final)
        elif opcode is Opcode.BINARY:
            self._protocol.send_binary(payload, final)
        else:
            self._protocol.send_continuation(payload, final)
        self._flush()
        with contextlib.suppress(OSError):
            await self._writer.drain()

    def ping(self) -> None:
        """Ask for a pong."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_ping(b"sagemaker")
            self._flush()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self._writer.write(data)
            elif self._writer.can_write_eof() and not self._writer.is_closing():
                self._writer.write_eof()

    def begin_close(self, code: int, reason: str) -> None:
        """Send the closing frame; what still comes is of no interest."""
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(code, reason)
            self._flush()

    async def close(self) -> None:
        """Wait for the closing handshake, not for long, and let go."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_S):
                while self._protocol.state is State.CLOSING:
                    await self._read()
        self.abort()

    def abort(self) -> None:
        """Let go at once: to the container it looks as if the other machine was gone."""
        self._writer.transport.abort()


async def _dial(parts: SplitResult) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    tls = ssl.create_default_context() if parts.scheme in _TLS else None
    port = parts.port or (443 if tls else 80)
    return await asyncio.open_connection(parts.hostname, port, ssl=tls)


@dataclass(frozen=True, slots=True)
class ContainerResponse:
    """What the container answers to a request; its body comes in pieces."""

    status: int
    headers: dict[str, str]
    body: AsyncIterator[bytes]


@asynccontextmanager
async def request(
    url: str, method: str, target: str, headers: Headers = (), body: bytes = b""
) -> AsyncIterator[ContainerResponse]:
    """Send the container a request; the connection ends with the block.

    Raises:
        ContainerRefused: there is no answer.
    """
    parts = urlsplit(url)
    connection = h11.Connection(h11.CLIENT)
    try:
        reader, writer = await _dial(parts)
    except OSError as error:
        raise ContainerRefused(0, f"cannot connect: {error}") from error
    try:
        fixed = [
            ("host", parts.netloc),
            ("content-length", str(len(body))),
            ("connection", "close"),
        ]
        head = h11.Request(method=method, target=target, headers=[*fixed, *headers])
        for event in (head, h11.Data(data=body), h11.EndOfMessage()):
            writer.write(connection.send(event) or b"")
        response = await _next(connection, reader)
        if not isinstance(response, h11.Response):
            raise ContainerRefused(0, "the connection ended without an answer")
        names = {name.decode(): value.decode() for name, value in response.headers}
        yield ContainerResponse(response.status_code, names, _body(connection, reader))
    finally:
        writer.transport.abort()


async def _body(connection: h11.Connection, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while isinstance(event := await _next(connection, reader), h11.Data):
        yield bytes(event.data)


async def _next(connection: h11.Connection, reader: asyncio.StreamReader) -> object:
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await reader.read(_READ_BYTES))
    except (OSError, h11.RemoteProtocolError) as error:
        raise ContainerRefused(0, f"the connection broke: {error}") from error
    return event


async def is_healthy(url: str, timeout_s: float) -> bool:
    """Whether `/ping` says 200 in time."""
    try:
        async with asyncio.timeout(timeout_s), request(url, "GET", "/ping") as response:
            return response.status == 200
    except (ContainerRefused, TimeoutError):
        return False
