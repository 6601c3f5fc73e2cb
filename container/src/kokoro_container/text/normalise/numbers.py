"""Numbers as words, on top of num2words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

MOST_DIGITS = 18
"""A longer number is said digit by digit, as people do (num2words itself fails above 10**306)."""

Kind = Literal["cardinal", "ordinal"]


@lru_cache(maxsize=4096)
def library_words(number: int, language: str, kind: Kind = "cardinal") -> str:
    """num2words' words, without the commas and hyphens that would be heard as pauses."""
    from num2words import num2words

    words = str(num2words(number, lang=language, to=kind))
    return words.replace(",", "") if language != "en" else re.sub(r"[,-]+ ?", " ", words)


@dataclass(frozen=True, slots=True)
class Amount:
    """A number without its sign.

    Attributes:
        whole: what stands before the decimal mark.
        fraction: the digits behind it, as written.
    """

    whole: int
    fraction: str = ""

    @property
    def is_one(self) -> bool:
        """Whether a noun behind it is singular in languages where only one is."""
        return self.whole == 1 and not self.fraction


def _unchanged(words: str, gender: str) -> str:
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """How a language writes and says its numbers.

    Attributes:
        pattern: an unsigned number as written, in linear time.
        point: the word for the decimal mark.
        digits: the words for 0 to 9.
        words: a number to words; None leaves digits, for the language's engine to read.
        groups: the characters that part thousands.
        decimal: the decimal mark; the other of "." and "," is taken for one where it can be
            nothing else ("20.50" in Spanish).
        whole_decimals: up to two decimals are said as one number ("soixante-quinze").
        inflect: number words for a noun of this gender that follows.
        before_noun: the gender of a word behind the number, or None if it is no noun.
    """

    pattern: str
    point: str
    digits: tuple[str, ...]
    words: Callable[[int], str] | None = None
    groups: str = ","
    decimal: str = "."
    whole_decimals: bool = False
    inflect: Callable[[str, str], str] = _unchanged
    before_noun: Callable[[str], str | None] | None = None

    def parse(self, written: str) -> Amount | None:
        """A match of ``pattern``; None if it has too many digits to be said as a number."""
        other = "," if self.decimal == "." else "."
        mark = self.decimal
        if mark not in written and re.search(rf"{re.escape(other)}\d{{1,2}}$", written):
            mark = other
        if self.decimal == "," and re.fullmatch(r"\d{1,3}(?:,000)+", written):
            mark = "."  # thousands as in English: nobody writes three zeros behind the comma
        whole, _, fraction = written.partition(mark)
        whole = "".join(c for c in whole if c.isdigit())
        if len(whole) + len(fraction) > MOST_DIGITS:
            return None
        return Amount(int(whole or "0"), fraction)

    def cardinal(self, number: int, gender: str = "") -> str:
        """A whole number, inflected for the noun that follows."""
        if self.words is None:
            return str(number)
        return self.inflect(self.words(number), gender)

    def say(self, amount: Amount, gender: str = "") -> str:
        """A number with its decimals."""
        if not amount.fraction:
            return self.cardinal(amount.whole, gender)
        if self.words is None:
            return f"{amount.whole}.{amount.fraction}"
        whole = self.words(amount.whole)
        return f"{whole} {self.point} {self._decimals(amount.fraction)}"

    def _decimals(self, digits: str) -> str:
        if self.words is not None and self.whole_decimals and len(digits) <= 2 and digits[0] != "0":
            return self.words(int(digits))
        return self.spell(digits)

    def spell(self, digits: str) -> str:
        """Digit by digit; other characters are left out."""
        return " ".join(self.digits[int(c)] for c in digits if c.isdigit())

    def spell_groups(self, written: str) -> str:
        """Digit by digit, with a pause wherever something stands between the digits."""
        return ", ".join(self.spell(group) for group in re.findall(r"\d+", written))


def point_numbers(groups: str = ",") -> str:
    """The pattern of numbers written "1,234.56"."""
    return rf"(?:(?:\d{{1,3}}(?:[{groups}]\d{{3}})++(?!\d)|\d++)(?:\.\d++)?|(?<!\.)\.\d++)"


def comma_numbers(groups: str = ".") -> str:
    """The pattern of numbers written "1.234,56"."""
    grouped = rf"\d{{1,3}}(?:[{groups}]\d{{3}})++(?!\d)(?:,\d++)?"
    return rf"(?:{grouped}|\d++(?:,\d++|\.\d{{1,2}}(?!\d))?)"
