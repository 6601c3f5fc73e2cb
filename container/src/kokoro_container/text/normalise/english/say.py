"""Numbers as English speakers say them: counts, years, house numbers, digits."""

from __future__ import annotations

import re
from collections.abc import Callable

from kokoro_container.text.normalise.numbers import library_words

ENGLISH_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_AND = re.compile(r"\band ")
_BRITISH = re.compile(r"(?<=t)er(?=s?\b)")


def cardinals(*, british: bool) -> Callable[[int], str]:
    """A number to words; the British say "a hundred and one"."""

    def say(number: int) -> str:
        words = library_words(number, "en")
        return words if british else _AND.sub("", words)

    return say


def ordinal(number: int, *, british: bool) -> str:
    """The words for "21st"."""
    words = library_words(number, "en", "ordinal")
    return words if british else _AND.sub("", words)


def year(number: int, *, british: bool) -> str:
    """A year: "nineteen ninety nine", "two thousand five", "twenty twenty four"."""
    say = cardinals(british=british)
    century, rest = divmod(number, 100)
    if number < 1000 or number > 9999 or number % 1000 < 10:
        return say(number)
    if rest == 0:
        return f"{say(century)} hundred"
    return f"{say(century)} oh {say(rest)}" if rest < 10 else f"{say(century)} {say(rest)}"


def house_number(digits: str) -> str:
    """Rooms, flights and roads: "101" is "one oh one", "1234" is "twelve thirty four"."""
    say = cardinals(british=False)
    if len(digits) < 3 or digits[0] == "0" or len(digits) > 4:
        return say(int(digits)) if digits[0] != "0" and len(digits) < 3 else spell(digits)
    if digits.endswith("00"):
        return say(int(digits)) if digits[-3] == "0" else f"{say(int(digits[:-2]))} hundred"
    head, rest = say(int(digits[:-2])), int(digits[-2:])
    return f"{head} oh {say(rest)}" if rest < 10 else f"{head} {say(rest)}"


def spell(digits: str) -> str:
    """Digit by digit; other characters are left out."""
    return " ".join(ENGLISH_DIGITS[int(c)] for c in digits if c.isdigit())


def with_british_spelling(text: str) -> str:
    """Metres and litres."""
    return _BRITISH.sub("re", text)
