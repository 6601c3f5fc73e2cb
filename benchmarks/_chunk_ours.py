"""Our side of the chunker benchmark; `eager` on the command line switches eager release on.

Clauses are off, as no peer cuts at them by default. An empty token stands for a stall of the
stream, which the caller of our chunker reports to it.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from functools import cache

from _chunk_worker import serve_splitter

from kokoro_sagemaker_agents.text import SentenceChunker

# The hard set names languages without their region; Arabic is not Kokoro's.
LANGUAGES = {"en": "en-us", "pt": "pt-br", "ar": "en-us"}
STALL_S = 1.0  # a tool call; the default releases after 0.2


@cache
def chunker_for(language: str) -> SentenceChunker:
    """One for all utterances of a language, as a session keeps it."""
    return SentenceChunker(
        LANGUAGES.get(language, language),
        first_chunk="sentence",
        eager_first="eager" in sys.argv,
    )


async def split(language: str, tokens: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    chunker = chunker_for(language)
    async for token in tokens:
        for chunk in chunker.feed(token) if token else chunker.poll(STALL_S):
            yield chunk.spoken, chunk.text
    for chunk in chunker.flush():
        yield chunk.spoken, chunk.text


serve_splitter(split)
