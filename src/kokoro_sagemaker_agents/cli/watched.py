"""When a session sends each sentence: in the moment in which its chunker releases it."""

from __future__ import annotations

from collections.abc import Callable

from kokoro_sagemaker_agents.text import SentenceChunker, TextChunk


class WatchedChunker(SentenceChunker):
    """A session's chunker that tells of each chunk it releases, unless there is nothing to say.

    Args:
        language: of the text.
        told: called with each chunk, just before the session sends it.
    """

    def __init__(self, language: str, told: Callable[[TextChunk], None]) -> None:
        super().__init__(language)
        self._told = told

    def feed(self, text: str) -> list[TextChunk]:
        """As `SentenceChunker.feed`."""
        return self._tell(super().feed(text))

    def flush(self) -> list[TextChunk]:
        """As `SentenceChunker.flush`."""
        return self._tell(super().flush())

    def poll(self, idle_s: float) -> list[TextChunk]:
        """As `SentenceChunker.poll`."""
        return self._tell(super().poll(idle_s))

    def _tell(self, chunks: list[TextChunk]) -> list[TextChunk]:
        for chunk in chunks:
            if chunk.spoken:
                self._told(chunk)
        return chunks
