"""Days and months by name: "Dec. 25, 2024", "25 December", "Mon-Fri"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kokoro_container.text.normalise.rules import LETTER, Rule, Saying, one_of
from kokoro_container.text.normalise.tables import listed

from .say import ordinal, year

_MONTH_ABBREVIATIONS = listed("Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec")
_DAYS = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Tues": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Thur": "Thursday",
    "Thurs": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}
_YEAR = r"(?P<year>,? (?:1\d{3}|20\d{2}))?(?!\w)(?![.:]\d)"
# "May 5 people come": the number counts what follows.
_COUNTED = r"(?! (?:people|of)\b)(?! (?!is\b|was\b|has\b|this\b|as\b)[a-z]{2,20}s\b)"


def rules(months: Sequence[str], *, british: bool) -> Iterable[Rule]:
    """Days of the month with the month's name on either side, and days of the week."""
    dates = _Dates(months, british=british)
    name = rf"(?P<month>(?:{one_of(dates.full)})\b)(?P<dot>\.?)"
    day = r"(?P<day>\d{1,2}(?:st|nd|rd|th)?)"
    before = rf"(?<![\w.,:/-])(?P<the>\bthe )?(?P<day>\d{{1,2}}) {name}{_YEAR}"
    days = one_of(_DAYS)
    return (
        Rule(re.compile(rf"\b{name} {day}{_YEAR}{_COUNTED}"), dates.month_first),
        Rule(re.compile(before), dates.day_first),
        Rule(re.compile(rf"\b{name}(?= (?:1\d{{3}}|20\d\d)\b)"), dates.month_only),
        Rule(
            re.compile(rf"\b(?P<first>{days})(?P<to>[-–—])(?P<last>{days})\b"),
            lambda match: f"{_DAYS[match['first']]} to {_DAYS[match['last']]}",
            LETTER,
        ),
        Rule(
            re.compile(rf"\b(?P<day>{days})\b\.?(?=,? (?:{one_of(dates.full)}|\d))"),
            lambda match: _DAYS[match["day"]],
        ),
    )


class _Dates:
    def __init__(self, months: Sequence[str], *, british: bool) -> None:
        self.full = {month: month for month in months}
        for short in _MONTH_ABBREVIATIONS:
            self.full[short] = next(month for month in months if month[:3] == short[:3])
        self._british = british

    def month_first(self, match: re.Match[str]) -> Saying:
        day = self._nth(match["day"])
        if day is None:
            return None
        return {**self._month(match), "day": day, **self._year(match)}

    def day_first(self, match: re.Match[str]) -> Saying:
        day = self._nth(match["day"])
        if day is None:
            return None
        the = "" if match["the"] else "the "
        return {"day": f"{the}{day} of", **self._month(match), **self._year(match)}

    def month_only(self, match: re.Match[str]) -> Saying:
        return self._month(match)

    def _month(self, match: re.Match[str]) -> dict[str, str]:
        return {"month": self.full[match["month"]], "dot": ""}

    def _nth(self, written: str) -> str | None:
        day = int(written.rstrip("stndrh"))
        return ordinal(day, british=self._british) if 1 <= day <= 31 else None

    def _year(self, match: re.Match[str]) -> dict[str, str]:
        if not match["year"]:
            return {}
        return {"year": ", " + year(int(match["year"][-4:]), british=self._british)}
