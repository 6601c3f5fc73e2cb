"""Finished speech kept for the next time: greetings, "one moment, please", what everybody says.

What is kept is one call of the model, trimmed, at the model's rate. Its key is what the call was
asked: the phonemes say all that normalisation, lexicon, language and the place of the cut did to
the text, and with voice, speed and weights nothing else changes the sound. Resampling and encoding
come after, so every rate and encoding is served by the same entry, to the same sample.

Most speech is said once and never again. So there are two lists, each least recently used first:
what was said once, and what was said again or asked for in advance. The first gives way first
("segmented LRU"; Karedla, Love and Wherry, 1994).
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

KEPT_SHARE: Final = 0.8
"""Of the memory, for what was said more than once."""

_ENTRY_BYTES: Final = 500  # of the key, two arrays' heads and the dictionary's slot (measured)


class PhraseKey(NamedTuple):
    """All that changes the sound of a call."""

    model: str
    phonemes: str
    voice: str
    speed: float


@dataclass(frozen=True, slots=True)
class Cut:
    """A call's audio without the silence around it.

    Attributes:
        samples: float32 at the model's rate.
        starts: the sample each phoneme is heard from, and behind them the end of the last one.
    """

    samples: NDArray[np.float32]
    starts: NDArray[np.int64]

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return int(self.samples.nbytes + self.starts.nbytes) + _ENTRY_BYTES


class PhraseCache:
    """Bounded by bytes. Safe to use from several threads.

    Args:
        max_bytes: most memory; a second of speech takes 96 kB.

    Raises:
        ValueError: no memory at all.
    """

    def __init__(self, max_bytes: int) -> None:
        if max_bytes < 1:
            raise ValueError(
                f"a phrase cache of {max_bytes} bytes keeps nothing; give at least 1 000 000, or"
                " leave it out"
            )
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._once: OrderedDict[PhraseKey, Cut] = OrderedDict()
        self._kept: OrderedDict[PhraseKey, Cut] = OrderedDict()
        self._bytes = 0
        self._kept_bytes = 0

    @property
    def nbytes(self) -> int:
        """Memory taken now."""
        return self._bytes

    def __len__(self) -> int:
        return len(self._once) + len(self._kept)

    def get(self, key: PhraseKey) -> Cut | None:
        """What was kept under this key, which from now on counts as said again."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
            cut = self._once.pop(key, None)
            if cut is not None:
                self._keep(key, cut)
            return cut

    def put(self, key: PhraseKey, cut: Cut, *, keep: bool = False) -> None:
        """Keeps a call's audio; others give way to it, or it is too large and isn't kept.

        Args:
            key: what was asked.
            cut: the answer; it becomes read-only.
            keep: it will be said again.
        """
        if cut.nbytes > self._max_bytes * (1 - KEPT_SHARE):
            return
        cut.samples.flags.writeable = cut.starts.flags.writeable = False
        with self._lock:
            if key in self._kept:
                return
            before = self._once.pop(key, None)
            self._bytes += cut.nbytes - (before.nbytes if before else 0)
            if keep:
                self._keep(key, cut)
            else:
                self._once[key] = cut
            while self._bytes > self._max_bytes:
                oldest = (self._once or self._kept).popitem(last=False)[1]
                self._bytes -= oldest.nbytes

    def _keep(self, key: PhraseKey, cut: Cut) -> None:
        """The oldest of those that are kept go back to the others when they take too much."""
        self._kept[key] = cut
        self._kept_bytes += cut.nbytes
        while self._kept_bytes > self._max_bytes * KEPT_SHARE:
            oldest_key, oldest = self._kept.popitem(last=False)
            self._kept_bytes -= oldest.nbytes
            self._once[oldest_key] = oldest
