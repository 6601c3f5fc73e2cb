"""The numbers that are left: ordinals, fractions, ranges, negative numbers, decimals, counts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from fractions import Fraction

from .rules import DIGIT, END, START, Rule, Saying
from .tables import Table

_VULGAR = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞"
_MINUS = r"(?:(?P<minus>(?<![\w)\]%°./$€£+-])[-−])|" + START + ")"
_NEXT_WORD = r"(?= (?P<next>[^\W\d_]{1,30})|)"


# "131-113" is a score, "639-3" the name of a standard.
_HIGHEST_SCORE = 200


def rules(table: Table) -> Iterable[Rule]:
    """In the order in which they have to be tried."""
    plain = _Plain(table)
    flags = re.ASCII if table.unspaced else re.NOFLAG
    number = table.numbers.pattern
    found = []
    if table.ordinals is not None:
        ending, _ = table.ordinals
        found.append(
            (
                rf"{START}(?P<number>\d{{1,3}}(?:[,.]\d{{3}}){{1,4}}+|\d{{1,15}})(?P<ending>{ending})",
                plain.ordinal,
            )
        )
    whole = r"(?:(?P<whole>\d{1,3})"
    written = rf"{START}{whole} )?(?P<a>\d{{1,4}})/(?P<b>\d{{1,4}}){END}(?![/-])"
    if table.until:
        to = rf"{START}(?P<a>{number})[-–—](?P<b>{number}){END}(?![-–—]\d)"
        spaced = rf"{START}(?P<a>{number}) (?P<dash>[-–—]) (?P<b>{number}){END}"
        found += [(to, plain.range), (spaced, plain.spaced_range)]
    if table.fraction is not None:
        found += [(written, plain.fraction), (rf"{START}{whole} ?)?[{_VULGAR}]", plain.vulgar)]
    if table.numbers.words is not None:
        # "24-hour": the hyphen would join the last word of the number to what follows
        count = (
            rf"{_MINUS}(?P<number>{number}){END}(?![-–—][A-Z]?\d)"
            rf"(?P<hyphen>-(?=[^\W\d_]))?{_NEXT_WORD}"
        )
        found.append((count, plain.count))
    elif table.minus:
        found.append((rf"{_MINUS}(?P<number>{number}){END}(?![-–—]\d)", plain.negative))
    return [
        Rule(
            re.compile(pattern, flags),
            say,
            frozenset(_VULGAR) if say == plain.vulgar else DIGIT,
            joined=say == plain.count,
        )
        for pattern, say in found
    ]


def _is_code(written: str) -> bool:
    return len(written) > 1 and written[0] == "0" and written.isdigit()


class _Plain:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._numbers = table.numbers

    def ordinal(self, match: re.Match[str]) -> Saying:
        assert self._table.ordinals is not None
        number = int("".join(c for c in match["number"] if c.isdigit()))
        return self._table.ordinals[1](number, match["ending"])

    def range(self, match: re.Match[str]) -> Saying:
        """ "3-5" and, for a score, "3-1"."""
        table = self._table
        first, last = self._numbers.parse(match["a"]), self._numbers.parse(match["b"])
        if first is None or last is None or any(_is_code(match[n]) for n in "ab"):
            return None
        is_range = first.whole < last.whole
        is_score = last.whole < first.whole <= _HIGHEST_SCORE
        if table.unspaced and not is_range:
            return None
        say = self._numbers.say
        until = f"{table.until}{table.space}" if is_range or is_score else ""
        return f"{say(first)}{table.space}{until}{say(last)}"

    def spaced_range(self, match: re.Match[str]) -> Saying:
        """ "pages 3 - 5", unless it can only be a subtraction."""
        first, last = self._numbers.parse(match["a"]), self._numbers.parse(match["b"])
        if first is None or last is None or first.whole >= last.whole:
            return None
        return {"dash": self._table.until}

    def fraction(self, match: re.Match[str]) -> Saying:
        return self._fraction(match["whole"], int(match["a"]), int(match["b"]), match)

    def vulgar(self, match: re.Match[str]) -> Saying:
        part = Fraction(unicodedata.numeric(match.group()[-1])).limit_denominator(10)
        return self._fraction(match["whole"], part.numerator, part.denominator, match)

    def _fraction(self, whole: str | None, a: int, b: int, match: re.Match[str]) -> Saying:
        table = self._table
        assert table.fraction is not None
        words = table.fraction(a, b, match.string[match.end() : match.end() + 30])
        if words is None or whole is None:
            return words
        if not 0 < a < b:
            return None
        return table.mixed(self._numbers.cardinal(int(whole)), words)

    def negative(self, match: re.Match[str]) -> Saying:
        amount = self._numbers.parse(match["number"])
        if not match["minus"] or amount is None:
            return None
        return f"{self._table.minus}{self._table.space}{self._numbers.say(amount)}"

    def count(self, match: re.Match[str]) -> Saying:
        amount = self._numbers.parse(match["number"])
        if amount is None:
            return None
        gender = None
        if self._numbers.before_noun is not None and match["next"]:
            gender = self._numbers.before_noun(match["next"])
        words = self._numbers.say(amount, gender or "") + (" " if match["hyphen"] else "")
        return f"{self._table.minus} {words}" if match["minus"] else words
