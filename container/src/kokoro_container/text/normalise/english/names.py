"""Streets, saints, mountains and numbered things: "Elm St.", "St. John", "Mt. Everest", "p. 5"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kokoro_container.text.normalise.rules import LETTER, Rule, Saying, one_of

_SAINTS = (
    "John|Paul|Peter|Louis|Mary|James|George|Andrew|Patrick|Nicholas|Thomas|Francis|Lawrence|"
    "Augustine|Petersburg|Joseph|Michael|Martin|Mark|Matthew|Luke|Anthony|Helens|Helena|Lucia|"
    "Kitts|Vincent|Moritz|Tropez|Albans|Andrews|Pancras|Ives|Bernard|Clair|Charles|Cloud|Croix|"
    "Stephen|Simon|Jude|Benedict|Catherine|Bartholomew|Gallen|Pauls|Lucie|Elmo|Valentine"
)
_STREETS = {
    "Ave": "Avenue",
    "Blvd": "Boulevard",
    "Rd": "Road",
    "Ln": "Lane",
    "Hwy": "Highway",
    "Pkwy": "Parkway",
    "Sq": "Square",
    "St": "Street",
}
_HOUSES = {"Dr": "Drive", "Ct": "Court", "Pl": "Place", "Cir": "Circle", "Ter": "Terrace"}
_ADDRESS_GOES_ON = r"(?: (?:Apt|Suite|Ste|Unit|Floor|NE|NW|SE|SW|[NSEW])\b)"

_NAME = r"[A-Z][\w'’]{1,30}"
_STREET_NAME = rf"(?:{_NAME}|\d{{1,3}}(?:st|nd|rd|th))"
_SAINT = rf"\bSt\.? (?=(?P<name>(?:{_SAINTS})\b)|{_NAME})"

_BEFORE_NAME = {"Mt": "Mount", "Ft": "Fort", "Ste": "Sainte"}
_BEFORE_NUMBER = {
    "p.": "page",
    "pp.": "pages",
    "vol.": "volume",
    "Vol.": "Volume",
    "ch.": "chapter",
    "Ch.": "Chapter",
    "fig.": "figure",
    "Fig.": "Figure",
    "sec.": "section",
    "Sec.": "Section",
    "eq.": "equation",
    "Eq.": "Equation",
    "no.": "number",
    "No.": "number",
    "Nos.": "numbers",
    "№": "number",
    "§": "section",
    "Apt.": "Apartment",
    "apt.": "apartment",
    "Ste.": "Suite",
    "ca.": "circa",
    "c.": "circa",
}


def rules() -> Iterable[Rule]:
    """Saints before streets: "St. John St." is both."""
    house = (
        rf"(?:\b\d{{1,6}}|\b[Oo]n|\b[Aa]t|\balong|\bdown|\boff|\bnear) (?:[NSEW]\.? )?"
        rf"{_STREET_NAME}(?: {_NAME})? (?P<short>{one_of(_HOUSES)})(?P<dot>\.?)(?!\w)(?! [A-Z])"
    )
    street = (
        rf"(?<![\w'’])(?P<street>{_STREET_NAME}) (?P<short>{one_of(_STREETS)})(?P<dot>\.?)(?!\w)"
    )
    alone = r"(?<![\w.])(?P<short>Blvd|Ave|Hwy|Pkwy)(?P<dot>\.?)(?!\w)"
    name = rf"\b(?P<short>{one_of(_BEFORE_NAME)})\.? (?={_NAME})"
    number = rf"(?<![\w.])(?P<short>{one_of(_BEFORE_NUMBER)}) ?(?=\d)"
    return (
        Rule(re.compile(_SAINT), _saint, LETTER),
        Rule(re.compile(house), _house, LETTER),
        Rule(re.compile(street), _street, LETTER),
        Rule(re.compile(alone), _street, LETTER),
        Rule(re.compile(name), lambda m: _BEFORE_NAME[m["short"]] + " ", LETTER),
        Rule(re.compile(number), lambda m: _BEFORE_NUMBER[m["short"]] + " "),
        Rule(re.compile(r"(?<=\bWorld War )I(?![\w'’])"), lambda _: "one", LETTER),
        Rule(re.compile(r"(?<=\bWorld War )II(?!\w)"), lambda _: "two", LETTER),
        Rule(re.compile(r"(?<=\bWorld War )III(?!\w)"), lambda _: "three", LETTER),
    )


def _saint(match: re.Match[str]) -> Saying:
    """Known saints, and any name where no street's name stands before the abbreviation."""
    before = match.string[max(0, match.start() - 30) : match.start()]
    is_behind_name = re.search(rf"{_STREET_NAME} $", before) is not None
    return "Saint " if match["name"] or not is_behind_name else None


def _street(match: re.Match[str]) -> Saying:
    return {"short": _STREETS[match["short"]], "dot": _dot(match)}


def _house(match: re.Match[str]) -> Saying:
    return {"short": _HOUSES[match["short"]], "dot": _dot(match)}


def _dot(match: re.Match[str]) -> str:
    """The abbreviation's point, if it may end the sentence too."""
    behind = match.string[match.end() : match.end() + 8]
    ends = not behind or re.match(r"[)\"”’]| [A-Z]", behind)
    return match["dot"] if ends and not re.match(_ADDRESS_GOES_ON, behind) else ""
