"""What is written short and read in full: "Mr.", "p. ej.", "M. Dupont"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .rules import LETTER, Rule, Saying, one_of
from .tables import Table


def rules(table: Table) -> Iterable[Rule]:
    """The table's abbreviations; a point that also ends the text stays."""
    words = table.abbreviations
    if not words:
        return

    def say(match: re.Match[str]) -> Saying:
        ends = match.group().endswith(".") and not match.string[match.end() : match.end() + 1]
        return words[match.group()] + ("." if ends else "")

    needs = frozenset() if table.unspaced else LETTER
    pattern = rf"(?<![\w.])(?:{one_of(words)})(?!\w)"
    # devanagari letters carry marks that are no word characters, hence not a plain \b
    yield Rule(re.compile(pattern), say, needs)
