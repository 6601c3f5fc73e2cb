"""The rules of English alone, in the order in which they have to be tried."""

from __future__ import annotations

from collections.abc import Sequence

from kokoro_container.text.normalise.numbers import Numbers
from kokoro_container.text.normalise.rules import Rule

from . import calendar, clock, codes, figures, names, sizes, words


def rules(
    numbers: Numbers, *, british: bool, months: Sequence[str]
) -> tuple[tuple[Rule, ...], tuple[Rule, ...]]:
    """The rules before those all languages share, and those before the plain numbers.

    Args:
        numbers: how English writes and says its numbers.
        british: the British way where there are two.
        months: their names in order.
    """
    first = (
        *words.rules(british=british),
        *codes.rules(),
        *calendar.rules(months, british=british),
        *clock.rules(),
        *sizes.rules(numbers),
        *figures.decades_and_millions(numbers),
    )
    last = (*names.rules(), *figures.suffixes(numbers), *figures.years(months, british=british))
    return first, last
