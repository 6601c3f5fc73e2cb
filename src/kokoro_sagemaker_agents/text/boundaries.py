"""Where sentences end: every mark gets one of three answers.

A mark is a boundary (SPLIT, and where the chunk ends), is none (NO, and where to look next), or
it depends on text that has not come yet (MORE). The answer looks back at the last word and ahead
at most to the end of the next one, so it is a function of the characters around the mark and
costs the same however long the sentence is.

`.` is the only hard mark and has a module of its own, `periods`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .characters import (
    AMBIGUOUS_QUOTES,
    ATOM_CLOSE,
    ATOM_OPEN,
    BREAK,
    CJK_CLOSERS,
    CJK_OPENERS,
    CLOSERS,
    CONTINUERS,
    ELLIPSIS,
    EMOJI_END,
    LOUD_MARKS,
    MARKS,
    NAME_OPEN,
    OPENERS,
    WIDE_MARKS,
    is_caseless,
    is_cjk,
)
from .words import next_word, token_before

SPLIT: Final = 1
NO: Final = 0
MORE: Final = -1
#: An answer and a position: where the chunk ends, or where to look for the next mark.
Answer = tuple[int, int]

#: A run of marks longer than this ends here; so does a run of blanks. Look-ahead is bounded.
MAX_RUN: Final = 32
#: An unclosed CJK bracket holds boundaries for at most this many characters.
MAX_BRACKET: Final = 60
#: What makes the token before a mark an address, a path or code rather than a word.
ADDRESS: Final = re.compile(r"[@/\\=_]|^www\.")

CANDIDATE: Final = re.compile(
    f"[.{LOUD_MARKS}{ELLIPSIS}{WIDE_MARKS}\\n{BREAK}{ATOM_OPEN}{EMOJI_END}•⁃‣◦▪●]"
)
_BULLETS: Final = "•⁃‣◦▪●"
_MAX_CLOSERS: Final = 8
_SPACE: Final = r"[^\S\n]"
_CITATION: Final = re.compile(f"(?:{_SPACE}?{ATOM_OPEN}\\[\\d{{1,3}}\\]{ATOM_CLOSE}){{1,8}}")
_GLUED: Final = re.compile(f"(?:{EMOJI_END}|{ATOM_OPEN}\\[\\d{{1,3}}\\]{ATOM_CLOSE}){{1,8}}")
_EMOJI: Final = re.compile(
    f"(?:{_SPACE}{{0,16}}(?:{NAME_OPEN}[^{ATOM_CLOSE}]*{ATOM_CLOSE})?{EMOJI_END}){{1,8}}"
)
_BLANKS: Final = re.compile(f"\\s{{0,{MAX_RUN}}}")
_GUILLEMET: Final = re.compile(f"{_SPACE}{{1,2}}[»›]")
_NEXT_MARKER: Final = re.compile(r"(?:[a-z]|[ivx]{1,4})[.)]\s")
_NEXT_MARKER_PREFIX: Final = re.compile(r"(?:[a-z]|[ivx]{1,4})(?:[.)])?\Z")
#: After a closing 」 or 』 these carry on with the quotation ("「はい。」と言った").
_QUOTATIVE: Final = (
    *"とっをがのにへも、",
    *("です", "でし", "であ", "だっ", "だと", "など", "なの", "から", "は、"),
)
#: A line that ends in one of these goes on in the next ("父の\n家").
_CJK_UNFINISHED: Final = "のをにはがともへで、，"
_LINE_CONTINUES: Final = ",;，、；"


class Around(NamedTuple):
    """What stands around a mark.

    Args:
        stop: End of the run of marks.
        end: End of the quotes and brackets that close after it.
        next: Position of the next visible character, at the end of the text if there is none.
        newline: Whether a line ends between.
        known: Whether that position is certain.
    """

    stop: int
    end: int
    next: int
    newline: bool
    known: bool


def around(text: str, i: int, final: bool, *, spaced: bool = True) -> Around:
    """Look at what follows the mark at `text[i]`.

    Args:
        text: The visible text.
        i: The position of the mark.
        final: Whether the text is over.
        spaced: Whether a closer, a citation or an emoji after a blank belongs to the mark.
    """
    if i + 1 == len(text):
        return Around(i + 1, i + 1, i + 1, False, final)
    length = len(text)
    stop = i + 1
    while stop < length and text[stop] in MARKS and stop - i < MAX_RUN:
        stop += 1
    end = closers_end(text, stop)
    guillemet = _GUILLEMET.match(text, end) if spaced else None
    if guillemet and text.count("«", 0, end) > text.count("»", 0, end):
        end = closers_end(text, guillemet.end())
    if spaced and end < length:
        for pattern in (_CITATION, _EMOJI):
            match = pattern.match(text, end)
            end = match.end() if match else end
    elif end < length:
        glued = _GLUED.match(text, end)
        end = glued.end() if glued else end
    blanks = _BLANKS.match(text, end)
    following = blanks.end() if blanks else end
    newline = "\n" in text[end:following]
    known = final or following < length or following - end >= MAX_RUN
    return Around(stop, end, following, newline, known)


def closers_end(text: str, at: int) -> int:
    """Where the quotes and brackets that begin at `text[at]` and close something end."""
    end = at
    while end < len(text) and text[end] in CLOSERS and end - at < _MAX_CLOSERS:
        end += 1
    if at < end < len(text) and (text[end].isalnum() or text[end] in "¿¡"):
        # A quote with a word stuck to it opens, unless one of its kind is open.
        while end > at and text[end - 1] in AMBIGUOUS_QUOTES:
            if text[end - 1] in "\"'" and text.count(text[end - 1], 0, end - 1) % 2:
                break
            end -= 1
    return end


def loud(text: str, i: int, final: bool) -> Answer:
    """`!` and `?`: a boundary unless the sentence visibly goes on ("Yahoo! in the")."""
    near = around(text, i, final)
    if near.end == len(text):
        return (SPLIT, near.end) if final else (MORE, i)
    if near.end < near.next or text[near.end] == BREAK:
        return _loud_spaced(text, i, near)
    following = text[near.end]
    previous = text[i - 1 : i]
    if following in OPENERS and following not in "([" and not is_address(text, i):
        return SPLIT, near.end
    if following.isupper() or following in "¿¡":
        return (NO, near.end) if is_address(text, i) else (SPLIT, near.end)
    if is_caseless(following) and (is_caseless(previous) or near.end > near.stop or i > near.stop):
        return SPLIT, near.end
    if is_cjk(following) and not is_address(text, i):
        return SPLIT, near.end
    return NO, near.end


def _loud_spaced(text: str, i: int, near: Around) -> Answer:
    if near.newline or near.next == len(text):
        return (SPLIT, near.end) if near.known or near.newline else (MORE, i)
    following = text[near.next]
    if following in CONTINUERS or following in ".…" + LOUD_MARKS:
        return NO, near.next
    if following.islower():
        # "Is it?" she asked. / Yahoo! in the / Well?... maybe / but: bet? really, …
        question = text[near.stop - 1] == "?" and near.end == near.stop
        return (SPLIT, near.end) if question and text[i - 1 : i] != " " else (NO, near.next)
    return SPLIT, near.end


def is_address(text: str, i: int) -> bool:
    """Whether the mark stands inside a URL or the like rather than after a word."""
    return ADDRESS.search(token_before(text, i)) is not None


def in_brackets(text: str, i: int) -> bool:
    """Whether a bracket that was opened not long before `text[i]` is still open."""
    start = max(0, i - MAX_BRACKET)
    return any(
        text.rfind(opened, start, i) > text.rfind(closed, start, i)
        for opened, closed in ("()", "[]", "{}", "（）")
    )


def wide(text: str, i: int, final: bool) -> Answer:
    """Marks of scripts without letter case: boundaries at once, but not inside their brackets."""
    character = text[i]
    if character == "．" and text[i - 1 : i].isdigit():
        if i + 1 == len(text) and not final:
            return MORE, i
        if text[i + 1 : i + 2].isdigit():
            return NO, i + 1
    near = around(text, i, final, spaced=False)
    if near.end == len(text):
        return (SPLIT, near.end) if final else (MORE, i)
    depth = _bracket_depth(text, near.stop)
    if depth > 0 and near.end == near.stop:
        return NO, near.stop
    if depth - _closed(text, near.stop, near.end) > 0:
        return NO, near.end
    if near.next > near.end:
        return SPLIT, near.end
    following = text[near.end]
    closed = near.end > near.stop
    if following in CONTINUERS:
        return NO, near.next
    if closed and text.startswith(_QUOTATIVE, near.end):
        return NO, near.next
    if closed and near.end + 1 == len(text) and not final and following in "でだなかは":
        return MORE, i
    if closed and following.islower():
        return NO, near.next
    return SPLIT, near.end


def _bracket_depth(text: str, i: int) -> int:
    """How many CJK brackets are open before `i`, of those opened not long before."""
    depth = 0
    for at in range(max(0, i - MAX_BRACKET), i):
        if text[at] in CJK_OPENERS:
            depth += 1
        elif depth and text[at] in CJK_CLOSERS:
            depth -= 1
    return depth


def _closed(text: str, start: int, end: int) -> int:
    return sum(character in CJK_CLOSERS for character in text[start:end])


def ellipsis_mark(
    text: str, i: int, final: bool, pronoun: str, near: Around | None = None
) -> Answer:
    """`…` and `...`: a boundary before a capital, a pause otherwise.

    Before the one-letter `pronoun` that is always a capital (English "I") it stays a pause.
    """
    near = near or around(text, i, final)
    if any(mark in WIDE_MARKS for mark in text[i : near.stop]):
        return wide(text, i, final)
    if near.end == len(text):
        return (SPLIT, near.end) if final else (MORE, i)
    if near.next == len(text):
        return (SPLIT, near.end) if near.known or near.newline else (MORE, i)
    if near.newline:
        return SPLIT, near.end
    following = text[near.next]
    if following == BREAK:
        return SPLIT, near.end
    if following == "." or following in CONTINUERS:
        return NO, near.next
    if following.isupper():
        return _before_capital(text, i, near, final, pronoun)
    if following in "¿¡" or (following in OPENERS and near.next > near.end):
        return SPLIT, near.end
    if near.end > near.stop and not following.islower():
        return SPLIT, near.end
    if is_caseless(following) and not is_cjk(following) and near.next > near.end:
        return SPLIT, near.end
    return NO, near.next


def _before_capital(text: str, i: int, near: Around, final: bool, pronoun: str) -> Answer:
    after = near.next + 1
    if text[near.next] == pronoun:
        if after == len(text) and not final:
            return MORE, i
        if not text[after : after + 1].isalpha():
            return NO, after
    return SPLIT, near.end


def emoji(text: str, i: int, final: bool, starters: frozenset[str]) -> Answer:
    """An emoji in place of a mark: "Sure thing 😊 How can I help?", but not "I ❤️ New York"."""
    blanks = _BLANKS.match(text, i + 1)
    following = blanks.end() if blanks else i + 1
    if following == len(text):
        return (NO, following) if final else (MORE, i)
    if following == i + 1 or not text[following].isupper() or "\n" in text[i:following]:
        return NO, i + 1
    word = next_word(text, following, final)
    if word is None:
        return MORE, i
    return (SPLIT, i + 1) if word.lower() in starters else (NO, following)


def bullet(text: str, i: int, final: bool) -> Answer:
    """A typographic bullet inside a line begins an item."""
    if not text[:i].strip():
        return NO, i + 1
    spaced = text[i - 1].isspace()
    return (SPLIT, i) if spaced else (NO, i + 1)


def newline(text: str, i: int, final: bool) -> Answer:
    """A single line end: a boundary unless the next line visibly goes on with the sentence."""
    blanks = _BLANKS.match(text, i)
    following = blanks.end() if blanks else i + 1
    before = text[:i].rstrip()
    if not before:
        return NO, i + 1
    last = before[-1]
    if last in ":：":
        return SPLIT, len(before)
    if following == len(text):
        if final or following - i >= MAX_RUN:
            return SPLIT, len(before)
        return MORE, i
    character = text[following]
    if character.islower():
        return _lower_line(text, i, following, final, len(before))
    if last in _LINE_CONTINUES and not (character.isdigit() or character in _BULLETS):
        return NO, following
    if last in CJK_OPENERS or last in "([«“":
        return NO, following
    if is_cjk(last) and is_cjk(character) and last in _CJK_UNFINISHED:
        return NO, following
    if character in CONTINUERS:
        return NO, following
    return SPLIT, len(before)


def _lower_line(text: str, i: int, following: int, final: bool, end: int) -> Answer:
    """A line that begins in lower case goes on, unless it begins with a list marker ("b) …")."""
    if _NEXT_MARKER.match(text, following):
        return SPLIT, end
    if not final and _NEXT_MARKER_PREFIX.match(text, following):
        return MORE, i
    return NO, following
