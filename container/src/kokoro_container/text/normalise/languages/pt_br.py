"""Brazilian Portuguese."""

from __future__ import annotations

import re

from kokoro_container.text.normalise.numbers import Numbers, comma_numbers, library_words
from kokoro_container.text.normalise.tables import Clock, Roman, Scale, Table, listed

from .words import SILENT, currencies, nouns

_MONTHS = listed(
    "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"
)
_DIGITS = ("zero", "um", "dois", "três", "quatro", "cinco", "seis", "sete", "oito", "nove")
_ORDINALS = listed("primeir segund terceir quart quint sext sétim oitav non décim")

# Nouns whose number is feminine ("duas pessoas"); of others the gender is not guessed.
_FEMININE = frozenset(
    listed(
        "hora horas pessoa pessoas semana semanas vez vezes página páginas mulher mulheres libra "
        "libras tonelada toneladas palavra palavras casa casas menina meninas unidade unidades "
        "noite noites polegada polegadas milha milhas coisa coisas empresa empresas pergunta "
        "perguntas horas aula aulas xícara xícaras"
    )
)

_CURRENCIES = """
R$,BRL real/reais centavo
$ dólar/dólares centavo
US$,USD dólar/dólares centavo
€,EUR euro centavo
£,GBP libra:f penny/pence
¥,JPY iene
₹,INR rupia:f
"""
_UNITS = """
km quilômetro  m metro  cm centímetro  mm milímetro  kg quilo  g grama  mg miligrama
t tonelada:f  l litro  L litro  ml mililitro  mL mililitro  cl centilitro  dl decilitro
ha hectare  m² metro_quadrado/metros_quadrados  m2 metro_quadrado/metros_quadrados
km² quilômetro_quadrado/quilômetros_quadrados  m³ metro_cúbico/metros_cúbicos
m3 metro_cúbico/metros_cúbicos  °C grau_Celsius/graus_Celsius  ºC grau_Celsius/graus_Celsius
℃ grau_Celsius/graus_Celsius  °F grau_Fahrenheit/graus_Fahrenheit  ° grau
h hora:f  % por_cento/por_cento  kW quilowatt  W watt  kWh quilowatt-hora/quilowatts-hora  V volt
Hz hertz/hertz  kHz quilo-hertz/quilo-hertz  MHz mega-hertz/mega-hertz  GHz giga-hertz/giga-hertz
KB quilobyte  MB megabyte  GB gigabyte  TB terabyte
Mbps megabit_por_segundo/megabits_por_segundo  min minuto  seg segundo  ms milissegundo
dB decibel/decibéis  kcal quilocaloria:f  km/h quilômetro_por_hora/quilômetros_por_hora
m/s metro_por_segundo/metros_por_segundo
"""


def _words(number: int) -> str:
    return library_words(number, "pt_BR")


def _inflect(words: str, gender: str) -> str:
    if gender != "f":
        return words
    words = re.sub(r"\bum$", "uma", re.sub(r"\bdois$", "duas", words))
    return re.sub(r"(?<=[zt])entos\b", "entas", words)


def _before_noun(word: str) -> str | None:
    return "f" if word in _FEMININE else None


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{'primeiro' if day == 1 else _words(day)} de {_MONTHS[month - 1]}"
    return words if year is None else f"{words} de {_words(year)}"


def _clock(hour: int, minute: int) -> str:
    hours = _inflect(_words(hour), "f")
    if minute:
        return f"{hours} e {_words(minute)}"
    return f"{hours} {'hora' if hour == 1 else 'horas'}"


def _ordinal(number: int, ending: str) -> str | None:
    if not 1 <= number <= len(_ORDINALS):
        return None
    return _ORDINALS[number - 1] + ("a" if ending[-1] == "ª" else "o")


def _ruler(name: str, number: int) -> str:
    if number > len(_ORDINALS):
        return _words(number)
    return str(_ordinal(number, "ª" if name in ("Isabel", "Maria") else "º"))


def _fraction(a: int, b: int, after: str) -> str | None:
    names = {(1, 2): "meio", (1, 3): "um terço", (2, 3): "dois terços"}
    names |= {(1, 4): "um quarto", (3, 4): "três quartos"}
    return names.get((a, b))


def _of(unit: str) -> str:
    return f" de {unit}"


_SYMBOLS = {
    "=": "é igual a", "+": "mais", "-": "menos", "−": "menos", "×": "vezes",
    "÷": "dividido por", "<": "é menor que", ">": "é maior que",
    "≤": "é menor ou igual a", "≥": "é maior ou igual a", "≠": "é diferente de",
    "≈": "é aproximadamente", "±": "mais ou menos", "→": "para",
}  # fmt: skip
_PREFIXES = {
    "~": "cerca de", "≈": "cerca de", "<": "menos de", ">": "mais de",
    "≤": "no máximo", "≥": "no mínimo", "±": "mais ou menos", "+": "mais",
}  # fmt: skip
_WEB = {
    ".": "ponto", "/": "barra", "@": "arroba", "-": "hífen", "_": "sublinhado",
    ":": "dois pontos", "?": "interrogação", "=": "igual", "&": "e", "+": "mais",
    "%": "por cento", "~": "til", "#": "cerquilha",
} | SILENT  # fmt: skip
_ABBREVIATIONS = {
    "Sr.": "senhor", "Sra.": "senhora", "Srta.": "senhorita", "Dr.": "doutor",
    "Dra.": "doutora", "Prof.": "professor", "Profa.": "professora",
    "etc.": "et cetera", "p. ex.": "por exemplo", "p.ex.": "por exemplo",
    "n.º": "número", "nº": "número", "Nº": "número", "pág.": "página",
    "aprox.": "aproximadamente", "tel.": "telefone", "Tel.": "telefone",
    "Av.": "Avenida", "EUA": "Estados Unidos",
}  # fmt: skip


_BILLION = Scale("bilhão", "bilhões", _of)
_MILLION = Scale("milhão", "milhões", _of)
_NUMBERS = Numbers(
    pattern=comma_numbers(),
    point="vírgula",
    digits=_DIGITS,
    words=_words,
    decimal=",",
    whole_decimals=True,
    inflect=_inflect,
    before_noun=_before_noun,
)
_ROMAN = Roman(
    frozenset(listed("Pedro João Afonso Manuel Filipe Isabel Maria Luís Paulo Pio Carlos")),
    frozenset(listed("século capítulo tomo parte artigo título ato fase"))
    | frozenset(listed("Século Capítulo Tomo Parte Artigo Título Ato Fase Mundial")),
    _ruler,
)
_SCALES = {
    "M": _MILLION,
    "mi": _MILLION,
    "milhão": _MILLION,
    "milhões": _MILLION,
    "bi": _BILLION,
    "bilhão": _BILLION,
    "bilhões": _BILLION,
    "mil": Scale("mil", "mil"),
}


def table(language: str) -> Table:
    """Portuguese of Brazil."""
    return Table(
        numbers=_NUMBERS,
        currencies=currencies(_CURRENCIES),
        money="{} e {}".format,
        scales=_SCALES,
        per=("por", {"mês": "mês", "h": "hora", "kg": "quilo", "ano": "ano", "dia": "dia"}),
        units=nouns(_UNITS),
        attached_units=nouns("s segundo"),
        date=_date,
        date_leads=frozenset({"dia", "em", "até"}),
        clock=Clock(_clock, separator="[:hH]", tail=r"(?: ?(?:h|min)\b)?"),
        until="a",
        minus="menos",
        below_zero="menos",
        fraction=_fraction,
        mixed="{} e {}".format,
        phones=(r"\(?\d{2}\)?[ -]9?\d{4}[ -]\d{4}", r"9?\d{4}-\d{4}", r"0800[ -]\d{3}[ -]\d{4}"),
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        ordinals=(r"\.?[ºª](?!\w)", _ordinal),
        roman=_ROMAN,
        abbreviations=_ABBREVIATIONS,
    )
