"""What a session needs of a connection: whole frames in both directions, and to know its end."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, TypeAlias

SageMakerRoute: TypeAlias = Literal["auto", "stream", "invocations"]
"""How to speak through a SageMaker endpoint; see `routes`."""


class Transport(ABC):
    """One connection to one container. It is opened once, and not again after it was closed.

    `send` and `receive` are each called by one task at a time; `close` by any, at any time. All of
    them may be cancelled. Deadlines are the caller's business, except for `close`, which must end
    by itself within seconds.
    """

    max_age_s: float | None = None
    """After how many seconds the way in between ends it; None if it does not."""

    @abstractmethod
    async def open(self) -> None:
        """Connect.

        Raises:
            ConnectionFailed: it could not be done; the message says what to do.
        """

    @abstractmethod
    async def send(self, frame: str) -> None:
        """Send one text frame; waits while the network takes no more.

        Raises:
            ConnectionLost: the connection has ended.
        """

    @abstractmethod
    async def receive(self) -> str | bytes:
        """Wait for the next frame: text as str, audio as bytes.

        Raises:
            ConnectionLost: the connection has ended, in whatever way.
        """

    @abstractmethod
    async def close(self) -> None:
        """End the connection and free all it holds. Raises nothing; a second call does nothing."""
