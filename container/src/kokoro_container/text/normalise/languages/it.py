"""Italian."""

from __future__ import annotations

import re

from kokoro_container.text.normalise.numbers import Numbers, comma_numbers, library_words
from kokoro_container.text.normalise.tables import Clock, Scale, Table, listed

from .words import SILENT, currencies, nouns

_MONTHS = listed(
    "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"
)
_DIGITS = ("zero", "uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")
_ORDINALS = listed("prim second terz quart quint sest settim ottav non decim")

# "ora" and the unit "h" are feminine, but "un'ora" sounds like "un ora".
_MASCULINE = frozenset(
    listed(
        "ora milione miliardo anno giorno mese minuto secondo chilo metro euro dollaro punto libro"
    )
)
_FEMININE = frozenset(listed("volta settimana persona pagina notte donna casa sterlina cosa"))

_CURRENCIES = """
€,EUR euro/euro centesimo/centesimi
$ dollaro/dollari centesimo/centesimi
US$,USD dollaro_americano/dollari_americani centesimo/centesimi
£,GBP sterlina/sterline:f penny/pence
¥,JPY yen/yen
₹,INR rupia/rupie:f
CHF franco_svizzero/franchi_svizzeri centesimo/centesimi
"""
_UNITS = """
km chilometro/chilometri  m metro/metri  cm centimetro/centimetri  mm millimetro/millimetri
kg chilo/chili  g grammo/grammi  mg milligrammo/milligrammi  t tonnellata/tonnellate:f
l litro/litri  L litro/litri  ml millilitro/millilitri  mL millilitro/millilitri
cl centilitro/centilitri  dl decilitro/decilitri  ha ettaro/ettari
m² metro_quadrato/metri_quadrati  mq metro_quadrato/metri_quadrati
m2 metro_quadrato/metri_quadrati  km² chilometro_quadrato/chilometri_quadrati
m³ metro_cubo/metri_cubi  m3 metro_cubo/metri_cubi  °C grado_Celsius/gradi_Celsius
℃ grado_Celsius/gradi_Celsius  °F grado_Fahrenheit/gradi_Fahrenheit  ° grado/gradi
h ora/ore  % per_cento/per_cento  kW chilowatt/chilowatt  W watt/watt  kWh chilowattora/chilowattora
V volt/volt  Hz hertz/hertz  kHz chilohertz/chilohertz  MHz megahertz/megahertz
GHz gigahertz/gigahertz  KB kilobyte/kilobyte  MB megabyte/megabyte  GB gigabyte/gigabyte
TB terabyte/terabyte  min minuto/minuti  sec secondo/secondi  ms millisecondo/millisecondi
dB decibel/decibel  kcal chilocaloria/chilocalorie:f
km/h chilometro_all'ora/chilometri_all'ora  m/s metro_al_secondo/metri_al_secondo
"""


def _words(number: int) -> str:
    """Written apart at the thousands and hundreds: espeak stresses one long word wrongly."""
    if number >= 1_000_000:
        return library_words(number, "it")
    thousands, rest = divmod(number, 1000)
    hundreds, ones = divmod(rest, 100)
    parts = []
    if thousands:
        parts.append("mille" if thousands == 1 else f"{_words(thousands)}mila")
    if hundreds:
        parts.append(library_words(hundreds * 100, "it"))
    if ones or not parts:
        parts.append(library_words(ones, "it"))
    return " ".join(parts)


def _inflect(words: str, gender: str) -> str:
    if gender == "m":
        return re.sub(r"\buno$", "un", words)
    return re.sub(r"\buno$", "una", words) if gender == "f" else words


def _before_noun(word: str) -> str | None:
    return "m" if word in _MASCULINE else "f" if word in _FEMININE else None


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{'primo' if day == 1 else _words(day)} {_MONTHS[month - 1]}"
    return words if year is None else f"{words} {_words(year)}"


def _clock(hour: int, minute: int) -> str:
    hours = "una" if hour == 1 else _words(hour)
    return f"{hours} e {_words(minute)}" if minute else hours


def _ordinal(number: int, ending: str) -> str | None:
    if not 1 <= number <= len(_ORDINALS):
        return None
    return _ORDINALS[number - 1] + ("a" if ending == "ª" else "o")


def _fraction(a: int, b: int, after: str) -> str | None:
    names = {(1, 2): "mezzo", (1, 3): "un terzo", (2, 3): "due terzi"}
    names |= {(1, 4): "un quarto", (3, 4): "tre quarti"}
    return names.get((a, b))


def _of(unit: str) -> str:
    return f" di {unit}"


_SYMBOLS = {
    "=": "è uguale a", "+": "più", "-": "meno", "−": "meno", "×": "per",
    "÷": "diviso", "<": "è minore di", ">": "è maggiore di",
    "≤": "è minore o uguale a", "≥": "è maggiore o uguale a", "≠": "è diverso da",
    "≈": "è circa", "±": "più o meno", "→": "a",
}  # fmt: skip
_PREFIXES = {
    "~": "circa", "≈": "circa", "<": "meno di", ">": "più di", "≤": "al massimo",
    "≥": "almeno", "±": "più o meno", "+": "più",
}  # fmt: skip
_WEB = {
    ".": "punto", "/": "barra", "@": "chiocciola", "-": "trattino",
    "_": "trattino basso", ":": "due punti", "?": "punto interrogativo",
    "=": "uguale", "&": "e", "+": "più", "%": "per cento", "~": "tilde",
    "#": "cancelletto",
} | SILENT  # fmt: skip
_ABBREVIATIONS = {
    "Sig.": "signor", "Sig.ra": "signora", "Sig.na": "signorina", "Dott.": "dottor",
    "Dott.ssa": "dottoressa", "Prof.": "professor", "Prof.ssa": "professoressa",
    "Ing.": "ingegner", "Avv.": "avvocato", "ecc.": "eccetera", "es.": "esempio",
    "pag.": "pagina", "n.": "numero", "tel.": "telefono", "Tel.": "telefono",
}  # fmt: skip


_BILLION = Scale("miliardo", "miliardi", _of)
_MILLION = Scale("milione", "milioni", _of)
_NUMBERS = Numbers(
    pattern=comma_numbers(),
    point="virgola",
    digits=_DIGITS,
    words=_words,
    decimal=",",
    whole_decimals=True,
    inflect=_inflect,
    before_noun=_before_noun,
)
_SCALES = {
    "M": _MILLION,
    "milione": _MILLION,
    "milioni": _MILLION,
    "Mld": _BILLION,
    "miliardo": _BILLION,
    "miliardi": _BILLION,
}


def table(language: str) -> Table:
    """Italian. Roman numerals are left: espeak reads them well."""
    return Table(
        numbers=_NUMBERS,
        currencies=currencies(_CURRENCIES),
        money="{} e {}".format,
        scales=_SCALES,
        per=("per", {"kg": "chilo", "mese": "mese", "ora": "ora"}),
        units=nouns(_UNITS),
        attached_units=nouns("s secondo/secondi"),
        date=_date,
        date_leads=frozenset({"il", "del", "dal", "al"}),
        clock=Clock(_clock),
        until="a",
        minus="meno",
        below_zero="meno",
        fraction=_fraction,
        mixed="{} e {}".format,
        phones=(r"3\d{2}[ .-]?\d{6,7}", r"3\d{2}[ .-]\d{3}[ .-]\d{3,4}", r"0\d{1,3}[ /.-]\d{5,8}"),
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        ordinals=(r"[ºª](?!\w)", _ordinal),
        abbreviations=_ABBREVIATIONS,
    )
