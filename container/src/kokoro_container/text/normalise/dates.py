"""Dates in figures: "12/25/2024", "25.12.2024", "2024-12-25", "2024-12-25T15:30:00Z"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .rules import DIGIT, Rule, Saying, one_of
from .tables import Clock, Table

_BEFORE = r"(?<![\w/])(?<!\w[.:,'-])"
_AFTER = r"(?![\w/])(?![-.:,]\d)"
_TIME = r"(?P<clock>T(?P<hour>[01]\d|2[0-3]):(?P<minute>[0-5]\d)(?::\d\d(?:\.\d{1,9})?)?Z?)?"
_ISO = rf"{_BEFORE}(?P<year>\d{{4}})(?P<mark>[-/])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?){_TIME}"
_FIGURES = rf"{_BEFORE}(?P<first>\d\d?)(?P<mark>[/.-])(?P<second>\d\d?)(?P=mark)(?P<year>\d{{4}})"
_SHORT_YEAR = rf"{_BEFORE}(?P<first>\d\d?)(?P<mark>/)(?P<second>\d\d?)/(?P<year>\d\d)"

# "24" is 2024 and "85" is 1985.
_LATEST_SHORT_YEAR = 60

_LONGEST_MONTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def rules(table: Table) -> Iterable[Rule]:
    """Dates with a year, and where a word announces them those without."""
    if table.date is None:
        return ()
    dates = _Dates(table)
    flags = re.ASCII if table.unspaced else re.NOFLAG
    found = [
        Rule(re.compile(pattern + _AFTER, flags), dates.say, DIGIT)
        for pattern in (_ISO, _FIGURES, _SHORT_YEAR)
    ]
    if table.date_leads:
        lead = rf"(?i:\b(?:{one_of(table.date_leads)})) "
        dated = rf"{lead}(?P<date>(?P<first>\d\d?)/(?P<second>\d\d?))(?![\w/])(?![.,]\d)"
        found.append(Rule(re.compile(dated), dates.say, DIGIT))
    return found


class _Dates:
    def __init__(self, table: Table) -> None:
        assert table.date is not None
        self._words = table.date
        self._day_first = table.day_first
        self._clock: Clock | None = table.clock
        self._space = table.space

    def say(self, match: re.Match[str]) -> Saying:
        found = match.groupdict()
        if "first" in found:
            day, month = self._in_order(int(found["first"]), int(found["second"]), found)
        else:
            day, month = int(found["day"]), int(found["month"])
        if not (1 <= month <= 12 and 1 <= day <= _LONGEST_MONTHS[month - 1]):
            return None
        words = self._words(day, month, _year(found.get("year")))
        if found.get("clock") and self._clock is not None:
            time = self._clock.say(int(found["hour"]), int(found["minute"]))
            words = f"{words},{self._space}{time}"
        return {"date": words} if "date" in found else words

    def _in_order(self, first: int, second: int, found: dict[str, str]) -> tuple[int, int]:
        """Day and month; 25 can only be the day, and dates with points put it first."""
        day_first = self._day_first or found.get("mark") == "."
        if (first > 12 >= second) or (day_first and not second > 12 >= first):
            return first, second
        return second, first


def _year(written: str | None) -> int | None:
    if written is None:
        return None
    if len(written) > 2:
        return int(written)
    return int(written) + (2000 if int(written) <= _LATEST_SHORT_YEAR else 1900)
