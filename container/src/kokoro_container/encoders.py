"""Samples to bytes: PCM, MP3 and Ogg Opus, each as a stream that begins and ends.

An encoder is for one stream: samples in, in parts, and out come the bytes that are ready; `finish`
gives the rest, which is audio too (an MP3 encoder holds back 50 ms, Opus up to 60). A stream
without a sample has no bytes. Not for two threads at once; nothing is shared between encoders.
"""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Protocol

import numpy as np

from .audio import PCM_ENCODINGS, Floats, encode_pcm, to_int16

# Constant bit rates in kbit/s that are transparent for one voice; 8 and 16 kHz carry less.
_MP3_KBIT: Final = {8000: 32, 16000: 48, 22050: 64, 24000: 64, 44100: 96, 48000: 96}
# LAME's own scale, 2 best to 7 fastest: 12 ms for 5 s of audio, 29 ms at 2 (measured).
_MP3_QUALITY: Final = 5

# libsndfile's command for how much audio it gathers before it writes a page, in ms, by default
# 1000. Below 60 it stays at 60: three of Opus's 20 ms frames (measured).
_SFC_SET_OGG_PAGE_LATENCY_MS: Final = 0x1302
_OPUS_PAGE_MS: Final = 60.0


class Encoder(Protocol):
    """One stream of audio on its way into bytes."""

    def encode(self, samples: Floats) -> bytes:
        """What is ready after these samples, often less than they are, or more."""
        ...

    def finish(self) -> bytes:
        """All that is left; no samples may follow."""
        ...


def make_encoder(encoding: str, sample_rate: int) -> Encoder:
    """A new stream.

    Args:
        encoding: one of `installed_encodings()`.
        sample_rate: of the samples and of the stream, in hertz.

    Raises:
        KeyError: no such encoding.
        ImportError: its package is not installed.
    """
    if encoding in PCM_ENCODINGS:
        return _Pcm(encoding)
    make: dict[str, Callable[[int], Encoder]] = {"mp3": _Mp3, "opus": _OggOpus}
    return make[encoding](sample_rate)


@lru_cache(maxsize=1)
def installed_encodings() -> tuple[str, ...]:
    """What `make_encoder` can do with the packages that are here."""
    mp3 = ("mp3",) if importlib.util.find_spec("lameenc") else ()
    return (*PCM_ENCODINGS, *mp3, *(("opus",) if _has_opus() else ()))


def _has_opus() -> bool:
    try:
        import soundfile
    except (ImportError, OSError):  # OSError: it is here, but its libsndfile is not
        return False
    return "OPUS" in soundfile.available_subtypes("OGG")


class _Pcm:
    """Every sample on its own."""

    def __init__(self, encoding: str) -> None:
        self._encoding = encoding

    def encode(self, samples: Floats) -> bytes:
        return encode_pcm(samples, self._encoding)

    def finish(self) -> bytes:
        return b""


class _Mp3:
    """LAME, constant bit rate, mono: any beginning of the stream can be played.

    A decoder that doesn't know LAME's delay plays up to 2 304 samples of silence around the audio.
    """

    def __init__(self, sample_rate: int) -> None:
        import lameenc

        self._begun = False
        self._lame = lameenc.Encoder()
        self._lame.silence()
        self._lame.set_channels(1)
        self._lame.set_in_sample_rate(sample_rate)
        self._lame.set_out_sample_rate(sample_rate)
        self._lame.set_bit_rate(_MP3_KBIT[sample_rate])
        self._lame.set_quality(_MP3_QUALITY)

    def encode(self, samples: Floats) -> bytes:
        if not len(samples):
            return b""
        self._begun = True
        return bytes(self._lame.encode(to_int16(samples).astype("<i2", copy=False).tobytes()))

    def finish(self) -> bytes:
        return bytes(self._lame.flush()) if self._begun else b""


class _OggOpus:
    """libsndfile's Opus in Ogg, mono; its last page names the exact number of samples."""

    def __init__(self, sample_rate: int) -> None:
        self._sample_rate = sample_rate
        self._written = io.BytesIO()
        self._file: Any = None

    def encode(self, samples: Floats) -> bytes:
        if len(samples):
            if self._file is None:
                self._file = self._open()
            self._file.write(np.clip(samples, -1.0, 1.0))
        return self._taken()

    def finish(self) -> bytes:
        if self._file is not None:
            self._file.close()
        return self._taken()

    def _open(self) -> Any:
        import soundfile

        file = soundfile.SoundFile(
            self._written, "w", self._sample_rate, 1, format="OGG", subtype="OPUS"
        )
        # soundfile has no public name for it. A test measures that the first page comes in time.
        latency = soundfile._ffi.new("double*", _OPUS_PAGE_MS)
        size = soundfile._ffi.sizeof("double")
        soundfile._snd.sf_command(file._file, _SFC_SET_OGG_PAGE_LATENCY_MS, latency, size)
        return file

    def _taken(self) -> bytes:
        # libsndfile only ever appends to an Ogg file, so what was written need not be kept.
        data = self._written.getvalue()
        self._written.seek(0)
        self._written.truncate()
        return data
