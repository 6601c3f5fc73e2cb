"""HTML entities."""

from __future__ import annotations

import re
from typing import Final

_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_PREFIX: Final = re.compile(r"&(?:#\d{0,7}|#[xX][0-9a-fA-F]{0,6}|[A-Za-z][A-Za-z0-9]{0,31})?\Z")


def entity(data: str, i: int, final: bool) -> tuple[str, int] | None:
    """The character that the entity at `data[i]` stands for, and where it ends.

    Empty for a `&` that begins none; None when `data` ends before that can be told.
    """
    match = _ENTITY.match(data, i)
    if match is None:
        return None if not final and _PREFIX.match(data, i) else ("", i + 1)
    from html import unescape  # its table of 2231 names is only loaded by a text that needs it

    text = unescape(match.group())
    return ("", i + 1) if text == match.group() else (text, match.end())
