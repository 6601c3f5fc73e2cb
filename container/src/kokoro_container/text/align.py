"""Which part of a jointly spoken clause belongs to which of its words."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

_NOT_COMPARED = frozenset(" ˈˌ")
# A word's border is moved to a space this near: sounds at a border change in connected speech.
_SNAP_SYMBOLS = 3


def word_borders(alone: Sequence[str], joint: str) -> list[int]:
    """Cut the clause's phonemes into one stretch per word.

    Words merge and change in connected speech, and a number is many words, so the parts between
    spaces can't simply be counted. The words' own pronunciations are laid along the clause's.

    Args:
        alone: the phonemes of each word spoken by itself.
        joint: the phonemes of the whole clause.

    Returns:
        ``len(alone) + 1`` ascending indices into ``joint``; word ``i`` is ``joint[b[i]:b[i + 1]]``.
    """
    bare = ["".join(c for c in word if c not in _NOT_COMPARED) for word in alone]
    places = [i for i, c in enumerate(joint) if c not in _NOT_COMPARED] + [len(joint)]
    spoken = "".join(joint[i] for i in places[:-1])
    matcher = SequenceMatcher(None, "".join(bare), spoken, autojunk=False)
    blocks = [(0, 0, 0), *matcher.get_matching_blocks()]
    borders = [0]
    for ends_at in list(accumulate(len(word) for word in bare))[:-1]:
        place = places[_counterpart(blocks, ends_at)]
        borders.append(max(borders[-1], _snapped(joint, place)))
    return [*borders, len(joint)]


def _counterpart(blocks: Sequence[tuple[int, int, int]], at: int) -> int:
    """Position in the second text for one in the first; in proportion where they differ."""
    for (a, b, size), (next_a, next_b, _) in pairwise(blocks):
        if at <= a + size:
            return b + at - a
        if at < next_a:
            done = (at - a - size) / (next_a - a - size)
            return b + size + round(done * (next_b - b - size))
    return blocks[-1][1]


def _snapped(joint: str, place: int) -> int:
    """The nearest space to a border, else the border before the stress mark it would orphan."""
    for distance in range(_SNAP_SYMBOLS + 1):
        for near in (place - distance, place + distance):
            if 0 <= near < len(joint) and joint[near] == " ":
                return near
    while place > 0 and joint[place - 1] in _NOT_COMPARED:
        place -= 1
    return place
