"""Languages spoken through espeak-ng: its phonemes, brought to Kokoro's symbols by misaki."""

from __future__ import annotations

import logging
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

from .align import word_borders
from .marks import mark_phonemes, split_marks
from .phonemes import Piece, between

# Longest stretch of words given to espeak at once. Its own clause buffer is larger; this bounds
# the time of laying the words along the clause.
_CLAUSE_CHARS = 300
_REMEMBERED_WORDS = 4096

# espeak voice for a word in another alphabet. Scripts that espeak reads poorly into Kokoro's
# symbols (tones as digits, one letter name per character) are absent: their words are left out.
_VOICE_OF_SCRIPT = {
    "ARABIC": "ar",
    "ARMENIAN": "hy",
    "BENGALI": "bn",
    "CYRILLIC": "ru",
    "DEVANAGARI": "hi",
    "GEORGIAN": "ka",
    "GREEK": "el",
    "GUJARATI": "gu",
    "GURMUKHI": "pa",
    "HANGUL": "ko",
    "HEBREW": "he",
    "KANNADA": "kn",
    "MALAYALAM": "ml",
    "TAMIL": "ta",
    "TELUGU": "te",
}


def silent_logger() -> logging.Logger:
    """A logger of our own for phonemizer, which would otherwise warn about every foreign word."""
    logger = logging.getLogger("kokoro_container.text.phonemizer")
    logger.setLevel(logging.CRITICAL + 1)
    return logger


def espeak_g2p(voice: str) -> Any:
    """misaki's espeak G2P that hears the text as it is.

    phonemizer's handling of punctuation is switched off (it would cut "3,5" in two): the callers
    pass words only. Its language-switch flags are removed, its warnings are dropped.
    """
    from misaki.espeak import EspeakG2P
    from phonemizer.backend import EspeakBackend

    g2p = EspeakG2P(language=voice)
    g2p.backend = EspeakBackend(
        voice,
        punctuation_marks="\x01",  # no text has it: `clean` replaces control characters
        with_stress=True,
        tie="^",
        language_switch="remove-flags",
        logger=silent_logger(),
    )
    return g2p


@lru_cache(maxsize=4096)
def script_of(char: str) -> str:
    """The script of a letter as Unicode names it ("LATIN", "CJK"); empty for other characters."""
    return unicodedata.name(char, "").partition(" ")[0] if char.isalpha() else ""


class OtherScripts:
    """Says words written in another alphabet than the language's own.

    Args:
        latin_voice: the espeak voice for Latin letters, or empty to leave them out.
    """

    def __init__(self, latin_voice: str = "") -> None:
        self._voices = {**_VOICE_OF_SCRIPT, "LATIN": latin_voice}
        self._g2p: dict[str, Any] = {}

    def __call__(self, word: str) -> str:
        """The word's phonemes, empty if none of its scripts can be spoken."""
        return " ".join(filter(None, map(self._run, _script_runs(word))))

    def _run(self, run: str) -> str:
        voice = self._voices.get(next(filter(None, map(script_of, run)), ""))
        if not voice:
            return ""
        if voice not in self._g2p:
            self._g2p[voice] = espeak_g2p(voice)
        # No language of the model has a "q"; espeak's Arabic and Korean do.
        return str(self._g2p[voice](run)[0]).replace("q", "k")


def _script_runs(word: str) -> Iterator[str]:
    """The word cut where its script changes; marks and digits go with the letters before them."""
    script = ""

    def current(char: str) -> str:
        nonlocal script
        script = script_of(char) or script
        return script

    return ("".join(run) for _, run in groupby(word, key=current))


class EspeakEngine:
    """Spanish, French, Hindi, Italian or Portuguese.

    Args:
        voice: espeak's name of the language.
        scripts: the scripts its words are written in, as ``script_of`` names them; words in
            another one are said with a voice for that script.
    """

    def __init__(self, voice: str, scripts: frozenset[str]) -> None:
        self._g2p = espeak_g2p(voice)
        self._scripts = scripts
        self._other_scripts = OtherScripts()
        self._alone = lru_cache(maxsize=_REMEMBERED_WORDS)(self._say)

    def speak(self, text: str) -> list[Piece]:
        """The words and marks of a cleaned text, in order."""
        pieces: list[Piece] = []
        for start, end, is_marks in split_marks(text):
            if is_marks:
                pieces.append(between(mark_phonemes(text[start:end]), start))
                continue
            for clause in self._clauses(text, start, end):
                pieces += [*self._clause(text, clause), between(" ", clause[-1][1])]
            pieces.pop()  # no space before the mark that follows
        return pieces

    def _say(self, words: str) -> str:
        return str(self._g2p(words)[0])

    def _is_native(self, word: str) -> bool:
        return all(script_of(c) in self._scripts for c in word if c.isalpha())

    def _clauses(self, text: str, start: int, end: int) -> Iterator[list[tuple[int, int]]]:
        """Word ranges to be spoken together; a word in another script stands alone."""
        clause: list[tuple[int, int]] = []
        for word in _words(text, start, end):
            native = self._is_native(text[slice(*word)])
            if clause and (not native or word[1] - clause[0][0] > _CLAUSE_CHARS):
                yield clause
                clause = []
            clause.append(word)
            if not native:
                yield clause
                clause = []
        if clause:
            yield clause

    def _clause(self, text: str, ranges: list[tuple[int, int]]) -> list[Piece]:
        words = [text[start:end] for start, end in ranges]
        if not self._is_native(words[0]):
            return [Piece(self._other_scripts(words[0]), *ranges[0])]
        joint = self._say(" ".join(words))
        spoken = joint.split()
        if len(spoken) == len(words) and all(map(_is_plain, words)):
            sounds = spoken
            spaces = [" "] * len(words)
        else:
            alone = [self._alone(word) for word in words]
            borders = word_borders(alone, joint)
            sounds = [joint[a:b] for a, b in pairwise(borders)]
            spaces = [" " if " " in joint[b - 1 : b + 1] else "" for b in borders[1:]]
        return _pieces(ranges, sounds, spaces)


def _pieces(
    ranges: Sequence[tuple[int, int]], sounds: Sequence[str], spaces: Sequence[str]
) -> list[Piece]:
    """The clause's words with the spaces between them; a word said as part of its neighbour,
    which has no sound of its own, joins that neighbour.
    """
    pieces: list[Piece] = []
    joined_from: int | None = None
    for (start, end), sound, space in zip(ranges, sounds, spaces, strict=True):
        if not sound.strip() and len(sounds) > 1:
            if pieces:
                last = pieces[-2]
                pieces[-2:] = [replace(last, end=end), between(pieces[-1].phonemes or space, end)]
            elif joined_from is None:
                joined_from = start
            continue
        first = start if joined_from is None else joined_from
        joined_from = None
        pieces += [Piece(sound, first, end), between(space, end)]
    return pieces[:-1]


def _is_plain(word: str) -> bool:
    """Whether a word is sure to be one word to espeak too: no digits, signs or abbreviations."""
    letters = word.replace("'", "").replace("’", "").replace("-", "")
    return not word.isupper() and all(unicodedata.category(c)[0] in "LM" for c in letters)


def _words(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for word in text[start:end].split(" "):
        if word:
            yield at, at + len(word)
        at += len(word) + 1
