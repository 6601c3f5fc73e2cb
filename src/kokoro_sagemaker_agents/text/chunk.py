"""The unit of speech: a source slice, what is spoken of it, and the map between the two."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

#: How a chunk came to end: at a sentence end, at a clause (first chunk only), at the length
#: limit, at the end of the text without a sentence end; or it holds nothing to speak.
Kind = Literal["sentence", "clause", "forced", "tail", "silent"]


class Span(NamedTuple):
    """A stretch of spoken text and the source it came from.

    Of equal length, they correspond character by character; otherwise the whole spoken stretch
    stands for the whole source stretch (`&amp;` spoken as `&`).
    """

    spoken_start: int
    spoken_end: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class TextChunk:
    """A piece of an utterance, ready to be spoken.

    Args:
        text: The source slice `[start, end)` of everything fed so far, markup included. The
            slices of all chunks, concatenated, are the input.
        spoken: What is sent to the engine: `text` without its markup. Empty for a silent chunk.
        start: Where `text` begins in everything fed since the chunker was made or reset.
        end: Where it ends (exclusive).
        kind: Why the chunk ends here; `"silent"` when there is nothing to speak.
        spans: The offset map from `spoken` to the source, in order. Gaps are removed markup.
    """

    text: str
    spoken: str
    start: int
    end: int
    kind: Kind
    spans: tuple[Span, ...] = ()

    def source_offset(self, spoken_index: int) -> int:
        """Where the spoken character at `spoken_index` begins in all source text.

        Args:
            spoken_index: From 0 to `len(spoken)`; the latter gives the end of the last one.

        Raises:
            IndexError: `spoken_index` is outside the spoken text.
        """
        if spoken_index == len(self.spoken):
            return self.spans[-1].end if self.spans else self.end
        return self._position(spoken_index)[0]

    def source_range(self, spoken_start: int, spoken_end: int) -> tuple[int, int]:
        """The source range `[start, end)` of the spoken characters `[spoken_start, spoken_end)`.

        Markup between them is inside the range, markup around them is not.

        Raises:
            IndexError: The range is reversed or outside the spoken text.
        """
        if spoken_start > spoken_end:
            raise IndexError(f"spoken range [{spoken_start}, {spoken_end}) is reversed")
        start = self.source_offset(spoken_start)
        if spoken_start == spoken_end:
            return start, start
        return start, self._position(spoken_end - 1)[1]

    def _position(self, spoken_index: int) -> tuple[int, int]:
        """Source start and end of one spoken character."""
        if spoken_index >= 0:
            for spoken_start, spoken_end, start, end in self.spans:
                if spoken_index < spoken_end:
                    if end - start != spoken_end - spoken_start:
                        return start, end
                    at = start + spoken_index - spoken_start
                    return at, at + 1
        raise IndexError(
            f"spoken index {spoken_index} is outside a chunk of {len(self.spoken)} characters"
        )
