"""What is written short and read in full: "Mr.", "p. ej.", "M. Dupont"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .rules import LETTER, Rule, Saying, one_of
from .tables import Table

# What may be the last word of a sentence; what stands before a name may not.
_MAY_END = frozenset({"etc.", "ecc.", "Inc.", "Corp.", "Ltd.", "Jr.", "Ph.D.", "Uds.", "a.m."})
_NEW_SENTENCE = re.compile(r" [\"“(¿¡]?[A-ZÀ-Ý]")


def rules(table: Table) -> Iterable[Rule]:
    """The table's abbreviations; a point that also ends the sentence stays."""
    words = table.abbreviations
    if not words:
        return

    def say(match: re.Match[str]) -> Saying:
        written, text, at = match.group(), match.string, match.end()
        ends = at == len(text) or (written in _MAY_END and _NEW_SENTENCE.match(text, at))
        return words[written] + ("." if ends and written.endswith(".") else "")

    needs = frozenset() if table.unspaced else LETTER
    pattern = rf"(?<![\w.])(?:{one_of(words)})(?!\w)"
    # devanagari letters carry marks that are no word characters, hence not a plain \b
    yield Rule(re.compile(pattern), say, needs)
