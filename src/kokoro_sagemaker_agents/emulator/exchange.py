"""One request and its response, whichever HTTP version carries them; and what is counted."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, TypeAlias

Headers: TypeAlias = Sequence[tuple[str, str]]


class PeerGone(ConnectionError):
    """The client reset the stream or its connection ended."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request's head; header names are in lower case and `host` is always there."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    version: str


class Exchange(ABC):
    """What a handler has of a request. It is one task's, and cancelled when the client is gone."""

    request: Request

    @abstractmethod
    async def receive(self) -> bytes:
        """The next piece of the body, empty at its end.

        A piece counts as taken (flow control) when the next one is asked for.

        Raises:
            PeerGone: the client did not finish it.
        """

    @abstractmethod
    async def respond(self, status: int, headers: Headers) -> None:
        """Send the response's head.

        Raises:
            PeerGone: nobody is there.
        """

    @abstractmethod
    async def send(self, data: bytes) -> None:
        """Send a piece of the response's body; waits while the client takes no more.

        Raises:
            PeerGone: nobody is there.
        """

    @abstractmethod
    async def end(self) -> None:
        """End the response.

        Raises:
            PeerGone: nobody is there.
        """

    @abstractmethod
    def reset(self) -> None:
        """Break off this response: RST_STREAM, or the connection where there are no streams."""

    @abstractmethod
    def goaway(self, *, graceful: bool) -> None:
        """Say that no further request is taken; unless graceful, end the connection at once."""

    @abstractmethod
    def abort(self) -> None:
        """End the TCP connection by a reset."""

    async def answer(self, status: int, headers: Headers, body: bytes) -> None:
        """A whole response."""
        await self.respond(status, [*headers, ("content-length", str(len(body)))])
        if body:
            await self.send(body)
        await self.end()


#: What all tasks of an emulator are called, so that one left over is seen.
TASK: Final = "kokoro-emulator"

Handler: TypeAlias = Callable[[Exchange], Coroutine[Any, Any, None]]


@dataclass(slots=True)
class Counters:
    """What an emulator has seen, for tests to compare.

    Attributes:
        open_connections: clients' TCP connections.
        open_streams: requests that are not over on both sides.
        container_connections: to the container, open now.
        connections: opened ever.
        streams: requests ever.
        events_in: events of clients, without the ends.
        events_out: events to clients.
    """

    open_connections: int = 0
    open_streams: int = 0
    container_connections: int = 0
    connections: int = 0
    streams: int = 0
    events_in: int = 0
    events_out: int = 0
    _changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def add(self, **by: int) -> None:
        """Change some."""
        for name, amount in by.items():
            setattr(self, name, getattr(self, name) + amount)
        self._changed.set()
        self._changed = asyncio.Event()

    async def until(self, reached: Callable[[Counters], bool]) -> None:
        """Wait until this is true of them; deadlines are the caller's."""
        while not reached(self):
            await self._changed.wait()

    def __str__(self) -> str:
        names = [f.name for f in fields(self) if not f.name.startswith("_")]
        return ", ".join(f"{name} {getattr(self, name)}" for name in names)
