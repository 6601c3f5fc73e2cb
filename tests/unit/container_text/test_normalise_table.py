"""What users of other Kokoro servers reported or measured as misread, and what is said here.

The ids are the rows of the project's list of such cases: M from measurements, R from reports.
"""

import pytest

from kokoro_container.text import spoken_text

CASES = [
    ("M1", "Elm St.", "Elm Street."),
    ("M2", "It is -5°C", "It is minus five degrees Celsius"),
    ("M2", "-5°C", "minus five degrees Celsius"),
    ("M3", "x=1", "x equals one"),
    ("M3", "x==1", "x equals one"),
    ("M4", "50 > 40", "fifty is greater than forty"),
    ("M4", "3 < 4", "three is less than four"),
    ("M4", "<3", "heart"),
    ("M5", "≈5", "about five"),
    ("M5", "℃", "degrees Celsius"),
    ("M5", "$", "dollar"),
    ("M5", "👍 ok", "ok"),
    ("M5", "so -- ok", "so—ok"),
    ("M5", "*** ok", "ok"),
    ("M6", "PIN 0042", "PIN zero zero four two"),
    ("M6", "007", "double oh seven"),
    ("M7", "ZIP 94103", "ZIP nine four one zero three"),
    ("M7", "Order 12345", "Order one two three four five"),
    ("M7", "call 911", "call nine one one"),
    ("M7", "8675309", "eight six seven five three zero nine"),
    ("M8", "555-123-4567", "five five five, one two three, four five six seven"),
    ("M9", "3.10", "three point one zero"),
    ("M9", "v3.5", "version three point five"),
    ("M9", "2.0.1", "two point zero point one"),
    ("M10", "12/25/2024", "December twenty fifth, twenty twenty four"),
    ("M10", "2024-12-25", "December twenty fifth, twenty twenty four"),
    ("M10", "3/4 cup", "three quarters of a cup"),
    ("M11", "3:30 PM", "three thirty PM"),
    ("M11", "9:00", "nine o'clock"),
    ("M11", "12:00", "twelve o'clock"),
    ("M12", "9am-5pm", "nine a.m. to five PM"),
    ("M13", "5'10\"", "five foot ten"),
    ("M13", "1'30\"", "one minute thirty seconds"),
    ("M14", "$5M", "five million dollars"),
    ("M14", "$5/month", "five dollars per month"),
    ("M14", "¥500", "five hundred yen"),
    ("M14", "₹500", "five hundred rupees"),
    ("M15", "5km", "five kilometers"),
    ("M15", "10 kg", "ten kilograms"),
    ("M15", "120mph", "one hundred twenty miles per hour"),
    ("M15", "100 km/h", "one hundred kilometers per hour"),
    (
        "M16",
        "https://example.com/path?x=1",
        "example dot com slash path question mark x equals one",
    ),
    ("M16", "README.md", "readme dot MD"),
    ("M17", "**bold** text", "bold text"),
    ("M17", "5 * 3", "five times three"),
    ("M17", "# Heading", "Heading"),
    ("M18", 'Hi <break time="1s"/> there', "Hi there"),
    ("M18", "Hi [pause:1.5s] there", "Hi there"),
    ("M19", "Tom &amp; Jerry&nbsp;too", "Tom & Jerry too"),
    ("M20", "C# and AT&T", "C sharp and A.T. and T"),
    ("M20", "SQL lol", "SQL lol"),  # the engine says "sequel" and "loll"
    ("M21", "Chapter IV", "Chapter four"),
    ("M21", "Henry VIII", "Henry the eighth"),
    ("M21", "World War II", "World War two"),
    ("M22", "Hi 😀 there ❤️", "Hi there"),
    ("M22", "→ next", "next"),
    ("M22", "~5", "about five"),
    ("R26", "I’m it’s doesn’t", "I’m it’s doesn’t"),
    ("R27", "82 million parameters", "eighty two million parameters"),
    ("R31", "$100", "one hundred dollars"),
    ("R31", "9:30PM", "nine thirty PM"),
    ("R31", "40–60°C", "forty to sixty degrees Celsius"),
    ("R32", "1k likes", "one thousand likes"),
    ("R32", "2m users", "two million users"),
    ("R32", "$5.3 billion", "five point three billion dollars"),
    ("R32", "(555) 123-4567", "five five five, one two three, four five six seven"),
    ("R33", "2/3 of it", "two thirds of it"),
    ("R33", "50g", "fifty grams"),
    ("R33", "Sunset Blvd", "Sunset Boulevard"),
    ("R34", "## Title", "Title"),
    ("R36", "<speak><p>Hi</p></speak>", "Hi"),
    ("R38", "*really* **good**", "really good"),
    # "fine already" of the same list must stay fine
    ("ok", "$1,234.56", "one thousand two hundred thirty four dollars and fifty six cents"),
    ("ok", "€20.50", "twenty euros and fifty cents"),
    ("ok", "the 21st", "the twenty first"),
    ("ok", "in 1999", "in nineteen ninety nine"),
    ("ok", "the 1990s", "the nineteen nineties"),
    ("ok", "e.g. Dr. Who and Mr. Bean", "e.g. Dr. Who and Mr. Bean"),
    ("ok", "w/ ½ cup", "with half a cup"),
    ("ok", "±5", "plus or minus five"),
    ("ok", "[a link](https://x.com)", "a link"),
]


@pytest.mark.parametrize(("row", "text", "spoken"), CASES, ids=[f"{c[0]} {c[1]}" for c in CASES])
def test_it_is_said_as_a_person_would(row: str, text: str, spoken: str) -> None:
    assert spoken_text(text, "en-us") == spoken


def test_a_number_of_310_digits_is_no_error() -> None:
    assert spoken_text("9" * 310, "en-us") == "9" * 310  # the engine reads it digit by digit
