"""The server process: socket first, then the model, and a clean end.

The port is open before anything is loaded, so that `/ping` answers from the first moment (503 until
a text was spoken). SIGTERM and SIGINT drain: sessions are told, what is queued is spoken, within
`Settings.drain_s`; a second signal ends it at once.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from types import FrameType
from typing import Final

import uvicorn

from .app import create_app
from .engines.base import Engine
from .engines.loading import load_engine
from .entrypoint import DEFAULT_PORT
from .service import Service, Settings, State
from .synthesis import Phonemize
from .weights import Progress

logger = logging.getLogger(__name__)

# With `Settings.drain_s` under the 30 s after which SageMaker kills the container.
CLOSE_S: Final = 5
# The platform pings once a minute and answers our pings; this finds a client that vanished sooner.
PING_S: Final = 20.0
# How soon a thread that computes gives way to the event loop. With Python's 5 ms and two such
# threads an echo takes 14 ms and 1 in 100 takes 140; with this 2 and 27, while the threads' own
# work takes a fifth longer (measured on two busy cores).
SWITCH_S: Final = 0.0005
BACKLOG: Final = 2048  # uvicorn's own; connections wait there until the loop takes them


class _Server(uvicorn.Server):
    """Drains before it ends, and ends when loading failed."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self._service = service
        self._loop = asyncio.get_running_loop()
        self._loading = self._loop.create_task(self._load())
        self._draining: asyncio.Task[None] | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """First signal: drain. Second: end."""
        logger.info("%s received", signal.Signals(sig).name)
        self._loop.call_soon_threadsafe(self._drain_or_end)

    def _drain_or_end(self) -> None:
        if self._draining is None:
            self._draining = self._loop.create_task(self.drain())
        else:
            self.should_exit = True

    async def drain(self) -> None:
        """Lets what is queued be spoken, then ends the server."""
        await self._service.drain()
        self.should_exit = True

    async def _load(self) -> None:
        await self._service.load()
        if self._service.state is State.FAILED:
            self.should_exit = True

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        """Runs until it is told to end.

        Raises:
            Exception: what loading failed with.
        """
        try:
            await super().serve(sockets)
        finally:
            for task in (self._loading, self._draining):
                if task is not None:
                    task.cancel()
        if self._service.error is not None:
            raise self._service.error


def _config(service: Service, log_level: str) -> uvicorn.Config:
    return uvicorn.Config(
        create_app(service),
        ws="websockets-sansio",
        ws_max_size=service.settings.limits.frame_bytes,
        ws_per_message_deflate=False,  # audio doesn't compress, and it would cost time
        ws_ping_interval=PING_S,
        ws_ping_timeout=PING_S,
        timeout_graceful_shutdown=CLOSE_S,
        access_log=False,
        log_config=None,
        log_level=log_level,
    )


def _bound(host: str, port: int) -> socket.socket:
    """A listening socket.

    Raises:
        OSError: the address cannot be used, for example because another server has it.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only for sockets that name their protocol; left on, it
    # holds back a chunk's last frame for 40 ms (measured).
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise OSError(
            error.errno, f"cannot listen on {host}:{port}: {error.strerror}; choose another port"
        ) from error
    return listening


async def serve(
    host: str = "0.0.0.0",
    port: int = DEFAULT_PORT,
    *,
    engine: str | Callable[[], Engine] = "auto",
    phonemize: Phonemize | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    log_level: str = "info",
) -> None:
    """Runs a server until SIGTERM or SIGINT, and then until it is drained.

    Args:
        host: address to listen on.
        port: port to listen on.
        engine: its name, or what gives it; loaded in a thread.
        phonemize: the G2P; by default the real one, in processes of its own.
        settings: what an operator may choose.
        progress: told in a few words what loading is at.
        log_level: of uvicorn's own log.

    Raises:
        OSError: the address cannot be used.
        Exception: what loading failed with.
    """
    sys.setswitchinterval(SWITCH_S)
    service = Service(_loader(engine, progress), phonemize=phonemize, settings=settings)
    server = _Server(_config(service, log_level), service)
    await server.serve([_bound(host, port)])


class RunningServer:
    """A server inside this process; see `running_server`.

    Attributes:
        url: `ws://…`, as a session takes it.
        http_url: `http://…`, for `/ping` and `/invocations`.
        service: its inside.
    """

    def __init__(self, server: _Server, service: Service, port: int) -> None:
        self.url = f"ws://127.0.0.1:{port}"
        self.http_url = f"http://127.0.0.1:{port}"
        self.service = service
        self._server = server

    async def drain(self) -> None:
        """What SIGTERM does."""
        await self._server.drain()


@asynccontextmanager
async def running_server(
    engine: str | Callable[[], Engine] = "auto",
    port: int = 0,
    *,
    phonemize: Phonemize | None = None,
    settings: Settings | None = None,
    progress: Progress | None = None,
    wait_ready: bool = True,
) -> AsyncIterator[RunningServer]:
    """A server on this machine's loopback for as long as the block runs.

    Args:
        engine: its name, or what gives it.
        port: 0 takes a free one.
        phonemize: the G2P; by default the real one, in processes of its own.
        settings: what an operator may choose.
        progress: told in a few words what loading is at.
        wait_ready: begin the block when it can speak.

    Raises:
        OSError: the port is taken.
        Exception: what loading failed with.
    """
    listening = _bound("127.0.0.1", port)
    service = Service(_loader(engine, progress), phonemize=phonemize, settings=settings)
    server = _EmbeddedServer(_config(service, "warning"), service)
    serving = asyncio.create_task(server.serve([listening]))
    try:
        if wait_ready:
            await service.ready()
        yield RunningServer(server, service, listening.getsockname()[1])
    finally:
        server.should_exit = True
        await serving


class _EmbeddedServer(_Server):
    """Leaves the process's signals to whoever runs the loop."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Captures none."""
        yield


def _loader(engine: str | Callable[[], Engine], progress: Progress | None) -> Callable[[], Engine]:
    if isinstance(engine, str):
        return lambda: load_engine(engine, progress)
    return engine
