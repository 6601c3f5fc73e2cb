"""Telephone numbers, cards and other long figures: one digit after the other."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .numbers import MOST_DIGITS
from .rules import DIGIT, Rule, Saying
from .tables import Table

_BEFORE = r"(?<!\w)(?<!\w[.,:/-])(?<![$€£¥₹+])"
_AFTER = r"(?!\w)(?![.,:/-]\d)"

# "+44 20 7946 0958", "+1 (415) 555-2671": country code and 6 to 14 more digits (E.164).
_INTERNATIONAL = r"\+(?P<country>[1-9]\d{0,2})(?P<rest>(?:[ .-]?\(?\d{1,5}\)?){2,7}+)"
_CARD = r"\d{4}(?P<mark>[ -])\d{4}(?P=mark)\d{4}(?P=mark)\d{4}"
_SHORTEST_BARE_DIGITS = 7
# "08年" is a year, "05分" are minutes.
_COUNTED_CJK = "年月日号時时点分秒円元个個"
# An ISBN, a sort code: more figures with hyphens than any date, count or score has.
_HYPHENATED = r"\d{1,7}(?:-\d{1,7}){2,6}+"


def rules(table: Table) -> Iterable[Rule]:
    """Numbers that are names of something rather than how many there are."""
    phones = _Phones(table)
    # a leading zero, or as long as no count is written without marks
    bare = rf"(?:0\d{{1,19}}|\d{{{_SHORTEST_BARE_DIGITS},20}})(?![{_COUNTED_CJK}])"
    patterns = [
        (_INTERNATIONAL, phones.international),
        (_CARD, phones.groups),
        (_HYPHENATED, phones.hyphenated),
        *((phone, phones.groups) for phone in table.phones),
        (bare, phones.bare),
    ]
    flags = re.ASCII if table.unspaced else re.NOFLAG
    return [
        Rule(re.compile(f"{_BEFORE}(?:{pattern}){_AFTER}", flags), say, DIGIT)
        for pattern, say in patterns
    ]


class _Phones:
    def __init__(self, table: Table) -> None:
        self._numbers = table.numbers
        self._plus = table.symbols.get("+", "")
        self._in_pairs = table.phone_pairs

    def groups(self, match: re.Match[str]) -> Saying:
        numbers = self._numbers
        if not self._in_pairs:
            return numbers.spell_groups(match.group())
        pairs = re.findall(r"\d\d", match.group())
        return ", ".join(
            numbers.spell(pair) if pair[0] == "0" else numbers.cardinal(int(pair)) for pair in pairs
        )

    def international(self, match: re.Match[str]) -> Saying:
        if not 8 <= _digits(match) <= 15:
            return None
        return f"{self._plus} {self._numbers.spell_groups(match.group())}".strip()

    def hyphenated(self, match: re.Match[str]) -> Saying:
        if _digits(match) < _SHORTEST_BARE_DIGITS:
            return None
        return self._numbers.spell_groups(match.group())

    def bare(self, match: re.Match[str]) -> Saying:
        digits = match.group()
        if digits.endswith("000") and digits[0] != "0" and len(digits) <= MOST_DIGITS:
            return None
        return self._numbers.spell(digits)


def _digits(match: re.Match[str]) -> int:
    return sum(c.isdigit() for c in match.group())
