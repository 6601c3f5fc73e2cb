"""Incremental filters: source text in, pieces of visible text with their source ranges out.

The filter stands in front of the boundary rules. It is always in one of three states: at the
start of a line (what kind of line is this?), inside a line, or inside a block that is dropped.
What cannot be told yet is held back, for a bounded number of characters; everything it emits is
a function of the characters alone, never of where the tokens were cut.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from . import blocks
from .characters import ATOM_CLOSE, EMOJI_END, NAME_OPEN
from .emphasis import Emphasis, run_end
from .entities import entity
from .markdown import bracket, code_span, line_start
from .pieces import CLOSE, OPEN, SUB, TEXT, Piece, PieceWriter
from .silent import SILENT_CLASS, emoji_name, is_emoji_part, silent_run
from .tags import tag

#: Characters that may begin markup inside a line. A token without any passes untouched.
SPECIAL: Final = re.compile(f"[*_`<\\[&\\\\~|\\n!\u200d{SILENT_CLASS}]")
_BLANK: Final = re.compile(r"[^\S\n]*")
_LINK_MARKS: Final = re.compile(r"[*`]+")
_ESCAPABLE: Final = frozenset("\\`*_{}[]()#+-.!|<>~\"'$&")
#: Blocks in square brackets, as some models write reasoning and tool calls.
_BRACKET_BLOCKS: Final = frozenset({"THINK", "TOOL_CALLS", "TOOL_RESULTS"})
#: Longest run of blanks or marks that is waited for.
_MAX_RUN: Final = 64


class MarkupFilter:
    """Removes or words markup, piece by piece.

    Args:
        code: `"drop"` code blocks silently, or `"announce"` them with `code_notice`.
        tables: Speak tables by `"rows"`, or `"drop"` them.
        emoji: `"drop"` emoji, or `"name"` them.
        tags: `"keep"` SSML and other XML tags in the spoken text, or `"drop"` them.
        code_notice: What is spoken in place of a code block.
    """

    def __init__(self, code: str, tables: str, emoji: str, tags: str, code_notice: str) -> None:
        self._announced = code_notice if code == "announce" else ""
        self._rows = tables == "rows"
        self._name_emoji = emoji == "name"
        self._keep_tags = tags == "keep"
        self._handlers: dict[str, Callable[[str, int], int]] = {
            "\n": self._newline,
            "*": self._asterisks,
            "_": self._underscores,
            "`": self._backticks,
            "<": self._tag,
            "[": self._bracket,
            "&": self._entity,
            "\\": self._escape,
            "~": self._tildes,
            "|": self._pipe,
            "!": self._exclamation,
            "\u200d": self._joiner,
        }
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next character is position 0 of a new text."""
        self._out = PieceWriter()
        self._begin()

    def _begin(self) -> None:
        self._held = ""
        #: Whether it is inside a plain line with nothing held back.
        self.idle = False
        self._state: Callable[[str, int], int] = self._line_start
        self._line = "text"
        self._previous = "\n"
        self._emphasis = Emphasis()
        self._block: blocks.Block | blocks.Address = blocks.Address()
        self._final = False
        self._out.begin()

    def skip(self, text: str) -> int:
        """Note plain text that went past while idle; returns its position."""
        start = self._out.position
        self._out.position += len(text)
        self._previous = text[-1]
        return start

    def feed(self, text: str) -> list[Piece]:
        """The pieces that `text` completes."""
        data = self._held + text
        i, length = 0, len(data)
        while i < length:
            following = self._state(data, i)
            if following < 0:
                break
            if following > i:
                self._previous = data[following - 1]
            i = following
        self._held = data[i:]
        self._out.position += i
        self.idle = i == length and self._state == self._inline and not self._out.after_name
        return self._out.take()

    def finish(self) -> list[Piece]:
        """The pieces left at the end of the text: what was never closed is literal."""
        self._final = True
        held, self._held = self._held, ""
        pieces = self.feed(held)
        self._begin()
        return pieces

    def settle(self) -> list[Piece]:
        """The piece of a held `!`, which is only held for the case of an image, `![`."""
        if self._held != "!":
            return []
        self._final = True
        self._held = ""
        pieces = self.feed("!")
        self._final = False
        return pieces

    # -- lines ------------------------------------------------------------------------------

    def _line_start(self, data: str, i: int) -> int:
        found = line_start(data, i, self._final)
        if found is None:
            return -1
        kind, end = found
        if kind == "text":
            self._out.text(data, i, end)
            self._enter_line("text")
            return end
        if kind == "quote":
            self._out.drop(i, end)
            return end
        self._out.end_block(i)
        self._emphasis.clear()
        if kind == "fence":
            self._out.text(data, i, end)
            self._state = self._fence
            return end if end > i else self._fence(data, i)
        self._out.drop(i, end)
        if kind == "row" and not self._rows:
            return self._enter_block(blocks.rest_of_line(), end)
        if kind in ("row", "heading"):
            self._enter_line(kind)
            self._out.cell_filled = False
        return end

    def _enter_line(self, kind: str) -> None:
        self._line = kind
        self._state = self._inline

    def _newline(self, data: str, i: int) -> int:
        if self._line == "text":
            self._out.text(data, i, i + 1)
        else:
            self._out.drop(i, i + 1)
            self._out.end_block(i + 1)
        self._state = self._line_start
        self._line = "text"
        return i + 1

    # -- dropped blocks ---------------------------------------------------------------------

    def _enter_block(self, block: blocks.Block | blocks.Address, i: int) -> int:
        self._block = block
        self._state = self._in_block
        return i

    def _in_block(self, data: str, i: int) -> int:
        end, over = self._block.take(data, i, self._final)
        self._out.drop(i, end)
        if over and isinstance(self._block, blocks.Address):
            self._state = self._inline
        elif over:
            self._out.end_block(end)
            self._state = self._line_start
        return end if end > i or over else -1

    def _fence(self, data: str, i: int) -> int:
        """Three or more backticks or tildes: a code block, or inline code on one line."""
        character = data[i]
        run = run_end(data, i, character) - i
        if character == "`":
            span = code_span(data, i, self._final)
            if span is None:
                self._state = self._fence
                return -1
            if not isinstance(span, str):
                self._enter_line(self._line)
                return self._code(data, i, *span)
        self._out.end_block(i)
        if self._announced:
            self._out.emit(SUB, self._announced, i, i)
            self._out.end_block(i)
        self._out.drop(i, i + run)
        return self._enter_block(blocks.fence(character, run), i + run)

    # -- inside a line ----------------------------------------------------------------------

    def _inline(self, data: str, i: int) -> int:
        match = SPECIAL.search(data, i)
        if match is None:
            self._out.text(data, i, len(data))
            return len(data)
        at = match.start()
        if at > i:
            self._out.text(data, i, at)
            return at
        handler = self._handlers.get(data[at])
        return handler(data, at) if handler else self._unspoken(data, at)

    def _before(self, data: str, i: int) -> str:
        return data[i - 1] if i else self._previous

    def _unspoken(self, data: str, i: int) -> int:
        match = silent_run(data, i, len(data))
        assert match is not None
        if self._name_emoji and match.lastgroup == "emoji":
            return self._emoji(data, i)
        self._out.silent(match)
        return match.end()

    def _emoji(self, data: str, i: int) -> int:
        previous = self._before(data, i)
        name = emoji_name(previous, data[i])
        if not name:
            self._out.drop(i, i + 1)
            return i + 1
        if self._out.after_name or not previous.isspace():
            self._out.emit(SUB, " ", i, i)
        self._out.emit(SUB, NAME_OPEN, i, i)
        self._out.emit(SUB, name, i, i + 1)
        self._out.emit(SUB, ATOM_CLOSE, i + 1, i + 1)
        self._out.emit(SUB, EMOJI_END, i + 1, i + 1)
        self._out.after_name = True
        return i + 1

    def _joiner(self, data: str, i: int) -> int:
        """A zero-width joiner: part of an emoji, or of a word (Hindi, Persian)."""
        if is_emoji_part(self._before(data, i)):
            self._out.drop(i, i + 1)
        else:
            self._out.text(data, i, i + 1)
        return i + 1

    def _asterisks(self, data: str, i: int) -> int:
        return self._mark(
            data, i, self._emphasis.asterisks(data, i, self._before(data, i), self._final)
        )

    def _underscores(self, data: str, i: int) -> int:
        return self._mark(
            data, i, self._emphasis.underscores(data, i, self._before(data, i), self._final)
        )

    def _mark(self, data: str, i: int, mark: tuple[int, int] | None) -> int:
        if mark is None:
            return -1
        kind, end = mark
        if kind == TEXT:
            self._out.text(data, i, end)
        else:
            self._out.emit(kind, "", i, end)
        return end

    def _backticks(self, data: str, i: int) -> int:
        if self._before(data, i).isalnum():  # an apostrophe: "it`s"
            self._out.text(data, i, i + 1)
            return i + 1
        span = code_span(data, i, self._final)
        if span is None:
            return -1
        if span == "fence":
            return self._fence(data, i)
        if isinstance(span, str):
            end = run_end(data, i, "`")
            self._out.text(data, i, end)
            return end
        return self._code(data, i, *span)

    def _code(self, data: str, i: int, start: int, stop: int, end: int) -> int:
        """Inline code: its words are spoken, its backticks are not."""
        code = data[start:stop].strip()
        start = data.index(code, start)
        stop = start + len(code)
        self._out.drop(i, start)
        self._out.atom(data, start, stop)
        self._out.drop(stop, end)
        return end

    def _tag(self, data: str, i: int) -> int:
        found = tag(data, i, self._final)
        if found is None:
            return -1
        kind, name, end = found
        if kind == "text":
            self._out.text(data, i, end)
        elif kind == "link":
            self._out.drop(i, i + 1)
            self._out.atom(data, i + 1, end - 1)
            self._out.drop(end - 1, end)
        elif kind == "block":
            self._out.end_block(i)
            self._out.drop(i, end)
            return self._enter_block(blocks.element(name), end)
        elif kind == "comment":
            self._out.drop(i, end)
            return self._enter_block(blocks.comment(), end)
        elif kind == "keep" and self._keep_tags:
            self._out.atom(data, i, end)
        else:
            if kind == "break":
                self._out.end_block(i)
            self._out.drop(i, end)
        return end

    def _bracket(self, data: str, i: int) -> int:
        found = bracket(data, i, self._final)
        if found is None:
            return -1
        kind, start, stop, end = found
        content = data[start:stop]
        if kind == "footnote":
            self._out.drop(i, end)
        elif kind == "link":
            self._out.emit(OPEN, "", i, start)
            self._link_text(data, start, stop)
            self._out.emit(CLOSE, "", stop, end)
            return self._enter_block(blocks.Address(), end)
        elif not content:
            self._out.text(data, i, end)
        elif content in _BRACKET_BLOCKS:
            self._out.end_block(i)
            self._out.drop(i, end)
            return self._enter_block(blocks.bracket_element(content), end)
        else:
            self._out.atom(data, i, end)
        return end

    def _link_text(self, data: str, i: int, j: int) -> None:
        """A link's text: its emphasis and code marks are dropped, the rest is literal."""
        while match := _LINK_MARKS.search(data, i, j):
            self._out.literal(data, i, match.start())
            self._out.drop(match.start(), match.end())
            i = match.end()
        self._out.literal(data, i, j)

    def _exclamation(self, data: str, i: int) -> int:
        """An image if `[` follows, and then only where an image can begin."""
        following = data[i + 1 : i + 2]
        if self._before(data, i).isspace():
            if not following and not self._final:
                return -1
            if following == "[":
                self._out.drop(i, i + 1)
                return i + 1
        self._out.text(data, i, i + 1)
        return i + 1

    def _entity(self, data: str, i: int) -> int:
        found = entity(data, i, self._final)
        if found is None:
            return -1
        text, end = found
        if text:
            match = silent_run(text, 0, len(text))
            self._out.emit(SUB, " " if match or text == "\n" else text, i, end)
        else:
            self._out.text(data, i, end)
        return end

    def _escape(self, data: str, i: int) -> int:
        following = data[i + 1 : i + 2]
        if not following and not self._final:
            return -1
        if following in _ESCAPABLE:
            self._out.drop(i, i + 1)
            self._out.text(data, i + 1, i + 2)
            return i + 2
        self._out.text(data, i, i + 1)
        return i + 1

    def _tildes(self, data: str, i: int) -> int:
        end = run_end(data, i, "~")
        if end == len(data) and not self._final and end - i < _MAX_RUN:
            return -1
        if end - i == 2:
            self._out.drop(i, end)
        else:
            self._out.text(data, i, end)
        return end

    def _pipe(self, data: str, i: int) -> int:
        """The end of a cell in a table row; elsewhere a character like any other."""
        if self._line != "row":
            self._out.text(data, i, i + 1)
            return i + 1
        match = _BLANK.match(data, i + 1)
        end = match.end() if match else i + 1
        if end == len(data) and not self._final and end - i < _MAX_RUN:
            return -1
        if not self._out.cell_filled or data[end : end + 1] in ("", "\n", "|"):
            self._out.drop(i, end)
        else:
            self._out.emit(SUB, ", ", i, end)
        return end
