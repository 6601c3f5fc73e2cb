"""Roman numerals, where the word before them says that they are numbers: "Henry VIII"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .rules import Rule, Saying, one_of
from .tables import Table

# Up to 89: "XC" and what follows is rare, and "C", "D" and "M" are mostly initials and sizes.
_TENS = "XL|L?X{0,3}"
_ONES = "IX|IV|V?I{0,3}"
_NUMERAL = rf"(?P<numeral>(?=[IVXL])(?:{_TENS})(?:{_ONES}))(?!\w)"
# "I" is a number only where no sentence can go on with the pronoun, and a letter with a point and
# a capital behind it is an initial.
_NO_LETTER = r"(?!(?<=\bI)(?: [a-z]|['’]))(?!(?<=\b[IVXL])\. [A-Z])"
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50}


def rules(table: Table) -> Iterable[Rule]:
    """Numerals behind a ruler's name, and behind the name of a part or a number."""
    roman = table.roman

    def ruler(match: re.Match[str]) -> Saying:
        return {"numeral": roman.ruler(match["name"], value(match["numeral"]))}

    def heading(match: re.Match[str]) -> Saying:
        return {"numeral": table.numbers.cardinal(value(match["numeral"]))}

    upper = frozenset("IVXL")
    if roman.rulers:
        pattern = rf"\b(?P<name>{one_of(roman.rulers)}) {_NUMERAL}{_NO_LETTER}"
        yield Rule(re.compile(pattern), ruler, upper)
    if roman.headings:
        pattern = rf"\b(?:{one_of(roman.headings)}) {_NUMERAL}{_NO_LETTER}"
        yield Rule(re.compile(pattern), heading, upper)


def value(numeral: str) -> int:
    """The number a roman numeral stands for."""
    values = [_VALUES[c] for c in numeral]
    behind = [*values[1:], 0]
    return sum(-v if v < after else v for v, after in zip(values, behind, strict=True))
