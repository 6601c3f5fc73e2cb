"""All marks of a language together: which rule answers for which mark."""

from __future__ import annotations

from .boundaries import (
    MORE,
    NO,
    SPLIT,
    Answer,
    around,
    bullet,
    ellipsis_mark,
    emoji,
    is_address,
    loud,
    newline,
    wide,
)
from .characters import ATOM_CLOSE, ATOM_OPEN, BREAK, ELLIPSIS, EMOJI_END, LOUD_MARKS, WIDE_MARKS
from .languages import Language
from .periods import Periods

_DOUBLE_QUOTES = ('"', "”", "»", "“")
_PAIRS = ("()", "[]", "“”", "«»", "「」", "『』", "《》")


class Boundaries:
    """The boundary rules of one language.

    Args:
        language: Its abbreviations and starters.
    """

    def __init__(self, language: Language) -> None:
        self._pronoun = language.pronoun
        self._starters = language.starters
        self._periods = Periods(language)

    def judge(self, text: str, i: int, final: bool) -> Answer:
        """The answer for the mark at `text[i]`, where `CANDIDATE` matched.

        Args:
            text: The visible text since the last boundary.
            i: The position of the mark.
            final: Whether the text is over, so that nothing can follow.
        """
        character = text[i]
        if character == ".":
            return self._periods.judge(text, i, final)
        if character == BREAK:
            return SPLIT, i
        if character == "\n":
            return newline(text, i, final)
        if character in LOUD_MARKS:
            return loud(text, i, final)
        if character == ELLIPSIS:
            return ellipsis_mark(text, i, final, self._pronoun)
        if character in WIDE_MARKS:
            return wide(text, i, final)
        if character == ATOM_OPEN:
            return _atom(text, i, final)
        if character == EMOJI_END:
            return emoji(text, i, final, self._starters)
        return bullet(text, i, final)

    def plausible_end(self, text: str, i: int, eager: bool) -> bool:
        """Whether the undecided mark at `text[i]` reads as a sentence end with nothing after it.

        For a stalled stream and for eager release. Only what is almost always a boundary counts:
        a mark after an ordinary word, never one after an abbreviation or inside a quotation.

        Args:
            text: The visible text since the last boundary.
            i: The position of the mark.
            eager: Nothing says yet that the text pauses here, so that line ends, ellipses and
                closing quotes ("Really?" she asked) are no sign either.
        """
        near = around(text, i, False)
        if near.next < len(text) or _unclosed(text[: near.end]):
            return False
        character = text[i]
        # After `."` comes the next sentence, after `?"` or `.)` the rest of this one.
        closed = text[near.stop : near.end]
        if eager and closed and (character != "." or closed not in _DOUBLE_QUOTES):
            return False
        if character in "\n…" or text.startswith("..", i):
            return not eager
        if character == "．" and text[i - 1 : i].isdigit():
            return False
        if character in WIDE_MARKS:
            return wide(text + " ", i, True)[0] == SPLIT
        if any(mark in LOUD_MARKS for mark in text[i : near.stop]):
            return not is_address(text, i)
        return character == "." and self._periods.plausible_end(text, i, near)


def _atom(text: str, i: int, final: bool) -> Answer:
    """Nothing inside an atom is a boundary, but a mark that ends inline code may be one."""
    end = text.index(ATOM_CLOSE, i)
    inside = text[i + 1 : end].rstrip("]")
    mark = inside[-1:]
    if not mark or mark not in "." + LOUD_MARKS or not any(map(str.isalnum, inside)):
        return NO, end + 1
    near = around(text, end, final)
    if near.end == len(text) or not near.known:
        return (SPLIT, end + 1) if final else (MORE, i)
    if near.next < len(text) and near.next > near.end and not text[near.next].islower():
        return SPLIT, near.end
    return NO, end + 1


def _unclosed(text: str) -> bool:
    """Whether a quotation or bracket is open at the end of `text`."""
    if text.count('"') % 2:
        return True
    return any(text.count(pair[0]) > text.count(pair[1]) for pair in _PAIRS)
