"""What was heard of an utterance when it stopped at some sample, to the word.

Without I/O. Walks the chunks in the order of the text: those played to their end were heard whole,
markup and punctuation included; in the first other one the words decide, each of which counts once
half of it was played. A chunk without word times (none asked for, or a language without them) is
taken to be spoken evenly and cut between words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from .events import Heard
from .text import TextChunk

# Characters per second of Kokoro's English at speed 1. Only for a chunk without word times whose
# end has not come yet, so that its length is unknown. Ordinary speech: 150 words of 6 characters
# (with the space) a minute are 15.
_CHARS_PER_S: Final = 15.0
_SPACE: Final = re.compile(r"\s")


class HeardWord(NamedTuple):
    """A word of a passage, in samples of the utterance and characters of both texts."""

    first: int
    middle: int
    end: int
    spoken_start: int
    spoken_end: int
    char_end: int


@dataclass(slots=True, kw_only=True)
class Passage:
    """A chunk and its place in the utterance's audio.

    Args:
        chunk: The text; nothing is spoken of a silent one.
        first_sample: Where it begins; None before it does.
        last_sample: Where it ends (exclusive); None before it does.
        done: Whether it was spoken to its end.
        failed: Whether it was given up.
        words: The words known so far.
    """

    chunk: TextChunk
    first_sample: int | None = None
    last_sample: int | None = None
    done: bool = False
    failed: bool = False
    words: list[HeardWord] = field(default_factory=list)


def heard_of(passages: Iterable[Passage], played: int, sample_rate: int, ended: bool) -> Heard:
    """What was heard of these passages.

    Args:
        passages: In the order of the text.
        played: Samples from the utterance's first one.
        sample_rate: Hertz.
        ended: Whether no passage is still to come.
    """
    source = spoken = ""
    heard_chars = char_end = 0  # how far into `source`, and into everything pushed
    complete = ended
    for passage in passages:
        chunk = passage.chunk
        spoken_chars, end = _extent(passage, played, sample_rate)
        if spoken_chars:
            apart = source[-1:].isspace() or chunk.text[:1].isspace()
            pause = " " if spoken and apart else ""
            spoken += pause + chunk.spoken[:spoken_chars].strip()
            heard_chars, char_end = len(source) + end - chunk.start, end
        source += chunk.text
        whole = spoken_chars == len(chunk.spoken)
        complete = complete and whole and not passage.failed
        if not whole and not passage.failed:
            break
    if complete and source:  # what is silent at the end is part of it
        heard_chars, char_end = len(source), chunk.end
    text = source[:heard_chars]
    bare = text.rstrip()
    return Heard(
        text=bare,
        spoken=spoken,
        complete=complete,
        char_end=char_end - (len(text) - len(bare)),
        samples=played,
        played_s=played / sample_rate,
    )


def _extent(passage: Passage, played: int, sample_rate: int) -> tuple[int, int]:
    """How many of a passage's spoken characters were heard, and where the last is in the source."""
    chunk = passage.chunk
    if passage.first_sample is None or passage.first_sample > played or not chunk.spoken:
        return 0, chunk.start
    if passage.done and _is_over(passage, played):
        return len(chunk.spoken), chunk.end
    if passage.last_sample is not None:
        played = min(played, passage.last_sample)
    if passage.words:
        known = [word for word in passage.words if word.middle <= played]
        return (known[-1].spoken_end, known[-1].char_end) if known else (0, chunk.start)
    chars = _even_extent(passage, played - passage.first_sample, sample_rate)
    try:
        return chars, chunk.source_range(0, chars)[1]
    except IndexError:  # a chunk made by hand, without a map
        return chars, min(chunk.start + chars, chunk.end)


def _is_over(passage: Passage, played: int) -> bool:
    """Whether all of a chunk was heard, except perhaps silence at its end."""
    if passage.last_sample is not None and passage.last_sample <= played:
        return True
    return bool(passage.words) and passage.words[-1].end <= played


def _even_extent(passage: Passage, played: int, sample_rate: int) -> int:
    """How many characters were heard of a chunk without word times, in whole words."""
    text = passage.chunk.spoken
    estimate = len(text) / _CHARS_PER_S * sample_rate
    if passage.done and passage.last_sample is not None and passage.first_sample is not None:
        estimate = passage.last_sample - passage.first_sample
    chars = min(int(len(text) * played / estimate), len(text))
    if not _SPACE.search(text):  # a language without spaces between words
        return chars
    spaces = [match.start() for match in _SPACE.finditer(text, 0, chars + 1)]
    return spaces[-1] if spaces else 0
