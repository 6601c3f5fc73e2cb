"""Events of one utterance that wait for their reader, and the account of those it took."""

from __future__ import annotations

from collections import deque
from typing import Final

from .credit import Credit
from .events import AudioChunk, ChunkDone, ChunkFailed, SpeechEvent
from .playback import PlaybackClock

# Audio a server may send beyond its credit ("a piece that has begun is finished"): 510 phonemes,
# the model's longest piece, take about 40 s, at half speed twice that.
_OVERRUN_S: Final = 120.0
_LARGEST_SAMPLE_BYTES: Final = 2


class Inbox:
    """A queue of events, with credit for what is taken and a guess of how far it was played.

    Args:
        window: Samples that the server may be ahead of the reader.
        sample_rate: Hertz.
    """

    def __init__(self, window: int, sample_rate: int) -> None:
        self._window = window
        self._sample_rate = sample_rate
        self._samples = 0
        self._events: deque[SpeechEvent] = deque()
        self._bytes = 0
        self._most_bytes = (2 * window + _OVERRUN_S * sample_rate) * _LARGEST_SAMPLE_BYTES
        self._credit = Credit(window, sample_rate)
        self.clock = PlaybackClock(sample_rate)

    def __len__(self) -> int:
        return len(self._events)

    @property
    def overrun(self) -> bool:
        """Whether there is far more audio in it than the server was allowed to send."""
        return self._bytes > self._most_bytes

    def open_account(self) -> int:
        """How many samples a server may send at first that has sent nothing yet."""
        self._credit = Credit(self._window, self._sample_rate)
        return max(1, self._window - self._samples)  # without any credit nothing would ever come

    def put(self, *events: SpeechEvent) -> None:
        """Append events."""
        for event in events:
            self._events.append(event)
            if isinstance(event, AudioChunk):
                self._bytes += len(event.pcm)
                self._samples += event.samples

    def clear(self) -> None:
        """Drop what was not taken."""
        self._events.clear()
        self._bytes = self._samples = 0

    def take(self, now_s: float) -> tuple[SpeechEvent, int]:
        """The oldest event, and how many samples to grant the server because of it (mostly 0)."""
        event = self._events.popleft()
        grant = 0
        match event:
            case AudioChunk():
                self._bytes -= len(event.pcm)
                self._samples -= event.samples
                if event.samples:
                    self.clock.took(event.samples, now_s)
                    grant = self._credit.took(event.samples)
                else:
                    self.clock.took_unknown(now_s)
                    grant = self._credit.took_compressed(len(event.pcm))
            case ChunkDone():
                self.clock.settle(event.samples)
                grant = self._credit.chunk_ended(event.samples)
            case ChunkFailed():
                self.clock.settle_as_played(now_s)
            case _:
                pass
        return event, grant
