"""Hindi. Numbers stay figures: espeak reads them well, num2words has no Hindi."""

from __future__ import annotations

from kokoro_container.text.normalise.numbers import Numbers
from kokoro_container.text.normalise.tables import Clock, Scale, Table, listed

from .words import SILENT, currencies, same

_MONTHS = listed("जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर")
_DIGITS = ("शून्य", "एक", "दो", "तीन", "चार", "पाँच", "छह", "सात", "आठ", "नौ")

_SCALES = ("हज़ार", "हजार", "लाख", "करोड़", "अरब", "मिलियन", "बिलियन")

_CURRENCIES = """
₹,INR रुपया/रुपये पैसा/पैसे
$,USD,US$ डॉलर/डॉलर सेंट/सेंट
€,EUR यूरो/यूरो सेंट/सेंट
£,GBP पाउंड/पाउंड पेंस/पेंस
¥,JPY येन/येन
"""
_UNITS = """
km किलोमीटर m मीटर cm सेंटीमीटर mm मिलीमीटर kg किलोग्राम g ग्राम mg मिलीग्राम l लीटर L लीटर
ml मिलीलीटर mL मिलीलीटर किमी किलोमीटर किग्रा किलोग्राम सेमी सेंटीमीटर % प्रतिशत °C डिग्री_सेल्सियस
℃ डिग्री_सेल्सियस °F डिग्री_फ़ारेनहाइट ° डिग्री GB गीगाबाइट MB मेगाबाइट TB टेराबाइट kW किलोवाट
W वाट V वोल्ट km/h किलोमीटर_प्रति_घंटा kmph किलोमीटर_प्रति_घंटा min मिनट
"""


def _date(day: int, month: int, year: int | None) -> str:
    words = f"{day} {_MONTHS[month - 1]}"
    return words if year is None else f"{words} {year}"


def _clock(hour: int, minute: int) -> str:
    return f"{hour} बजकर {minute} मिनट" if minute else f"{hour} बजे"


_SYMBOLS = {
    "=": "बराबर", "+": "जमा", "-": "घटा", "−": "घटा", "×": "गुणा",
    "÷": "भाग", "≈": "लगभग बराबर", "→": "से",
}  # fmt: skip
_PREFIXES = {"~": "लगभग", "≈": "लगभग"}
_WEB = {
    ".": "डॉट", "/": "स्लैश", "@": "ऐट", "-": "डैश", "_": "अंडरस्कोर",
    ":": "कोलन", "?": "प्रश्नचिह्न", "=": "बराबर", "&": "और", "+": "प्लस",
    "%": "प्रतिशत", "~": "टिल्ड", "#": "हैश",
} | SILENT  # fmt: skip
_ABBREVIATIONS = {"डॉ.": "डॉक्टर", "प्रो.": "प्रोफ़ेसर", "रु.": "रुपये", "Dr.": "डॉक्टर"}


def table(language: str) -> Table:
    """Hindi."""
    return Table(
        numbers=Numbers(
            pattern=r"(?:\d{1,3}(?:,\d{2,3})++(?!\d)|\d++)(?:\.\d++)?",
            point="दशमलव",
            digits=_DIGITS,
        ),
        currencies=currencies(_CURRENCIES),
        scales={word: Scale(word, word) for word in _SCALES},
        units=same(_UNITS),
        date=_date,
        clock=Clock(_clock, tail=r"(?: बजे)?"),
        until="से",
        minus="माइनस",
        below_zero="माइनस",
        phones=(r"[6-9]\d{4}[ -]?\d{5}", r"0\d{2,4}[ -]\d{6,8}"),
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        abbreviations=_ABBREVIATIONS,
    )
