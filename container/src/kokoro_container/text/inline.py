"""Inline pronunciation: ``[Kokoro](/kˈOkəɹO/)`` says the word as given, in any language.

A Markdown link has the same form; of it, only the words are spoken.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from .phonemes import Piece
from .spans import MappedText
from .vocabulary import has_sound, known

LONGEST_PRONUNCIATION = 100
"""For a word: the model takes 510 symbols for a whole text, and nobody writes more than this by
hand. A longer one is not used, the word is read as written."""

LINK = re.compile(r"\[([^\[\]]{1,200})\]\(([^()]{0,2000})\)")
"""What is spoken, and a link's or a pronunciation's target."""


@dataclass(frozen=True, slots=True)
class Pronunciation:
    """How the word at ``[start, end)`` of the original text is to be said."""

    start: int
    end: int
    phonemes: str


def take_pronunciations(text: MappedText) -> tuple[MappedText, list[Pronunciation]]:
    """The text with ``[word](target)`` reduced to ``word``, and the pronunciations found."""
    parts: list[MappedText] = []
    found: list[Pronunciation] = []
    done = 0
    for match in LINK.finditer(text.text):
        parts += text.slice(done, match.start()), text.slice(*match.span(1))
        done = match.end()
        phonemes = _pronunciation(match.group(2))
        if phonemes:
            found.append(Pronunciation(*text.span(*match.span(1)), phonemes))
            parts[-1] = _set_apart(text, match)
    parts.append(text.slice(done, len(text.text)))
    return (MappedText.join(parts), found) if done else (text, [])


def apply_pronunciations(
    pieces: Sequence[Piece], pronunciations: Sequence[Pronunciation]
) -> list[Piece]:
    """Put the given pronunciations in the place of the words they are for.

    Args:
        pieces: with ranges in the original text.
        pronunciations: as ``take_pronunciations`` found them.
    """
    waiting = deque(pronunciations)
    result: list[Piece] = []
    marks: list[Piece] = []  # since the last word; dropped inside a given pronunciation
    replaced: Pronunciation | None = None
    for piece in pieces:
        if not piece.is_word:
            marks.append(piece)
            continue
        while waiting and waiting[0].end <= piece.start:
            waiting.popleft()
        given = waiting[0] if waiting and waiting[0].start < piece.end else None
        if given is None or given is not replaced:
            word = Piece(given.phonemes, given.start, given.end) if given else piece
            result += [*marks, word]
        marks.clear()
        replaced = given
    return result + marks


def _pronunciation(target: str) -> str:
    if len(target) < 3 or target[0] != "/" or target[-1] != "/":
        return ""
    if len(target) > LONGEST_PRONUNCIATION + 2:
        return ""
    phonemes = known(target[1:-1])
    return phonemes if has_sound(phonemes) else ""


def _set_apart(text: MappedText, match: re.Match[str]) -> MappedText:
    """The word, with a space where something touches it: "[x](/y/)-like" is two words."""
    start, end = match.span(1)
    before, behind = (
        text.text[max(0, match.start() - 1) : match.start()],
        text.text[match.end() : match.end() + 1],
    )
    return MappedText.join(
        [
            text.inserted(start, start, " " if _touches(before) else ""),
            text.slice(start, end),
            text.inserted(end, end, " " if _touches(behind) else ""),
        ]
    )


def _touches(char: str) -> bool:
    return char.isalnum() or char in ("-", "'", "’")
