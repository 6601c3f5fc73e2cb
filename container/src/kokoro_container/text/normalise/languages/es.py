"""Spanish."""

from __future__ import annotations

import re

from kokoro_container.text.normalise.numbers import Numbers, comma_numbers, library_words
from kokoro_container.text.normalise.tables import Clock, Roman, Scale, Table, listed

from .words import SILENT, currencies, nouns

_MONTHS = listed(
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_DIGITS = ("cero", "uno", "dos", "tres", "cuatro", "cinco", "seis", "siete", "ocho", "nueve")
_ORDINALS = listed("primer segund tercer cuart quint sext séptim octav noven décim")

# Nouns whose number inflects ("una hora", "veintiún años"); of others the gender is not guessed.
_MASCULINE = frozenset(
    listed(
        "año años día días mes meses minuto minutos segundo segundos kilo kilos metro metros "
        "kilómetro kilómetros euro euros dólar dólares peso pesos punto puntos libro libros niño "
        "niños alumno alumnos hombre hombres grado grados litro litros gramo gramos millón "
        "millones siglo siglos trabajador trabajadores país países ejemplo ejemplos paso pasos "
        "gigabyte gigabytes"
    )
)
_FEMININE = frozenset(
    listed(
        "hora horas persona personas semana semanas vez veces página páginas mujer mujeres libra "
        "libras tonelada toneladas palabra palabras casa casas niña niñas unidad unidades noche "
        "noches pulgada pulgadas milla millas cosa cosas empresa empresas pregunta preguntas"
    )
)

_CURRENCIES = """
€,EUR euro céntimo
$ dólar/dólares centavo
US$,USD dólar/dólares centavo
MXN,MX$ peso_mexicano/pesos_mexicanos centavo
ARS,AR$ peso_argentino/pesos_argentinos centavo
COP peso_colombiano/pesos_colombianos centavo
£,GBP libra:f penique
¥,JPY yen/yenes
₹,INR rupia:f
R$,BRL real/reales centavo
CHF franco_suizo/francos_suizos céntimo
"""
_UNITS = """
km kilómetro  m metro  cm centímetro  mm milímetro  µm micrómetro  kg kilo  g gramo  mg miligramo
t tonelada:f  l litro  L litro  ml mililitro  mL mililitro  cl centilitro  dl decilitro
ha hectárea:f  m² metro_cuadrado/metros_cuadrados  km² kilómetro_cuadrado/kilómetros_cuadrados
m2 metro_cuadrado/metros_cuadrados  m³ metro_cúbico/metros_cúbicos
m3 metro_cúbico/metros_cúbicos  °C grado_Celsius/grados_Celsius  ºC grado_Celsius/grados_Celsius
℃ grado_Celsius/grados_Celsius  °F grado_Fahrenheit/grados_Fahrenheit  ° grado
h hora:f  % por_ciento/por_ciento  kW kilovatio  W vatio  V voltio
kWh kilovatio_hora/kilovatios_hora
Hz hercio  kHz kilohercio  MHz megahercio  GHz gigahercio  KB kilobyte  MB megabyte  GB gigabyte
TB terabyte  Mbps megabit_por_segundo/megabits_por_segundo  min minuto  seg segundo
ms milisegundo  dB decibelio  kcal kilocaloría:f  km/h kilómetro_por_hora/kilómetros_por_hora
m/s metro_por_segundo/metros_por_segundo
"""


def _words(number: int) -> str:
    words = library_words(number, "es")
    return re.sub(r"uno(?= mil)", "un", words).replace("veintiun mil", "veintiún mil")


def _inflect(words: str, gender: str) -> str:
    if gender == "f":
        return re.sub(r"uno$", "una", words).replace("cientos", "cientas")
    if gender == "m":
        return re.sub(r"uno$", "un", re.sub(r"veintiuno$", "veintiún", words))
    return words


def _before_noun(word: str) -> str | None:
    return "m" if word in _MASCULINE else "f" if word in _FEMININE else None


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{_words(day)} de {_MONTHS[month - 1]}"
    return words if year is None else f"{words} de {_words(year)}"


def _clock(hour: int, minute: int) -> str:
    hours = _inflect(_words(hour), "f")
    if minute:
        return f"{hours} y {_words(minute)}"
    return f"{hours} en punto" if 0 < hour <= 12 else f"{hours} horas"


def _ordinal(number: int, ending: str) -> str | None:
    if not 1 <= number <= len(_ORDINALS):
        return None
    stem = _ORDINALS[number - 1]
    if ending[-1] in "ªa":
        return stem + "a"
    return stem if ending.endswith("er") else stem + "o"


def _ruler(name: str, number: int) -> str:
    if number > len(_ORDINALS):
        return _words(number)
    return str(_ordinal(number, "ª" if name in ("Isabel", "María") else "º"))


def _fraction(a: int, b: int, after: str) -> str | None:
    names = {(1, 2): "medio", (1, 3): "un tercio", (2, 3): "dos tercios"}
    names |= {(1, 4): "un cuarto", (3, 4): "tres cuartos"}
    return names.get((a, b))


def _of(unit: str) -> str:
    return f" de {unit}"


_SYMBOLS = {
    "=": "es igual a", "+": "más", "-": "menos", "−": "menos", "×": "por",
    "÷": "dividido por", "<": "es menor que", ">": "es mayor que",
    "≤": "es menor o igual que", "≥": "es mayor o igual que", "≠": "no es igual a",
    "≈": "es aproximadamente", "±": "más menos", "→": "a",
}  # fmt: skip
_PREFIXES = {
    "~": "aproximadamente", "≈": "aproximadamente", "<": "menos de", ">": "más de",
    "≤": "como máximo", "≥": "al menos", "±": "más menos", "+": "más",
}  # fmt: skip
_WEB = {
    ".": "punto", "/": "barra", "@": "arroba", "-": "guion", "_": "guion bajo",
    ":": "dos puntos", "?": "interrogación", "=": "igual", "&": "y", "+": "más",
    "%": "por ciento", "~": "tilde", "#": "almohadilla",
} | SILENT  # fmt: skip
_ABBREVIATIONS = {
    "Sr.": "señor", "Sra.": "señora", "Srta.": "señorita", "Sres.": "señores",
    "Dr.": "doctor", "Dra.": "doctora", "Prof.": "profesor", "Ud.": "usted",
    "Uds.": "ustedes", "Vd.": "usted", "etc.": "etcétera", "p. ej.": "por ejemplo",
    "p.ej.": "por ejemplo", "EE. UU.": "Estados Unidos", "EE.UU.": "Estados Unidos",
    "EEUU": "Estados Unidos", "n.º": "número", "nº": "número", "N.º": "número",
    "Nº": "número", "pág.": "página", "págs.": "páginas", "aprox.": "aproximadamente",
    "tel.": "teléfono", "Tel.": "teléfono", "Avda.": "Avenida", "núm.": "número",
}  # fmt: skip


_MILLION = Scale("millón", "millones", _of)
_SCALES = {
    "M": _MILLION,
    "millones": _MILLION,
    "millón": _MILLION,
    "mil": Scale("mil", "mil"),
}
_NUMBERS = Numbers(
    pattern=comma_numbers(),
    point="coma",
    digits=_DIGITS,
    words=_words,
    decimal=",",
    whole_decimals=True,
    inflect=_inflect,
    before_noun=_before_noun,
)
_ROMAN = Roman(
    frozenset(listed("Felipe Carlos Alfonso Fernando Isabel Enrique Luis Pablo Pío Juan")),
    frozenset(listed("siglo capítulo tomo parte artículo título acto fase"))
    | frozenset(listed("Capítulo Tomo Parte Artículo Título Acto Fase Guerra Mundial")),
    _ruler,
)


def table(language: str) -> Table:
    """Spanish, with the decimal comma and the day before the month."""
    return Table(
        numbers=_NUMBERS,
        currencies=currencies(_CURRENCIES),
        money="{} con {}".format,
        scales=_SCALES,
        per=("por", {"mes": "mes", "h": "hora", "kg": "kilo", "año": "año", "día": "día"}),
        units=nouns(_UNITS),
        attached_units=nouns("s segundo"),
        date=_date,
        date_leads=frozenset({"el", "del", "al", "día"}),
        clock=Clock(_clock, tail=r"(?: ?h(?:rs?|s)?\b\.?)?"),
        until="a",
        minus="menos",
        below_zero="menos",
        fraction=_fraction,
        mixed="{} y {}".format,
        phones=(r"[679]\d{2}(?:[ .-]?\d{3}){2}", r"[679]\d{2}(?: \d{2}){3}"),
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        ordinals=(r"\.?[ºª]|(?:er|ro|ra|do|da|to|ta)\b", _ordinal),
        roman=_ROMAN,
        abbreviations=_ABBREVIATIONS,
    )
