"""Samples: silence trimmed, edges faded, resampled, clipped, encoded, and the WAV header.

Everything is mono. Until `to_int16` samples are float32 with full scale at 1.0.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from .engines.base import SAMPLE_RATE

Floats = NDArray[np.float32]

FADE_S: Final = 0.005  # long enough that no step is heard as a click, too short to be heard itself
WAV_HEADER_BYTES: Final = 44
_UNKNOWN_SIZE: Final = 0xFFFFFFFF  # what players take as "until the stream ends"

# Sound is what is louder than this part of the loudest 5 ms; see `sound_range`.
_SOUND_LEVEL: Final = 10 ** (-55 / 20)
_SOUND_FLOOR: Final = 1e-4  # below -80 dB of full scale nothing is speech
_LEVEL_SAMPLES: Final = SAMPLE_RATE // 200


def sound_range(samples: Floats) -> tuple[int, int] | None:
    """Where the first and the last sound are, in steps of 5 ms; None for silence.

    A step counts as sound if its level is within 55 dB of the loudest one. The weakest consonants
    begin some 45 dB below the loudest vowel; from 60 dB on there is only the voice's fading breath,
    and the model's silence is 100 dB below (measured with four voices).
    """
    steps = len(samples) // _LEVEL_SAMPLES
    if not steps:
        return None
    cut = samples[: steps * _LEVEL_SAMPLES].reshape(steps, _LEVEL_SAMPLES)
    levels = np.sqrt(np.mean(np.square(cut, dtype=np.float64), axis=1))
    loud = np.flatnonzero(levels > max(_SOUND_FLOOR, levels.max() * _SOUND_LEVEL))
    if not loud.size:
        return None
    return int(loud[0]) * _LEVEL_SAMPLES, (int(loud[-1]) + 1) * _LEVEL_SAMPLES


def cut_out(samples: Floats, start: int, end: int) -> Floats:
    """The samples `[start, end)`, edges faded, with silence where there are none."""
    kept = samples[max(start, 0) : max(end, 0)].copy()
    ramp_samples = min(round(FADE_S * SAMPLE_RATE), len(kept) // 2)
    ramp = np.linspace(0.0, 1.0, ramp_samples, endpoint=False, dtype=np.float32)
    kept[:ramp_samples] *= ramp
    kept[len(kept) - ramp_samples :] *= ramp[::-1]
    cut = np.zeros(max(end - start, 0), np.float32)
    cut[max(-start, 0) :][: len(kept)] = kept
    return cut


class Resampler:
    """From the model's rate to another one, as one stream without seams.

    Args:
        sample_rate: of the result, in hertz.
    """

    def __init__(self, sample_rate: int) -> None:
        self._stream = None
        if sample_rate != SAMPLE_RATE:
            import soxr

            self._stream = soxr.ResampleStream(SAMPLE_RATE, sample_rate, 1, dtype="float32")

    def __call__(self, samples: Floats, *, last: bool = False) -> Floats:
        """What is ready of the stream after these samples; with `last`, all that is left.

        After `last` no more may follow.
        """
        if self._stream is None:
            return samples
        resampled: Floats = self._stream.resample_chunk(samples, last=last)
        return resampled


def to_int16(samples: Floats) -> NDArray[np.int16]:
    """Clipped to full scale first: what is beyond it would otherwise come out on the other side."""
    return np.rint(np.clip(samples, -1.0, 1.0) * 32767.0).astype(np.int16)


def encode_pcm(samples: Floats, encoding: str) -> bytes:
    """The samples as `pcm_s16le`, `pcm_mulaw` or `pcm_alaw` (ITU-T G.711).

    Raises:
        KeyError: another encoding.
    """
    whole = to_int16(samples)
    if encoding == "pcm_s16le":
        return whole.astype("<i2", copy=False).tobytes()
    return G711_TABLES[encoding]()[whole.view(np.uint16)].tobytes()


def wav_header(sample_rate: int, samples: int | None) -> bytes:
    """The 44 bytes before 16-bit mono samples.

    Args:
        sample_rate: in hertz.
        samples: how many follow; None for a stream whose end is not known yet.
    """
    data_bytes = _UNKNOWN_SIZE if samples is None else samples * 2
    riff_bytes = _UNKNOWN_SIZE if samples is None else WAV_HEADER_BYTES - 8 + data_bytes
    riff = struct.pack("<4sI4s", b"RIFF", riff_bytes, b"WAVE")
    fmt = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, sample_rate, sample_rate * 2, 2, 16)
    return riff + fmt + struct.pack("<4sI", b"data", data_bytes)


@lru_cache(maxsize=1)
def _mulaw_table() -> NDArray[np.uint8]:
    """The code of every 16-bit sample, indexed by its bits; G.711 takes 14 of them for mu-law."""
    linear = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int32) >> 2
    mask = np.where(linear < 0, 0x7F, 0xFF)
    biased = np.minimum(np.abs(linear), 8159) + 33
    segment = np.searchsorted(0x40 << np.arange(8), biased, side="right")
    code = (segment << 4) | ((biased >> (segment + 1)) & 0xF)
    return (np.where(segment >= 8, 0x7F, code) ^ mask).astype(np.uint8)


@lru_cache(maxsize=1)
def _alaw_table() -> NDArray[np.uint8]:
    """The code of every 16-bit sample, indexed by its bits; G.711 takes 13 of them for A-law."""
    linear = np.arange(65536, dtype=np.uint16).view(np.int16).astype(np.int32) >> 3
    mask = np.where(linear < 0, 0x55, 0xD5)
    magnitude = np.where(linear < 0, -linear - 1, linear)
    segment = np.searchsorted(0x20 << np.arange(8), magnitude, side="right")
    code = (segment << 4) | ((magnitude >> np.maximum(segment, 1)) & 0xF)
    return (code ^ mask).astype(np.uint8)


G711_TABLES: Final = {"pcm_mulaw": _mulaw_table, "pcm_alaw": _alaw_table}

PCM_ENCODINGS: Final = ("pcm_s16le", *G711_TABLES)
"""What `encode_pcm` knows."""
