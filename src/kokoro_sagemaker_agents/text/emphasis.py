"""Emphasis marks: which `*` and `_` open or close a span, and which are characters."""

from __future__ import annotations

import re
from typing import Final

from .pieces import CLOSE, DROP, OPEN, TEXT

#: Longest run of marks, and longest identifier, that is waited for.
_MAX_RUN: Final = 64
_IDENTIFIER: Final = re.compile(r"_+[A-Za-z0-9_]*")

#: What a run of marks is (a kind of piece), and where it ends.
Mark = tuple[int, int]


class Emphasis:
    """The spans of emphasis that are open.

    An opener is dropped as soon as the next character shows it to be one, whether or not it will
    ever be closed: waiting for the closer would hold the stream.
    """

    def __init__(self) -> None:
        self._open: list[str] = []

    def clear(self) -> None:
        """A new block begins: what is open stays unclosed."""
        self._open.clear()

    def asterisks(self, data: str, i: int, previous: str, final: bool) -> Mark | None:
        """What the run of `*` at `data[i]`, after the character `previous`, is.

        None when `data` ends before that can be told.
        """
        end = run_end(data, i, "*")
        if end == len(data) and not final and end - i < _MAX_RUN:
            return None
        following = data[end : end + 1] or " "
        opens, closes = not following.isspace(), not previous.isspace()
        run = data[i:end]
        if closes and self._close(run):
            return CLOSE, end
        if len(run) > 3 or (closes and not opens and len(run) > 1):
            return DROP, end
        if opens and _may_open(previous, following, len(run)):
            self._open.append(run)
            return OPEN, end
        return TEXT, end

    def underscores(self, data: str, i: int, previous: str, final: bool) -> Mark | None:
        """The same for the run of `_` at `data[i]`; identifiers (`__init__`) are text."""
        match = _IDENTIFIER.match(data, i)
        end = match.end() if match else i + 1
        if end == len(data) and not final and end - i < _MAX_RUN:
            return None
        after_run = run_end(data, i, "_")
        run, name = data[i:after_run], data[after_run:end]
        following = data[after_run : after_run + 1] or " "
        if name and (previous.isalnum() or _is_identifier(name, len(run))):
            return TEXT, end
        if not previous.isspace() and not name and self._close(run):
            return CLOSE, after_run
        if not following.isspace() and not previous.isalnum():
            self._open.append(run)
            return OPEN, after_run
        return TEXT, after_run

    def _close(self, run: str) -> bool:
        """Close the span that `run` closes, if one is open."""
        for at in range(len(self._open) - 1, -1, -1):
            opened = self._open[at]
            if opened == run or (opened[0] == run[0] and 3 in (len(opened), len(run))):
                del self._open[at]
                return True
        return False


def run_end(data: str, i: int, character: str) -> int:
    """Where the run of `character` that begins at `data[i]` ends."""
    end = i
    while end < len(data) and data[end] == character:
        end += 1
    return end


def _may_open(previous: str, following: str, run: int) -> bool:
    """Whether asterisks between these two characters may begin emphasis: not `5*4`, `price*,`."""
    if not previous.isalnum():
        return True
    return run > 1 and not (previous.isdigit() and following.isalnum())


def _is_identifier(name: str, run: int) -> bool:
    """Whether `__name__` or `_some_name` is a programmer's name rather than emphasis."""
    bare = name.rstrip("_")
    trailing = len(name) - len(bare)
    return (run >= 2 and trailing == run) or "_" in bare
