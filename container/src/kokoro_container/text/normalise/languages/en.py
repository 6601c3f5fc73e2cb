"""English, American and British."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from ..english import rules as english
from ..english.say import (
    ENGLISH_DIGITS,
    cardinals,
    ordinal,
    with_british_spelling,
    year,
)
from ..numbers import Numbers, point_numbers
from ..tables import Clock, Currency, Noun, Roman, Scale, Table

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def _plural(one: str) -> Noun:
    return Noun(one, one + "s")


_CENT = _plural("cent")
_DOLLAR = Currency(_plural("dollar"), _CENT)
_EURO = Currency(_plural("euro"), _CENT)
_POUND = Currency(_plural("pound"), Noun("penny", "pence"))
_RUPEE = Currency(_plural("rupee"), Noun("paisa", "paise"))
_YEN = Currency(Noun("yen", "yen"))
_YUAN = Currency(Noun("yuan", "yuan"))
_REAL = Currency(Noun("real", "reais"), Noun("centavo", "centavos"))
_FRANC = Currency(_plural("Swiss franc"))


def _dollars(country: str) -> Currency:
    return Currency(_plural(f"{country} dollar"), _CENT)


_CURRENCIES = {
    "$": _DOLLAR,
    "US$": _dollars("US"),
    "USD": _dollars("US"),
    "A$": _dollars("Australian"),
    "AU$": _dollars("Australian"),
    "AUD": _dollars("Australian"),
    "C$": _dollars("Canadian"),
    "CA$": _dollars("Canadian"),
    "CAD": _dollars("Canadian"),
    "NZ$": _dollars("New Zealand"),
    "HK$": _dollars("Hong Kong"),
    "S$": _dollars("Singapore"),
    "€": _EURO,
    "EUR": _EURO,
    "£": _POUND,
    "GBP": _POUND,
    "¥": _YEN,
    "JPY": _YEN,
    "CN¥": _YUAN,
    "CNY": _YUAN,
    "RMB": _YUAN,
    "₹": _RUPEE,
    "INR": _RUPEE,
    "₩": Currency(Noun("won", "won")),
    "KRW": Currency(Noun("won", "won")),
    "₽": Currency(_plural("ruble")),
    "₺": Currency(Noun("lira", "lira")),
    "₿": Currency(Noun("bitcoin", "bitcoin")),
    "BTC": Currency(Noun("bitcoin", "bitcoin")),
    "₱": Currency(_plural("peso")),
    "₪": Currency(_plural("shekel")),
    "฿": Currency(Noun("baht", "baht")),
    "R$": _REAL,
    "BRL": _REAL,
    "CHF": _FRANC,
    "¢": Currency(_CENT),
}

_SCALE_WORDS = ("thousand", "million", "billion", "trillion")
_SCALE_LETTERS = {
    "k": "thousand",
    "K": "thousand",
    "m": "million",
    "M": "million",
    "mn": "million",
    "MM": "million",
    "B": "billion",
    "b": "billion",
    "bn": "billion",
    "T": "trillion",
    "tn": "trillion",
}
_SCALES = {w: Scale(w, w) for w in _SCALE_WORDS} | {
    letter: Scale(word, word) for letter, word in _SCALE_LETTERS.items()
}

_PER = {
    "mo": "month",
    "yr": "year",
    "wk": "week",
    "hr": "hour",
    "h": "hour",
    "d": "day",
    "min": "minute",
    "s": "second",
    "sec": "second",
    "kg": "kilogram",
    "g": "gram",
    "lb": "pound",
    "oz": "ounce",
    "m": "meter",
    "km": "kilometer",
    "mi": "mile",
    "l": "liter",
    "L": "liter",
    "gal": "gallon",
    "GB": "gigabyte",
    "TB": "terabyte",
    "MB": "megabyte",
    "kWh": "kilowatt hour",
}

# One symbol a line with the singular; the plural has an "s" unless it is given.
_UNITS = """
km kilometer        cm centimeter     mm millimeter   µm micrometer   μm micrometer
nm nanometer        m meter           mi mile         yd yard         ft foot/feet
kg kilogram         g gram            mg milligram    µg microgram    lb pound
lbs pound           oz ounce          ml milliliter   mL milliliter   L liter
l liter             dl deciliter      cl centiliter   gal gallon      tsp teaspoon
tbsp tablespoon     ha hectare        fl_oz fluid_ounce
mph mile_per_hour/miles_per_hour      kph kilometer_per_hour/kilometers_per_hour
kmh kilometer_per_hour/kilometers_per_hour            fps frame_per_second/frames_per_second
rpm RPM/RPM         bpm beat_per_minute/beats_per_minute
ppm part_per_million/parts_per_million                dpi DPI/DPI
Hz hertz/hertz      kHz kilohertz/kilohertz           MHz megahertz/megahertz
GHz gigahertz/gigahertz               W watt          kW kilowatt     MW megawatt
GW gigawatt         kWh kilowatt_hour                 MWh megawatt_hour
Wh watt_hour        mAh milliamp_hour mA milliamp     kV kilovolt     mV millivolt
V volt              kJ kilojoule      cal calorie     kcal calorie    dB decibel
Pa pascal           kPa kilopascal    hPa hectopascal psi PSI/PSI N newton
KB kilobyte         kB kilobyte       MB megabyte     GB gigabyte     TB terabyte
PB petabyte         MiB mebibyte      GiB gibibyte    TiB tebibyte    Mb megabit
Gb gigabit          Kbps kilobit_per_second/kilobits_per_second
kbps kilobit_per_second/kilobits_per_second           Mbps megabit_per_second/megabits_per_second
Gbps gigabit_per_second/gigabits_per_second           px pixel        MP megapixel
ms millisecond      µs microsecond    μs microsecond  ns nanosecond   sec second
secs second         min minute        mins minute     hr hour         hrs hour
yr year             yrs year          wk week         wks week
sq_ft square_foot/square_feet         sq_m square_meter               sq_mi square_mile
sq_km square_kilometer                ft² square_foot/square_feet     m² square_meter
m2 square_meter     km² square_kilometer              km2 square_kilometer
cm² square_centimeter                 m³ cubic_meter  m3 cubic_meter  cm³ cubic_centimeter
°C degree_Celsius/degrees_Celsius     °F degree_Fahrenheit/degrees_Fahrenheit
℃ degree_Celsius/degrees_Celsius      ℉ degree_Fahrenheit/degrees_Fahrenheit
º degree            ° degree          % percent/percent               ‰ per_mille/per_mille
Ω ohm               kΩ kilohm
"""
_ATTACHED_UNITS = """
in inch/inches  h hour  s second  d day  t ton  A amp  J joule
"""
_RATES = {
    "/h": " per hour",
    "/hr": " per hour",
    "/s": " per second",
    "/sec": " per second",
    "/s²": " per second squared",
    "/min": " per minute",
    "/day": " per day",
    "/d": " per day",
    "/m²": " per square meter",
    "/m³": " per cubic meter",
    "/kg": " per kilogram",
    "/L": " per liter",
    "/l": " per liter",
    "/dL": " per deciliter",
    "/ml": " per milliliter",
    "/mL": " per milliliter",
    "/km": " per kilometer",
}

_SYMBOLS = {
    "=": "equals",
    "+": "plus",
    "-": "minus",
    "−": "minus",
    "×": "times",
    "÷": "divided by",
    "<": "is less than",
    ">": "is greater than",
    "≤": "is less than or equal to",
    "≥": "is greater than or equal to",
    "≠": "is not equal to",
    "≈": "is about",
    "±": "plus or minus",
    "^": "to the power of",
    "→": "to",
}
_PREFIXES = {
    "~": "about",
    "≈": "about",
    "±": "plus or minus",
    "+/-": "plus or minus",
    "<": "less than",
    ">": "more than",
    "≤": "at most",
    "<=": "at most",
    "≥": "at least",
    ">=": "at least",
    "+": "plus",
    "√": "the square root of",
}
_WEB = {
    ".": "dot",
    "/": "slash",
    "@": "at",
    "-": "dash",
    "_": "underscore",
    ":": "colon",
    "?": "question mark",
    "=": "equals",
    "&": "and",
    "+": "plus",
    "%": "percent",
    "~": "tilde",
    "#": "hash",
    "!": "",
    "$": "dollar",
    "'": "",
    "*": "",
    "(": "",
    ")": "",
    ",": "comma",
    ";": "",
    "|": "",
    "[": "",
    "]": "",
    "{": "",
    "}": "",
    "\\": "backslash",
    "^": "",
    "`": "",
    '"': "",
}

_PHONES = (
    r"(?:\+?1[ .-]?)?\(\d{3}\) ?\d{3}[ .-]\d{4}",
    r"(?:\+?1[ .-])?\d{3}([ .-])\d{3}\1\d{4}",
    r"\d{3}-\d{4}",
    r"\d{3}-\d{2}-\d{4}",
    r"0\d{2,4}[ -]\d{3,4}(?:[ -]?\d{3,4})?",
)

_RULERS = frozenset(
    "Henry George Edward Charles William Richard James John Louis Philip Elizabeth Mary Catherine "
    "Nicholas Alexander Peter Frederick Napoleon Francis Ferdinand Leopold Albert Alfonso Carlos "
    "Felipe Juan Pedro Paul Pius Benedict Leo Clement Gregory Urban Innocent Julius Boniface Adrian "
    "Ptolemy Ramses Ramesses Darius Xerxes Cyrus Amenhotep Thutmose Seti Mehmed Murad Selim "
    "Suleiman Constantine Theodosius Otto Wilhelm Ludwig Maximilian Rudolf Joseph Gustav Christian "
    "Haakon Harald Olav Margaret Cleopatra Victor Umberto Emmanuel Ivan Robert David "
    "Stephen Harold Rama Naruhito".split()
)
_HEADINGS = frozenset(
    "Chapter Part Book Volume Vol Act Scene Section Article Appendix Title Phase Stage Type Tier "
    "Bowl Mark Fantasy Rocky Apollo Saturn Amendment Category chapter part volume act scene "
    "section article phase stage type tier".split()
)

_ABBREVIATIONS = {
    "vs.": "versus",
    "vs": "versus",
    "etc.": "et cetera",
    "approx.": "approximately",
    "est.": "established",
    "w/o": "without",
    "w/": "with",
    "b/c": "because",
    "Prof.": "Professor",
    "Sen.": "Senator",
    "Rep.": "Representative",
    "Gov.": "Governor",
    "Gen.": "General",
    "Capt.": "Captain",
    "Lt.": "Lieutenant",
    "Sgt.": "Sergeant",
    "Rev.": "Reverend",
    "Jr.": "Junior",
    "Sr.": "Senior",
    "Inc.": "Incorporated",
    "Corp.": "Corporation",
    "Ltd.": "Limited",
    "Dept.": "Department",
    "dept.": "department",
    "Ph.D.": "PhD",
    "avg.": "average",
    "misc.": "miscellaneous",
    "incl.": "including",
    "excl.": "excluding",
    "and/or": "and or",
    "ext.": "extension",
}


# "half a cup": what a fraction is taken of.
_MEASURES = frozenset(
    "cup teaspoon tablespoon mile inch foot yard pound ounce hour gallon quart pint second minute "
    "acre dozen kilometer liter kilogram century".split()
)
_ORDINAL_PARTS = frozenset({5, 6, 7, 8, 9, 10, 16, 32, 64, 100, 1000})
_SAID_APART = frozenset({(24, 7), (9, 11)})

# Behind these words "a 5 km" is no description of what follows.
_NO_NOUN = frozenset("and or to in on at for from of off per is was are than by with".split())


def _units(rows: str, british: bool) -> dict[str, Noun]:
    fields = rows.replace("_", "\0").split()
    names = with_british_spelling("\n".join(fields[1::2])) if british else "\n".join(fields[1::2])
    units = {}
    for symbol, name in zip(fields[::2], names.split("\n"), strict=True):
        one, _, many = name.replace("\0", " ").partition("/")
        units[symbol.replace("\0", " ")] = Noun(one, many or one + "s")
    return units


def _spelled(words: Mapping[str, str], british: bool) -> Mapping[str, str]:
    return {k: with_british_spelling(w) if british else w for k, w in words.items()}


def _attributive(text: str, start: int, end: int) -> bool:
    """Whether "5 km" is in "a 5 km run"."""
    before = text[max(0, start - 4) : start].lower()
    if not re.search(r"(?:^|\W)an? $", before):
        return False
    noun = re.match(r" ([a-z]+)", text[end : end + 12])
    return noun is not None and noun.group(1) not in _NO_NOUN


def _date(british: bool) -> Callable[[int, int, int | None], str]:
    def say(day: int, month: int, year_number: int | None) -> str:
        name, nth = MONTHS[month - 1], ordinal(day, british=british)
        words = f"the {nth} of {name}" if british else f"{name} {nth}"
        return words if year_number is None else f"{words}, {year(year_number, british=british)}"

    return say


def _clock(hour: int, minute: int, half: bool) -> str:
    say = cardinals(british=False)
    if minute == 0:
        if half:
            return say(hour)
        if hour in (0, 24):
            return "midnight"
        return f"{say(hour)} o'clock" if hour <= 12 else f"{say(hour)} hundred"
    minutes = f"oh {say(minute)}" if minute < 10 else say(minute)
    return f"{say(hour)} {minutes}"


def _fraction(a: int, b: int, after: str) -> str | None:
    say = cardinals(british=False)
    if (a, b) in _SAID_APART or a == b:
        return f"{say(a)} {say(b)}"
    if a == 0 or b == 0:
        return None
    if a > b:
        return f"{say(a)} over {say(b)}"
    if re.match(" stars?\\b", after) or (b in (10, 100) and not after.startswith(" of ")):
        return f"{say(a)} out of {say(b)}"
    noun = re.match(r" ([a-z]+)(?!\w)", after)
    measured = noun is not None and noun.group(1) in _MEASURES
    article = "an" if noun is not None and noun.group(1)[0] in "aeiou" else "a"
    article = "an" if noun is not None and noun.group(1) == "hour" else article
    if (a, b) == (1, 2):
        return f"half {article}" if measured else "one half"
    part = {2: "half", 3: "third", 4: "quarter"}.get(b)
    if part is None:
        if b not in _ORDINAL_PARTS:
            return None
        part = ordinal(b, british=False)
    words = f"{say(a)} {part}" + ("s" if a > 1 else "")
    return f"{words} of {article}" if measured else words


def table(language: str) -> Table:
    """American English, or British: its dates, "and" in numbers, spellings."""
    british = language == "en-gb"
    words = cardinals(british=british)
    numbers = Numbers(pattern=point_numbers(), point="point", digits=ENGLISH_DIGITS, words=words)
    first, last = english.rules(numbers, british=british, months=MONTHS)
    return Table(
        numbers=numbers,
        currencies=_CURRENCIES,
        money="{} and {}".format,
        scales=_SCALES,
        attributive=_attributive,
        per=("per", _spelled(_PER, british)),
        units=_units(_UNITS, british),
        attached_units=_units(_ATTACHED_UNITS, british),
        rates=_spelled(_RATES, british),
        date=_date(british),
        day_first=british,
        date_leads=frozenset({"on", "by", "until", "till", "since", "before", "after", "due"}),
        clock=Clock(_clock),
        until="to",
        minus="minus",
        below_zero="minus",
        fraction=_fraction,
        mixed="{} and {}".format,
        phones=_PHONES,
        symbols=_SYMBOLS,
        prefixes=_PREFIXES,
        web=_WEB,
        ordinals=(r"(?i:st|nd|rd|th)(?!\w)", lambda n, _: ordinal(n, british=british)),
        roman=Roman(_RULERS, _HEADINGS, lambda n: f"the {ordinal(n, british=british)}"),
        abbreviations=_ABBREVIATIONS,
        first=first,
        last=last,
    )
