"""When the audio that was handed on is heard: piece after piece, in real time."""

from __future__ import annotations

from array import array
from collections import deque
from typing import Final

_NS: Final = 1_000_000_000
# Pipecat's transports send pieces of 40 ms by default.
_SILENCE_S: Final = 0.1


class Playout:
    """The output transport's position, as far as it can be known from here.

    Args:
        keep: Whether to keep the audio until it is heard, for `fade`.
    """

    def __init__(self, keep: bool = False) -> None:
        self.until_ns = 0
        """When all of it will have been heard, on the pipeline's clock."""
        self._keep = keep
        self._pieces: deque[tuple[int, bytes, int]] = deque()

    def pushed(self, now_ns: int, pcm: bytes, sample_rate: int) -> int:
        """A piece of 16-bit mono was handed on; returns when it begins to be heard."""
        begin_ns = max(now_ns, self.until_ns)
        self.until_ns = begin_ns + len(pcm) // 2 * _NS // sample_rate
        if self._keep:
            while self._pieces and self._end_ns(*self._pieces[0]) <= now_ns:
                self._pieces.popleft()
            self._pieces.append((begin_ns, pcm, sample_rate))
        return begin_ns

    def reset(self) -> None:
        """What is not heard yet was dropped."""
        self.until_ns = 0
        self._pieces.clear()

    def fade(self, now_ns: int, duration_s: float) -> tuple[bytes, int] | None:
        """The next `duration_s` of what is being heard, faded to silence, and its sample rate.

        Silence follows, so that an output which plays whole pieces only plays all of it.
        """
        for begin_ns, pcm, rate in self._pieces:
            if begin_ns <= now_ns < self._end_ns(begin_ns, pcm, rate):
                first = (now_ns - begin_ns) * rate // _NS
                samples = array("h", pcm[first * 2 : (first + round(duration_s * rate)) * 2])
                count = len(samples)
                faded = array("h", (s * (count - i) // count for i, s in enumerate(samples)))
                silence = bytes(2 * round(_SILENCE_S * rate))
                return faded.tobytes() + silence, rate
        return None

    @staticmethod
    def _end_ns(begin_ns: int, pcm: bytes, sample_rate: int) -> int:
        return begin_ns + len(pcm) // 2 * _NS // sample_rate
