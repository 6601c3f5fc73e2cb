"""Text to phonemes: what a sentence sounds like, in the model's own symbols.

``Phonemizer`` is the way in. Importing this package is cheap: the dictionaries and taggers of a
language load when that language is first spoken, or on ``warm_up``.
"""

from .g2p import LANGUAGES, Phonemizer
from .normalise import spoken_text
from .phonemes import Phonemes, SpokenWord
from .spans import MappedText
from .vocabulary import SYMBOL_IDS, to_ids

__all__ = [
    "LANGUAGES",
    "SYMBOL_IDS",
    "MappedText",
    "Phonemes",
    "Phonemizer",
    "SpokenWord",
    "spoken_text",
    "to_ids",
]
