"""Pronunciations written by people in IPA, brought to the symbols the model was trained on."""

from __future__ import annotations

import re
from typing import Final

from .vocabulary import PUNCTUATION, has_sound, known

# What dictionaries write and no voice says: ties, links, syllable breaks, the mark of a glide.
_SILENT: Final = str.maketrans("", "", "\u0361\u035c\u203f.\u032f")
# Typed for want of the right key.
_TYPED: Final = str.maketrans({"'": "ˈ", "’": "ˈ", ":": "ː"})
_SYLLABIC: Final = re.compile("(.)\u0329")

# The model has one symbol for each of these; so has the G2P it was trained with (misaki 0.9.4).
_JOINED: Final = (("tʃ", "ʧ"), ("dʒ", "ʤ"))
_JOINED_ENGLISH: Final = (("eɪ", "A"), ("aɪ", "I"), ("aʊ", "W"), ("ɔɪ", "Y"), ("ɚ", "əɹ"))
_JOINED_IN: Final = {
    "en-us": (*_JOINED, *_JOINED_ENGLISH, ("oʊ", "O"), ("əʊ", "O"), ("r", "ɹ")),
    "en-gb": (*_JOINED, *_JOINED_ENGLISH, ("oʊ", "Q"), ("əʊ", "Q"), ("r", "ɹ")),
}

# Dictionaries put the stress before the syllable, the G2P that the model was trained with before
# the vowel.
_VOWELS: Final = "aeiouyAIOQWYæɐɑɒɔəɚɛɜɨɪɯøœɤʊʌᵊᵻ"
_EARLY_STRESS: Final = re.compile(f"([ˈˌ])([^ˈˌ {_VOWELS}]+)(?=[{_VOWELS}])")

_SYMBOLS_SHOWN: Final = 5


def pronunciation(ipa: str, language: str) -> str:
    """The model's symbols for a pronunciation.

    Args:
        ipa: IPA or the model's own symbols, stress marks included, without slashes.
        language: whose sounds they are; English has symbols of its own.

    Raises:
        ValueError: nothing to hear, or symbols that are no sounds; the message names them.
    """
    symbols = " ".join(ipa.split()).translate(_TYPED).translate(_SILENT)
    symbols = _SYLLABIC.sub(r"ᵊ\1", symbols)
    for written, symbol in _JOINED_IN.get(language, _JOINED):
        symbols = symbols.replace(written, symbol)
    unknown = dict.fromkeys(
        symbol
        for symbol in symbols
        if symbol != " " and (symbol in PUNCTUATION or not known(symbol))
    )
    if unknown:
        shown = ", ".join(map(_shown, list(unknown)[:_SYMBOLS_SHOWN]))
        raise ValueError(f"{shown} {'is' if len(unknown) == 1 else 'are'} no phoneme of the model")
    if not has_sound(known(symbols)):
        raise ValueError("it has no sound")
    return _EARLY_STRESS.sub(r"\2\1", known(symbols))


def _shown(symbol: str) -> str:
    return f"{symbol!r} (U+{ord(symbol):04X})"
