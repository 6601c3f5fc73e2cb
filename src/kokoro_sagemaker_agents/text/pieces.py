"""What the filters emit: stretches of source and what is visible of them."""

from __future__ import annotations

import re
from typing import NamedTuple

from .characters import ATOM_CLOSE, ATOM_OPEN, EMOJI_END
from .silent import silent_run, substitute

#: Kinds of piece. TEXT is spoken as it stands, SUB stands for its source range, DROP is silent,
#: BREAK ends whatever came before, OPEN and CLOSE are the (silent) ends of an emphasised span.
TEXT, SUB, DROP, BREAK, OPEN, CLOSE = range(6)


class Piece(NamedTuple):
    """A stretch of source `[start, end)` and what is visible of it."""

    kind: int
    text: str
    start: int
    end: int


class PieceWriter:
    """Collects pieces; positions are given relative to the data at hand."""

    def __init__(self) -> None:
        #: Position of the data's first character in everything fed.
        self.position = 0
        self.begin()

    def begin(self) -> None:
        """A new text begins, at the position reached."""
        self.pieces: list[Piece] = []
        #: Whether the last thing said was the name of an emoji, so that a word needs a blank.
        self.after_name = False
        #: Whether anything was said in the table row at hand.
        self.cell_filled = False

    def take(self) -> list[Piece]:
        """The pieces collected since the last call."""
        pieces, self.pieces = self.pieces, []
        return pieces

    def emit(self, kind: int, text: str, i: int, j: int) -> None:
        """Add a piece for the source `[i, j)` of the data."""
        self.pieces.append(Piece(kind, text, self.position + i, self.position + j))

    def text(self, data: str, i: int, j: int) -> None:
        """Add source that is spoken as it stands."""
        if i < j:
            if self.after_name:
                self.after_name = False
                if data[i].isalnum():
                    self.emit(SUB, " ", i, i)
            self.emit(TEXT, data[i:j], i, j)
            self.cell_filled = self.cell_filled or not data[i:j].isspace()

    def drop(self, i: int, j: int) -> None:
        """Add source that is not spoken."""
        if i < j:
            self.emit(DROP, "", i, j)

    def end_block(self, i: int) -> None:
        """Everything before position `i` is complete."""
        self.emit(BREAK, "", i, i)

    def atom(self, data: str, i: int, j: int) -> None:
        """Add literal source in which no boundary may fall."""
        self.emit(SUB, ATOM_OPEN, i, i)
        self.literal(data, i, j)
        self.emit(SUB, ATOM_CLOSE, j, j)

    def literal(self, data: str, i: int, j: int) -> None:
        """Add source that is not read as markup again, without what is never spoken."""
        while match := silent_run(data, i, j):
            self.text(data, i, match.start())
            self.silent(match)
            i = match.end()
        self.text(data, i, j)

    def silent(self, match: re.Match[str]) -> None:
        """Add a run of characters that are never spoken."""
        start, end = match.span()
        if not match.lastgroup:
            self.emit(SUB, substitute(match.group()), start, end)
            return
        self.drop(start, end)
        if match.lastgroup == "emoji":
            self.emit(SUB, EMOJI_END, end, end)
