"""Sizes, factors, decades, years and short millions: "5'10"", "1920x1080", "1990s", "2.5M"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from ..numbers import Numbers
from ..rules import END, Rule, Saying
from .say import cardinals, house_number, year

_BEFORE = r"(?<!\w)(?<!\w[.,:/-])(?<![$€£¥₹])"

# "5'10"" is a height and "1'30"" a time: a foot has 12 inches.
_FEET_OR_MINUTES = rf"{_BEFORE}(?P<a>\d{{1,2}})['’] ?(?P<b>\d{{1,2}})(?:[\"″”]|'')(?!\w)"
_FEET = rf"{_BEFORE}(?P<a>\d{{1,3}})['’](?= (?:tall|long|wide|high|deep|x|by)\b| ?[x×] ?\d)"
_INCHES = rf"{_BEFORE}(?P<a>%s)[\"″](?![\w\"])"
_INCHES_BEHIND_FEET = r"(?<=ft |et |ot )(?P<a>\d{1,2}) ?in(?![\w])"
# How far back an opening quotation mark is looked for, before a mark is taken for inches.
_QUOTATION_CHARS = 200

_BY = rf"{_BEFORE}(?P<a>(?!0[xX])%s)(?P<s1> ?)[xX×](?P<s2> ?)(?P<b>%s)(?![\w.])"
_FACTOR = rf"{_BEFORE}(?P<n>%s)[x×](?!\w)"

_MILLIONS = (
    "users|people|views|downloads|followers|subscribers|customers|subs|visitors|members|players|"
    "records|rows|requests|tokens|parameters|params|dollars|euros|pounds|jobs|homes|copies|sales"
)
_RUN_OR_PICTURE = "run|race|marathon|resolution|video|videos|monitor|display|TV|screen|film|stream"
_PLACES = frozenset("room apt apartment suite unit section gate seat row flight route grade".split())
_SCALES = {"k": "thousand", "K": "thousand", "M": "million", "mn": "million", "B": "billion"}
_SCALES["bn"] = "billion"

_DECADE = r"(?<![\w.,:/$€£-])(?:['’](?P<short>\d0)|(?P<long>(?:1\d|20)\d0)|(?P<ages>\d0))['’]?s(?!\w)"
_AGES = frozenset("the his her their my your our mid early late in mid-".split())

_YEAR = r"(?:1[1-9]\d\d|20\d\d)"
_YEAR_LEADS = frozenset(
    "in since by until till from during of year before after early late circa summer winter "
    "spring autumn fall".split()
)
_NOT_NOUNS = "is|was|has|this|as|does|starts|ends|begins|its|his|us|comes|marks|sees|looks|less"
_COUNTED = rf" (?:(?!(?:{_NOT_NOUNS})\b)[a-z]{{2,20}}s|people|men|women|children)\b"


def sizes(numbers: Numbers) -> Iterable[Rule]:
    """Feet and inches, factors, decades; before the units, which would take some of them."""
    n = numbers.pattern
    say = cardinals(british=False)

    def feet_or_minutes(match: re.Match[str]) -> Saying:
        a, b = int(match["a"]), int(match["b"])
        if b < 12:
            return f"{say(a)} foot {say(b)}"
        minutes = "minute" if a == 1 else "minutes"
        return f"{say(a)} {minutes} {say(b)} seconds" if b < 60 else None

    def inches(match: re.Match[str]) -> Saying:
        before = match.string[max(0, match.start() - _QUOTATION_CHARS) : match.start()]
        amount = numbers.parse(match["a"])
        if amount is None or before.count('"') % 2:
            return None
        return f"{numbers.say(amount)} " + ("inch" if amount.is_one else "inches")

    def by(match: re.Match[str]) -> Saying:
        word = "times" if match.string[match.end() : match.end() + 2] == " =" else "by"
        if match["s1"] and "×" in match.group():
            return None  # a calculation
        return f"{_side(numbers, match['a'])} {word} {_side(numbers, match['b'])}"

    def factor(match: re.Match[str]) -> Saying:
        amount = numbers.parse(match["n"])
        return None if amount is None else f"{numbers.say(amount)} times"

    plain = r"\d{1,4}(?:\.\d{1,3})?"
    return (
        Rule(re.compile(_FEET_OR_MINUTES), feet_or_minutes),
        Rule(re.compile(_FEET), lambda match: f"{say(int(match['a']))} feet"),
        Rule(re.compile(_INCHES % plain), inches),
        Rule(re.compile(_INCHES_BEHIND_FEET), lambda match: f"{say(int(match['a']))} inches"),
        Rule(re.compile(_BY % (plain, plain)), by),
        Rule(re.compile(_FACTOR % plain), factor),
        Rule(re.compile(rf"{_BEFORE}(?P<n>{n})m(?= (?:{_MILLIONS})\b)"), _million(numbers)),
        Rule(re.compile(_DECADE), _decade),
    )


def _side(numbers: Numbers, written: str) -> str:
    if len(written) >= 3 and written.isdigit():
        return house_number(written)
    amount = numbers.parse(written)
    return written if amount is None else numbers.say(amount)


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
    return (Rule(re.compile(pattern), say),)


def _word_before(match: re.Match[str]) -> str:
    words = match.string[max(0, match.start() - 15) : match.start()].lower().split(" ")
    return words[-2] if len(words) > 1 and not words[-1] else ""


def _decade(match: re.Match[str]) -> Saying:
    if match["long"]:
        return _plural(year(int(match["long"]), british=False))
    if match["ages"] and _word_before(match) not in _AGES:
        return None
    return _plural(cardinals(british=False)(int(match["short"] or match["ages"])))


def _plural(words: str) -> str:
    return words[:-1] + "ies" if words.endswith("y") else words + "s"


def years(months: Sequence[str], *, british: bool) -> Iterable[Rule]:
    """Years, also from one to another; a number of something is none."""
    leads = _YEAR_LEADS | {month.lower() for month in months}

    def one(match: re.Match[str]) -> Saying:
        if match["counted"] and _word_before(match) not in leads:
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
            re.compile(rf"{_BEFORE}(?P<year>{_YEAR}){END}(?![-–—]\d)(?=(?P<counted>{_COUNTED})?)"),
            one,
        ),
    )
