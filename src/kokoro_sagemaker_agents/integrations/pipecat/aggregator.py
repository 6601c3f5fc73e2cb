"""Our chunker where Pipecat cuts an LLM's text into sentences."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any, Final

from pipecat.utils.text.base_text_aggregator import Aggregation, BaseTextAggregator, TextType

from kokoro_sagemaker_agents.text import LANGUAGES, SentenceChunker, TextChunk

logger = logging.getLogger(__name__)

#: Languages that are written without spaces between words.
UNSPACED: Final = ("ja", "zh")


class ChunkText(str):
    """What is spoken of a chunk, as Pipecat passes it on, with the chunk that it came from.

    Whoever speaks it can see that it is cut and free of markup already.

    Args:
        chunk: The chunk.
        apart: Whether white space lies between it and the text before it.
    """

    chunk: TextChunk
    apart: bool

    def __new__(cls, chunk: TextChunk, apart: bool) -> ChunkText:
        """The spoken text as a string."""
        text = super().__new__(cls, chunk.spoken)
        text.chunk = chunk
        text.apart = apart
        return text


class SentenceAggregator(BaseTextAggregator):
    """Sentences without markup, reasoning and code, however the LLM's tokens are cut.

    Args:
        language: a tag as Pipecat has them (`en`, `pt-BR`); what we have no rules for is cut by the
            English ones.
        options: further arguments of `SentenceChunker`.
    """

    def __init__(self, language: str = "en-us", **options: Any) -> None:
        super().__init__(language=language)
        self._options = options
        self._rules = chunker_language(language)
        self._chunker = SentenceChunker(self._rules, **options)
        self._cut: list[TextChunk] = []  # complete, and not handed on yet
        self._apart = False

    @property
    def text(self) -> Aggregation:
        """What is held back."""
        return Aggregation(text=self.pending.strip(), type=TextType.SENTENCE)

    @property
    def pending(self) -> str:
        """What is held back, markup and white space included."""
        return "".join(chunk.text for chunk in self._cut) + self._chunker.pending

    @property
    def rules(self) -> str:
        """The language whose rules are used; see `LANGUAGES`."""
        return self._rules

    def set_language(self, language: str | None) -> None:
        """Changes the rules, for the text that follows; what is held back is kept."""
        super().set_language(language)
        rules = chunker_language(language)
        if rules == self._rules:
            return
        held = self._chunker.pending
        self._rules = rules
        self._chunker = SentenceChunker(rules, **self._options)
        self._cut += self._chunker.feed(held)

    async def aggregate(self, text: str) -> AsyncIterator[Aggregation]:
        """Yields the sentences that `text` completes."""
        self._cut += self._chunker.feed(text)
        for sentence in self._take():
            yield Aggregation(text=sentence, type=TextType.SENTENCE)

    def poll(self, idle_s: float) -> list[ChunkText]:
        """The sentences that are complete if no text has come for `idle_s` seconds."""
        self._cut += self._chunker.poll(idle_s)
        return self._take()

    def finish(self) -> list[ChunkText]:
        """All that is held back, at the end of the LLM's reply."""
        self._cut += self._chunker.flush()
        rest = self._take()
        self._apart = False
        return rest

    async def flush(self) -> Aggregation | None:
        """Returns what is held back as one sentence, at the end of the LLM's reply."""
        space = "" if self._rules in UNSPACED else " "
        spoken = space.join(self.finish())
        return Aggregation(text=spoken, type=TextType.SENTENCE) if spoken else None

    async def handle_interruption(self) -> None:
        """Drops what is held back."""
        await self.reset()

    async def reset(self) -> None:
        """Drops what is held back."""
        self._chunker.reset()
        self._cut.clear()
        self._apart = False

    def _take(self) -> list[ChunkText]:
        chunks, self._cut = self._cut, []
        spoken = []
        for chunk in chunks:
            apart = self._apart or chunk.text[:1].isspace()
            self._apart = (apart and not chunk.spoken) or chunk.text[-1:].isspace()
            if chunk.spoken:
                spoken.append(ChunkText(chunk, apart))
        return spoken


def chunker_language(tag: str | None) -> str:
    """The rules for a language tag: its own, else those of its language, else English."""
    wanted = (tag or "en-us").lower().replace("_", "-")
    if wanted in LANGUAGES:
        return wanted
    primary = wanted.split("-")[0]
    for language in LANGUAGES:
        if language.split("-")[0] == primary:
            return language
    logger.warning("no sentence rules for language %s: using those of en-us", wanted[:20])
    return "en-us"
