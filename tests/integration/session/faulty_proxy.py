"""A TCP proxy in front of a WebSocket server that breaks its connections, where and how it's told.

Frames of the server are passed on one by one, so that a fault has a place: in front of the Nth
frame of audio, or now. It happens once.
"""

import asyncio
import contextlib
from dataclasses import dataclass, field
from types import TracebackType

FAULTS = ("abort", "close_1000", "close_1012", "silence", "truncate")
"""Abort: TCP reset. Close: a closing frame out of nowhere. Silence: nothing is passed on any more.
Truncate: half of a frame, and the end."""

_BINARY = 2


@dataclass(eq=False)
class _Relay:
    """One client's connection."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    silent: bool = False
    closing: bool = False
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

    def end(self) -> None:
        for writer in (self.client, self.server):
            writer.transport.abort()


class FaultyProxy:
    """See the module's text; for the length of an `async with` block.

    Args:
        url: `ws://host:port` of the server; that of the proxy is `self.url`.
    """

    def __init__(self, url: str) -> None:
        host, _, port = url.removeprefix("ws://").partition(":")
        self._server_address = (host, int(port))
        self._relays: set[_Relay] = set()
        self._due: tuple[str, int] | None = None
        self.url = ""
        self.connections = 0

    @property
    def pending(self) -> bool:
        """Whether a fault has not happened yet."""
        return self._due is not None

    def at_audio(self, frames: int, fault: str) -> None:
        """Have a fault in place of an audio frame, once so many have passed on a connection."""
        self._due = (fault, frames)

    async def now(self, fault: str) -> None:
        """Have it on every open connection."""
        for relay in list(self._relays):
            await self._happen(fault, relay, b"\x82\x7e\x40\x00" + bytes(100))

    async def __aenter__(self) -> "FaultyProxy":
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._listener.close()
        tasks = [task for relay in self._relays for task in relay.tasks]
        for relay in list(self._relays):
            relay.end()
        if tasks:
            await asyncio.wait(tasks)

    async def _serve(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        self.connections += 1
        back, server = await asyncio.open_connection(*self._server_address)
        relay = _Relay(client, server)
        self._relays.add(relay)
        relay.tasks = [
            asyncio.create_task(self._up(reader, relay)),
            asyncio.create_task(self._down(back, relay)),
        ]
        await asyncio.wait(relay.tasks, return_when=asyncio.FIRST_COMPLETED)
        relay.end()
        await asyncio.wait(relay.tasks)
        self._relays.discard(relay)

    async def _up(self, reader: asyncio.StreamReader, relay: _Relay) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                if relay.closing:  # this is the answer to it, after which a server ends
                    relay.client.close()
                elif not relay.silent:
                    relay.server.write(data)
                    await relay.server.drain()

    async def _down(self, back: asyncio.StreamReader, relay: _Relay) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            relay.client.write(await back.readuntil(b"\r\n\r\n"))
            passed = 0
            while True:
                frame = await _frame(back)
                if frame[0] & 0xF == _BINARY:
                    if self._due is not None and passed >= self._due[1]:
                        fault, self._due = self._due[0], None
                        await self._happen(fault, relay, frame)
                    passed += 1
                if not relay.silent:
                    relay.client.write(frame)
                    await relay.client.drain()

    async def _happen(self, fault: str, relay: _Relay, frame: bytes) -> None:
        relay.silent = True  # whatever it is, nothing follows
        if fault == "abort":
            relay.client.transport.abort()
        elif fault == "truncate":
            relay.client.write(frame[: len(frame) // 2])
            relay.client.close()
        elif fault.startswith("close_"):
            code = int(fault.removeprefix("close_"))
            relay.closing = True
            relay.client.write(b"\x88\x02" + code.to_bytes(2, "big"))


async def _frame(reader: asyncio.StreamReader) -> bytes:
    """The next frame of a server, whole; those have no masks (RFC 6455, 5.2)."""
    head = await reader.readexactly(2)
    size = head[1] & 0x7F
    if size >= 126:
        head += await reader.readexactly(2 if size == 126 else 8)
        size = int.from_bytes(head[2:], "big")
    return head + await reader.readexactly(size)
