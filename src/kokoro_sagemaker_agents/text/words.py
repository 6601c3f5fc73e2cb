"""The words on either side of a mark."""

from __future__ import annotations

import re
from typing import Final

from .characters import OPENERS, SENTINELS, is_cjk

#: How far back the word before a mark is looked for, and how far ahead the next one.
MAX_WORD: Final = 40
_STOPS: Final = frozenset(OPENERS + SENTINELS + "—–/\n")
_APOSTROPHES: Final = "'’"
_WORD: Final = re.compile(r"[^\W_]+(?:['’.\-][^\W_]+)*")
#: What may still continue a word, if a letter follows.
_JOINTS: Final = "'’.-"


def word_before(text: str, i: int) -> tuple[str, int]:
    """The word that ends before `text[i]`, without opening quotes, and where it begins.

    A word does not run from one script into another ("使用Dr." gives "Dr"), and an elided article
    does not belong to it ("l'avv." gives "avv").
    """
    limit = max(0, i - MAX_WORD)
    start = text.rfind(" ", limit, i) + 1
    word = text[start:i]
    if start and word.isascii() and word.isalnum():  # the usual case, quickly
        return word, start
    start = i
    while start > limit:
        character = text[start - 1]
        if character in _STOPS or character.isspace():
            inner = character in _APOSTROPHES and start < i
            if not inner or not text[start - 2 : start - 1].isalnum():
                break
        if start < i and is_cjk(character) != is_cjk(text[start]):
            break
        start -= 1
    word = text[start:i]
    for apostrophe in _APOSTROPHES:
        cut = word.rfind(apostrophe) + 1
        if 0 < cut <= 6 and len(word) - cut > 1:
            return word[cut:], start + cut
    return word, start


def word_before_last(text: str, start: int) -> tuple[str, int]:
    """The word before the one that begins at `text[start]`, and where it begins."""
    end = start
    while end and text[end - 1].isspace():
        end -= 1
    return word_before(text, end)


def next_word(text: str, i: int, final: bool) -> str | None:
    """The word that begins at `text[i]`; None while it may go on."""
    match = _WORD.match(text, i)
    end = match.end() if match else i + 1
    if end + 1 >= len(text) and not final and end - i < MAX_WORD:
        after = text[end : end + 1]
        if not after or after in _JOINTS:
            return None
    return text[i:end]


def first_word(text: str, i: int = 0) -> str:
    """The first word at or after `text[i]`, in lower case."""
    match = _WORD.search(text, i)
    return match.group().lower() if match else ""


def token_before(text: str, i: int) -> str:
    """Everything between the last blank and `text[i]`."""
    return text[max(text.rfind(" ", 0, i), text.rfind("\n", 0, i)) + 1 : i]
