"""A container server on a real socket, with the tone engine, and clients that talk to it."""

import asyncio
import importlib.util
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest
import websockets

# The container needs Python < 3.13; where only the client is installed there is nothing to test.
if importlib.util.find_spec("kokoro_container") is None:
    collect_ignore_glob = ["test_container_*.py"]
else:
    from kokoro_container.engines.base import Engine
    from kokoro_container.engines.tone import ToneEngine, spell
    from kokoro_container.server import RunningServer, running_server
    from kokoro_container.service import Settings

    ServerMaker = Callable[..., AbstractAsyncContextManager[RunningServer]]

    @pytest.fixture
    def serving() -> ServerMaker:
        """Starts a server with tones for voices and letters for phonemes."""

        def start(
            engine: Engine | None = None, settings: Settings | None = None, **options: Any
        ) -> AbstractAsyncContextManager[RunningServer]:
            made = engine or ToneEngine()
            return running_server(lambda: made, phonemize=spell, settings=settings, **options)

        return start

    @pytest.fixture
    async def server(serving: ServerMaker) -> AsyncIterator[RunningServer]:
        async with serving() as running:
            yield running

    @pytest.fixture
    async def http(server: RunningServer) -> AsyncIterator[httpx.AsyncClient]:
        """Requests to the server."""
        async with httpx.AsyncClient(base_url=server.http_url, timeout=20) as client:
            yield client


class Client:
    """A session's other end, which sends whatever a test wants and reads with a deadline."""

    def __init__(self, socket: websockets.ClientConnection) -> None:
        self.socket = socket
        self.ready: dict[str, Any] = {}
        self._current: tuple[str, int] | None = None  # the chunk whose audio comes

    async def send(self, kind: str, **fields: Any) -> None:
        await self.socket.send(json.dumps({"type": kind, **fields}))

    async def speak(self, context_id: str, text: str, chunk_id: int = 0, **options: Any) -> None:
        await self.send("speak", context_id=context_id, chunk_id=chunk_id, text=text, **options)

    async def receive(self) -> dict[str, Any] | bytes:
        """The next frame: a message, or audio."""
        frame = await asyncio.wait_for(self.socket.recv(), 20)
        return frame if isinstance(frame, bytes) else json.loads(frame)

    async def until(
        self, kind: str, context_id: str | None = None
    ) -> tuple[dict[str, Any], dict[tuple[str, int], bytearray], list[dict[str, Any]]]:
        """Reads up to a message of this kind (of this context).

        Returns:
            That message, the audio of each chunk that came before it, and all messages up to it.
        """
        audio: dict[tuple[str, int], bytearray] = {}
        messages: list[dict[str, Any]] = []
        while True:
            frame = await self.receive()
            if isinstance(frame, bytes):
                assert self._current is not None, "audio of no chunk"
                audio.setdefault(self._current, bytearray()).extend(frame)
                continue
            messages.append(frame)
            if frame["type"] == "chunk_started":
                self._current = (frame["context_id"], frame["chunk_id"])
            if frame["type"] == kind and context_id in (None, frame.get("context_id")):
                return frame, audio, messages

    async def says(self, text: str = "still here", context_id: str = "check") -> bytearray:
        """Has a text spoken from beginning to end; its audio."""
        await self.speak(context_id, text)
        await self.send("end", context_id=context_id)
        done, audio, _ = await self.until("context_done", context_id)
        assert done["chunks"] == 1
        return audio[context_id, 0]


@pytest.fixture
def connect() -> Callable[..., AbstractAsyncContextManager[Client]]:
    """Opens a session on a server's `ws://` address and reads its `ready`."""

    @asynccontextmanager
    async def open_session(url: str, query: str = "") -> AsyncIterator[Client]:
        path = f"{url}/invocations-bidirectional-stream{query}"
        async with websockets.connect(path, max_size=None, close_timeout=2) as socket:
            client = Client(socket)
            ready = await client.receive()
            assert isinstance(ready, dict)
            assert ready["type"] == "ready"
            client.ready = ready
            yield client

    return open_session
