"""Times of day: "3:30 PM", "15h30", "9am-5pm", "12:00"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .rules import DIGIT, Rule, Saying
from .tables import Table

_BEFORE = r"(?<!\w)(?<!\w[.,:/’'+-])(?<![-−$€£¥₹])"
_AFTER = r"(?!\w)(?![.,:/]\d)(?![:/%])"


def rules(table: Table) -> Iterable[Rule]:
    """Hours and minutes, alone or from one to another."""
    clock = table.clock
    if clock is None:
        return ()

    def time(n: str) -> str:
        return rf"(?P<h{n}>[01]?\d|2[0-4])(?:{clock.separator})(?P<m{n}>[0-5]\d)"

    def say(match: re.Match[str]) -> Saying:
        found = match.groupdict()
        words = clock.say(int(found["h1"]), int(found["m1"]))
        if found.get("h2"):
            until = f"{table.space}{table.until}{table.space}"
            words += until + clock.say(int(found["h2"]), int(found["m2"]))
        return words

    to = rf"(?:[-–—]{time('2')})?" if table.until else ""
    pattern = rf"{_BEFORE}{time('1')}{to}{clock.tail}{_AFTER}"
    return [Rule(re.compile(pattern, re.ASCII if table.unspaced else re.NOFLAG), say, DIGIT)]
