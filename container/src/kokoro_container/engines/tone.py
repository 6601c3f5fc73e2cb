"""A deterministic engine for tests: every phoneme is a tone of its own pitch.

What was said can be read back from the audio, so a test notices audio of the wrong text. It has the
model's shape: silence before, behind and at punctuation, frames of 600 samples, and it can be made
as slow as a model while it still stops at once when cancelled.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from kokoro_container.text.vocabulary import PUNCTUATION, SYMBOL_IDS

from .base import (
    FRAME_SAMPLES,
    MAX_PHONEMES,
    SAMPLE_RATE,
    CancelToken,
    EngineAudio,
    EngineCancelled,
)

PHONEME_FRAMES = 3
LEAD_FRAMES = 2  # about what Kokoro leaves before and behind an utterance
TAIL_FRAMES = 14
AMPLITUDE = 0.5


def pitch_hz(phoneme: str) -> float:
    """The pitch that stands for a phoneme; 15 Hz apart."""
    return 300.0 + 15.0 * SYMBOL_IDS[phoneme]


class ToneEngine:
    """See the module's text.

    Args:
        call_s: how long each call takes, in seconds.
        realtime_factor: seconds it takes on top for each second of audio.
    """

    def __init__(self, *, call_s: float = 0.0, realtime_factor: float = 0.0) -> None:
        self._call_s = call_s
        self._realtime_factor = realtime_factor

    @property
    def name(self) -> str:
        """`tone`."""
        return "tone"

    @property
    def model(self) -> str:
        """No weights: the version of the tones."""
        return "tone-1"

    def synthesize(
        self,
        phonemes: str,
        style: NDArray[np.float32],
        speed: float,
        cancel: CancelToken | None = None,
    ) -> EngineAudio:
        """Speaks one phoneme string in tones; see `Engine.synthesize`."""
        if not 1 <= len(phonemes) <= MAX_PHONEMES:
            raise ValueError(f"{len(phonemes)} phonemes are not 1 to {MAX_PHONEMES}")
        if style.shape != (256,) or not 0.5 <= speed <= 2.0:
            raise ValueError(f"style of shape {style.shape} or speed {speed} is not usable")
        each = max(1, round(PHONEME_FRAMES / speed))
        frames = np.array([LEAD_FRAMES, *([each] * len(phonemes)), TAIL_FRAMES], np.int64)
        silent = [symbol in PUNCTUATION for symbol in phonemes]
        pitches = np.array([0.0, *map(pitch_hz, phonemes), 0.0])
        loud = np.array([0.0, *(0.0 if s else AMPLITUDE for s in silent), 0.0])
        lengths = frames * FRAME_SAMPLES
        phase = np.cumsum(np.repeat(pitches, lengths)) * (2 * np.pi / SAMPLE_RATE)
        samples = (np.sin(phase) * np.repeat(loud, lengths)).astype(np.float32)
        self._take_time(len(samples) / SAMPLE_RATE, cancel)
        return EngineAudio(samples, frames)

    def _take_time(self, audio_s: float, cancel: CancelToken | None) -> None:
        stopped = threading.Event()
        if cancel is not None:
            cancel.on_cancel(stopped.set)
        stopped.wait(self._call_s + self._realtime_factor * audio_s)
        if cancel is not None:
            cancel.on_cancel(None)
            if cancel.cancelled:
                raise EngineCancelled

    def close(self) -> None:
        """Nothing is held."""
