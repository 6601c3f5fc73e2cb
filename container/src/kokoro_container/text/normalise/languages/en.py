"""English, American and British."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from kokoro_container.text.normalise.english import rules as english
from kokoro_container.text.normalise.english.say import (
    ENGLISH_DIGITS,
    cardinals,
    ordinal,
    with_british_spelling,
    year,
)
from kokoro_container.text.normalise.numbers import Numbers, point_numbers
from kokoro_container.text.normalise.tables import (
    Clock,
    Noun,
    Roman,
    Table,
    listed,
)

from .en_words import (
    ABBREVIATIONS,
    ATTACHED_UNITS,
    CURRENCIES,
    HEADINGS,
    PER,
    PHONES,
    PREFIXES,
    RATES,
    RULERS,
    SCALES,
    SYMBOLS,
    UNITS,
    WEB,
)

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

# "half a cup": what a fraction is taken of.
_MEASURES = frozenset(
    listed(
        "cup teaspoon tablespoon mile inch foot yard pound ounce hour gallon quart pint second "
        "minute acre dozen kilometer liter kilogram century"
    )
)
_ORDINAL_PARTS = frozenset({5, 6, 7, 8, 9, 10, 16, 32, 64, 100, 1000})
_SAID_APART = frozenset({(24, 7), (9, 11)})

# Behind these words "a 5 km" is no description of what follows.
_NO_NOUN = frozenset(listed("and or to in on at for from of off per is was are than by with"))


def _units(rows: str, british: bool) -> dict[str, Noun]:
    fields = rows.replace("_", "\0").split()
    names = with_british_spelling("\n".join(fields[1::2])) if british else "\n".join(fields[1::2])
    units = {}
    for symbol, name in zip(fields[::2], names.split("\n"), strict=True):
        one, _, many = name.replace("\0", " ").partition("/")
        units[symbol.replace("\0", " ")] = Noun(one, many or one + "s")
    return units


def _spelled(words: Mapping[str, str], british: bool) -> Mapping[str, str]:
    return {k: with_british_spelling(w) if british else w for k, w in words.items()}


def _attributive(text: str, start: int, end: int) -> bool:
    """Whether "5 km" is in "a 5 km run"."""
    noun = re.match(r" ([a-z]+)", text[end : end + 12])
    if noun is None or noun.group(1) in _NO_NOUN:
        return False
    if noun.group(1) in ("bill", "bills", "note", "notes"):
        return True
    return re.search(r"(?:^|\W)an? $", text[max(0, start - 4) : start].lower()) is not None


def _date(british: bool) -> Callable[[int, int, int | None], str]:
    def say(day: int, month: int, year_number: int | None) -> str:
        name, nth = MONTHS[month - 1], ordinal(day, british=british)
        words = f"the {nth} of {name}" if british else f"{name} {nth}"
        return words if year_number is None else f"{words}, {year(year_number, british=british)}"

    return say


def _clock(hour: int, minute: int) -> str:
    say = cardinals(british=False)
    if minute == 0:
        if hour in (0, 24):
            return "midnight"
        return f"{say(hour)} o'clock" if hour <= 12 else f"{say(hour)} hundred"
    minutes = f"oh {say(minute)}" if minute < 10 else say(minute)
    return f"{say(hour)} {minutes}"


def _fraction(a: int, b: int, after: str) -> str | None:
    say = cardinals(british=False)
    if (a, b) in _SAID_APART or a == b:
        return f"{say(a)} {say(b)}"
    if a == 0 or b == 0:
        return None
    if a > b:
        return f"{say(a)} over {say(b)}"
    if re.match(" stars?\\b", after) or (b in (10, 100) and not after.startswith(" of ")):
        return f"{say(a)} out of {say(b)}"
    noun = re.match(r" ([a-z]+)(?!\w)", after)
    measured = noun is not None and noun.group(1) in _MEASURES
    article = "an" if noun is not None and noun.group(1)[0] in "aeiou" else "a"
    article = "an" if noun is not None and noun.group(1) == "hour" else article
    if (a, b) == (1, 2):
        return f"half {article}" if measured else "one half"
    part = {2: "half", 3: "third", 4: "quarter"}.get(b)
    if part is None:
        if b not in _ORDINAL_PARTS:
            return None
        part = ordinal(b, british=False)
    words = f"{say(a)} {part}" + ("s" if a > 1 else "")
    return f"{words} of {article}" if measured else words


def _mixed(whole: str, part: str) -> str:
    return f"{whole} and {'a' + part[3:] if part.startswith('one ') else part}"


def table(language: str) -> Table:
    """American English, or British: its dates, "and" in numbers, spellings."""
    british = language == "en-gb"
    words = cardinals(british=british)
    numbers = Numbers(pattern=point_numbers(), point="point", digits=ENGLISH_DIGITS, words=words)
    first, last = english.rules(numbers, british=british, months=MONTHS)
    return Table(
        numbers=numbers,
        currencies=CURRENCIES,
        money="{} and {}".format,
        scales=SCALES,
        attributive=_attributive,
        per=("per", _spelled(PER, british)),
        units=_units(UNITS, british),
        attached_units=_units(ATTACHED_UNITS, british),
        rates=_spelled(RATES, british),
        date=_date(british),
        day_first=british,
        date_leads=frozenset({"on", "by", "until", "till", "since", "before", "after", "due"}),
        clock=Clock(_clock),
        until="to",
        minus="minus",
        below_zero="minus",
        fraction=_fraction,
        mixed=_mixed,
        phones=PHONES,
        symbols=SYMBOLS,
        prefixes=PREFIXES,
        web=WEB,
        ordinals=(r"(?i:st|nd|rd|th)(?!\w)", lambda n, _: ordinal(n, british=british)),
        roman=Roman(RULERS, HEADINGS, lambda _, n: f"the {ordinal(n, british=british)}"),
        abbreviations=ABBREVIATIONS,
        first=first,
        last=last,
    )
