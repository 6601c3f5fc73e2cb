"""Money: "$4.50", "20,50 €", "$5.3 billion", "$5-10", "$5/month"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from .numbers import Amount
from .rules import Rule, Saying, one_of
from .tables import Currency, Table

_SIGNS = "$€£¥₹₩₽₺₫₪฿₱"
_BEFORE = rf"(?<![\w{_SIGNS}])"
_NO_NUMBER_BEFORE = r"(?<!\d[.,:/-])"
_AFTER = rf"(?![\w{_SIGNS}])(?![.,:/]\d)"


def rules(table: Table) -> Iterable[Rule]:
    """Amounts in any of the table's currencies."""
    if not table.currencies:
        return ()
    money = _Money(table)
    flags = re.ASCII if table.unspaced else re.NOFLAG
    needs = frozenset(sign[0] for sign in table.currencies)
    signs = "".join(sign for sign in table.currencies if sign in _SIGNS)
    return [
        Rule(re.compile(money.sign_first(), flags), money.say, needs),
        Rule(re.compile(money.sign_last(), flags), money.say, needs),
        # alone it would have no sound
        Rule(
            re.compile(rf"(?<!\S)[{signs}](?!\S)"),
            lambda match: table.currencies[match.group()].unit.one,
            frozenset(signs),
        ),
    ]


class _Money:
    def __init__(self, table: Table) -> None:
        self._table = table
        self._number = table.numbers.pattern
        self._sign = one_of(table.currencies)
        scales = one_of(table.scales)
        self._scale = rf"(?:(?P<gap> ?)(?P<scale>{scales})(?![^\W_]))?" if scales else ""
        if scales and table.unspaced:
            self._scale = rf"(?:(?P<gap>)(?P<scale>{scales}))?"
        self._per = r"(?P<tail>/(?P<per>[^\W\d_]{1,12}+))?" if table.per[0] else ""
        self._minus = r"(?P<minus>[-−])?" if table.minus else ""

    def sign_first(self) -> str:
        """The pattern of "$5", "US$ 5.50", "USD 5", "-$5", "$5M", "$5-10", "$5 - $10"."""
        scale = rf"(?P<scale1>{one_of(self._table.scales)})?" if self._table.scales else ""
        to = (
            rf"(?:{scale}(?:[-–—](?P<sign1>{self._sign})?| [-–—] (?P<sign2>{self._sign}))"
            rf"(?P<last>{self._number}))?"
        )
        return (
            rf"{_BEFORE}(?P<head>{self._minus}(?P<sign>{self._sign}) ?"
            rf"(?P<number>{self._number}){to if self._table.until else ''})"
            rf"{self._scale}{self._per}{_AFTER}"
        )

    def sign_last(self) -> str:
        """The pattern of "5 €", "5,50€", "5 USD", "5-10 €"."""
        to = rf"(?: ?[-–—] ?(?P<last>{self._number}))?"
        return (
            rf"{_BEFORE}{_NO_NUMBER_BEFORE}(?P<head>{self._minus}(?P<number>{self._number})"
            rf"{to if self._table.until else ''}){self._scale}"
            rf" ?(?P<sign>{self._sign}){self._per}{_AFTER}"
        )

    def say(self, match: re.Match[str]) -> Saying:
        table, found = self._table, match.groupdict()
        amount = table.numbers.parse(found["number"])
        last = table.numbers.parse(found["last"]) if found.get("last") else None
        per = self._per_words(found.get("per"))
        if amount is None or per is None or (found.get("last") and last is None):
            return None
        if any(found.get(k) not in (None, found["sign"]) for k in ("sign1", "sign2")):
            return None
        if found.get("scale1") not in (None, found.get("scale")):
            return None
        singular = table.attributive(match.string, match.start(), match.end())
        currency = table.currencies[found["sign"]]
        minus = f"{table.minus}{table.space}" if found.get("minus") else ""
        if found.get("scale"):
            head = self._range(amount, last, "m")
            scale = table.scales[found["scale"]]
            size = scale.one if (last or amount).is_one else scale.many
            unit = size + scale.then(currency.unit.one if singular else currency.unit.many)
            if found["gap"] and match.start("sign") < match.start("number"):
                return {"head": minus + head, "scale": unit} | ({"tail": per} if per else {})
            return f"{minus}{head}{table.space}{unit}{per}"
        if last is not None:
            unit = currency.unit.one if singular else currency.unit.many
            words = self._range(amount, last, currency.unit.gender)
            return f"{minus}{words}{table.space}{unit}{per}"
        return f"{minus}{self._amount(amount, currency, singular)}{per}"

    def _per_words(self, unit: str | None) -> str | None:
        if not unit:
            return ""
        word, names = self._table.per
        name = names.get(unit) or (unit if len(unit) > 2 and unit.islower() else None)
        return f" {word} {name}" if name else None

    def _range(self, first: Amount, last: Amount | None, gender: str) -> str:
        say = self._table.numbers.say
        if last is None:
            return say(first, gender)
        until = f"{self._table.space}{self._table.until}{self._table.space}"
        return f"{say(first, gender)}{until}{say(last, gender)}"

    def _amount(self, amount: Amount, currency: Currency, singular: bool) -> str:
        count = self._table.count
        if currency.cent is None or len(amount.fraction) != 2:
            return count(amount, currency.unit, attributive=singular)
        units, cents = Amount(amount.whole), Amount(int(amount.fraction))
        if not cents.whole:
            return count(units, currency.unit, attributive=singular)
        if not units.whole:
            return count(cents, currency.cent, attributive=singular)
        return self._table.money(count(units, currency.unit), count(cents, currency.cent))
