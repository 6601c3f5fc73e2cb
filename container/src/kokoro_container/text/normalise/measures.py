"""Quantities with a unit: "5km", "10 kg", "40–60°C", "-5 °C", "120 km/h", "50%"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from .numbers import Amount
from .rules import DIGIT, Rule, Saying, one_of
from .tables import Noun, Table

_BEFORE = r"(?<!\w)(?<!\w[.,:/’'+-])(?<![-−$€£¥₹])"
_AFTER = r"(?![\w°/²³])(?!-\d)"
# The point of "5 ft. tall" ends no sentence.
_POINT = r"(?<=[a-z])\.(?= [a-z]| \d{1,3} ?(?:in|oz)\b)"
_DEGREES = ("℃", "°C", "℉", "°F")


def rules(table: Table) -> Iterable[Rule]:
    """Numbers in front of any of the table's units."""
    found = []
    if table.units:
        found.append(_Measures(table, table.units, gap="[ -]?").rule())
    if table.attached_units:
        found.append(_Measures(table, table.attached_units, gap="").rule())
    degrees = {sign: table.units[sign].many for sign in _DEGREES if sign in table.units}
    if degrees:  # alone they would have no sound
        pattern = re.compile(rf"(?<![\w°])(?:{one_of(degrees)})(?!\w)")
        found.append(Rule(pattern, lambda match: degrees[match.group()], frozenset("°℃℉")))
    return found


class _Measures:
    def __init__(self, table: Table, units: Mapping[str, Noun], *, gap: str) -> None:
        self._table = table
        self._units = units
        self._gap = gap

    def rule(self) -> Rule:
        table, number = self._table, self._table.numbers.pattern
        rates = rf"(?P<rate>{one_of(table.rates)})?" if table.rates else ""
        units = one_of(self._units)
        to = rf"(?:(?P<same>{units})? ?[-–—] ?(?P<last>[-−]?{number}))?" if table.until else ""
        pattern = (
            rf"{_BEFORE}(?P<head>(?P<minus>[-−])?(?P<number>{number}){to})"
            rf"(?P<gap>{self._gap})(?P<unit>(?P<name>{units}){rates}){_AFTER}(?P<point>{_POINT})?"
        )
        flags = re.ASCII if table.unspaced else re.NOFLAG
        return Rule(re.compile(pattern, flags), self._say, DIGIT)

    def _say(self, match: re.Match[str]) -> Saying:
        table, found = self._table, match.groupdict()
        amount = table.numbers.parse(found["number"])
        if amount is None or found.get("same") not in (None, found["name"]):
            return None
        noun = self._units[found["name"]]
        degrees = found["name"] in _DEGREES or found["name"] == "°"
        words = self._signed(found["minus"] or "", amount, noun, degrees)
        last = found.get("last")
        if last:
            amount = table.numbers.parse(last.lstrip("-−"))
            if amount is None:
                return None
            other = self._signed(last[0] if last[0] in "-−" else "", amount, noun, degrees)
            words = table.space.join((words, table.until, other))
        rate = found.get("rate")
        one = amount.is_one or found["gap"] == "-" or self._describes(match)
        unit = (noun.one if one else noun.many) + (table.rates[rate] if rate else "")
        if found["gap"] == " " and found["name"][0].isalnum():
            return {"head": words, "unit": unit} | ({"point": ""} if found["point"] else {})
        return f"{words}{table.space}{unit}"

    def _describes(self, match: re.Match[str]) -> bool:
        return self._table.attributive(match.string, match.start(), match.end())

    def _signed(self, minus: str, amount: Amount, noun: Noun, degrees: bool) -> str:
        words = self._table.numbers.say(amount, noun.gender)
        if not minus:
            return words
        sign = self._table.below_zero if degrees else self._table.minus
        return f"{sign}{self._table.space}{words}"
