"""Where the punctuation of a text is, for the engines that want words only."""

from __future__ import annotations

import re
from collections.abc import Iterator

# A mark is punctuation that ends or encloses words. Not one: a point, comma or colon between
# digits ("3.5", "12:30"), a point inside a name ("EE.UU", "x.com"), an apostrophe or hyphen
# inside a word.
_MARK = r"""(?:
    [;!?…—"“”()\[\]{}¿¡]
  | [,:](?!\d) | (?<!\d)[,:]
  | \.(?![A-Za-z0-9\u00c0-\u024f]) | (?<!\w)\.(?!\d)
  | (?<!\S)[-–−]+(?!\S)
  | (?<!\w)['‘]
)"""
_MARKS = re.compile(rf"\s*(?:{_MARK}\s*)+", re.VERBOSE)

_SOUNDS = str.maketrans(
    {"[": "(", "{": "(", "]": ")", "}": ")", "-": "—", "–": "—", "−": "—", "'": "", "‘": ""}
)

_BEFORE_OPENING = re.compile(r"(?<=[^(“\s])(?=[(“])")


def split_marks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Stretches of the text in order, as ``(start, end, is_marks)``; none is empty.

    Spaces are part of the marks they touch, else of the stretch of words.
    """
    done = 0
    for match in _MARKS.finditer(text):
        if match.start() > done:
            yield done, match.start(), False
        yield match.start(), match.end(), True
        done = match.end()
    if done < len(text):
        yield done, len(text), False


def mark_phonemes(marks: str) -> str:
    """The pauses and intonation of a stretch of marks, as phoneme symbols and spaces."""
    return marks.translate(_SOUNDS)


def spaced_marks(marks: str) -> str:
    """``mark_phonemes`` for a script written without spaces, with those Latin script would have."""
    sounds = _BEFORE_OPENING.sub(" ", mark_phonemes(marks).strip())
    before = " " if sounds.startswith(("(", "“")) else ""
    behind = "" if sounds.endswith(("(", "“")) else " "
    return f"{before}{sounds}{behind}"
