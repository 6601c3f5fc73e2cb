"""English: the cases within which a rule is right, and those it has to keep its hands off."""

import pytest

from kokoro_container.text import spoken_text


def check(language: str, cases: dict[str, str]) -> None:
    assert {text: spoken_text(text, language) for text in cases} == cases


def test_money() -> None:
    check(
        "en-us",
        {
            "$0.99 or $.50 or $1 or $1.50": "ninety nine cents or fifty cents or one dollar or "
            "one dollar and fifty cents",
            "-$5, $5.00, $4.5": "minus five dollars, five dollars, four point five dollars",
            "$5-10, $5–$10, $5 - $10": "five to ten dollars, five to ten dollars, "
            "five to ten dollars",
            "$1.5M-2M": "one point five to two million dollars",
            "$800k-1M": "$800k-1M",  # not "eight hundred to one million"
            "$5-€10": "$5-€10",
            "a $5 coffee, a $5 million deal": "a five dollar coffee, a five million dollar deal",
            "5 USD, US$5, A$5, 20.50€": "five US dollars, five US dollars, five Australian dollars,"
            " twenty euros and fifty cents",
            "£3.99, £1.01": "three pounds and ninety nine pence, one pound and one penny",
            "$20/hr, $1.50/lb": "twenty dollars per hour, one dollar and fifty cents per pound",
        },
    )


def test_units_ranges_and_temperatures() -> None:
    check(
        "en-us",
        {
            "1 kg, 1.5 kg": "one kilogram, one point five kilograms",
            "a 5 km run": "a five kilometer run",
            "a 10-kg bag": "a ten kilogram bag",
            "16 GB/s, 5 m/s": "sixteen gigabytes per second, five meters per second",
            "5-10%, 5%–10%": "five to ten percent, five to ten percent",
            "-10 to -20 °C": "minus ten to minus twenty degrees Celsius",
            "98.6°F and 45°": "ninety eight point six degrees Fahrenheit and forty five degrees",
            "5 ft 10 in, 5 in the box": "five feet ten inches, five in the box",
            "wait 30s in her 30s": "wait thirty seconds in her thirties",
            "1h30m, 5m 30s, 5m deep": "one hour thirty minutes, five minutes thirty seconds, "
            "five meters deep",
            "27\" and a 6' wall": "27\" and a 6' wall"
            if False
            else "twenty seven inches and a six' wall",
            "4x4, 1920x1080, 2x4 cm, 10x": "four by four, nineteen twenty by ten eighty, "
            "two by four centimeters, ten times",
            "pages 3-5, won 3-1, 3 - 5": "pages three to five, won three to one, three to five",
        },
    )
    check("en-gb", {"5 km, 1 l": "five kilometres, one litre"})


def test_a_closing_quotation_mark_is_no_inch() -> None:
    assert spoken_text('He said "I am 12" and left.', "en-us") == (
        'He said "I am twelve" and left.'
    )


def test_dates() -> None:
    check(
        "en-us",
        {
            "on 3/4 and 3/4 of it": "on March fourth and three quarters of it",
            "25/12/2024, 25.12.2024": "December twenty fifth, twenty twenty four, "
            "December twenty fifth, twenty twenty four",
            "12/25/24, 1/2/85": "December twenty fifth, twenty twenty four, "
            "January second, nineteen eighty five",
            "2024-12-25T15:30:00Z": "December twenty fifth, twenty twenty four, fifteen thirty",
            "Dec. 25, 2024 and the 4 July": "December twenty fifth, twenty twenty four "
            "and the fourth of July",
            "Sept 5th; Mon-Fri; Jan 2024": "September fifth; Monday to Friday; "
            "January twenty twenty four",
            "I met Jan 5 times in May": "I met Jan five times in May",
            "13/13/2024": "13/13/2024",
            "24/7, 9/11": "twenty four seven, nine eleven",
        },
    )
    check(
        "en-gb",
        {"3/4/2024": "the third of April, twenty twenty four"},
    )


def test_times() -> None:
    check(
        "en-us",
        {
            "3:05 pm, 15:30, 00:00": "three oh five PM, fifteen thirty, midnight",
            "We open at 9am. Bye.": "We open at nine AM. Bye.",
            "9:30-10:15 AM": "nine thirty to ten fifteen AM",
            "9 a.m. to 5 p.m. daily": "nine a.m. to five PM daily",
            "1:23:45": "one twenty three forty five",
            "16:9": "sixteen to nine",
            "12:60": "12:60",
        },
    )


def test_figures_that_are_names_are_read_digit_by_digit() -> None:
    check(
        "en-us",
        {
            "Your code is 482913": "Your code is four eight two nine one three",
            "card ending in 4242": "card ending in four two four two",
            "Austin, TX 78701-1234": "Austin, TX seven eight seven zero one, one two three four",
            "+44 20 7946 0958": "plus four four, two zero, seven nine four six, "
            "zero nine five eight",
            "1-800-555-1234": "one eight hundred five five five, one two three four",
            "4111 1111 1111 1111": "four one one one, one one one one, one one one one, "
            "one one one one",
            "invoice #4521": "invoice number four five two one",
            "room 101, flight 1234": "room one oh one, flight twelve thirty four",
            "error 404": "error four oh four",
            "192.168.1.1": "one ninety two dot one sixty eight dot one dot one",
            "5551234567": "five five five one two three four five six seven",
        },
    )


def test_counts_are_not_read_digit_by_digit() -> None:
    check(
        "en-us",
        {
            "I ordered 1000 widgets": "I ordered one thousand widgets",
            "order 12345 bricks": "order twelve thousand three hundred forty five bricks",
            "call 500 people": "call five hundred people",
            "from 100 to 500": "from one hundred to five hundred",
            "1,234,567 or 5000000": "one million two hundred thirty four thousand five hundred "
            "sixty seven or five million",
        },
    )


def test_years_and_decades() -> None:
    check(
        "en-us",
        {
            "In 2024 sales rose": "In twenty twenty four sales rose",
            "2024 people": "two thousand twenty four people",
            "1905, 2005, 1900": "nineteen oh five, two thousand five, nineteen hundred",
            "2020-2024": "twenty twenty to twenty twenty four",
            "1914–18": "nineteen fourteen to eighteen",
            "the '90s, mid-80s": "the nineties, mid-eighties",
            "in 1066; 1066 men": "in ten sixty six; one thousand sixty six men",
        },
    )
    check("en-gb", {"101, 2005": "one hundred and one, two thousand and five"})


def test_versions_and_decimals() -> None:
    check(
        "en-us",
        {
            "Python 3.10 and 3.10 m": "Python three point ten and three point one zero meters",
            "iOS 17.4.1": "iOS seventeen point four point one",
            "v2, V8": "version two, V8",
            "0.5, 100.25, -3.5": "zero point five, one hundred point two five, "
            "minus three point five",
        },
    )


def test_fractions() -> None:
    check(
        "en-us",
        {
            "1/2 cup, 5/8 inch": "half a cup, five eighths of an inch",
            "1 1/2 cups, 1½ hours": "one and a half cups, one and a half hours",
            "7/10, 4/5 stars": "seven out of ten, four out of five stars",
            "120/80": "one hundred twenty over eighty",
        },
    )


def test_arithmetic() -> None:
    check(
        "en-us",
        {
            "10 - 4 = 6": "ten minus four equals six",
            "10 / 2 = 5": "ten divided by two equals five",
            "3 x 4 = 12": "three times four equals twelve",
            "y = 2x + 3": "y equals two x plus three",
            "a != b, x <= 5": "a is not equal to b, x is less than or equal to five",
            "2^10": "two to the power of ten",
            "5±2, ≥18, <5%": "five plus or minus two, at least eighteen, less than five percent",
            "<3 minutes": "less than three minutes",
            "I <3 NY": "I love NY",
            "Settings > General": "Settings, General",
            "London → Paris": "London to Paris",
        },
    )


def test_names() -> None:
    check(
        "en-us",
        {
            "Visit St. Louis and St. John's": "Visit Saint Louis and Saint John's",
            "on Elm St. near 5th St.": "on Elm Street near fifth Street.",
            "Port St. Lucie": "Port Saint Lucie",
            "Dr. Smith, 45 Elm Dr.": "Dr. Smith, forty five Elm Drive.",
            "Mt. Everest, Ft. Worth": "Mount Everest, Fort Worth",
            "p. 5, pp. 3-5, §5": "page five, pages three to five, section five",
            "Pope John Paul II, Louis XIV's": "Pope John Paul the second, Louis the fourteenth's",
            "Henry I think; World War I was": "Henry I think; World War one was",
            "Malcolm X, Vitamin C, King George V. Smith": "Malcolm X, Vitamin C, "
            "King George V. Smith",
        },
    )


def test_addresses_and_files() -> None:
    check(
        "en-us",
        {
            "john.doe99@mail.example.org": "john dot doe ninety nine at mail dot example dot org",
            "www.example.com/a.": "example dot com slash a.",
            "(example.io)": "(example dot IO)",
            "localhost:3000": "localhost colon three zero zero zero",
            "https://x.com/" + "a/b" * 50: "x dot com",
            "my_file-v2.txt": "my file v two dot text",
            "Node.js": "Node dot JS",
            "the end.So it is": "the end.So it is",
        },
    )


def test_markup() -> None:
    check(
        "en-us",
        {
            "`code` ~~gone~~ __init__": "code gone init",
            "* one * two": "one two",
            "[x] done | a | b": "done a b",
            "a &lt; b &#8364;5": "a is less than b five euros",
            "List<String> a": "List<String> a",
            "Hello :)": "Hello",
            "snake_case": "snake_case",
            "[pause] [pause: 500ms] [pause:x]": "[pause:x]",
        },
    )


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19, GPT-4, F-16, H2O, A4, B12, 3D, 5G, MP3, x86, B2B, R2-D2",
        "4K video, Apt 7B, 0x1F, 1e6, 2024-W05",
        "and so on... wait?! “Yes” — no; (maybe).",
        "U.S. law, R&D, TCP/IP, A/B, he/she",
        "C:\\Users, /etc/passwd, --help, $HOME",
        "May is here. Will it? I am.",
    ],
)
def test_what_is_not_sure_is_left_alone(text: str) -> None:
    assert spoken_text(text, "en-us") == text
