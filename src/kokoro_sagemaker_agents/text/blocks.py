"""Stretches of source that are dropped while they stream: code, reasoning, link addresses."""

from __future__ import annotations

import re
from typing import Final

#: A link's address without its `)` ends here.
_MAX_ADDRESS: Final = 2000


#: Longest beginning of a closer that is held.
MAX_CLOSER: Final = 64


class Block:
    """Everything up to a closer.

    Args:
        closer: The pattern of the closer, matched without regard to case.
        partial: The pattern of what may become a closer, at the end of what has come: it is
            held, so it must be bounded.
        keep: Leave the closer to what follows.
    """

    def __init__(self, closer: str, partial: str, *, keep: bool = False) -> None:
        self._closer = re.compile(closer, re.IGNORECASE)
        self._partial = re.compile(partial + r"\Z")
        self._keep = keep

    def take(self, data: str, i: int, final: bool) -> tuple[int, bool]:
        """How far `data` from `i` on belongs to the block, and whether the block ends there."""
        match = self._closer.search(data, i)
        # A closing fence may still grow by a backtick.
        if match and (match.end() < len(data) or final or data[-1] not in "`~"):
            return (match.start() if self._keep else match.end()), True
        held = None if final else self._partial.search(data, max(i, len(data) - MAX_CLOSER))
        return (held.start() if held else len(data)), False


def element(name: str) -> Block:
    """Everything up to `</name>`."""
    return Block(rf"</\s*{re.escape(name)}\s*>", "<[^<>]*")


def bracket_element(name: str) -> Block:
    """Everything up to `[/NAME]`."""
    return Block(rf"\[/{re.escape(name)}\]", r"\[[^\[\]]*")


def comment() -> Block:
    """Everything up to `-->`."""
    return Block("-->", "--?")


def fence(character: str, run: int) -> Block:
    """Everything up to a line that begins with at least `run` of the fence's character."""
    return Block(rf"\n[^\S\n]*{character}{{{run},}}", rf"\n[^\S\n]*{character}*")


def rest_of_line() -> Block:
    """Everything up to the end of the line."""
    return Block(r"\n", "(?!)", keep=True)


class Address:
    """A link's address, up to the parenthesis that closes it."""

    def __init__(self) -> None:
        self._depth = 1
        self._left = _MAX_ADDRESS

    def take(self, data: str, i: int, final: bool) -> tuple[int, bool]:
        """How far `data` from `i` on belongs to the address, and whether it ends there."""
        for at in range(i, len(data)):
            character = data[at]
            if character == "\n":
                return at, True
            self._depth += (character == "(") - (character == ")")
            self._left -= 1
            if self._depth == 0 or self._left == 0:
                return at + 1, True
        return len(data), False
