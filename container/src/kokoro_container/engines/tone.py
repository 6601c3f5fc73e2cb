"""A deterministic engine for tests: every phoneme is a tone of its own pitch.

What was said can be read back from the audio (`read_back`), so a test notices audio of the wrong
text. It has the model's shape: silence before, behind and at punctuation, frames of 600 samples,
sounds a little ahead of their frames. It can be made as slow as a model, and stops at once when it
is cancelled. `spell` goes with it: a G2P that needs no data and no time.
"""

from __future__ import annotations

import re
import threading
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from kokoro_container.text.inline import apply_pronunciations, take_pronunciations
from kokoro_container.text.phonemes import Phonemes, Piece, between, join_pieces
from kokoro_container.text.spans import MappedText
from kokoro_container.text.vocabulary import SYMBOL_IDS, has_sound

from .base import (
    FRAME_SAMPLES,
    MAX_PHONEMES,
    SAMPLE_RATE,
    CancelToken,
    EngineAudio,
    EngineCancelled,
)

PHONEME_FRAMES = 3
# About what Kokoro leaves around an utterance, and how far its sounds are ahead of their frames.
LEAD_FRAMES = 12
TAIL_FRAMES = 14
AHEAD_FRAMES = 3
AMPLITUDE = 0.5
_HZ_OF_FIRST, _HZ_BETWEEN = 200.0, 40.0  # the highest, 7 280 Hz, survives 16 kHz

_WORD_OR_MARK = re.compile(r"(\w+)|([^\w\s])|(\s+)")


def pitch_hz(phoneme: str) -> float:
    """The pitch that stands for a phoneme."""
    return _HZ_OF_FIRST + _HZ_BETWEEN * SYMBOL_IDS[phoneme]


def read_back(samples: NDArray[np.float32], sample_rate: int = SAMPLE_RATE) -> str:
    """The phonemes heard in the engine's audio at speed 1.0, pauses left out.

    A phoneme that begins or ends between two of the stretches looked at is still heard once, and so
    is a repeated one: `aa` reads as `a`.

    Args:
        samples: full scale 1.0.
        sample_rate: at least 16 000 Hz, or the higher pitches are gone.
    """
    step = sample_rate * FRAME_SAMPLES // SAMPLE_RATE
    symbols = {round(pitch_hz(symbol)): symbol for symbol in SYMBOL_IDS}
    heard: list[str] = []
    for start in range(0, len(samples) - step + 1, step):
        stretch = samples[start : start + step]
        if np.abs(stretch).mean() < AMPLITUDE / 4:
            heard.append(" ")
            continue
        spectrum = np.abs(np.fft.rfft(stretch * np.hanning(step), 8 * step))
        hz = int(np.argmax(spectrum)) * sample_rate / (8 * step)
        nearest = min(symbols, key=lambda pitch: abs(pitch - hz))
        heard.append(symbols[nearest])
    runs = ["".join(run) for _, run in groupby(heard)]
    return "".join(run[0] for run in runs if len(run) > 1 and run[0] != " ")


def spell(text: str, language: str) -> Phonemes:
    """A G2P for tests: every letter a to z is its own phoneme; marks are pauses.

    A word with its pronunciation, `[word](/phonemes/)`, is said as the real one says it.
    """
    read, given = take_pronunciations(MappedText.of(text))
    pieces: list[Piece] = []
    for match in _WORD_OR_MARK.finditer(read.text):
        start, end = read.span(*match.span())
        word, mark, space = match.groups()
        if word is None:
            pieces.append(between(mark or space, start))
            continue
        letters = "".join(c for c in word.lower().replace("g", "ɡ") if "a" <= c <= "z" or c == "ɡ")
        pieces.append(Piece(letters, start, end))
    return join_pieces(text, apply_pronunciations(pieces, given))


class ToneEngine:
    """See the module's text.

    Args:
        call_s: how long each call takes, in seconds.
        realtime_factor: seconds it takes on top for each second of audio.
    """

    def __init__(self, *, call_s: float = 0.0, realtime_factor: float = 0.0) -> None:
        self.call_s = call_s
        self.realtime_factor = realtime_factor

    @property
    def name(self) -> str:
        """`tone`."""
        return "tone"

    @property
    def model(self) -> str:
        """No weights: the version of the tones."""
        return "tone-1"

    @property
    def quick(self) -> bool:
        """False: it stands for a model on a CPU."""
        return False

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
        pitches = np.array([0.0, *map(pitch_hz, phonemes), 0.0])
        loud = np.array([0.0, *(AMPLITUDE * has_sound(symbol) for symbol in phonemes), 0.0])
        lengths = frames * FRAME_SAMPLES
        lengths[0] -= AHEAD_FRAMES * FRAME_SAMPLES
        lengths[-1] += AHEAD_FRAMES * FRAME_SAMPLES
        phase = np.cumsum(np.repeat(pitches, lengths)) * (2 * np.pi / SAMPLE_RATE)
        samples = (np.sin(phase) * np.repeat(loud, lengths)).astype(np.float32)
        self._take_time(len(samples) / SAMPLE_RATE, cancel)
        return EngineAudio(samples, frames)

    def _take_time(self, audio_s: float, cancel: CancelToken | None) -> None:
        stopped = threading.Event()
        if cancel is not None:
            cancel.on_cancel(stopped.set)
        stopped.wait(self.call_s + self.realtime_factor * audio_s)
        if cancel is not None:
            cancel.on_cancel(None)
            if cancel.cancelled:
                raise EngineCancelled

    def close(self) -> None:
        """Nothing is held."""
