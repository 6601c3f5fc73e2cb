"""The visible text that waits for a boundary, and where each character of it came from."""

from __future__ import annotations

import re

from .characters import EMOJI_END, SENTINELS, is_wide
from .chunk import Kind, Span, TextChunk

#: A space before removed markup is superfluous if one of these follows it ("up 👍!").
_NO_SPACE_BEFORE = " .,!?;:…"
_SUPERFLUOUS = re.compile(r"[^\W_]\s+\Z")


class VisibleText:
    """Visible text and source since the last cut.

    `syncs` holds the points at which the source position stops following the visible one:
    `[visible index, source position, source length]`, length -1 for text that is its own source
    from there on. Contiguous plain text needs no new point, so feeding prose costs nothing here.
    """

    __slots__ = ("_next", "base", "source", "syncs", "text")

    def __init__(self) -> None:
        self.text = ""
        self.source = ""
        #: Position of `source[0]` in everything fed.
        self.base = 0
        self.syncs: list[tuple[int, int, int]] = []
        self._next = -1

    def append(self, text: str, start: int) -> None:
        """Add source text that is spoken as it is. Blanks at the start of a chunk are skipped."""
        if not self.text:
            stripped = text.lstrip()
            if not stripped:
                return
            start += len(text) - len(stripped)
            text = stripped
        if start != self._next:
            self.syncs.append((len(self.text), start, -1))
        self.text += text
        self._next = start + len(text)

    def replace(self, text: str, start: int, end: int) -> None:
        """Add text that stands for the source `[start, end)`."""
        if not self.text and (text.isspace() or text == EMOJI_END):
            return
        if text == EMOJI_END == self.text[-1]:
            # one end for a run of emoji, however it came
            self.syncs[-1] = (len(self.text) - 1, start, end - start)
            return
        self.syncs.append((len(self.text), start, end - start))
        self.text += text
        self._next = -1

    def skip(self, count: int) -> None:
        """Forget the first `count` visible characters; their source stays with what follows."""
        self._shift(count)

    def cut(self, index: int, kind: Kind) -> TextChunk:
        """Take the chunk that ends before visible character `index`.

        Markup between the last character and the next visible one (a closing `**`) goes with it.
        """
        stop = self.source_start(index) if index < len(self.text) else self.source_end()
        spoken, spans = self._spoken(index)
        chunk = self._take(stop, spoken, kind, spans)
        self._shift(index)
        return chunk

    def cut_silent(self, stop: int) -> TextChunk:
        """Take the source up to position `stop` as a chunk with nothing to speak."""
        return self._take(stop, "", "silent", ())

    def source_start(self, index: int) -> int:
        """The source position of visible character `index`."""
        for at, start, length in reversed(self.syncs):
            if at <= index:
                return start + (index - at if length < 0 else 0)
        raise IndexError(f"no visible character {index}")

    def source_end(self) -> int:
        """The source position at which the visible text ends, as far as it has come."""
        at, start, length = self.syncs[-1]
        return start + (len(self.text) - at if length < 0 else length)

    def _take(self, stop: int, spoken: str, kind: Kind, spans: tuple[Span, ...]) -> TextChunk:
        start = self.base
        text = self.source[: stop - start]
        self.source = self.source[stop - start :]
        self.base = stop
        return TextChunk(text, spoken, start, stop, kind, spans)

    def _shift(self, count: int) -> None:
        """Drop the first `count` visible characters, and the blanks that would then lead."""
        rest = self.text[count:]
        self.text = rest.lstrip()
        while self.text.startswith(EMOJI_END):
            self.text = self.text[1:].lstrip()
        if not self.text:
            self.syncs.clear()
            self._next = -1
            return
        count += len(rest) - len(self.text)
        first = max(number for number, sync in enumerate(self.syncs) if sync[0] <= count)
        at, start, length = self.syncs[first]
        kept = [(0, start + (count - at if length < 0 else 0), length)]
        kept += [(at - count, start, length) for at, start, length in self.syncs[first + 1 :]]
        self.syncs = kept

    def _spoken(self, index: int) -> tuple[str, tuple[Span, ...]]:
        """The visible text before `index` without sentinels and outer blanks, and its map."""
        text = self.text
        while index and (text[index - 1].isspace() or text[index - 1] in SENTINELS):
            index -= 1
        if len(self.syncs) == 1 and self.syncs[0][2] < 0 and "\n" not in text:
            start = self.syncs[0][1]
            return text[:index].replace("\r", " "), (Span(0, index, start, start + index),)
        parts: list[str] = []
        spans: list[Span] = []
        length = 0
        ends = [sync[0] for sync in self.syncs[1:]]
        ends.append(index)
        for (at, start, source_length), stop in zip(self.syncs, ends, strict=True):
            part = text[at : min(stop, index)]
            if not parts:
                start += (len(part) - len(part.lstrip())) if source_length < 0 else 0
                part = part.lstrip()
            if not part or part in SENTINELS:
                continue
            if parts and part[0] in _NO_SPACE_BEFORE and _SUPERFLUOUS.search(parts[-1]):
                length = _trim_last(parts, spans, length)
            for offset, line in _joined_lines(part):
                parts.append(line.replace("\n", " ").replace("\r", " "))
                begin = start + offset
                end = begin + len(line) if source_length < 0 else start + source_length
                spans.append(Span(length, length + len(line), begin, end))
                length += len(line)
        return "".join(parts), tuple(spans)


def _joined_lines(part: str) -> list[tuple[int, str]]:
    """`part` without the line ends inside Chinese and Japanese text, which stand for nothing.

    Returns the pieces and where in `part` they begin.
    """
    pieces: list[tuple[int, str]] = []
    begin, at = 0, part.find("\n")
    while at >= 0:
        if 0 < at < len(part) - 1 and is_wide(part[at - 1]) and is_wide(part[at + 1]):
            pieces.append((begin, part[begin:at]))
            begin = at + 1
        at = part.find("\n", at + 1)
    pieces.append((begin, part[begin:]))
    return pieces


def _trim_last(parts: list[str], spans: list[Span], length: int) -> int:
    """Take the blanks off the end of the last part; returns the new spoken length."""
    last = spans[-1]
    part = parts[-1].rstrip()
    cut = len(parts[-1]) - len(part)
    if not part or last.end - last.start != last.spoken_end - last.spoken_start:
        return length
    parts[-1] = part
    spans[-1] = Span(last.spoken_start, last.spoken_end - cut, last.start, last.end - cut)
    return length - cut
