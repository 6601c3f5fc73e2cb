"""What the tables of several languages are written with."""

from __future__ import annotations

from kokoro_container.text.normalise.tables import Currency, Noun


def nouns(rows: str) -> dict[str, Noun]:
    """Units from a text of symbols and names: "km kilómetro  h hora:f  ft pie/pies".

    A space inside a symbol or a name is written "_". Without a plural it has an "s"; without a
    gender it is masculine, which languages without genders ignore.
    """
    fields = rows.split()
    return {
        symbol.replace("_", " "): noun(name.replace("_", " "))
        for symbol, name in zip(fields[::2], fields[1::2], strict=True)
    }


def noun(name: str) -> Noun:
    """One name as in ``nouns``."""
    name, _, gender = name.partition(":")
    one, _, many = name.partition("/")
    return Noun(one, many or one + "s", gender or "m")


def currencies(rows: str) -> dict[str, Currency]:
    """Currencies from a text with a line for each: signs, unit and, if it has one, the cent."""
    found = {}
    for row in rows.strip().splitlines():
        signs, unit, *cent = row.split()
        names = [noun(name.replace("_", " ")) for name in (unit, *cent)]
        for sign in signs.split(","):
            found[sign] = Currency(*names)
    return found


def same(names: str) -> dict[str, Noun]:
    """Units of a language whose nouns have no plural: symbol, name, symbol, name."""
    fields = names.split()
    names_of = zip(fields[::2], (name.replace("_", " ") for name in fields[1::2]), strict=True)
    return {symbol: Noun(name, name) for symbol, name in names_of}


SILENT: dict[str, str] = dict.fromkeys("!$'*()[]{};,|^`\"\\", "")
"""Marks of an address that nobody reads out."""
