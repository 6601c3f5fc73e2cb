"""Signs of arithmetic and arrows: "x=1", "5 * 3", "50 > 40", "≈5", "A → B"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .rules import Rule, Saying, drop, one_of
from .tables import Table

_SAME = {"===": "=", "==": "=", "!==": "≠", "!=": "≠", "<=": "≤", ">=": "≥", "*": "×", "≃": "≈"}
_SIGNS = (*_SAME, "=", "+", "×", "÷", "<", ">", "^", "≤", "≥", "≠", "≈", "±", "−")
# Between words they mean something else: a menu's "Settings > General", Markdown's "*".
_NUMERIC = frozenset("<>×^−")

_ARROWS = "→|⇒|⟶|--?>|==?>"
_OTHER_ARROWS = "←|↑|↓|↔|⇐|⇔|⟵|<--?"


def rules(table: Table) -> Iterable[Rule]:
    """Arrows, signs between two operands, then signs in front of a number."""
    symbols = table.symbols
    if not symbols:
        return
    to = f" {symbols['→']} "
    arrow = frozenset("→⇒⟶←↑↓↔⇐⇔⟵>-")
    yield Rule(re.compile(rf"(?<=\w)(?: (?:{_ARROWS}) |→)(?=\w)"), lambda _: to, arrow)
    yield Rule(re.compile(rf"(?<!\S)(?:{_ARROWS}|{_OTHER_ARROWS})(?!\S)"), drop, arrow)
    signs = [sign for sign in _SIGNS if _SAME.get(sign, sign) in symbols]
    operator = rf"(?<=[\w)\]%°])(?P<before> ?)(?P<sign>{one_of(signs)}) ?(?=[\w(\[$€£.−-])"
    yield Rule(re.compile(operator), _Operators(table).say, frozenset("".join(signs)))
    if "-" in symbols:
        # with spaces it may be a range or a dash, so only in what is clearly a calculation
        dash = r"(?<=\d) (?P<sign>[-–/]) (?=[\d.]{1,20} [=+*×÷/])"
        yield Rule(re.compile(dash), _Operators(table).calculation, frozenset("=+*×÷/"))
    if table.prefixes:
        prefix = rf"(?<![\w)\]<>=~+/.-])(?P<sign>{one_of(table.prefixes)}) ?(?=[$€£]?\.?\d)"
        yield Rule(
            re.compile(prefix),
            lambda match: table.prefixes[match["sign"]] + " ",
            frozenset("".join(table.prefixes)),
        )


class _Operators:
    def __init__(self, table: Table) -> None:
        self._symbols = table.symbols

    def say(self, match: re.Match[str]) -> Saying:
        sign = _SAME.get(match["sign"], match["sign"])
        text = match.string
        if sign in _NUMERIC and not (
            _is_operand(text, match.start() - 1, -1) or _is_operand(text, match.end(), 1)
        ):
            return ", " if sign == ">" and match["before"] else None
        return f" {self._symbols[sign]} "

    def calculation(self, match: re.Match[str]) -> Saying:
        return f" {self._symbols['÷' if match['sign'] == '/' else '-']} "


def _is_operand(text: str, at: int, step: int) -> bool:
    """Whether a number or the name of a variable, one letter, begins or ends here."""
    beside = text[at + step : at + step + 1] if at + step >= 0 else ""
    return not text[at].isalpha() or not beside.isalnum()
