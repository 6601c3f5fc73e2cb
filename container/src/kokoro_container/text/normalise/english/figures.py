"""Decades, years and short millions: "1990s", "in 2024", "2.5M"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from kokoro_container.text.normalise.numbers import Numbers
from kokoro_container.text.normalise.rules import END, Rule, Saying
from kokoro_container.text.normalise.tables import listed

from .say import cardinals, house_number, year

_BEFORE = r"(?<!\w)(?<!\w[.,:/-])(?<![$€£¥₹])"

_MILLIONS = (
    "users|people|views|downloads|followers|subscribers|customers|subs|visitors|members|players|"
    "records|rows|requests|tokens|parameters|params|dollars|euros|pounds|jobs|homes|copies|sales"
)
_RUN_OR_PICTURE = "run|race|marathon|resolution|video|videos|monitor|display|TV|screen|film|stream"
_PLACES = frozenset(
    listed("room apt apartment suite unit section gate seat row flight route grade")
)
_SCALES = {"k": "thousand", "K": "thousand", "M": "million", "mn": "million", "B": "billion"}
_SCALES["bn"] = "billion"

_DECADE = (
    r"(?:(?<![\w.,:/$€£-])|(?<=mid-))"
    r"(?:['’](?P<short>\d0)|(?P<long>(?:1\d|20)\d0)|(?P<ages>\d0))['’]?s(?!\w)"
)
_AGES = frozenset(listed("the his her their my your our mid early late in"))

_YEAR = r"(?:1\d{3}|20\d\d)"
_FIRST_SURE_YEAR = 1100  # an earlier one needs an "in" before it
_YEAR_LEADS = frozenset(
    listed(
        "in since by until till from during of year before after early late circa summer winter "
        "spring autumn fall"
    )
)
_NOT_NOUNS = "is|was|has|this|as|does|starts|ends|begins|its|his|us|comes|marks|sees|looks|less"
_COUNTED = rf" (?:(?!(?:{_NOT_NOUNS})\b)[a-z]{{2,20}}s|people|men|women|children)\b"


def decades_and_millions(numbers: Numbers) -> Iterable[Rule]:
    """What would be taken for seconds and metres by the units."""
    million = rf"{_BEFORE}(?P<n>{numbers.pattern})m(?= (?:{_MILLIONS})\b)"
    return (
        Rule(re.compile(million), _million(numbers)),
        Rule(re.compile(_DECADE), _decade),
    )


def _million(numbers: Numbers) -> Callable[[re.Match[str]], Saying]:
    def say(match: re.Match[str]) -> Saying:
        amount = numbers.parse(match["n"])
        return None if amount is None else f"{numbers.say(amount)} million"

    return say


def suffixes(numbers: Numbers) -> Iterable[Rule]:
    """Thousands, millions and billions by their letter."""

    def say(match: re.Match[str]) -> Saying:
        amount, scale = numbers.parse(match["n"]), match["scale"]
        before = _word_before(match)
        is_run = scale in "kK" and (match["run"] or (before in ("a", "the") and not match["more"]))
        is_picture = scale == "K" and match["n"] in ("2", "4", "5", "8")
        if amount is None or is_run or is_picture or before in _PLACES:
            return None
        return f"{numbers.say(amount)} {_SCALES[scale]}"

    pattern = (
        rf"{_BEFORE}(?P<n>{numbers.pattern})(?P<scale>[kKMB]|mn|bn)(?!\w)"
        rf"(?=(?P<run> (?:{_RUN_OR_PICTURE})\b)?)(?=(?P<more> [a-z])?)"
    )
    per = r"(?<=[a-z])/(?=(?:hour|minute|second|day|night|week|month|year|person)\b)"
    plus = r"(?<=[a-z\d])\+(?=[ .,:;!?)]|$)"
    return (
        Rule(re.compile(pattern), say),
        Rule(re.compile(per), lambda _: " per ", frozenset("/"), joined=True),
        Rule(re.compile(plus), lambda _: " plus", frozenset("+"), joined=True),
    )


def _word_before(match: re.Match[str]) -> str:
    words = match.string[max(0, match.start() - 15) : match.start()].lower().split(" ")
    return words[-2] if len(words) > 1 and not words[-1] else ""


def _decade(match: re.Match[str]) -> Saying:
    if match["long"]:
        return _plural(year(int(match["long"]), british=False))
    is_mid = match.string.startswith("-", match.start() - 1)
    if match["ages"] and not is_mid and _word_before(match) not in _AGES:
        return None
    return _plural(cardinals(british=False)(int(match["short"] or match["ages"])))


def _plural(words: str) -> str:
    return words[:-1] + "ies" if words.endswith("y") else words + "s"


def years(months: Sequence[str], *, british: bool) -> Iterable[Rule]:
    """Years, also from one to another; a number of something is none."""
    leads = _YEAR_LEADS | {month.lower() for month in months}

    def one(match: re.Match[str]) -> Saying:
        is_sure = int(match["year"]) >= _FIRST_SURE_YEAR and not match["counted"]
        if not is_sure and _word_before(match) not in leads:
            return None
        return year(int(match["year"]), british=british)

    def span(match: re.Match[str]) -> Saying:
        last = match["last"]
        words = year(int(last), british=british) if len(last) == 4 else house_number(last)
        return f"{year(int(match['first']), british=british)} to {words}"

    return (
        Rule(
            re.compile(rf"{_BEFORE}(?P<first>{_YEAR})[-–—](?P<last>{_YEAR}|\d\d){END}(?!-)"), span
        ),
        Rule(
            re.compile(
                rf"{_BEFORE}(?P<year>{_YEAR}){END}(?![-–—][A-Z]?\d)(?=(?P<counted>{_COUNTED})?)"
            ),
            one,
        ),
    )
