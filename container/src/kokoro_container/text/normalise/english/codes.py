"""Figures that are read digit by digit because they name something: PINs, ZIPs, orders, rooms."""

from __future__ import annotations

import re
from collections.abc import Iterable

from kokoro_container.text.normalise.rules import Rule, Saying

from .say import cardinals, house_number, spell

_STATES = (
    "AL|AK|AZ|AR|CA|CO|CT|DE|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|"
    "NY|NC|ND|OH|OK|OR|PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY|DC"
)
# What is followed by a code, however short.
_CODES = (
    "PIN|pin|Pin|OTP|ZIP|zip|Zip|CVV|CVC|SSN|[Pp]asscode|[Pp]ostcode|[Pp]ostal code|[Cc]ode|"
    "[Ee]xtension|[Ee]xt\\.?|last four(?: digits)?|(?:card|account|one) ending in"
)
# What is followed by one if that is long, or if "number" stands between.
_NAMED = (
    "[Oo]rder|[Ii]nvoice|[Tt]icket|[Cc]ase|[Aa]ccount|[Rr]eference|[Rr]ef\\.?|[Bb]ooking|ID|"
    "[Rr]eservation|[Mm]odel|[Cc]ustomer|[Mm]ember|[Cc]ard|[Pp]hone|[Pp]olicy|[Cc]laim|[Bb]adge|"
    "[Cc]onfirmation|[Tt]racking|[Rr]outing|[Ss]erial|[Pp]art"
)
_LINK = r"(?: (?:code|number|num\.?|no\.?|No\.?|ID|is|was)){0,3}"
_COUNTED = r"(?! (?!has\b|is\b|was\b|ships\b|this\b|as\b)[a-z]{2,20}s\b)(?! people\b)"
_BEFORE = r"(?<![\w.,:/$€£-])"
_AFTER = r"(?!\w)(?![.,:/-]\d)(?!%)"
_FIGURES = r"(?P<figures>\d{1,12}(?: \d{3,12}|-\d{2,12}){0,3}+|\d{2,20})"
_SHORTEST_NAMED_DIGITS = 5

# Rooms, flights and the like are said in two halves: "one oh one", "twelve thirty four".
_ROOMS = (
    "[Rr]oom|[Ff]light|[Ss]uite|[Aa]partment|[Aa]pt\\.?|[Hh]ighway|[Rr]oute|[Ii]nterstate|[Bb]us|"
    "[Ff]orm|[Gg]ate|[Uu]nit|[Cc]hannel|Boeing|[Ee]rror(?: code)?|HTTP|[Ss]tatus(?: code)?"
)
# "3.10" behind these comes after "3.9".
_VERSIONED = (
    "Python|python|Node|iOS|iPadOS|macOS|Android|Ubuntu|Java|Django|Rails|Ruby|PHP|Go|Rust|Swift|"
    "Kotlin|TypeScript|React|Angular|Vue|Next|Linux|Kubernetes|Docker|Postgres|PostgreSQL|MySQL|"
    "Redis|CUDA|PyTorch|TensorFlow|[Vv]ersion|[Rr]elease|[Ss]ection|[Ff]igure|[Tt]able|[Cc]hapter"
)
_VERSION = r"(?P<number>\d{1,4}(?:\.\d{1,4})%s)"
_CALL = r"(?i:\b(?:call|dial|phone|text(?: \w{1,10} to)?))"
_EMERGENCY = r"911(?= (?:calls?|operators?|dispatch\w*|emergency|emergencies)\b)"


def rules() -> Iterable[Rule]:
    """Addresses of machines and versions, then rooms, codes and short telephone numbers."""
    machine = r"(?<![\w.])(?P<host>(?:\d{1,3}\.){3}\d{1,3})(?P<port>:\d{2,5})?(?![\w.:]*\w)"
    tag = r"(?<![\w.])(?:v|V(?=\d+\.))" + _VERSION % "{0,3}+" + _AFTER
    room = rf"\b(?:{_ROOMS})(?: number| no\.)? (?P<figures>\d{{3,4}}){_AFTER}{_COUNTED}"
    code = rf"\b(?:{_CODES}){_LINK}:? {_FIGURES}{_AFTER}{_COUNTED}"
    named = rf"\b(?:{_NAMED})(?P<link>{_LINK}:?) {_FIGURES}{_AFTER}{_COUNTED}"
    zip_code = rf"\b(?:{_STATES}),? (?P<figures>\d{{5}}(?:-\d{{4}})?){_AFTER}"
    patterns = (
        (machine, _machine),
        (tag, lambda match: "version " + _dotted(match["number"])),
        (rf"\b(?:{_VERSIONED}) {_VERSION % '{1,3}+'}{_AFTER}", _version),
        (rf"{_BEFORE}(?P<number>\d{{1,3}}(?:\.\d{{1,3}}){{2,3}}+){_AFTER}", _version),
        (room, lambda match: {"figures": house_number(match["figures"])}),
        (code, _code),
        (named, _named),
        (zip_code, _code),
        (rf"{_CALL} (?P<figures>\d{{3,6}}){_AFTER}{_COUNTED}", _code),
        (rf"{_BEFORE}(?P<figures>{_EMERGENCY})", _code),
        (rf"{_BEFORE}007{_AFTER}(?!-\d)", lambda _: "double oh seven"),
        (r"(?<![\w-])1-(?P<area>8\d\d)-(?=[A-Z\d])", _freephone),
    )
    return tuple(Rule(re.compile(pattern), say) for pattern, say in patterns)


def _code(match: re.Match[str]) -> Saying:
    groups = re.findall(r"\d+", match["figures"])
    return {"figures": ", ".join(map(spell, groups))}


def _named(match: re.Match[str]) -> Saying:
    digits = sum(c.isdigit() for c in match["figures"])
    is_named = re.search(r"\b(?:code|num|no|ID)|number|:", match["link"], re.IGNORECASE)
    if digits < _SHORTEST_NAMED_DIGITS and not is_named and not match.group().startswith("ID"):
        return None
    return _code(match)


def _dotted(number: str) -> str:
    """Each part of a version as a number: "three point ten"."""
    say = cardinals(british=False)
    parts = number.split(".")
    return " point ".join(spell(p) if p[0] == "0" else say(int(p)) for p in parts)


def _version(match: re.Match[str]) -> Saying:
    if re.fullmatch(r"\d{1,3}(?:\.\d{3}){2,}", match["number"]):  # "10.000.000" of continentals
        return {"number": cardinals(british=False)(int(match["number"].replace(".", "")))}
    return {"number": _dotted(match["number"])}


def _machine(match: re.Match[str]) -> Saying:
    parts = match["host"].split(".")
    if any(int(part) > 255 for part in parts):
        return None
    words = " dot ".join(map(house_number, parts))
    return words + (f" colon {spell(match['port'])}" if match["port"] else "")


def _freephone(match: re.Match[str]) -> Saying:
    return f"one {house_number(match['area'])} "
