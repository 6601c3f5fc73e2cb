"""A long text in sections, each looked at when its turn comes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from kokoro_sagemaker_agents.text import SentenceChunker, TextChunk

SECTION_CHARS: Final = 240
"""A section grows to about this many characters: a few sentences, some 10 ms of G2P (measured)."""

WHOLE_CHARS: Final = 400
"""Up to here a text is one section, which is what a sentence from a session's chunker is."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a chunk's text, and where in that text it begins."""

    text: str
    offset: int


def sections_of(text: str, language: str) -> Iterator[Section]:
    """A text to be said as it is: whole, or cut at sentence ends if it is long."""
    if len(text) <= WHOLE_CHARS:
        yield Section(text, 0)
        return
    yield from _joined(chunk.text for chunk in _chunks(text, language))


def sections_of_reply(text: str, language: str) -> Iterator[Section]:
    """An LLM's reply without its markup. Offsets count what is said, not the source."""
    yield from _joined(chunk.spoken + " " for chunk in _chunks(text, language) if chunk.spoken)


def _chunks(text: str, language: str) -> Iterator[TextChunk]:
    """Fed in parts, so that the first sentence doesn't wait for a look at all of them."""
    chunker = SentenceChunker(language)
    for start in range(0, len(text), WHOLE_CHARS):
        yield from chunker.feed(text[start : start + WHOLE_CHARS])
    yield from chunker.flush()


def _joined(texts: Iterable[str]) -> Iterator[Section]:
    """Short texts together, in order, up to `SECTION_CHARS` unless one alone is longer."""
    together, offset = "", 0
    for text in texts:
        if together and len(together) + len(text) > SECTION_CHARS:
            yield Section(together, offset)
            offset += len(together)
            together = ""
        together += text
    if together:
        yield Section(together, offset)
