"""Japanese: Open JTalk's readings, in the phonemes and word spacing the model learnt."""

from __future__ import annotations

import importlib.resources
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from .espeak import OtherScripts
from .kana import kana_phonemes
from .marks import spaced_marks, split_marks
from .phonemes import Piece, between

_NUMBER = re.compile(r"\d[\d.,]*")
# How far ahead a word's written form is looked for when Open JTalk changed the text before it.
_LOOK_AHEAD_CHARS = 20
# The model learnt spaces between dictionary words; Open JTalk splits finer ("食べ", "た").
_LONGEST_WORD_TOKENS = 8


class JapaneseEngine:
    """Japanese."""

    def __init__(self) -> None:
        import pyopenjtalk

        self._analyse: Any = pyopenjtalk.run_frontend
        self._other_scripts = OtherScripts("en-us")
        self._dictionary = _dictionary()

    def speak(self, text: str) -> list[Piece]:
        """The words and marks of a cleaned text, in order."""
        pieces: list[Piece] = []
        for start, end, is_marks in split_marks(text):
            if is_marks:
                pieces.append(between(spaced_marks(text[start:end]), start))
            else:
                pieces += self._phrase(text, start, end)
        return pieces

    def _phrase(self, text: str, start: int, end: int) -> Iterator[Piece]:
        """Words without punctuation between them; each but the last followed by a space."""
        tokens = self._analyse(text[start:end])
        spans = _locate(text[start:end], [token["string"] for token in tokens])
        before = ""
        for first, last in self._words(tokens):
            begins, ends = start + spans[first][0], start + spans[last - 1][1]
            sound = self._sound(tokens[first:last], text[begins:ends])
            # A glottal stop is the start of the next sound: no space on either side of it.
            if before and not before.endswith("ʔ") and not sound.startswith("ʔ"):
                yield between(" ", begins)
            before = sound or before
            yield Piece(sound, begins, ends)

    def _sound(self, tokens: list[Any], written: str) -> str:
        if any(token["mora_size"] > 0 for token in tokens):
            return kana_phonemes("".join(token["pron"].replace("’", "") for token in tokens))
        return self._other_scripts(written)

    def _words(self, tokens: list[Any]) -> Iterator[tuple[int, int]]:
        """Ranges of tokens that together are one word of the dictionary, the longest first."""
        first = 0
        while first < len(tokens):
            longest = range(min(first + _LONGEST_WORD_TOKENS, len(tokens)), first + 1, -1)
            last = next((end for end in longest if self._is_word(tokens[first:end])), first + 1)
            # A token that only lengthens the vowel before it ("でしょ", "う") has no other home.
            while last < len(tokens) and tokens[last]["pron"].startswith("ー"):
                last += 1
            yield first, last
            first = last

    def _is_word(self, tokens: list[Any]) -> bool:
        return all(token["mora_size"] > 0 for token in tokens) and (
            "".join(token["string"] for token in tokens) in self._dictionary
        )


@lru_cache(maxsize=1)
def _dictionary() -> frozenset[str]:
    """The words misaki's Japanese front end keeps together."""
    words = importlib.resources.files("misaki.data").joinpath("ja_words.txt")
    return frozenset(words.read_text(encoding="utf-8").split())


def _locate(text: str, surfaces: list[str]) -> list[tuple[int, int]]:
    """Where each of Open JTalk's tokens stands in the text.

    Open JTalk normalises the text and writes numbers out ("25" is three tokens), so tokens that
    are not in the text share the range between those that are, or that of their neighbour.
    """
    plain, origin = _compared(text)
    spans: list[tuple[int, int]] = []
    waiting = 0
    at = 0
    for surface in surfaces:
        wanted, _ = _compared(surface)
        found = _find(plain, wanted, at)
        if found < 0:
            waiting += 1
            continue
        span = origin[found], origin[found + len(wanted)]
        spans += [(origin[at], origin[found]) if at < found else span] * waiting
        spans.append(span)
        waiting = 0
        at = found + len(wanted)
    rest = origin[at], origin[-1]
    return spans + [rest if rest[0] < rest[1] or not spans else spans[-1]] * waiting


def _find(plain: str, wanted: str, at: int) -> int:
    """Index of the next token, -1 if it belongs to something written otherwise."""
    if not wanted:
        return -1
    if plain.startswith(wanted, at):
        return at
    number = _NUMBER.match(plain, at)
    if number:  # a numeral read out; what follows the digits ends it
        return number.end() if plain.startswith(wanted, number.end()) else -1
    return plain.find(wanted, at, at + _LOOK_AHEAD_CHARS + len(wanted))


def _compared(text: str) -> tuple[str, list[int]]:
    """The text as both sides write it, without spaces, and each character's index before that."""
    plain: list[str] = []
    origin: list[int] = []
    for i, char in enumerate(text):
        for new in unicodedata.normalize("NFKD", char):
            if not new.isspace():
                plain.append(new)
                origin.append(i)
    return "".join(plain), [*origin, len(text)]
