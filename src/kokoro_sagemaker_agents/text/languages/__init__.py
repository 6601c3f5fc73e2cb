"""What the boundary rules know of each language: one small data module per language.

Abbreviations are written in lower case without their final dot (`"sig.ra"`, `"e.g"`), and
sorted by what they say about the dot after them:

- `titles`: a name follows; never a boundary (`Dr.`).
- `numeric`: a number or a lower-case word follows; a boundary before a capital (`approx.`).
- `names`: part of a name or address; a boundary only before a word that starts sentences
  (`Inc.`, `Ave.`).
- `closing`: may end a sentence or not; a capital decides (`etc.`, `Ph.D.`).
- `never`: never a boundary (`e.g.`).
- `times`: after a time of day or an era (`a.m.`, `B.C.`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final

#: Language code → data module. American and British English share one.
_MODULES: Final = {
    "en-us": "en",
    "en-gb": "en",
    "es": "es",
    "fr": "fr",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "pt-br": "pt_br",
    "zh": "zh",
    "de": "de",
}
LANGUAGES: Final = tuple(_MODULES)


@dataclass(frozen=True, eq=False, repr=False)
class Language:
    """The data of one language.

    Args:
        phonemes_per_char: 95th percentile over UD sentences (espeak-ng; misaki for ja and zh).
        first_clause_chars: Shortest first clause that is spoken on its own: about 26 phonemes,
            24 characters of English, well above the 10-20 below which Kokoro sounds weak.
        starters: Words that start sentences, lower case.
        titles, numeric, names, closing, never, times: Abbreviations, see the module.
        everyday: Abbreviations that are common words too, lower case: with nothing behind them
            they are taken for the word ("It won't take long.").
        proper: Abbreviated months and weekdays, as written: they count only with their capital,
            unlike the words they look like ("sat", "mar").
        labels: Words that make a sentence-initial number or letter a label ("Step 1. Setup").
        lettered: Words before a single capital that is not an initial ("vitamin C.").
        time_openers: Words that begin a sentence with a time ("At 5 a.m. Mr. Smith left").
        after_time: Words that follow a time within its sentence ("10 a.m. Tuesday").
        endings: Abbreviations that end a longer word of the class `names` ("Hauptstr. 5").
        joiners: Words before which an over-long sentence is best cut.
        pronoun: A one-letter pronoun that is always a capital.
        ordinal_dot: A number with a dot may be an ordinal ("12. Juni"), and nouns have capitals.
        code_notice: Spoken in place of a code block, if asked for.
    """

    code_notice: str
    phonemes_per_char: float
    first_clause_chars: int
    starters: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    numeric: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    closing: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    times: frozenset[str] = frozenset()
    everyday: frozenset[str] = frozenset()
    proper: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    lettered: frozenset[str] = frozenset()
    time_openers: frozenset[str] = frozenset()
    after_time: frozenset[str] = frozenset()
    joiners: frozenset[str] = frozenset()
    endings: tuple[str, ...] = ()
    pronoun: str = ""
    ordinal_dot: bool = False


def words(text: str) -> frozenset[str]:
    """The whitespace-separated words of `text`."""
    return frozenset(text.split())


@cache
def get_language(code: str) -> Language:
    """The data for a language code.

    Args:
        code: One of `LANGUAGES`; case does not matter, `_` counts as `-`.

    Raises:
        ValueError: The code is none of them.
    """
    module = _MODULES.get(code.lower().replace("_", "-"))
    if module is None:
        raise ValueError(
            f"unknown language {code!r}: the chunker knows {', '.join(LANGUAGES)}; "
            "pass one of these as language="
        )
    language: Language = import_module(f"{__name__}.{module}").LANGUAGE
    return language
