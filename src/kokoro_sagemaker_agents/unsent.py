"""Text that waits to be sent, and the room that the server has for more."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Collection
from typing import Final

from .protocol import Limits

#: Characters that may wait in one utterance, some 18 hours of speech: a stream that never ends must
#: not fill the memory.
MAX_UNSENT_CHARS: Final = 1_000_000


class Unsent:
    """The chunks of one utterance that the server has not been asked for yet, in order."""

    def __init__(self) -> None:
        self._chunks: deque[tuple[int, str]] = deque()
        self._taken = asyncio.Event()
        self.chars = 0
        """Characters of all of them."""

    def __len__(self) -> int:
        return len(self._chunks)

    @property
    def full(self) -> bool:
        """Whether so much waits that no more should be added."""
        return self.chars >= MAX_UNSENT_CHARS

    @property
    def first(self) -> tuple[int, str]:
        """Id and text of the one to be sent next; only if there is one."""
        return self._chunks[0]

    def add(self, chunk_id: int, text: str) -> None:
        """Append a chunk."""
        self._chunks.append((chunk_id, text))
        self.chars += len(text)

    def take(self) -> None:
        """Drop the first one: it is sent."""
        self.chars -= len(self._chunks.popleft()[1])
        self._taken.set()

    def clear(self) -> None:
        """Drop all: nobody wants them any more."""
        self._chunks.clear()
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
