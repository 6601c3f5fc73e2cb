"""Sizes, durations and factors: "5'10"", "27"", "1h30m", "1920x1080", "10x"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kokoro_container.text.normalise.numbers import Numbers
from kokoro_container.text.normalise.rules import Rule, Saying

from .say import cardinals, house_number

_BEFORE = r"(?<!\w)(?<!\w[.,:/-])(?<![$€£¥₹])"

# "5'10"" is a height and "1'30"" a time: a foot has 12 inches.
_FEET_OR_MINUTES = rf"{_BEFORE}(?P<a>\d{{1,2}})['’] ?(?P<b>\d{{1,2}})(?:[\"″”]|'')(?!\w)"
_FEET = rf"{_BEFORE}(?P<a>\d{{1,3}})['’](?= (?:tall|long|wide|high|deep|x|by)\b| ?[x×] ?\d)"
_INCHES = (
    rf"{_BEFORE}(?P<a>\d{{1,4}}(?:\.\d{{1,3}})?)[\"″](?![\w\"])"
    r"(?= (?P<noun>(?!long|tall|wide|high|deep|thick|in|by|x|and|or|of|is|to)[a-z]{2})|)"
)
_OPENING_QUOTE = re.compile(r"(?<!\d)\"")
_INCHES_BEHIND_FEET = r"(?:(?<=ft |et |ot )|(?<=ft\. ))(?P<a>\d{1,2}) ?in(?!\w)(?:\.(?= [a-z]))?"
# How far back an opening quotation mark is looked for, before a mark is taken for inches.
_QUOTATION_CHARS = 200

# "1h30m", "5m 30s"
_DURATION = (
    rf"{_BEFORE}(?:(?P<h>\d{{1,2}})h ?(?P<m>\d{{1,2}})m|(?P<m2>\d{{1,2}})m ?(?=\d{{1,2}}s))"
    r"(?: ?(?P<s>\d{1,2})s)?(?!\w)"
)

_SIZE = r"\d{1,4}(?:\.\d{1,3})?"
_BY = (
    rf"{_BEFORE}(?P<a>(?!0[xX]){_SIZE})(?P<by1> ?[xX×] ?)(?P<b>{_SIZE})"
    rf"(?:(?P<by2> ?[xX×] ?)(?P<c>{_SIZE}))?(?!\.\d)(?![^\W\d_])(?!\d)"
)
_FACTOR = rf"{_BEFORE}(?P<n>{_SIZE})[x×](?!\w)(?=(?P<algebra> ?[-=+*/^<>])?)"

_say = cardinals(british=False)


def rules(numbers: Numbers) -> Iterable[Rule]:
    """What has two signs of its own, before the units, which would take a part of it."""
    sizes = _Sizes(numbers)
    return (
        Rule(re.compile(_DURATION), _duration),
        Rule(re.compile(_FEET_OR_MINUTES), _feet_or_minutes),
        Rule(re.compile(_FEET), lambda match: f"{_say(int(match['a']))} feet"),
        Rule(re.compile(_INCHES), sizes.inches),
        Rule(re.compile(_INCHES_BEHIND_FEET), lambda match: f"{_say(int(match['a']))} inches"),
        Rule(re.compile(_BY), _by, joined=True),
        Rule(re.compile(_FACTOR), sizes.factor),
    )


class _Sizes:
    def __init__(self, numbers: Numbers) -> None:
        self._numbers = numbers

    def inches(self, match: re.Match[str]) -> Saying:
        before = match.string[max(0, match.start() - _QUOTATION_CHARS) : match.start()]
        amount = self._numbers.parse(match["a"])
        if amount is None or len(_OPENING_QUOTE.findall(before)) % 2:
            return None
        unit = "inch" if amount.is_one or match["noun"] else "inches"
        return f"{self._numbers.say(amount)} {unit}"

    def factor(self, match: re.Match[str]) -> Saying:
        amount = self._numbers.parse(match["n"])
        if amount is None:
            return None
        return f"{self._numbers.say(amount)} {'x' if match['algebra'] else 'times'}"


def _feet_or_minutes(match: re.Match[str]) -> Saying:
    a, b = int(match["a"]), int(match["b"])
    if b < 12:
        return f"{_say(a)} foot {_say(b)}"
    minutes = "minute" if a == 1 else "minutes"
    return f"{_say(a)} {minutes} {_say(b)} seconds" if b < 60 else None


def _duration(match: re.Match[str]) -> Saying:
    names = {"h": "hour", "m": "minute", "m2": "minute", "s": "second"}
    parts = [(int(match[k]), name) for k, name in names.items() if match[k]]
    return " ".join(f"{_say(n)} {name}{'' if n == 1 else 's'}" for n, name in parts)


def _by(match: re.Match[str]) -> Saying:
    if " ×" in match.group():
        return None  # a calculation
    word = " times " if match.string.startswith(" =", match.end()) else " by "
    said = {by: word for by in ("by1", "by2") if match[by]}
    # the screen of "1920x1080"; other figures are left for a unit behind them
    sides = {side: match[side] or "" for side in "abc"}
    return said | {k: house_number(s) for k, s in sides.items() if s.isdigit() and len(s) > 2}
