"""Where a sentence that is too long for one chunk is best cut."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from .characters import ATOM_CLOSE, ATOM_OPEN, is_cjk

_STRONG: Final = re.compile(
    r"[;:]['\"’”)]*(?=\s)|\s[–—-](?=\s)|—|[；：。！？]|\)(?=\s)|[.!?…](?=\s)"
)
_COMMA: Final = re.compile(
    r"(?<!\d),['\"’”)]*(?=\s)|,['\"’”)]*(?=\s+\D)|(?<!\d)[，、،]|[，、،](?!\d)"
)
_SPACE: Final = re.compile(r"\s+")
_WORD_AFTER: Final = re.compile(r"\s+([^\W\d_]+)(?=\s)")
_ATOM: Final = re.compile(f"{ATOM_OPEN}[^{ATOM_CLOSE}]*{ATOM_CLOSE}")


def best_cut(text: str, limit: int, joiners: frozenset[str]) -> int:
    """Where to cut the over-long `text`, of which `limit` characters are too many.

    The best mark in the middle stretch of what is allowed, so that neither this piece nor
    the rest of a sentence that is only just too long becomes a scrap.
    """
    masked = _ATOM.sub(lambda match: "x" * len(match.group()), text) if ATOM_OPEN in text else text
    low, high, target = limit // 3, limit * 4 // 5, limit * 3 // 5
    for pattern in (_STRONG, _COMMA):
        ends = [match.end() for match in pattern.finditer(masked, low, high)]
        if ends:
            return min(ends, key=lambda end: abs(end - target))
    before_joiner = [
        match.start()
        for match in _WORD_AFTER.finditer(masked, low, high)
        if match.group(1).lower() in joiners
    ]
    spaces = before_joiner or [match.start() for match in _SPACE.finditer(masked, low, high)]
    if spaces:
        return min(spaces, key=lambda at: abs(at - target))
    return _grapheme_start(masked, high)


def _grapheme_start(text: str, at: int) -> int:
    """The nearest place at or before `at` where text without spaces may be cut."""
    for index in range(at, max(1, at - 24), -1):
        here, before = text[index : index + 1], text[index - 1]
        joined = unicodedata.category(here)[0] == "M" or "\u200d" in (here, before)
        same_word = not is_cjk(here) and not is_cjk(before) and here.isalnum() and before.isalnum()
        if not joined and not (same_word and index > at - 16 and _has_break(text, at)):
            return index
    return at


def _has_break(text: str, at: int) -> bool:
    """Whether a word begins or ends in the stretch before `at`."""
    return any(is_cjk(text[index]) for index in range(max(0, at - 16), at))
