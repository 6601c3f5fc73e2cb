"""Makes any text safe to hand to a grapheme-to-phoneme library, in time linear in its length.

The libraries are not: one unspaced token of 1 000 brackets keeps misaki busy for 13 s, 310 digits
raise OverflowError in num2words and a NUL ends the word for espeak (measured). ``clean`` removes
what is not text; ``guard``, just before the libraries, bounds what they are given.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .spans import MappedText

# Longest unspaced token handed over, and how many parts of it misaki may see (letters, digits and
# each other character are parts). misaki tries every span of parts: 12 parts take 5 ms, 40 take
# 100 ms, 300 take 20 s (measured). A date or "https://example.com" has 10 or fewer.
LONGEST_TOKEN_CHARS = 50
MOST_TOKEN_PARTS = 10
LONGEST_NUMBER_DIGITS = 20

_PICTURES = (
    "\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u231a\u231b\u23e9-\u23fa"
    "\ufe00-\ufe0f\u20e3\U000e0000-\U000e007f"
)
_EMOJI = re.compile(f"[{_PICTURES}]")
# "Great 😀!": with the emoji goes the space, or the mark would stand alone. The look-behinds let a
# run be tried from its start only.
_EMOJI_BEFORE_MARK = re.compile(
    f"(?<![{_PICTURES}\u200d])(?<![{_PICTURES}\u200d] )(?: ?[{_PICTURES}\u200d])+(?=[.,!?;:…])"
)

# Punctuation of other scripts by its nearest equivalent among the marks every engine knows.
_MARKS = {
    **dict.fromkeys("，、､،", ","),
    **dict.fromkeys("。．｡।॥", "."),
    **dict.fromkeys("？؟", "?"),
    **dict.fromkeys("；؛", ";"),
    **dict.fromkeys("《〈「『【«｢", "“"),
    **dict.fromkeys("》〉」』】»｣", "”"),
    **dict.fromkeys("―⸺〜～", "—"),
    "！": "!",
    "：": ":",
    "（": "(",
    "）": ")",
    "„": "“",
    "‟": "“",
    "⋯": "…",
    "‼": "!",
    "⁇": "?",
    "⁈": "?",
    "⁉": "!",
    "・": " ",
    "ʼ": "'",
    "′": "'",
}

# These are written without a space behind them; as ASCII marks they need one, or "3，4" would read
# as one number and "好。OK" as a host name.
_UNSPACED_MARK = re.compile(r"(?<=[，、､،。｡।॥！？؟；؛：])(?=\w)")
_NOT_ASCII = re.compile(r"[^\x20-\x7e]")
_JOINER = re.compile("(?<![\u0900-\u0dff])[\u200c\u200d]")
_DECOMPOSED = re.compile("\\w[\u0300-\u036f\u3099\u309a]+")
_SPACES = re.compile(r"\s+")

_SAME_MARK = re.compile(r"([^\w\s])\1{3,}|__+")
_MARK_PILE = re.compile(r"[^\w\s]{9,}")
_LONG_NUMBER = re.compile(rf"\d{{{LONGEST_NUMBER_DIGITS + 1},}}")

CJK = "\u2e80-\u9fff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
"""Inside a character class: scripts written without spaces that the zh and ja engines split."""

_TOKEN = re.compile(rf"\S{{{MOST_TOKEN_PARTS + 1},}}")
_TOKEN_OUTSIDE_CJK = re.compile(rf"[^\s{CJK}]{{{MOST_TOKEN_PARTS + 1},}}")


def clean(text: MappedText) -> MappedText:
    """Text only: no control characters, lone surrogates, emoji or invisible characters.

    Letters are composed (NFC), full-width forms and the digits and punctuation of other scripts are
    brought to the usual ones, and every run of white space is one space, with none at either end.
    """
    if not text.text.isascii():
        text = text.sub(_EMOJI_BEFORE_MARK, "").sub(_UNSPACED_MARK, " ").sub(_JOINER, "")
        text = text.sub(_DECOMPOSED, lambda m: unicodedata.normalize("NFC", m.group())[:3])
    text = text.sub(_NOT_ASCII, lambda m: _plain(m.group()))
    text = text.sub(_SPACES, " ")
    first = 1 if text.text.startswith(" ") else 0
    return text.slice(first, max(first, len(text.text.rstrip())))


def guard(text: MappedText, *, unspaced_script: bool) -> MappedText:
    """Bound every token: long runs of marks collapsed, long numbers and tokens split by spaces.

    Args:
        text: cleaned text.
        unspaced_script: leave the runs of Chinese and Japanese characters whole, because the
            language's engine finds the words itself.
    """
    text = text.sub(_SAME_MARK, lambda m: m.group()[: 3 if m.group()[0] in ".!?" else 1])
    text = text.sub(_MARK_PILE, lambda m: m.group()[:3])
    text = text.spaced_at(
        at
        for match in _LONG_NUMBER.finditer(text.text)
        for at in range(match.start() + 1, match.end())
    )
    token = _TOKEN_OUTSIDE_CJK if unspaced_script else _TOKEN
    return text.spaced_at(
        match.start() + cut for match in token.finditer(text.text) for cut in _cuts(match.group())
    )


@lru_cache(maxsize=4096)
def _plain(char: str) -> str:
    mark = _MARKS.get(char)
    if mark is not None:
        return mark
    if _EMOJI.match(char):
        return " "
    if "\uff01" <= char <= "\uff5e":  # full-width ASCII
        return chr(ord(char) - 0xFEE0)
    category = unicodedata.category(char)
    if category == "Nd":  # digits of every script: the libraries know some, "0" to "9" all do
        return str(unicodedata.decimal(char))
    if category == "Cs" or (category == "Cf" and char not in "\u200c\u200d"):
        return ""
    return " " if category[0] in "CZ" and category != "Cf" else char


def _part_kind(char: str, before: str) -> str:
    """Which kind of part a character belongs to; empty for one that is a part by itself."""
    if char.isdigit() or (char in ".," and before.isdigit()):
        return "digit"
    if char.isupper():
        return "upper"
    is_letter = char.isalpha() or char in "'’" or unicodedata.category(char) in ("Mn", "Mc")
    return "letter" if is_letter else ""


def _cuts(token: str) -> list[int]:
    """Where to put spaces into a token so that no piece is longer, or of more parts, than allowed.

    Prefers the place behind the last mark in the second half of the piece.
    """
    cuts: list[int] = []
    start, parts, after_mark, kind_before = 0, 0, 0, ""
    at = 0
    while at < len(token):
        kind = _part_kind(token[at], token[at - 1] if at > start else "")
        # "Word" is one part, "fooBar" are two
        continues = kind and (kind == kind_before or (kind_before, kind) == ("upper", "letter"))
        parts += not continues
        if parts > MOST_TOKEN_PARTS or at - start >= LONGEST_TOKEN_CHARS:
            start = at = after_mark if after_mark - start >= (at - start) // 2 else at
            cuts.append(start)
            parts, kind_before = 0, ""
            continue
        if not kind:
            after_mark = at + 1
        kind_before = kind
        at += 1
    return cuts
