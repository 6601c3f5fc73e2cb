"""Samples: exact where they are counted, never wrapped, never a click."""

import io
import warnings
import wave

import numpy as np
import pytest

from kokoro_container.audio import (
    Resampler,
    cut_out,
    encode_pcm,
    sound_range,
    to_int16,
    wav_header,
)

RATE = 24_000


def tone(seconds: float, hz: float = 440.0, amplitude: float = 0.5) -> np.ndarray:
    at = np.arange(round(seconds * RATE)) / RATE
    return (amplitude * np.sin(2 * np.pi * hz * at)).astype(np.float32)


def silence(seconds: float) -> np.ndarray:
    return np.zeros(round(seconds * RATE), np.float32)


def test_sound_is_found_between_silence() -> None:
    found = sound_range(np.concatenate([silence(0.1), tone(0.2), silence(0.3)]))

    assert found is not None
    assert found[0] == pytest.approx(0.1 * RATE, abs=120)
    assert found[1] == pytest.approx(0.3 * RATE, abs=120)


def test_a_soft_beginning_is_sound_too() -> None:
    """A consonant 45 dB below the vowel after it."""
    soft = tone(0.05, 3000.0, 0.5 * 10 ** (-45 / 20))

    found = sound_range(np.concatenate([silence(0.1), soft, tone(0.2), silence(0.1)]))

    assert found is not None
    assert found[0] == pytest.approx(0.1 * RATE, abs=120)


@pytest.mark.parametrize("samples", [silence(0.5), silence(0.0), tone(0.5) * 1e-5])
def test_silence_has_no_sound(samples: np.ndarray) -> None:
    assert sound_range(samples) is None


def test_a_cut_has_faded_edges_and_an_untouched_middle() -> None:
    samples = np.full(RATE, 0.8, np.float32)

    cut = cut_out(samples, 1000, 20_000)

    assert len(cut) == 19_000
    assert cut[0] == cut[-1] == 0.0
    assert np.abs(np.diff(cut)).max() < 0.01
    assert (cut[120:-120] == samples[0]).all()


def test_a_cut_beyond_the_end_is_filled_with_silence() -> None:
    cut = cut_out(np.ones(1000, np.float32), 500, 1500)

    assert len(cut) == 1000
    assert (cut[500:] == 0.0).all()
    assert np.abs(np.diff(cut)).max() < 0.01


@pytest.mark.parametrize(("start", "end", "length"), [(5, 5, 0), (9, 3, 0), (0, 1, 1), (0, 7, 7)])
def test_tiny_cuts_are_no_special_case(start: int, end: int, length: int) -> None:
    assert len(cut_out(np.ones(10, np.float32), start, end)) == length


def test_too_loud_is_clipped_not_wrapped() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = to_int16(np.array([1.2, -1.2, 1.0, -1.0, 0.0, 40.0], np.float32))

    assert whole.tolist() == [32767, -32767, 32767, -32767, 0, 32767]


@pytest.mark.parametrize(("encoding", "function"), [("pcm_mulaw", "ulaw"), ("pcm_alaw", "alaw")])
def test_telephone_codes_are_those_of_the_standard_library(encoding: str, function: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        audioop = pytest.importorskip("audioop", reason="gone from Python 3.13")
    # to_int16 scales by 32767, so every sample but the lowest can be asked for
    every = np.arange(-32767, 32768, dtype=np.int16)

    coded = encode_pcm(every.astype(np.float32) / 32767.0, encoding)

    assert coded == getattr(audioop, f"lin2{function}")(every.tobytes(), 2)


def test_pcm_is_little_endian() -> None:
    assert encode_pcm(np.array([1.0], np.float32), "pcm_s16le") == b"\xff\x7f"


@pytest.mark.parametrize("rate", [8000, 16000, 22050, 44100, 48000])
def test_resampling_in_parts_is_resampling_at_once(rate: int) -> None:
    samples = tone(1.0, 1000.0)
    stream = Resampler(rate)
    parts = [stream(part) for part in np.split(samples, [1, 700, 9000, 9001])]
    parts.append(stream(np.zeros(0, np.float32), last=True))

    joined = np.concatenate(parts)

    assert len(joined) == rate
    expected = 0.5 * np.sin(2 * np.pi * 1000.0 * np.arange(rate) / rate)
    inside = slice(rate // 50, -rate // 50)
    np.testing.assert_allclose(joined[inside], expected[inside], atol=2e-3)


def test_the_models_own_rate_is_left_alone() -> None:
    samples = tone(0.1)
    stream = Resampler(RATE)

    assert stream(samples) is samples
    assert len(stream(np.zeros(0, np.float32), last=True)) == 0


@pytest.mark.parametrize("samples", [0, 1, 24_000])
def test_a_wav_header_is_understood(samples: int) -> None:
    with wave.open(io.BytesIO(wav_header(22_050, samples) + bytes(2 * samples))) as file:
        assert file.getparams()[:4] == (1, 2, 22_050, samples)
        assert len(file.readframes(samples + 1)) == 2 * samples


def test_a_streams_header_leaves_its_size_open() -> None:
    header = wav_header(24_000, None)

    assert len(header) == 44
    assert header[4:8] == header[40:44] == b"\xff\xff\xff\xff"
