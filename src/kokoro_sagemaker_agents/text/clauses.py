"""The first chunk of an utterance may end at a clause, so that speech starts sooner."""

from __future__ import annotations

import re
from typing import Final

from .boundaries import MORE, NO, SPLIT, Answer
from .characters import BREAK
from .languages import Language

CLAUSE_MARKS: Final = ",;:—–，、；：،؛"
_TIGHT: Final = "—，、；："
_PAIRS: Final = ("()", "[]", "“”", "«»", "「」", "『』", "（）", "《》")
#: A first clause of this many words is worth speaking even when its words are short.
_MIN_WORDS: Final = 5
#: What must have come of the rest: a word and the start of the next, or this many characters
#: of a script without spaces. Less is not worth a seam.
_REST: Final = re.compile(rf"\s*[^\s.!?…{BREAK}]+\s+[^\s{BREAK}]")
_TIGHT_REST: Final = 5
_ENDS_SOON: Final = re.compile(r"\s*[^\s.!?…。！？]*[.!?…。！？]")
_MAX_REST: Final = 40


def clause(text: str, i: int, final: bool, language: Language) -> Answer:
    """Whether the first chunk may end at the clause mark `text[i]`.

    Args:
        text: The visible text of the chunk.
        i: The position of a mark of `CLAUSE_MARKS`.
        final: Whether the text is over.
        language: Its shortest first clause.
    """
    mark = text[i]
    end = i + 1
    following = text[end : end + 1]
    if not following:
        return (NO, end) if final else (MORE, i)
    tight = mark in _TIGHT
    if not tight and not following.isspace():
        return NO, end
    if text[i - 1 : i].isdigit():
        # "1,000", "10:30", "Jan 3, 1984": the digit may come after a blank
        after = text[end + 1 : end + 2] if following.isspace() else following
        if not after and not final:
            return MORE, i
        if after.isdigit():
            return NO, end
    if _open(text[:i]):
        return NO, end
    long_enough = end >= language.first_clause_chars or len(text[:i].split()) >= _MIN_WORDS
    if not long_enough:
        return NO, end
    most = _TIGHT_REST if tight else _MAX_REST
    over = _ENDS_SOON.match(text, end, end + most)
    if over:
        return NO, end
    if _REST.match(text, end):
        return SPLIT, end
    if BREAK in text[end : end + most]:
        return NO, end
    if len(text) - end >= most:
        return SPLIT, end
    return (NO, end) if final else (MORE, i)


def _open(text: str) -> bool:
    """Whether a quotation or bracket is open at the end of `text`."""
    if text.count('"') % 2:
        return True
    return any(text.count(opening) > text.count(closing) for opening, closing in _PAIRS)
