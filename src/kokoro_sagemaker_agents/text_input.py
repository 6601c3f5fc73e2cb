"""Text as it is written, cut into chunks; also when it stalls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from .errors import LocalProtocolError
from .text import SentenceChunker, TextChunk

# A long text is chunked in pieces of this size, so that others get their turn: the chunker takes
# about a microsecond a character.
_PUSH_PIECE_CHARS: Final = 4096


class TakesChunks(Protocol):
    """Where the chunks go."""

    def check_takes_text(self) -> None:
        """Raise if no more text is taken."""

    def add(self, chunks: list[TextChunk]) -> None:
        """Take chunks."""


class TextInput:
    """What is pushed into one utterance, on its way through the chunker.

    Does not keep the utterance, which must go when its owner drops it.

    Args:
        make_chunker: Gives the chunker, once there is text for it.
        idle_flush_s: A stall after which a sentence that reads as finished is let go.
    """

    def __init__(
        self,
        make_chunker: Callable[[], SentenceChunker],
        idle_flush_s: float,
    ) -> None:
        self._make_chunker = make_chunker
        self._idle_flush_s = idle_flush_s
        self._loop = asyncio.get_running_loop()
        self._chunker: SentenceChunker | None = None  # once text was pushed
        self._chunks = 0  # that came ready-made
        self._pushing = False
        self._pushed_at_s = 0.0
        self._idle_timer: asyncio.TimerHandle | None = None

    async def push(self, text: str, to: TakesChunks) -> None:
        """Add text; raises what `check_takes_text` does, also between its parts."""
        if self._chunker is None:
            if self._chunks:
                raise LocalProtocolError("use either push or push_chunk in one utterance")
            self._chunker = self._make_chunker()
        self._pushing = True  # the text is all there: no stall inside it, however busy the loop
        try:
            for start in range(0, len(text), _PUSH_PIECE_CHARS):
                if start:
                    await asyncio.sleep(0)
                    to.check_takes_text()
                to.add(self._chunker.feed(text[start : start + _PUSH_PIECE_CHARS]))
        finally:
            self._pushing = False
        self._pushed_at_s = self._loop.time()
        if self._idle_timer is None:
            self._idle_timer = self._loop.call_later(self._idle_flush_s, partial(self._on_idle, to))

    def push_chunk(self, chunk: TextChunk, to: TakesChunks) -> None:
        """Add a chunk as it is."""
        if self._chunker is not None:
            raise LocalProtocolError("use either push or push_chunk in one utterance")
        self._chunks += 1
        to.add([chunk])

    def flush(self, to: TakesChunks) -> None:
        """Let go of everything, finished sentence or not."""
        self.stop()
        if self._chunker is not None:
            to.add(self._chunker.flush())

    def stop(self) -> None:
        """Wait for no stall any more."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def _on_idle(self, to: TakesChunks) -> None:
        """The text may have stalled (a tool call): speak a sentence that reads as finished."""
        self._idle_timer = None
        assert self._chunker is not None, "the timer is set where text is pushed"
        idle_s = self._loop.time() - self._pushed_at_s
        missing_s = self._idle_flush_s - idle_s
        if self._pushing or missing_s > 0:
            delay_s = max(missing_s, 0.001)
            self._idle_timer = self._loop.call_later(delay_s, partial(self._on_idle, to))
        else:
            to.add(self._chunker.poll(idle_s))
