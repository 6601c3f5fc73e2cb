"""A text that remembers which part of the original each of its characters came from.

Every step between the text as sent and the phonemes (control characters removed, runs of
brackets collapsed, "$5" read out) goes through ``MappedText``, so a word of the result can always
be pointed at in the text the caller knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class MappedText:
    """Text with the original range of each character.

    Attributes:
        text: the text as it now reads.
        starts: for each character of ``text``, where its original begins.
        ends: for each character of ``text``, where its original ends (exclusive).
    """

    text: str
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, text: str) -> MappedText:
        """An original text, each character standing for itself."""
        return cls(text, list(range(len(text))), list(range(1, len(text) + 1)))

    @classmethod
    def join(cls, parts: Iterable[MappedText]) -> MappedText:
        """The parts one after the other."""
        text: list[str] = []
        starts: list[int] = []
        ends: list[int] = []
        for part in parts:
            text.append(part.text)
            starts += part.starts
            ends += part.ends
        return cls("".join(text), starts, ends)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original range of ``text[start:end]``; an empty range gives an empty one."""
        if start >= end:
            at = self._origin(start)
            return at, at
        return self.starts[start], max(self.ends[end - 1], self.starts[start])

    def slice(self, start: int, end: int) -> MappedText:
        """The part ``[start, end)``, still pointing into the same original."""
        return MappedText(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def inserted(self, start: int, end: int, text: str) -> MappedText:
        """A piece that reads ``text`` and stands for ``self.text[start:end]`` as a whole."""
        first, last = self.span(start, end)
        return MappedText(text, [first] * len(text), [last] * len(text))

    def sub(
        self, pattern: re.Pattern[str], replace: str | Callable[[re.Match[str]], str]
    ) -> MappedText:
        """Replace every match; each new character stands for the whole of what it replaced.

        Args:
            pattern: what to look for. It should be linear in the text's length.
            replace: the new text, literally, or a function of the match.
        """
        return MappedText.join(self._sub_parts(pattern, replace))

    def spaced_at(self, positions: Iterable[int]) -> MappedText:
        """A space before each of these ascending positions, standing for nothing."""
        parts: list[MappedText] = []
        done = 0
        for at in positions:
            parts += self.slice(done, at), self.inserted(at, at, " ")
            done = at
        return MappedText.join([*parts, self.slice(done, len(self.text))]) if parts else self

    def _sub_parts(
        self, pattern: re.Pattern[str], replace: str | Callable[[re.Match[str]], str]
    ) -> Iterator[MappedText]:
        done = 0
        for match in pattern.finditer(self.text):
            new = replace if isinstance(replace, str) else replace(match)
            if new == match.group():
                continue
            yield self.slice(done, match.start())
            yield self.inserted(match.start(), match.end(), new)
            done = match.end()
        yield self.slice(done, len(self.text))

    def _origin(self, at: int) -> int:
        if at < len(self.starts):
            return self.starts[at]
        return self.ends[-1] if self.ends else 0
