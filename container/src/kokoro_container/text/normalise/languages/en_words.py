"""The words of English: money, units, signs, names of rulers, short forms."""

from __future__ import annotations

from kokoro_container.text.normalise.tables import Currency, Noun, Scale, listed

from .words import SILENT


def _plural(one: str) -> Noun:
    return Noun(one, one + "s")


CENT = _plural("cent")
DOLLAR = Currency(_plural("dollar"), CENT)
EURO = Currency(_plural("euro"), CENT)
POUND = Currency(_plural("pound"), Noun("penny", "pence"))
RUPEE = Currency(_plural("rupee"), Noun("paisa", "paise"))
YEN = Currency(Noun("yen", "yen"))
YUAN = Currency(Noun("yuan", "yuan"))
REAL = Currency(Noun("real", "reais"), Noun("centavo", "centavos"))
FRANC = Currency(_plural("Swiss franc"))


def _dollars(country: str) -> Currency:
    return Currency(_plural(f"{country} dollar"), CENT)


CURRENCIES = {
    "$": DOLLAR,
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
    "€": EURO,
    "EUR": EURO,
    "£": POUND,
    "GBP": POUND,
    "¥": YEN,
    "JPY": YEN,
    "CN¥": YUAN,
    "CNY": YUAN,
    "RMB": YUAN,
    "₹": RUPEE,
    "INR": RUPEE,
    "₩": Currency(Noun("won", "won")),
    "KRW": Currency(Noun("won", "won")),
    "₽": Currency(_plural("ruble")),
    "₺": Currency(Noun("lira", "lira")),
    "₿": Currency(Noun("bitcoin", "bitcoin")),
    "BTC": Currency(Noun("bitcoin", "bitcoin")),
    "₱": Currency(_plural("peso")),
    "₪": Currency(_plural("shekel")),
    "฿": Currency(Noun("baht", "baht")),
    "R$": REAL,
    "BRL": REAL,
    "CHF": FRANC,
    "¢": Currency(CENT),
}

SCALE_WORDS = ("thousand", "million", "billion", "trillion")
SCALE_LETTERS = {
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
SCALES = {w: Scale(w, w) for w in SCALE_WORDS} | {
    letter: Scale(word, word) for letter, word in SCALE_LETTERS.items()
}

PER = {
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
UNITS = """
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
Pa pascal           kPa kilopascal    hPa hectopascal N newton
psi pound_per_square_inch/pounds_per_square_inch
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
ATTACHED_UNITS = """
in inch/inches  h hour  s second  d day  t ton  A amp  J joule
"""
RATES = {
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

SYMBOLS = {
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
PREFIXES = {
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
WEB = {
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
    ",": "comma",
    "$": "dollar",
    "\\": "backslash",
} | {mark: "" for mark in SILENT if mark not in ",$\\"}

PHONES = (
    r"(?:\+?1[ .-]?)?\(\d{3}\) ?\d{3}[ .-]\d{4}",
    r"(?:\+?1[ .-])?\d{3}([ .-])\d{3}\1\d{4}",
    r"\d{3}-\d{4}",
    r"\d{3}-\d{2}-\d{4}",
    r"0\d{2,4}[ -]\d{3,4}(?:[ -]?\d{3,4})?",
)

RULERS = frozenset(
    listed(
        "Henry George Edward Charles William Richard James John Louis Philip Elizabeth Mary "
        "Catherine Nicholas Alexander Peter Frederick Napoleon Francis Ferdinand Leopold Albert "
        "Alfonso Carlos Felipe Juan Pedro Paul Pius Benedict Leo Clement Gregory Urban Innocent "
        "Julius Boniface Adrian Ptolemy Ramses Ramesses Darius Xerxes Cyrus Amenhotep Thutmose "
        "Seti Mehmed Murad Selim Suleiman Constantine Theodosius Otto Wilhelm Ludwig Maximilian "
        "Rudolf Joseph Gustav Christian Haakon Harald Olav Margaret Cleopatra Victor Umberto "
        "Emmanuel Ivan Robert David Stephen Harold Rama Naruhito"
    )
)
HEADINGS = frozenset(
    listed(
        "Chapter Part Book Volume Vol Act Scene Section Article Appendix Title Phase Stage Type "
        "Tier Bowl Mark Fantasy Rocky Apollo Saturn Amendment Category chapter part volume act "
        "scene section article phase stage type tier"
    )
)

ABBREVIATIONS = {
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
