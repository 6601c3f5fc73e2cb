"""Plain text cut into pieces like a language model's tokens, and played at its pace."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Final

# A word with the space before it, up to three digits, a run of marks, or white space: where the
# byte-pair vocabularies of today's models cut first.
_PIECE: Final = re.compile(r" ?[^\W\d_]+|\d{1,3}| ?(?:[^\w\s]|_)+|\s+")
#: A longer word is usually not in a vocabulary as a whole and comes in parts of about four letters.
_WHOLE_WORD_CHARS: Final = 9
_PART_CHARS: Final = 4


def pseudo_tokens(text: str) -> Iterator[str]:
    """Pieces of `text` that look like tokens; joined they are `text` again."""
    for match in _PIECE.finditer(text):
        piece = match.group()
        if len(piece) <= _WHOLE_WORD_CHARS or piece.isspace():
            yield piece
            continue
        for start in range(0, len(piece), _PART_CHARS):
            yield piece[start : start + _PART_CHARS]


async def paced(tokens: Iterable[str], tokens_per_s: float) -> AsyncIterator[str]:
    """The tokens at an even pace, the first one after one token's time.

    Each has its place on a fixed schedule, so a slow reader of one does not delay the rest.

    Args:
        tokens: what to play.
        tokens_per_s: the pace.
    """
    clock = asyncio.get_running_loop().time
    started = clock()
    for number, token in enumerate(tokens, start=1):
        await asyncio.sleep(max(0.0, started + number / tokens_per_s - clock()))
        yield token
