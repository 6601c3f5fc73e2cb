"""What a language's table says: the words for money, units, months and the like.

One table a language, in ``languages/``. The modules beside this one are the same for all
languages and know no words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .numbers import Amount, Numbers
from .rules import Rule


@dataclass(frozen=True, slots=True)
class Noun:
    """Something that is counted.

    Attributes:
        one: with the number one.
        many: with any other number.
        gender: "m", "f", or empty where the language has none that shows.
    """

    one: str
    many: str
    gender: str = ""


@dataclass(frozen=True, slots=True)
class Currency:
    """A currency and its hundredth.

    Attributes:
        unit: the currency.
        cent: its hundredth; None where there is none, the amount is then said as a decimal.
    """

    unit: Noun
    cent: Noun | None = None


def listed(words: str) -> tuple[str, ...]:
    """The words of a text, for tables of many."""
    return tuple(words.split())


def spaced(unit: str) -> str:
    """A unit behind a number word: with a space."""
    return f" {unit}"


@dataclass(frozen=True, slots=True)
class Scale:
    """A thousand, a million: "$5M", "5 millones de dólares".

    Attributes:
        one: with the number one.
        many: with any other number.
        then: how the unit follows it.
    """

    one: str
    many: str
    then: Callable[[str], str] = spaced


@dataclass(frozen=True, slots=True)
class Clock:
    """How a time of day is said.

    Attributes:
        say: hour and minute to words.
        separator: what may stand between hour and minute, as a pattern.
        tail: what behind the time is part of it, as a pattern: the "h" of "15:30 h".
    """

    say: Callable[[int, int], str]
    separator: str = ":"
    tail: str = ""


@dataclass(frozen=True, slots=True)
class Roman:
    """Where a roman numeral is a number, and how it is said.

    Attributes:
        rulers: names behind which it is an ordinal ("Henry VIII").
        headings: words behind which it is a plain number ("chapter IV").
        ruler: a ruler's name and the number, to the number's words.
    """

    rulers: frozenset[str] = frozenset()
    headings: frozenset[str] = frozenset()
    ruler: Callable[[str, int], str] = "{1}".format


def _never(text: str, start: int, end: int) -> bool:
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Everything a language says in its own way.

    Attributes:
        numbers: how its numbers are written and said.
        currencies: by sign or ISO code.
        money: an amount of units and one of hundredths, put together.
        scales: letters and words behind an amount, and the number they stand for.
        attributive: whether what is at this range of the text describes the noun behind it, so
            that its unit is singular ("a 5 km run").
        per: the word for the slash of "$5/month", and what its right side stands for.
        units: by symbol.
        attached_units: symbols that are units only right behind the number ("5in").
        rates: the right side of a unit ("/h") and its words.
        date: day, month (1 to 12), year or None, to words.
        day_first: of "3/4/2024"; otherwise the month comes first.
        date_leads: words behind which "25/12" is a date.
        clock: times of day.
        until: the word of a range, "to".
        minus: the word before a negative number.
        below_zero: the same for temperatures.
        fraction: numerator, denominator and what follows in the text, to words; None to leave
            it. Where it is taken for a measure ("half a cup"), the words lead up to that.
        mixed: a whole number and a fraction put together.
        phones: patterns of national phone numbers.
        phone_pairs: they are said in numbers of two digits.
        symbols: words for signs of arithmetic between two operands, and for an arrow.
        prefixes: words for signs in front of a number ("~5", "<5").
        web: words for the marks of a web address.
        ordinals: pattern of what follows the digits of an ordinal, and how it is said.
        roman: roman numerals.
        abbreviations: what is written with a point, and what is said.
        unspaced: the script is written without spaces, so digits may touch letters.
        first: rules of this language only, tried before all but markup and addresses.
        last: the same, tried before the signs and the plain numbers.
    """

    numbers: Numbers
    currencies: Mapping[str, Currency] = field(default_factory=dict)
    money: Callable[[str, str], str] = "{} {}".format
    scales: Mapping[str, Scale] = field(default_factory=dict)
    attributive: Callable[[str, int, int], bool] = _never
    per: tuple[str, Mapping[str, str]] = ("", {})
    units: Mapping[str, Noun] = field(default_factory=dict)
    attached_units: Mapping[str, Noun] = field(default_factory=dict)
    rates: Mapping[str, str] = field(default_factory=dict)
    date: Callable[[int, int, int | None], str] | None = None
    day_first: bool = True
    date_leads: frozenset[str] = frozenset()
    clock: Clock | None = None
    until: str = ""
    minus: str = ""
    below_zero: str = ""
    fraction: Callable[[int, int, str], str | None] | None = None
    mixed: Callable[[str, str], str] = "{} {}".format
    phones: tuple[str, ...] = ()
    phone_pairs: bool = False
    symbols: Mapping[str, str] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    web: Mapping[str, str] = field(default_factory=dict)
    ordinals: tuple[str, Callable[[int, str], str | None]] | None = None
    roman: Roman = Roman()
    abbreviations: Mapping[str, str] = field(default_factory=dict)
    unspaced: bool = False
    first: tuple[Rule, ...] = ()
    last: tuple[Rule, ...] = ()

    @property
    def space(self) -> str:
        """What stands between two words."""
        return "" if self.unspaced else " "

    def count(self, amount: Amount, noun: Noun, *, attributive: bool = False) -> str:
        """A number of something."""
        name = noun.one if amount.is_one or attributive else noun.many
        return f"{self.numbers.say(amount, noun.gender)}{self.space}{name}"
