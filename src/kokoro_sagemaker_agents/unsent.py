"""Text on its way to a server: what waits, what is unanswered, and the room there is for more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection
from typing import Final, NamedTuple

from .protocol import Limits

#: Characters that may wait in one utterance, some 18 hours of speech: a stream that never ends must
#: not fill the memory.
MAX_UNSENT_CHARS: Final = 1_000_000


class Request(NamedTuple):
    """A chunk as a server is asked for it.

    Attributes:
        chunk_id: Its number in the utterance.
        text: What to say.
        from_sample: How much of its audio is here already and is to be left out.
    """

    chunk_id: int
    text: str
    from_sample: int = 0


class Unsent:
    """The chunks of one utterance that no server has answered yet, in order.

    Those that were sent are kept until they are answered, so that they can be sent again.
    """

    def __init__(self) -> None:
        self._waiting: deque[Request] = deque()
        self._sent: dict[int, Request] = {}
        self._taken = asyncio.Event()
        self.chars = 0
        """Characters of all that wait to be sent."""

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether so much waits that no more should be added."""
        return self.chars >= MAX_UNSENT_CHARS

    @property
    def first(self) -> Request:
        """The one to be sent next; only if there is one."""
        return self._waiting[0]

    @property
    def first_sent(self) -> Request | None:
        """The oldest one that was sent and is not answered."""
        return next(iter(self._sent.values()), None)

    def add(self, chunk_id: int, text: str) -> None:
        """Append a chunk."""
        self._waiting.append(Request(chunk_id, text))
        self.chars += len(text)

    def take(self) -> None:
        """The first one is sent."""
        request = self._waiting.popleft()
        self._sent[request.chunk_id] = request
        self.chars -= len(request.text)
        self._taken.set()

    def answered(self, chunk_id: int) -> None:
        """A chunk need not be sent again."""
        self._sent.pop(chunk_id, None)

    def put_back(self, first: Request | None = None) -> None:
        """All that was sent waits again, in front of the rest.

        Args:
            first: In place of the oldest of them, which was answered in part.
        """
        if first is not None:
            self._sent[first.chunk_id] = first
        self._waiting.extendleft(reversed(self._sent.values()))
        self.chars += sum(len(request.text) for request in self._sent.values())
        self._sent.clear()

    def clear(self) -> None:
        """Drop all: nobody wants them any more."""
        self._waiting.clear()
        self._sent.clear()
        self.chars = 0
        self._taken.set()

    async def room(self) -> None:
        """Wait until it is not full. It empties as fast as the audio is heard: no deadline."""
        while self.full:
            self._taken.clear()
            await self._taken.wait()


class ServerRoom:
    """What a server was asked for and has not answered, held against what it allows."""

    def __init__(self) -> None:
        self._contexts: dict[str, dict[int, int]] = {}  # unanswered chunks and their characters
        self._chars = 0

    def allows(self, context_id: str, chars: int, limits: Limits, live: Collection[str]) -> bool:
        """Whether a chunk may be sent now; one too long for any moment is sent alone, and refused.

        Args:
            context_id: Its context.
            chars: Its length.
            limits: What the server announced.
            live: The contexts that are open on the server.
        """
        if context_id not in live and len(live) >= limits.contexts:
            return False
        if len(self._contexts.get(context_id, ())) >= limits.queued_chunks:
            return False
        return not self._contexts or self._chars + chars <= limits.queued_chars

    def sent(self, context_id: str, chunk_id: int, chars: int) -> None:
        """A chunk was sent."""
        self._contexts.setdefault(context_id, {})[chunk_id] = chars
        self._chars += chars

    def answered(self, context_id: str, chunk_id: int) -> None:
        """A chunk was answered; nothing if it was already."""
        chunks = self._contexts.get(context_id, {})
        self._chars -= chunks.pop(chunk_id, 0)
        if not chunks:
            self._contexts.pop(context_id, None)

    def forget(self, context_id: str) -> None:
        """A context is over, and with it whatever of it is unanswered."""
        self._chars -= sum(self._contexts.pop(context_id, {}).values())
