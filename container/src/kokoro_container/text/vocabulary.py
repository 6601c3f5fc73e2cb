"""The symbols Kokoro-82M v1.0 was trained on, and how others are brought down to them."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

# First id of each unbroken run, and the run's symbols in order of id. 114 symbols; the model's
# embedding has 178 rows (`n_token`) and id 0 is its padding. Source: the `vocab` of the model's
# config.json (hexgrad/Kokoro-82M).
_RUNS = (
    (1, ";:,.!?"),
    (9, '—…"()“” \u0303ʣʥʦʨᵝ\uab67AI'),
    (31, "O"),
    (33, "Q"),
    (35, "ST"),
    (39, "W"),
    (41, "Yᵊabcdef"),
    (50, "hijklmnopqrstuvwxyzɑɐɒæ"),
    (75, "βɔɕç"),
    (80, "ɖðʤə"),
    (85, "ɚɛɜ"),
    (90, "ɟ"),
    (92, "ɡ"),
    (99, "ɥ"),
    (101, "ɨɪʝ"),
    (110, "ɯɰŋɳɲɴø"),
    (118, "ɸθœ"),
    (123, "ɹ"),
    (125, "ɾɻ"),
    (128, "ʁɽʂʃʈʧ"),
    (135, "ʊʋ"),
    (138, "ʌɣɤ"),
    (142, "χʎ"),
    (147, "ʒʔ"),
    (156, "ˈˌː"),
    (162, "ʰ"),
    (164, "ʲ"),
    (169, "↓"),
    (171, "→↗↘"),
    (177, "ᵻ"),
)

SYMBOL_IDS: Mapping[str, int] = MappingProxyType(
    {symbol: first + i for first, symbols in _RUNS for i, symbol in enumerate(symbols)}
)
"""Each symbol's row in the model's embedding."""

PUNCTUATION = frozenset(';:,.!?—…"()“” ')
"""The symbols that are pauses and intonation rather than sounds."""

# IPA that espeak writes and the model never saw, by the nearest sound it did see.
_NEAREST = {
    "g": "ɡ",
    "ɫ": "l",
    "ɬ": "l",
    "ɭ": "l",
    "ɮ": "l",
    "ɱ": "m",
    "ʍ": "w",
    "ʷ": "w",
    "ʑ": "ʒ",
    "ʐ": "ʒ",
    "ħ": "h",
    "ɦ": "h",
    "ɧ": "ʃ",
    "ʀ": "ʁ",
    "ɓ": "b",
    "ɗ": "d",
    "ɠ": "ɡ",
    "ʉ": "u",
    "ɵ": "ə",
    "ɘ": "ə",
    "ɞ": "ɜ",
    "ɝ": "ɜɹ",
    "ʏ": "y",
    "ɶ": "œ",
}


@lru_cache(maxsize=4096)
def _nearest(symbol: str) -> str:
    if symbol in SYMBOL_IDS:
        return symbol
    # 'ẽ' is one character to espeak and two symbols to the model: 'e' and the nasal tilde
    parts = (_NEAREST.get(part, part) for part in unicodedata.normalize("NFD", symbol))
    return "".join(s for part in parts for s in part if s in SYMBOL_IDS)


def known(phonemes: str) -> str:
    """The phonemes in symbols the model knows: others by the nearest sound, or left out."""
    return "".join(map(_nearest, phonemes))


def has_sound(phonemes: str) -> bool:
    """Whether anything would be heard: some symbol that is not a pause or a modifier."""
    return any(c not in PUNCTUATION and c not in "ˈˌː\u0303ʰʲᵝ↓→↗↘" for c in phonemes)


def to_ids(phonemes: str) -> list[int]:
    """The model's input ids, without the padding id 0 that the engine puts at both ends.

    Args:
        phonemes: as ``Phonemizer`` returns them.

    Raises:
        ValueError: for a symbol that is not in ``SYMBOL_IDS``.
    """
    try:
        return [SYMBOL_IDS[symbol] for symbol in phonemes]
    except KeyError as error:
        raise ValueError(
            f"{error.args[0]!r} is not one of the model's {len(SYMBOL_IDS)} phoneme symbols; "
            "pass phonemes that come from Phonemizer, or remove it"
        ) from None
