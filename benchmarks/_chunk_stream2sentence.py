"""stream2sentence's side of the chunker benchmark: its defaults, or `auto` for its quickest."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

from _chunk_worker import serve_splitter
from stream2sentence import generate_sentences_async

OPTIONS: dict[str, Any] = {}
if "auto" in sys.argv:  # no look-ahead where its rules are sure, short sentences not merged
    OPTIONS = {
        "auto_context": True,
        "minimum_sentence_length": 1,
        "minimum_first_fragment_length": 1,
    }


async def split(language: str, tokens: AsyncIterator[str]) -> AsyncIterator[tuple[str, str]]:
    async for text in generate_sentences_async(tokens, language=language, **OPTIONS):
        yield text, text


serve_splitter(split)
