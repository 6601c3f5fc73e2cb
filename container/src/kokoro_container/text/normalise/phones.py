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


def rules(table: Table) -> Iterable[Rule]:
    """Numbers that are names of something rather than how many there are."""
    numbers = table.numbers
    plus = table.symbols.get("+", "")

    def groups(match: re.Match[str]) -> Saying:
        if not table.phone_pairs:
            return numbers.spell_groups(match.group())
        pairs = re.findall(r"\d\d", match.group())
        return ", ".join(
            numbers.spell(pair) if pair[0] == "0" else numbers.cardinal(int(pair)) for pair in pairs
        )

    def international(match: re.Match[str]) -> Saying:
        digits = sum(c.isdigit() for c in match.group())
        if not 8 <= digits <= 15:
            return None
        return f"{plus} {numbers.spell_groups(match.group())}".strip()

    def bare(match: re.Match[str]) -> Saying:
        digits = match.group()
        if digits.endswith("000") and digits[0] != "0" and len(digits) <= MOST_DIGITS:
            return None
        return numbers.spell(digits)

    patterns = [
        (_INTERNATIONAL, international),
        (_CARD, groups),
        *((phone, groups) for phone in table.phones),
        # a leading zero, or as long as no count is written without marks
        (rf"0\d{{1,19}}|\d{{{_SHORTEST_BARE_DIGITS},20}}", bare),
    ]
    flags = re.ASCII if table.unspaced else re.NOFLAG
    return [
        Rule(re.compile(f"{_BEFORE}(?:{pattern}){_AFTER}", flags), say, DIGIT)
        for pattern, say in patterns
    ]
