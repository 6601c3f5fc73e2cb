"""Pipecat (extra `[pipecat]`): our chunker where Pipecat cuts an LLM's text into sentences.

from pipecat.processors.aggregators.llm_text_processor import LLMTextProcessor

sentences = LLMTextProcessor(text_aggregator=SentenceAggregator("en-us"))
pipeline = Pipeline([..., llm, sentences, tts, ...])
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

from pipecat.utils.text.base_text_aggregator import Aggregation, BaseTextAggregator, TextType

from kokoro_sagemaker_agents.text import LANGUAGES, SentenceChunker

logger = logging.getLogger(__name__)

_UNSPACED = ("ja", "zh")


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

    @property
    def text(self) -> Aggregation:
        """What is held back."""
        return Aggregation(text=self._chunker.pending.strip(), type=TextType.SENTENCE)

    def set_language(self, language: str | None) -> None:
        """Changes the rules, for the text that follows; what is held back is kept."""
        super().set_language(language)
        held = self._chunker.pending
        self._rules = chunker_language(language)
        self._chunker = SentenceChunker(self._rules, **self._options)
        self._chunker.feed(held)

    async def aggregate(self, text: str) -> AsyncIterator[Aggregation]:
        """Yields the sentences that `text` completes."""
        for chunk in self._chunker.feed(text):
            if chunk.spoken:
                yield Aggregation(text=chunk.spoken, type=TextType.SENTENCE)

    async def flush(self) -> Aggregation | None:
        """Returns what is held back as one sentence, at the end of the LLM's reply."""
        space = "" if self._rules in _UNSPACED else " "
        spoken = space.join(chunk.spoken for chunk in self._chunker.flush() if chunk.spoken)
        return Aggregation(text=spoken, type=TextType.SENTENCE) if spoken else None

    async def handle_interruption(self) -> None:
        """Drops what is held back."""
        self._chunker.reset()

    async def reset(self) -> None:
        """Drops what is held back."""
        self._chunker.reset()


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
