"""French."""

from __future__ import annotations

import re

from kokoro_container.text.normalise.numbers import Numbers, comma_numbers, library_words
from kokoro_container.text.normalise.roman import value
from kokoro_container.text.normalise.rules import Rule, Saying
from kokoro_container.text.normalise.tables import Clock, Roman, Scale, Table, listed

from .words import SILENT, currencies, nouns

_MONTHS = listed(
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre"
)
_DIGITS = ("zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf")

# Nouns before which "un" is "une"; of others the gender is not guessed.
_FEMININE = frozenset(
    listed(
        "heure heures minute minutes seconde secondes fois personne personnes page pages année "
        "années semaine semaines journée journées livre livres tonne tonnes nuit nuits femme "
        "femmes fille filles question questions chose choses place places maison maisons étoile "
        "étoiles"
    )
)

_CURRENCIES = """
€,EUR euro centime
$ dollar cent
US$,USD dollar_américain/dollars_américains cent
CA$,C$,CAD dollar_canadien/dollars_canadiens cent
£,GBP livre:f penny/pence
¥,JPY yen/yens
₹,INR roupie:f
CHF franc_suisse/francs_suisses centime
"""
_UNITS = """
km kilomètre  m mètre  cm centimètre  mm millimètre  µm micromètre  kg kilo  g gramme
mg milligramme  t tonne:f  l litre  L litre  ml millilitre  mL millilitre  cl centilitre
dl décilitre  ha hectare  m² mètre_carré/mètres_carrés  km² kilomètre_carré/kilomètres_carrés
m2 mètre_carré/mètres_carrés  m³ mètre_cube/mètres_cubes  m3 mètre_cube/mètres_cubes
°C degré_Celsius/degrés_Celsius  ℃ degré_Celsius/degrés_Celsius
°F degré_Fahrenheit/degrés_Fahrenheit  ° degré
h heure:f  % pour_cent/pour_cent  kW kilowatt  W watt
kWh kilowattheure  V volt  Hz hertz/hertz  kHz kilohertz/kilohertz  MHz mégahertz/mégahertz
GHz gigahertz/gigahertz  Ko kilooctet  Mo mégaoctet  Go gigaoctet  To téraoctet  MB mégaoctet
GB gigaoctet  TB téraoctet  min minute:f  ms milliseconde:f  dB décibel  kcal kilocalorie:f
km/h kilomètre_par_heure/kilomètres_par_heure  m/s mètre_par_seconde/mètres_par_seconde
"""

_NUMERAL = r"(?P<numeral>(?=[IVX])X{0,2}(?:IX|IV|V?I{0,3}))"


def _words(number: int) -> str:
    return library_words(number, "fr")


def _inflect(words: str, gender: str) -> str:
    return re.sub(r"\bun$", "une", words) if gender == "f" else words


def _before_noun(word: str) -> str | None:
    return "f" if word in _FEMININE else None


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{'premier' if day == 1 else _words(day)} {_MONTHS[month - 1]}"
    return words if year is None else f"{words} {_words(year)}"


def _clock(hour: int, minute: int) -> str:
    words = f"{_inflect(_words(hour), 'f')} heure{'s' if hour > 1 else ''}"
    return f"{words} {_words(minute)}" if minute else words


def _ordinal(number: int, ending: str) -> str:
    if number == 1:
        return "première" if ending in ("re", "ère") else "premier"
    if number == 2 and ending in ("nd", "nde"):
        return "second" + ending[2:]
    return library_words(number, "fr", "ordinal")


def _ruler(name: str, number: int) -> str:
    return "premier" if number == 1 else _words(number)


def _fraction(a: int, b: int, after: str) -> str | None:
    names = {(1, 2): "un demi", (1, 3): "un tiers", (2, 3): "deux tiers"}
    names |= {(1, 4): "un quart", (3, 4): "trois quarts"}
    return names.get((a, b))


def _of(unit: str) -> str:
    return f" d'{unit}" if unit[0] in "aeéiou" else f" de {unit}"


def _century(match: re.Match[str]) -> Saying:
    return _ordinal(value(match["numeral"]), match["ending"])


_SYMBOLS = {
    "=": "égale", "+": "plus", "-": "moins", "−": "moins", "×": "fois",
    "÷": "divisé par", "<": "est inférieur à", ">": "est supérieur à",
    "≤": "est inférieur ou égal à", "≥": "est supérieur ou égal à",
    "≠": "est différent de", "≈": "vaut environ", "±": "plus ou moins", "→": "à",
}  # fmt: skip
_PREFIXES = {
    "~": "environ", "≈": "environ", "<": "moins de", ">": "plus de", "≤": "au plus",
    "≥": "au moins", "±": "plus ou moins", "+": "plus",
}  # fmt: skip
_WEB = {
    ".": "point", "/": "slash", "@": "arobase", "-": "tiret", "_": "tiret bas",
    ":": "deux-points", "?": "point d'interrogation", "=": "égale", "&": "et",
    "+": "plus", "%": "pour cent", "~": "tilde", "#": "dièse",
} | SILENT  # fmt: skip
_ABBREVIATIONS = {
    "Mme": "madame", "Mmes": "mesdames", "Mlle": "mademoiselle", "MM.": "messieurs",
    "Dr": "docteur", "Pr": "professeur", "Me": "maître", "etc.": "et cetera",
    "p. ex.": "par exemple", "p.ex.": "par exemple", "c.-à-d.": "c'est-à-dire",
    "n°": "numéro", "N°": "numéro", "env.": "environ", "av.": "avenue",
    "bd": "boulevard", "tél.": "téléphone", "Tél.": "téléphone",
}  # fmt: skip


_BILLION = Scale("milliard", "milliards", _of)
_MILLION = Scale("million", "millions", _of)
_NUMBERS = Numbers(
    pattern=comma_numbers(" ."),
    point="virgule",
    digits=_DIGITS,
    words=_words,
    decimal=",",
    whole_decimals=True,
    inflect=_inflect,
    before_noun=_before_noun,
)
_ROMAN = Roman(
    frozenset(listed("Louis Charles Henri François Napoléon Philippe Jean Paul Pie")),
    frozenset(listed("chapitre tome partie acte article titre volume phase livre"))
    | frozenset(listed("Chapitre Tome Partie Acte Article Titre Volume Phase Livre")),
    _ruler,
)
_LAST = (
    Rule(
        re.compile(rf"(?<!\w){_NUMERAL}(?P<ending>er|e|è|ème)(?= siècles?\b)"),
        _century,
        frozenset("IVX"),
    ),
    Rule(re.compile(r"(?<=[a-zé] )Ier(?!\w)"), lambda _: "premier", frozenset("I")),
    Rule(
        re.compile(r"(?<![\w.])M\.(?= [A-ZÀ-Ý][a-zà-ÿ])"),
        lambda _: "monsieur",
        frozenset("M"),
    ),
)
_SCALES = {
    "M": _MILLION,
    "million": _MILLION,
    "millions": _MILLION,
    "Md": _BILLION,
    "Mds": _BILLION,
    "milliard": _BILLION,
    "milliards": _BILLION,
}


def table(language: str) -> Table:
    """French of France, with the decimal comma and spaces between thousands."""
    return Table(
        numbers=_NUMBERS,
        currencies=currencies(_CURRENCIES),
        money="{} et {}".format,
        scales=_SCALES,
        per=("par", {"mois": "mois", "h": "heure", "kg": "kilo", "an": "an", "jour": "jour"}),
        units=nouns(_UNITS),
        attached_units=nouns("s seconde:f"),
        date=_date,
        date_leads=frozenset({"le", "du", "au"}),
        clock=Clock(_clock, separator=":| ?[hH] ?", tail=r"(?: ?h\b)?"),
        until="à",
        minus="moins",
        below_zero="moins",
        fraction=_fraction,
        mixed="{} et {}".format,
        phones=(r"0[1-9](?:[ .-]?\d\d){4}",),
        phone_pairs=True,
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        ordinals=(r"(?:er|re|ère|e|è|ème|eme|nde?)(?!\w)", _ordinal),
        roman=_ROMAN,
        abbreviations=_ABBREVIATIONS,
        last=_LAST,
    )
