"""The result: a phoneme string, and which part of it speaks which word of the text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from .vocabulary import has_sound, known

# What may begin or end a word and still belongs to it ("$4.50", "-5°C", "C++"); quotes, brackets
# and sentence punctuation do not. Currency signs and combining marks always belong.
_MAY_BEGIN = frozenset("#@+-−±&.%~")
_MAY_END = frozenset("#+%°℃℉′″.&")

_SPACE_BEFORE_MARK = re.compile(r" (?=[;:,.!?…)”])")

_MOST_WARNINGS = 20
_QUOTED_CHARS = 40


@dataclass(frozen=True, slots=True)
class SpokenWord:
    """One word as it was written, and where its sound is.

    Attributes:
        text: the word as it stands in the text that was sent.
        char_start: where it begins in that text.
        char_end: where it ends, exclusive: ``text == sent[char_start:char_end]``.
        phoneme_start: first of its symbols in ``Phonemes.phonemes``.
        phoneme_end: behind its last symbol. Punctuation that touches the word is included, so
            that the pause it makes is counted to the word.
    """

    text: str
    char_start: int
    char_end: int
    phoneme_start: int
    phoneme_end: int


@dataclass(frozen=True, slots=True)
class Phonemes:
    """What a text sounds like.

    Attributes:
        phonemes: symbols of the model's vocabulary only. Empty when there is nothing to say.
        words: the spoken words in order.
        warnings: what was not speakable, for the caller to read.
    """

    phonemes: str
    words: tuple[SpokenWord, ...]
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """What an engine says about a stretch of its text: a word, or the marks between words.

    Attributes:
        phonemes: for a word its sound, empty if it could not be spoken; else punctuation, spaces.
        start: where it begins in the text the engine was given.
        end: where it ends, exclusive.
        is_word: whether it is to appear in the word map.
    """

    phonemes: str
    start: int
    end: int
    is_word: bool = True


def between(phonemes: str, at: int) -> Piece:
    """Marks or a space at a position of the text."""
    return Piece(phonemes, at, at, is_word=False)


class _Builder:
    """Joins pieces into one string, tidies the space between them and keeps the ranges."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._parts: list[str] = []
        self._length = 0
        self._glue = ""
        self._left_out = False  # a word since the glue began
        # char_start, char_end, phoneme_start, phoneme_end
        self._words: list[list[int]] = []
        self._unspoken: list[str] = []

    def add(self, piece: Piece) -> None:
        sound = " ".join(known(piece.phonemes).split()) if piece.is_word else known(piece.phonemes)
        if not piece.is_word:
            self._glue += sound
        elif has_sound(sound):
            self._add_word(piece, sound)
        elif any(c.isalnum() for c in self._text[piece.start : piece.end]):
            self._unspoken.append(self._text[piece.start : piece.end])
            self._left_out = True

    def _add_word(self, piece: Piece, sound: str) -> None:
        glue = self._take_glue()
        start = self._length
        if self._words:
            # Marks behind the last space open the next word, as a bracket does; without a space
            # ("said—well") they are a pause after the word before.
            before, space, _ = glue.rpartition(" ")
            before = before if space else glue
            self._words[-1][3] += len(before)
            start += len(before) + len(space)
        self._append(glue + sound)
        if self._words and piece.start < self._words[-1][1]:
            # two readings of one word: "25" said as "twenty" and "five" by a language's engine
            self._words[-1][1] = max(self._words[-1][1], piece.end)
            self._words[-1][3] = self._length
        else:
            self._words.append([piece.start, piece.end, start, self._length])

    def _take_glue(self) -> str:
        glue = " ".join(self._glue.split())
        if self._words and self._glue[:1] == " ":
            glue = " " + glue
        if glue.strip() and self._glue[-1:] == " ":
            glue += " "
        if self._left_out:  # the space before a word that is not there
            glue = _SPACE_BEFORE_MARK.sub("", glue)
        self._glue = ""
        self._left_out = False
        return glue

    def _append(self, phonemes: str) -> None:
        self._parts.append(phonemes)
        self._length += len(phonemes)

    def result(self) -> Phonemes:
        if not self._words:
            return Phonemes("", (), (*self._warnings(), "there is nothing to speak in this text"))
        ending = self._take_glue().rstrip()
        self._append(ending)
        self._words[-1][3] = self._length
        words = (self._spoken_word(word) for word in self._words)
        return Phonemes("".join(self._parts), tuple(words), self._warnings())

    def _spoken_word(self, ranges: list[int]) -> SpokenWord:
        start, end = trimmed(self._text, ranges[0], ranges[1])
        return SpokenWord(self._text[start:end], start, end, ranges[2], ranges[3])

    def _warnings(self) -> tuple[str, ...]:
        shown = [
            f"left out {word[:_QUOTED_CHARS]!r}: no pronunciation for it in this language"
            for word in self._unspoken[:_MOST_WARNINGS]
        ]
        more = len(self._unspoken) - len(shown)
        return (*shown, f"left out {more} more words") if more else tuple(shown)


def join_pieces(text: str, pieces: Iterable[Piece]) -> Phonemes:
    """One phoneme string with its word map.

    Args:
        text: the text the pieces' ranges point into.
        pieces: in the order they are spoken.
    """
    builder = _Builder(text)
    for piece in pieces:
        builder.add(piece)
    return builder.result()


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The range without quotes, brackets and punctuation around the word, unless that is all."""
    first, last = start, end
    while first < last and not _belongs(text[first], _MAY_BEGIN):
        first += 1
    while first < last and not _belongs(text[last - 1], _MAY_END):
        last -= 1
    return (first, last) if first < last else (start, end)


def _belongs(char: str, allowed: frozenset[str]) -> bool:
    return char.isalnum() or char in allowed or unicodedata.category(char) in ("Sc", "Mn", "Mc")
