"""Days and months by name: "Dec. 25, 2024", "25 December", "Mon-Fri"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..rules import LETTER, Rule, Saying, one_of
from .say import ordinal, year

_MONTH_ABBREVIATIONS = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec".split()
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
    full = {month: month for month in months}
    full |= {short: next(m for m in months if m[:3] == short[:3]) for short in _MONTH_ABBREVIATIONS}
    name = rf"(?P<month>(?:{one_of(full)})\b)"

    def nth(day: str) -> str | None:
        return ordinal(int(day), british=british) if 1 <= int(day) <= 31 else None

    def ending(match: re.Match[str]) -> dict[str, str]:
        if not match["year"]:
            return {}
        return {"year": ", " + year(int(match["year"][-4:]), british=british)}

    def month_first(match: re.Match[str]) -> Saying:
        day = nth(match["day"])
        if day is None:
            return None
        return {"month": full[match["month"]], "dot": "", "day": day, **ending(match)}

    def day_first(match: re.Match[str]) -> Saying:
        day = nth(match["day"])
        if day is None:
            return None
        the = "" if match["the"] else "the "
        return {"day": f"{the}{day} of", "month": full[match["month"]], "dot": "", **ending(match)}

    def month_only(match: re.Match[str]) -> Saying:
        return {"month": full[match["month"]], "dot": ""}

    dot = r"(?P<dot>\.?)"
    day = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
    days = one_of(_DAYS)
    return (
        Rule(re.compile(rf"\b{name}{dot} {day}{_YEAR}{_COUNTED}"), month_first),
        Rule(
            re.compile(rf"(?<![\w.,:/-])(?P<the>\bthe )?(?P<day>\d{{1,2}}) {name}{dot}{_YEAR}"),
            day_first,
        ),
        Rule(re.compile(rf"(?<=[a-z\d] ){name}{dot}(?= \d{{4}}\b)"), month_only),
        Rule(
            re.compile(rf"\b(?P<first>{days})(?P<to>[-–—])(?P<last>{days})\b"),
            lambda match: f"{_DAYS[match['first']]} to {_DAYS[match['last']]}",
            LETTER,
        ),
        Rule(
            re.compile(rf"\b(?P<day>{days})\b\.?(?=,? (?:{one_of(full)}|\d))"),
            lambda match: _DAYS[match["day"]],
        ),
    )
