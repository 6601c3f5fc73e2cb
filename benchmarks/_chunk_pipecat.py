"""Pipecat's side of the chunker benchmark: `SimpleTextAggregator` with its defaults."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import cache

from _chunk_worker import serve_splitter
from loguru import logger

logger.disable("pipecat")  # its greeting, on import

from pipecat.utils.text.simple_text_aggregator import SimpleTextAggregator  # noqa: E402 - see above


@cache
def aggregator_for(language: str) -> SimpleTextAggregator:
    """One for all utterances of a language, as a speech service keeps it."""
    return SimpleTextAggregator(language=language)


async def split(language: str, tokens: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    aggregator = aggregator_for(language)
    async for token in tokens:
        async for part in aggregator.aggregate(token):
            yield part.text, part.text
    rest = await aggregator.flush()
    if rest:
        yield rest.text, rest.text


serve_splitter(split)
