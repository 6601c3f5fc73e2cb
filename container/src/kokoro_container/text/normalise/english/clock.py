"""Times with "am" and "pm", to the second, and ratios: "9am-5pm", "1:23:45", "16:9"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kokoro_container.text.normalise.rules import Rule, Saying

from .say import cardinals

_BEFORE = r"(?<!\w)(?<!\w[.,:/-])(?<![$€£¥₹])"
_TIME = r"(?:0?[1-9]|1[0-2])(?::[0-5]\d)?"
_HALF = r"(?:[AaPp](?:[Mm]|\.[Mm]\.?))"
_AFTER = r"(?!\w)(?!['’])"

_RANGE = (
    rf"{_BEFORE}(?P<first>{_TIME})(?: ?(?P<half1>{_HALF}))? ?[-–—] ?"
    rf"(?P<last>{_TIME}) ?(?P<half2>{_HALF}){_AFTER}"
)
_ONE = rf"{_BEFORE}(?P<time>{_TIME})(?P<gap> ?)(?P<half>{_HALF}){_AFTER}"
_SECONDS = rf"{_BEFORE}(?P<h>\d{{1,2}}):(?P<m>[0-5]\d):(?P<s>[0-5]\d){_AFTER}(?![:/]\d)"
_RATIO = rf"{_BEFORE}(?P<a>\d{{1,4}}):(?P<b>\d){_AFTER}(?![:.,/]\d)"


def rules() -> Iterable[Rule]:
    """From one time to another, single ones, those with seconds, ratios."""
    return (
        Rule(re.compile(_RANGE), _range),
        Rule(re.compile(_ONE), _one),
        Rule(re.compile(_SECONDS), _seconds),
        Rule(re.compile(_RATIO), _ratio),
    )


def _time(written: str) -> str:
    hour, _, minute = written.partition(":")
    return _joined((hour, minute) if minute and int(minute) else (hour,))


def _joined(parts: tuple[str, ...]) -> str:
    """Numbers of two digits: "three oh five"."""
    say = cardinals(british=False)
    hour, *rest = map(int, parts)
    return " ".join([say(hour), *(f"oh {say(n)}" if n < 10 else say(n) for n in rest)])


def _half(match: re.Match[str], group: str) -> str:
    """The letters; "AM" is read as the verb, but the point of "a.m." would end no sentence."""
    written = match[group]
    behind = match.string[match.end(group) :][:1]
    point = "." if written.endswith(".") and not behind else ""
    if written[0] in "Pp":
        return "PM" + point
    return f"AM{point}" if behind in ("", ".", "?", "!") else "a.m."


def _range(match: re.Match[str]) -> Saying:
    first, last = _time(match["first"]), _time(match["last"])
    half = f" {_half(match, 'half1')}" if match["half1"] else ""
    return f"{first}{half} to {last} {_half(match, 'half2')}"


def _one(match: re.Match[str]) -> Saying:
    time, half = _time(match["time"]), _half(match, "half")
    return {"time": time, "half": half} if match["gap"] else f"{time} {half}"


def _seconds(match: re.Match[str]) -> Saying:
    return _joined((match["h"], match["m"], match["s"]))


def _ratio(match: re.Match[str]) -> Saying:
    say = cardinals(british=False)
    return f"{say(int(match['a']))} to {say(int(match['b']))}"
