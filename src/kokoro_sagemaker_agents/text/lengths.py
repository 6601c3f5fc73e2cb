"""How long a chunk may get, and where to cut one that gets too long.

Kokoro takes 510 phoneme tokens and rushes above about 400. Phonemes are not known here, so they
are estimated from the characters, at each language's 95th percentile.
"""

from __future__ import annotations

import re
from typing import Final

from .characters import is_han, is_hangul, is_kana
from .languages import Language

#: Phonemes of a digit: the mean of the ten English words, with the space between them.
_DIGIT: Final = 5.0
#: Han characters and kana inside other languages (95th percentile for zh and ja), and Hangul.
_HAN: Final = 4.29
_KANA: Final = 3.02
_HANGUL: Final = 3.0
#: Latin letters: the 95th percentile of Spanish, the highest of the Latin-script languages.
_LATIN: Final = 1.74
_MAX_RATE: Final = _DIGIT
#: Near the limit the estimate is refreshed once per this many characters: a chunk may exceed the
#: limit by their phonemes, at most 40.
_BLOCK: Final = 8

_ASCII_DIGIT: Final = re.compile("[0-9]")


class LengthLimit:
    """Watches the length of the chunk that is being collected.

    Args:
        language: Its phonemes per character and the words to cut before.
        max_phonemes: Estimated phonemes at which a chunk is cut.
    """

    def __init__(self, language: Language, max_phonemes: float) -> None:
        self._rate = language.phonemes_per_char
        self._joiners = language.joiners
        self._max = max_phonemes
        self.restart()

    def restart(self) -> None:
        """A new chunk begins."""
        self._cost = 0.0
        self._seen = 0
        #: Length of the text up to which it cannot have reached the limit. A function of the
        #: characters before it, not of how they were cut into tokens.
        self.due = max(int(self._max / _MAX_RATE), _BLOCK)

    def reached(self, text: str) -> int:
        """Where in `text` the limit was reached, 0 while it was not."""
        while len(text) >= self.due:
            self._cost += self._estimate(text[self._seen : self.due])
            self._seen = self.due
            if self._cost > self._max:
                return self._seen
            self.due += max(int((self._max - self._cost) / _MAX_RATE), _BLOCK)
        return 0

    def _estimate(self, block: str) -> float:
        rate = self._rate
        if block.isascii():
            # Latin words inside a script of many phonemes per character have no more than usual.
            letter = min(rate, _LATIN)
            return letter * len(block) + (_DIGIT - letter) * len(_ASCII_DIGIT.findall(block))
        return sum(_phonemes(character, rate) for character in block)

    def cut(self, text: str, limit: int) -> int:
        """Where to cut the over-long `text`, of which `limit` characters are too many."""
        from .cuts import best_cut  # few texts need it, and its patterns take long to compile

        return best_cut(text, limit, self._joiners)


def _phonemes(character: str, rate: float) -> float:
    """The estimate for one character in a language of `rate` phonemes per character."""
    if character < "\u1100":
        return _DIGIT if character.isdigit() else min(rate, _LATIN)
    if is_han(character):
        return rate if rate > _LATIN else _HAN
    if is_kana(character):
        return _KANA
    if is_hangul(character):
        return _HANGUL
    return _DIGIT if character.isdigit() else min(rate, _LATIN)
