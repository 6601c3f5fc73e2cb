"""A phoneme string cut into the calls that the model makes of it.

A call is all or nothing: its audio exists when it ends, and a cancel or another session's first
words wait for it. So calls are kept short, and cut where a speaker would pause: at the end of a
sentence, else of a clause, else between words, and inside a word only if it alone is too long. The
model speaks short stretches worse than long ones, so the pieces are of similar length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, TypeAlias

from .engines.base import MAX_PHONEMES
from .text.phonemes import Phonemes, SpokenWord

CALL_PHONEMES: Final = 140
"""Longest call on a CPU: about 9 s of audio, which take about 3 s on two cores (measured)."""

# A first piece this long is some 1.5 s of speech: enough to make the next one meanwhile, and the
# model speaks fewer than 20 phonemes badly (hexgrad/Kokoro-82M, VOICES.md).
OPENING_PHONEMES: Final = 20
OPENING_WORDS: Final = 4
# The next pieces are so long that the model makes each while what came before it plays. This is the
# seconds that an engine needs for a second of audio; CPUs do it in 0.35 to 0.6 (measured).
OPENING_REALTIME_FACTOR: Final = 0.5

Ending: TypeAlias = Literal["sentence", "clause", "none"]

_ENDINGS: Final[dict[str, Ending]] = {
    **dict.fromkeys(".!?…", "sentence"),
    **dict.fromkeys(";:,—", "clause"),
}
_CLOSERS: Final = ' ")”'
# What a cut costs, beside the squares of how far the pieces' lengths are off, in units of a piece.
_CUT_COST: Final[dict[Ending, float]] = {"sentence": 0.0, "clause": 0.15, "none": 1.0}
_CUT_IN_WORD_COST: Final = 5.0


@dataclass(frozen=True, slots=True)
class Piece:
    """What one call of the model speaks.

    Attributes:
        phonemes: 1 to the limit; none for a pause.
        words: the words that begin in it; `phoneme_start` and `phoneme_end` point into `phonemes`.
        ending: the pause that its last mark asks for.
        pause_s: silence instead of speech, in seconds.
    """

    phonemes: str
    words: tuple[SpokenWord, ...]
    ending: Ending
    pause_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Part:
    """A stretch that is not cut: a word with its marks, or a part of one that is too long."""

    start: int
    end: int
    ending: Ending
    ends_word: bool


def ending_of(phonemes: str) -> Ending:
    """The pause at the end of a phoneme string, by its last mark."""
    return _ENDINGS.get(phonemes.rstrip(_CLOSERS)[-1:], "none")


def split(spoken: Phonemes, limit: int = CALL_PHONEMES, *, opening: bool = False) -> list[Piece]:
    """Cuts a text's phonemes into calls.

    Args:
        spoken: what the text sounds like; nothing gives no pieces.
        limit: most phonemes of one piece, at most `MAX_PHONEMES`.
        opening: someone is waiting for the first sound: where the text allows it, the first piece
            is a short clause and those after it grow only slowly.
    """
    limit = min(limit, MAX_PHONEMES)
    parts = list(_parts(spoken, limit))
    if not parts:
        return []
    cuts = _openings(parts, limit) if opening else []
    cuts += _balanced(parts, cuts[-1] if cuts else 0, limit)
    return [_piece(spoken, parts[first:last]) for first, last in pairwise([0, *cuts])]


def _parts(spoken: Phonemes, limit: int) -> Iterator[_Part]:
    """The words, which cover all but the spaces between them; longer ones than `limit` in parts."""
    for word in spoken.words:
        start = word.phoneme_start
        while word.phoneme_end - start > limit:
            space = spoken.phonemes.rfind(" ", start + 1, start + limit + 1)
            end = space if space > 0 else start + limit
            yield _Part(start, end, ending_of(spoken.phonemes[start:end]), ends_word=False)
            start = end + 1 if space > 0 else end
        if start < word.phoneme_end:
            ending = ending_of(spoken.phonemes[start : word.phoneme_end])
            yield _Part(start, word.phoneme_end, ending, ends_word=True)


def _openings(parts: Sequence[_Part], limit: int) -> list[int]:
    """The ends of a first piece as short as it may be and of some that it gives time for.

    Empty where there is no mark to open with.
    """
    cut = next(_pauses(parts, 0, limit), None)
    if cut is None:
        return []
    cuts = [cut]
    first = _length(parts, 0, cut)
    while True:
        # The first piece plays from its beginning; of each later one, the time it took is gone.
        behind_it = _length(parts, 0, cuts[-1]) - first
        ahead = first + (1 - OPENING_REALTIME_FACTOR) * behind_it
        most = ahead / OPENING_REALTIME_FACTOR
        if most >= limit or _length(parts, cuts[-1], len(parts)) <= most:
            return cuts
        cut = max(_pauses(parts, cuts[-1], most), default=None)
        if cut is None:
            return cuts
        cuts.append(cut)


def _pauses(parts: Sequence[_Part], begin: int, most: float) -> Iterator[int]:
    """Where a piece of at most `most` may end at a mark with enough on both sides of it."""
    for end in range(begin + OPENING_WORDS, len(parts)):
        length = _length(parts, begin, end)
        if length > most or _length(parts, end, len(parts)) < OPENING_PHONEMES:
            return
        if length >= OPENING_PHONEMES and parts[end - 1].ending != "none":
            yield end


def _length(parts: Sequence[_Part], begin: int, end: int) -> int:
    return parts[end - 1].end - parts[begin].start


def _balanced(parts: Sequence[_Part], begin: int, limit: int) -> list[int]:
    """The ends of the pieces that cost least, by dynamic programming over the possible cuts."""
    total = _length(parts, begin, len(parts))
    if total <= limit:
        return [len(parts)]
    target = total / -(-total // limit)
    cost = {begin: 0.0}
    before: dict[int, int] = {}
    for end in range(begin + 1, len(parts) + 1):
        cut = 0.0 if end == len(parts) else _cut_cost(parts[end - 1])
        for start in range(end - 1, begin - 1, -1):
            length = _length(parts, start, end)
            if length > limit:
                break
            total_cost = cost[start] + (1 - length / target) ** 2 + cut
            if end not in cost or total_cost < cost[end]:
                cost[end], before[end] = total_cost, start
    cuts = [len(parts)]
    while before[cuts[-1]] > begin:
        cuts.append(before[cuts[-1]])
    return cuts[::-1]


def _cut_cost(part: _Part) -> float:
    return _CUT_COST[part.ending] if part.ends_word else _CUT_IN_WORD_COST


def _piece(spoken: Phonemes, parts: Sequence[_Part]) -> Piece:
    start, end = parts[0].start, parts[-1].end
    words = tuple(
        SpokenWord(
            word.text,
            word.char_start,
            word.char_end,
            word.phoneme_start - start,
            min(word.phoneme_end, end) - start,
        )
        for word in spoken.words
        if start <= word.phoneme_start < end
    )
    return Piece(spoken.phonemes[start:end], words, ending_of(spoken.phonemes[start:end]))
