"""Text in any of Kokoro's nine languages to phonemes, with the words they speak.

A text passes through the steps below in order; each keeps the way back to the original, so the
word map points into the text as it was sent.

1. ``clean``: what is not text goes, white space and punctuation become uniform.
2. ``take_pronunciations``: ``[word](/ipa/)``.
3. the normaliser: numbers, money, dates, addresses written out as words.
4. ``guard``: no token is too much for the libraries that follow.
5. the language's engine, a slice of the text at a time.
6. ``join_pieces``: symbols the model knows, one string, one word map.
"""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from .cleaning import clean, guard
from .inline import apply_pronunciations, take_pronunciations
from .normalise import normalise
from .phonemes import Phonemes, Piece, between, join_pieces
from .spans import MappedText

_log = logging.getLogger(__name__)

# Longest text given to an engine at once. spaCy refuses 1 000 000 characters and Open JTalk about
# 8 000; a sentence is rarely longer than 500.
_SLICE_CHARS = 5_000
_SENTENCE_END = re.compile(r"[.!?…][\"”)]* ")

# A stretch of unspaced script that can't be phonemised is halved down to this length.
_SMALLEST_CHARS = 8

Normaliser = Callable[[MappedText, str], MappedText]
"""Writes numbers, money, dates as words: the cleaned text and the language to the new text."""


class Engine(Protocol):
    """One language."""

    def speak(self, text: str) -> list[Piece]:
        """The words and marks of a cleaned, guarded text in order."""
        ...


def _english(*, british: bool) -> Engine:
    from .english import EnglishEngine

    return EnglishEngine(british=british)


def _espeak(voice: str, script: str = "LATIN") -> Engine:
    from .espeak import EspeakEngine

    return EspeakEngine(voice, frozenset({"LATIN", script}))


def _japanese() -> Engine:
    from .japanese import JapaneseEngine

    return JapaneseEngine()


def _chinese() -> Engine:
    from .chinese import ChineseEngine

    return ChineseEngine()


_ENGINES: dict[str, Callable[[], Engine]] = {
    "en-us": lambda: _english(british=False),
    "en-gb": lambda: _english(british=True),
    "es": lambda: _espeak("es"),
    "fr": lambda: _espeak("fr-fr"),
    "hi": lambda: _espeak("hi", "DEVANAGARI"),
    "it": lambda: _espeak("it"),
    "ja": _japanese,
    "pt-br": lambda: _espeak("pt-br"),
    "zh": _chinese,
}

LANGUAGES = tuple(_ENGINES)
"""The languages of Kokoro-82M v1.0."""

# What `warm_up` says: some libraries load the rest of their data with the first word.
_FIRST_WORDS = {"ja": "今日は何の風ですか", "zh": "你好"}

_UNSPACED_LANGUAGES = frozenset({"ja", "zh"})


class Phonemizer:
    """Grapheme to phoneme for all languages, without a network.

    An object may be used from several threads: each language has a lock, because the libraries
    behind it keep state between calls (espeak's mixes up the words of concurrent texts). A
    language's first use loads it, which takes up to 6 s for English.

    Args:
        normaliser: the step that writes numbers and the like as words. With None they are read
            as the language's library reads them.
    """

    def __init__(self, *, normaliser: Normaliser | None = normalise) -> None:
        self._normaliser = normaliser
        self._engines: dict[str, Engine] = {}
        self._locks = {language: threading.Lock() for language in LANGUAGES}

    def __call__(self, text: str, language: str) -> Phonemes:
        """Phonemes of a text.

        Args:
            text: anything; what can't be spoken is left out and named in ``warnings``.
            language: one of ``LANGUAGES``.

        Raises:
            ValueError: an unknown language.
            RuntimeError: the language's data is not installed.
        """
        _check(language)
        read, pronunciations = take_pronunciations(clean(MappedText.of(text)))
        if self._normaliser is not None:
            read = self._normaliser(read, language)
        read = guard(read, unspaced_script=language in _UNSPACED_LANGUAGES)
        pieces = [self._original(piece, read) for piece in self._speak(read.text, language)]
        return join_pieces(text, apply_pronunciations(pieces, pronunciations))

    def warm_up(self, languages: Iterable[str]) -> None:
        """Load these languages now.

        Raises:
            ValueError: an unknown language.
            RuntimeError: a language's data is not installed.
        """
        for language in languages:
            _check(language)
            with self._locks[language]:
                self._engine(language).speak(_FIRST_WORDS.get(language, "hello"))
            if self._normaliser is not None:
                self._normaliser(MappedText.of("1"), language)

    def _engine(self, language: str) -> Engine:
        """The language's engine; the caller holds the language's lock."""
        if language not in self._engines:
            self._engines[language] = _ENGINES[language]()
        return self._engines[language]

    def _speak(self, text: str, language: str) -> Iterator[Piece]:
        for start, end in _slices(text):
            with self._locks[language]:
                pieces = _speak_what_works(self._engine(language), text[start:end])
            for piece in pieces:
                yield replace(piece, start=piece.start + start, end=piece.end + start)
            yield between(" ", end)

    @staticmethod
    def _original(piece: Piece, read: MappedText) -> Piece:
        start, end = read.span(piece.start, piece.end)
        return replace(piece, start=start, end=end)


def _check(language: str) -> None:
    if language not in _ENGINES:
        raise ValueError(f"unknown language {language!r}; choose one of {', '.join(LANGUAGES)}")


def _speak_what_works(engine: Engine, text: str) -> list[Piece]:
    """The engine's pieces; where it fails, those of the parts it can do.

    A part it fails on is halved until the word is alone, which is then a word without sound.
    """
    try:
        return engine.speak(text)
    except Exception as error:  # the libraries raise AssertionError, TypeError, OverflowError, …
        middle = _middle(text)
        if middle is None:
            _log.warning("a word was left out: its G2P failed with %s", type(error).__name__)
            return [Piece("", 0, len(text))]
    left = _speak_what_works(engine, text[:middle])
    right = _speak_what_works(engine, text[middle:])
    gap = between(" " if text[middle - 1].isspace() else "", middle)
    return [*left, gap, *(replace(p, start=p.start + middle, end=p.end + middle) for p in right)]


def _middle(text: str) -> int | None:
    """Where to halve a text: behind the space nearest to its middle, if there is one."""
    half = len(text) // 2
    spaces = text.rfind(" ", 0, half), text.find(" ", half, len(text) - 1)
    nearest = min((s + 1 for s in spaces if s >= 0), key=lambda s: abs(s - half), default=None)
    if nearest is not None or len(text) <= _SMALLEST_CHARS:
        return nearest
    return half


def _slices(text: str) -> Iterator[tuple[int, int]]:
    """Ranges short enough for an engine, cut at a sentence's end, else at a space."""
    start = 0
    while len(text) - start > _SLICE_CHARS:
        window = text[start : start + _SLICE_CHARS]
        ends = [match.end() for match in _SENTENCE_END.finditer(window, _SLICE_CHARS // 2)]
        space = window.rfind(" ", _SLICE_CHARS // 2) + 1
        length = ends[-1] if ends else space or _SLICE_CHARS
        yield start, start + len(window[:length].rstrip())
        start += length
    if start < len(text):
        yield start, len(text)
