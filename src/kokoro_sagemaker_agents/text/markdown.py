"""Markdown read without a document: what a line begins with, what a span of markup encloses.

Pure functions over `(data, i, final)`: `data[i]` is where the construct may begin, and `None`
means that `data` ends before it can be told, which `final` (the text is over) forbids. Every one
of them gives up after a bounded number of characters, so nothing can hold the stream.
"""

from __future__ import annotations

import re
from typing import Final

#: Longest indentation, info string, and so on that is waited for.
MAX_INDENT: Final = 64
MAX_RULE: Final = 200
#: Longest inline code and link text that is waited for (LLM replies stay well below: the longest
#: of each in our hard cases is 25 characters).
MAX_CODE: Final = 120
MAX_LINK_TEXT: Final = 160

_BLANKS: Final = re.compile(r"[^\S\n]*")
_HEADING: Final = re.compile(r"#{1,6}(?=[^\S\n]|\n)[^\S\n]*")
_RULE: Final = re.compile(r"([-*_=~])(?:[^\S\n]*\1)*[^\S\n]*(?=\n)")
_RULE_PREFIX: Final = re.compile(r"([-*_=~])(?:[^\S\n]*\1)*[^\S\n]*\Z")
_BULLET: Final = re.compile(r"[-*+][^\S\n]+(?:\[[ xX]\][^\S\n]+)?")
_BULLET_PREFIX: Final = re.compile(r"[-*+](?:[^\S\n]+(?:\[(?:[ xX](?:\](?:[^\S\n]*))?)?)?)?\Z")
_QUOTE: Final = re.compile(r">(?![\d=])[^\S\n]?")
_TABLE_RULE: Final = re.compile(r"\|[-|:\s]*?(?=\n)")
_TABLE_RULE_PREFIX: Final = re.compile(r"\|[-|: \t\r]*\Z")


#: What a line begins with (`blank`, `heading`, `quote`, `bullet`, `rule`, `fence`, `row` or
#: `text`), and where its marker ends.
LineStart = tuple[str, int]


def line_start(data: str, i: int, final: bool) -> LineStart | None:
    """What the line that starts at `data[i]` begins with."""
    blanks = _BLANKS.match(data, i)
    at = blanks.end() if blanks else i
    if at == len(data):
        return ("text", at) if final or at - i > MAX_INDENT else None
    character = data[at]
    if character == "\n":
        return ("blank", at + 1)
    text = ("text", at)
    if character == "#":
        return _after_prefix(data, at, final, "heading", _HEADING, r"#{1,6}", text)
    if character == ">":
        if at + 1 == len(data) and not final:
            return None
        match = _QUOTE.match(data, at)
        return ("quote", match.end()) if match else text
    if character in "`~":
        return _fence_start(data, at, final, character, text)
    if character == "|":
        return _table_start(data, at, final)
    if character in "-*+_=":
        return _rule_or_bullet(data, at, final, text)
    return text


def _after_prefix(
    data: str,
    at: int,
    final: bool,
    kind: str,
    full: re.Pattern[str],
    prefix: str,
    otherwise: LineStart,
) -> LineStart | None:
    match = full.match(data, at)
    if match:
        return (kind, match.end())
    if not final and re.compile(prefix + r"\Z").match(data, at):
        return None
    return otherwise


def _fence_start(
    data: str, at: int, final: bool, character: str, text: LineStart
) -> LineStart | None:
    run = _run(data, at, character)
    if run >= 3:
        return ("fence", at)
    return None if at + run == len(data) and not final else text


def _table_start(data: str, at: int, final: bool) -> LineStart | None:
    match = _TABLE_RULE.match(data, at)
    if match:
        return ("rule", match.end())
    if not final and len(data) - at < MAX_RULE and _TABLE_RULE_PREFIX.match(data, at):
        return None
    return ("row", at + 1)


def _rule_or_bullet(data: str, at: int, final: bool, text: LineStart) -> LineStart | None:
    rule = _RULE.match(data, at)
    if rule is None and _RULE_PREFIX.match(data, at):
        if not final and len(data) - at < MAX_RULE:
            return None
        rule = _RULE_PREFIX.match(data, at)
    if rule and len("".join(rule.group().split())) >= (1 if data[at] == "=" else 3):
        return ("rule", rule.end())
    if not final and _BULLET_PREFIX.match(data, at):
        return None
    bullet = _BULLET.match(data, at)
    return ("bullet", bullet.end()) if bullet else text


def _run(data: str, at: int, character: str) -> int:
    end = at
    while end < len(data) and data[end] == character:
        end += 1
    return end - at


#: Inline code: where its content starts and stops, and where the whole construct ends.
CodeSpan = tuple[int, int, int]


def code_span(data: str, i: int, final: bool) -> CodeSpan | str | None:
    """The inline code whose backticks begin at `data[i]`.

    Returns:
        The span; `"literal"` when the backticks enclose nothing; `"fence"` when three or more of
        them open a block; None when that cannot be told yet.
    """
    run = _run(data, i, "`")
    start = i + run
    if start == len(data):
        return ("fence" if run >= 3 else "literal") if final or run > MAX_INDENT else None
    line_end = data.find("\n", start, start + MAX_CODE + run)
    limit = line_end if line_end >= 0 else min(len(data), start + MAX_CODE + run)
    at = data.find("`", start, limit)
    while at >= 0:
        closing = _run(data, at, "`")
        if at + closing == len(data) and not final and closing <= run:
            return None
        if closing == run and not data[at + closing : at + closing + 1].isalnum():
            return (start, at, at + closing)
        at = data.find("`", at + closing, limit)
    if line_end >= 0 or final or len(data) - start > MAX_CODE:
        return "fence" if run >= 3 else "literal"
    return None


#: What a `[` begins (`link`, `footnote` or `literal`), where the text between the brackets
#: starts and stops, and where the next piece begins (for a link: inside the parenthesis).
Bracket = tuple[str, int, int, int]

_PHONEMES: Final = re.compile(r"\(/[^/\s()]{1,80}/\)")
_PHONEMES_PREFIX: Final = re.compile(r"\(/[^/\s()]{0,80}/?\Z")


def bracket(data: str, i: int, final: bool) -> Bracket | None:
    """What the `[` at `data[i]` begins."""
    start = i + 1
    stop = _closing_bracket(data, start)
    literal = ("literal", start, start, start)
    if stop < 0:
        return literal if stop == -2 or final else None
    if data[start : start + 1] == "^" and stop - start > 1:
        return ("footnote", start, stop, stop + 1)
    after = stop + 1
    if after == len(data) and not final:
        return None
    inside = ("literal", start, stop, after)
    if data[after : after + 1] != "(":
        return inside
    phonemes = _PHONEMES.match(data, after)
    if phonemes:
        return ("literal", start, stop, phonemes.end())
    if not final and (after + 1 == len(data) or _PHONEMES_PREFIX.match(data, after)):
        return None
    return ("link", start, stop, after + 1)


def _closing_bracket(data: str, start: int) -> int:
    """Where the `]` for an opened `[` is; -1 when not there yet, -2 when it will not come."""
    depth = 1
    for at in range(start, min(len(data), start + MAX_LINK_TEXT)):
        character = data[at]
        if character == "]":
            depth -= 1
            if depth == 0:
                return at
        elif character == "[":
            depth += 1
        elif character == "\n":
            return -2
    return -2 if len(data) - start >= MAX_LINK_TEXT else -1
