"""Characters that are never spoken: emoji, box drawing, invisible and undecodable ones."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from .characters import SENTINELS

_EMOJI: Final = (
    "\U0001f000-\U0001faff\U000e0020-\U000e007f"
    "\u2600-\u27bf\u2b50\u2b55\u2b1b\u2b1c\u231a\u231b\u2328\u23e9-\u23fa\ufe0f\u20e3"
)
#: Zero-width space, word joiner, byte order mark, soft hyphen.
_INVISIBLE: Final = "\u200b\u2060\ufeff\u00ad"
_BOXES: Final = "\u2500-\u259f"
#: Controls other than blanks, halves of surrogate pairs, and our own sentinels.
_BROKEN: Final = f"{SENTINELS}\x00-\x08\x0e-\x1f\x7f\ud800-\udfff"
_JOINER: Final = "\u200d"

#: For use inside a character class: everything that is not passed on as it is.
SILENT_CLASS: Final = _EMOJI + _INVISIBLE + _BOXES + _BROKEN

_RUN: Final = re.compile(
    f"(?P<emoji>[{_EMOJI}][{_EMOJI}{_JOINER}]*)|(?P<silent>[{_INVISIBLE}{_BOXES}]+)|[{_BROKEN}]"
)
_IS_EMOJI: Final = re.compile(f"[{_EMOJI}{_JOINER}]")


def silent_run(text: str, i: int, end: int) -> re.Match[str] | None:
    """The next run of such characters in `text[i:end]`.

    Its group `emoji` or `silent` matched if it is dropped; otherwise it is one broken character,
    for which `substitute` stands.
    """
    return _RUN.search(text, i, end)


def substitute(character: str) -> str:
    """What stands for a character that can't be passed on."""
    return "\ufffd" if "\ud800" <= character <= "\udfff" else " "


def is_emoji_part(character: str) -> bool:
    """Whether `character` is an emoji, a modifier of one, or the joiner between two."""
    return _IS_EMOJI.match(character) is not None


def emoji_name(previous: str, character: str) -> str:
    """The English name of an emoji; empty for what only modifies the one before it."""
    if previous == _JOINER or (_is_flag_letter(previous) and _is_flag_letter(character)):
        return ""
    if _is_flag_letter(character):
        return "flag"
    skin_tone = "\U0001f3fb" <= character <= "\U0001f3ff"
    if skin_tone or character >= "\U000e0020" or character in "\ufe0f\u20e3":
        return ""
    return unicodedata.name(character, "").lower().replace("-", " ")


def _is_flag_letter(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
