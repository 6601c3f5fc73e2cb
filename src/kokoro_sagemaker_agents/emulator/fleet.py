"""The containers behind the emulator: which one gets the next session, and which are gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from .clock import Clock
from .container import ContainerRefused, ContainerSocket
from .exchange import Counters, Headers


@dataclass(slots=True)
class Instance:
    """One container."""

    url: str
    dead_until_s: float = 0.0
    sockets: set[ContainerSocket] = field(default_factory=set)


class Fleet:
    """Containers that take sessions in turns, the least loaded first.

    Args:
        urls: `ws://host:port` of each.
        clock: on which a killed one comes back.
        counters: are told of its connections.
        accept_s: how long a handshake may take.
        restart_s: how long a killed one is gone.

    Raises:
        ValueError: there is no container.
    """

    def __init__(
        self,
        urls: Iterable[str],
        *,
        clock: Clock,
        counters: Counters,
        accept_s: float,
        restart_s: float,
    ) -> None:
        self._clock = clock
        self._counters = counters
        self._accept_s = accept_s
        self._restart_s = restart_s
        self._instances: list[Instance] = []
        self.scale(urls)

    @property
    def urls(self) -> list[str]:
        """Of all of them."""
        return [instance.url for instance in self._instances]

    def scale(self, urls: Iterable[str]) -> None:
        """Have these from now on. Sessions on others go on.

        Raises:
            ValueError: there is no container.
        """
        known = {instance.url: instance for instance in self._instances}
        instances = [known.get(url) or Instance(url) for url in urls]
        if not instances:
            raise ValueError("an endpoint needs a container; give its address, ws://host:port")
        self._instances = instances

    def pick(self) -> Instance:
        """The container for the next request.

        Raises:
            ContainerRefused: all are gone.
        """
        now_s = self._clock.now()
        living = [one for one in self._instances if now_s >= one.dead_until_s]
        if not living:
            raise ContainerRefused(0, "the container is not running")
        chosen = min(living, key=lambda one: len(one.sockets))
        # To the end of the row, so that equals take turns.
        self._instances.remove(chosen)
        self._instances.append(chosen)
        return chosen

    def kill(self, instance: Instance) -> None:
        """Break all its connections; it comes back after the restart's time."""
        instance.dead_until_s = self._clock.now() + self._restart_s
        for socket in list(instance.sockets):
            socket.abort()

    def kill_all(self) -> None:
        """Kill each."""
        for instance in self._instances:
            self.kill(instance)

    def revive(self) -> None:
        """Let those that are gone be back now."""
        for instance in self._instances:
            instance.dead_until_s = 0.0

    @asynccontextmanager
    async def connect(
        self, target: str, headers: Headers
    ) -> AsyncIterator[tuple[ContainerSocket, Instance]]:
        """A WebSocket to one of them.

        Raises:
            ContainerRefused: none took it in time.
        """
        instance = self.pick()
        try:
            async with asyncio.timeout(self._accept_s):
                socket = await ContainerSocket.open(instance.url, target, headers)
        except TimeoutError:
            why = f"the container did not accept the connection within {self._accept_s} s"
            raise ContainerRefused(0, why) from None
        instance.sockets.add(socket)
        self._counters.add(container_connections=1)
        try:
            yield socket, instance
        finally:
            socket.abort()
            instance.sockets.discard(socket)
            self._counters.add(container_connections=-1)
