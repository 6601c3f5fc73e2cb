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


def prefixes(table: Table) -> Iterable[Rule]:
    """Signs in front of a number, before its unit and currency are said."""
    if not table.prefixes:
        return
    signs = one_of(table.prefixes)
    # with a space on both sides it stands between two operands
    free = rf"(?<![\w)\]<>=~+/.-])(?<![\w)\]%°] )(?P<sign>{signs}) ?"
    close = rf"(?<=[\w)\]%°] )(?P<close>{signs})"
    number = r"(?=[$€£¥₹]?\.?\d)"
    yield Rule(
        re.compile(f"(?:{free}|{close}){number}"),
        lambda match: table.prefixes[match["sign"] or match["close"]] + " ",
        frozenset("".join(table.prefixes)),
        joined=True,
    )


def rules(table: Table) -> Iterable[Rule]:
    """Arrows, then signs between two operands."""
    symbols = table.symbols
    if not symbols:
        return
    to = symbols["→"]
    arrow = frozenset("→⇒⟶←↑↓↔⇐⇔⟵>-")
    yield Rule(re.compile(rf"(?<=\w )(?:{_ARROWS})(?= \w)"), lambda _: to, arrow)
    yield Rule(re.compile(r"(?<=\w)→(?=\w)"), lambda _: f" {to} ", arrow)
    yield Rule(re.compile(rf"(?<!\S)(?:{_ARROWS}|{_OTHER_ARROWS})(?!\S)"), drop, arrow)
    if "-" in symbols:
        # with spaces it may be a range or a dash, so only in what is clearly a calculation
        dash = r"(?<=\d) (?P<sign>[-–/]) (?=[\d.]{1,20} [=+*×÷/])"
        yield Rule(re.compile(dash), _Operators(table).calculation, frozenset("=+*×÷/"))
    signs = [sign for sign in _SIGNS if _SAME.get(sign, sign) in symbols]
    operator = (
        rf"(?<=[\w)\]%°])(?P<before> ?)(?P<sign>{one_of(signs)})(?P<behind> ?)(?=[\w(\[$€£−-]|\.\d)"
    )
    needs = frozenset("".join(signs))
    yield Rule(re.compile(operator), _Operators(table).say, needs, joined=True)
    # a star left over is a bullet or a rule
    yield Rule(re.compile(r" \*(?= )"), drop, frozenset("*"))


class _Operators:
    def __init__(self, table: Table) -> None:
        self._symbols = table.symbols

    def say(self, match: re.Match[str]) -> Saying:
        sign = _SAME.get(match["sign"], match["sign"])
        text = match.string
        if sign in "<>" and match["before"] != match["behind"]:
            return None  # "List<String> a"
        if sign in _NUMERIC and not (
            _is_operand(text, match.start() - 1, -1) or _is_operand(text, match.end(), 1)
        ):
            return ", " if sign == ">" and match["before"] else None
        before, behind = (" " if not match[side] else "" for side in ("before", "behind"))
        return {"sign": f"{before}{self._symbols[sign]}{behind}"}

    def calculation(self, match: re.Match[str]) -> Saying:
        return {"sign": self._symbols["÷" if match["sign"] == "/" else "-"]}


def _is_operand(text: str, at: int, step: int) -> bool:
    """Whether a number or the name of a variable, one letter, begins or ends here."""
    beside = text[at + step : at + step + 1] if at + step >= 0 else ""
    return not text[at].isalpha() or not beside.isalnum()
