"""Writes numbers, money, dates, units, addresses and short forms as the words a person would say.

``normalise`` is the step of ``Phonemizer`` between cleaning and the language's engine. It is a
list of rules for each language, tried in order, each a pattern that is linear in the text's
length (``rules``); the words come from a table per language (``languages``). Only what is sure to
be understood is rewritten: the rest is left to the language's engine, which reads plain words and
most numbers well.
"""

from __future__ import annotations

import re
from functools import lru_cache

from kokoro_container.text.cleaning import clean
from kokoro_container.text.inline import take_pronunciations
from kokoro_container.text.spans import MappedText

from . import (
    abbreviations,
    dates,
    markup,
    measures,
    money,
    phones,
    plain,
    roman,
    symbols,
    times,
    web,
)
from .languages import NORMALISED_LANGUAGES, table
from .rules import Rule, apply

__all__ = ["NORMALISED_LANGUAGES", "normalise", "spoken_text"]

_SPACES = re.compile(r" {2,}")
_SPACE_BEFORE_MARK = re.compile(r" +(?=[,.!?;](?![\w.]))")


def normalise(text: MappedText, language: str) -> MappedText:
    """The text in words, still pointing into the original.

    Args:
        text: cleaned text.
        language: one of ``NORMALISED_LANGUAGES``.

    Raises:
        ValueError: an unknown language.
    """
    said = apply(_rules(language), text)
    if said is text:
        return text
    said = said.sub(_SPACES, " ").sub(_SPACE_BEFORE_MARK, "")
    first = 1 if said.text.startswith(" ") else 0
    return said.slice(first, max(first, len(said.text.rstrip())))


@lru_cache(maxsize=len(NORMALISED_LANGUAGES))
def _rules(language: str) -> tuple[Rule, ...]:
    words = table(language)
    return (
        *markup.rules(),
        *web.rules(words),
        *words.first,
        *dates.rules(words),
        *times.rules(words),
        *phones.rules(words),
        *symbols.prefixes(words),
        *measures.rules(words),
        *money.rules(words),
        *abbreviations.rules(words),
        *words.last,
        *roman.rules(words),
        *symbols.rules(words),
        *plain.rules(words),
    )


def spoken_text(text: str, language: str) -> str:
    """A text as it is spoken: in words, without markup.

    Args:
        text: as sent.
        language: one of ``NORMALISED_LANGUAGES``.

    Raises:
        ValueError: an unknown language.
    """
    read, _ = take_pronunciations(clean(MappedText.of(text)))
    return normalise(read, language).text
