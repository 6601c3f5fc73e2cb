"""List markers inside a line of text: "1. First 2. Second", "a) …", "• …"."""

from __future__ import annotations

import re
from typing import Final

_BULLETS: Final = "•⁃‣◦▪●"
#: A sentence-initial marker: "1.", "2.)", "a.", "iv)", "• 9.".
MARKER: Final = re.compile(
    rf"(?:[{_BULLETS}\-–]\s*)?(?:(?P<number>\d{{1,3}})|(?P<letter>[A-Za-z])|[ivx]{{2,4}})"
    r"(?P<suffix>\.\)|[.)])\s"
)
#: Longest text that may still turn out to be a marker.
MAX_MARKER: Final = 8


def ends_marker(text: str, i: int) -> bool:
    """Whether the dot at `text[i]` ends the list marker that begins the text."""
    marker = MARKER.match(text)
    return marker is not None and marker.start("suffix") == i


def item_after(marker: re.Match[str]) -> re.Pattern[str] | None:
    """What the marker of the next item looks like, up to the first character of its text."""
    number, letter = marker["number"], marker["letter"]
    text = r"[^\W\d_]"
    if number is not None:
        label = str(int(number) + 1)
    elif letter is not None and letter not in "zZ":
        label = chr(ord(letter) + 1)
        text = r"(?:[^\W\d_]{2}|[AI]\s)"  # not "A. B. C."
    else:
        return None
    return re.compile(rf"(?<=\s){label}{re.escape(marker['suffix'])}\s+(?P<text>{text})")
