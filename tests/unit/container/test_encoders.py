"""Encoded streams are decoded again by libsndfile: nothing lost, nothing added, no clicks."""

import io

import numpy as np
import pytest
import soundfile

from kokoro_container.encoders import installed_encodings, make_encoder
from kokoro_sagemaker_agents.protocol import ENCODINGS, SAMPLE_RATES

# A decoder that knows nothing of LAME's delay (no Xing header in a stream) plays it: 576 samples of
# the encoder, 529 of the decoder, and the last frame filled up (MPEG-1 frames have 1 152).
MP3_DELAY = 1105
MP3_MOST_ADDED = 2304

OPUS_RATES = [8000, 16_000, 24_000, 48_000]


def chord(seconds: float, rate: int) -> np.ndarray:
    t = np.arange(round(seconds * rate)) / rate
    return (0.3 * np.sin(2 * np.pi * 440 * t) + 0.2 * np.sin(2 * np.pi * 1200 * t)).astype("f4")


def encoded(samples: np.ndarray, encoding: str, rate: int, part: int = 777) -> bytes:
    encoder = make_encoder(encoding, rate)
    parts = [encoder.encode(samples[i : i + part]) for i in range(0, len(samples), part)]
    return b"".join(parts) + encoder.finish()


def decoded(data: bytes) -> tuple[np.ndarray, int]:
    return soundfile.read(io.BytesIO(data), dtype="float32")


def test_every_encoding_of_the_protocol_is_here() -> None:
    assert installed_encodings() == ENCODINGS


@pytest.mark.parametrize("rate", OPUS_RATES)
@pytest.mark.parametrize("seconds", [0.001, 0.05, 1.0, 2.345])
def test_opus_has_exactly_the_samples_that_went_in(rate: int, seconds: float) -> None:
    samples = chord(seconds, rate)

    heard, heard_rate = decoded(encoded(samples, "opus", rate))

    assert heard_rate == rate
    assert len(heard) == len(samples)


@pytest.mark.parametrize("rate", SAMPLE_RATES)
@pytest.mark.parametrize("seconds", [0.001, 0.05, 1.0, 2.345])
def test_mp3_loses_no_samples(rate: int, seconds: float) -> None:
    samples = chord(seconds, rate)

    heard, heard_rate = decoded(encoded(samples, "mp3", rate))

    assert heard_rate == rate
    assert len(samples) <= len(heard) <= len(samples) + MP3_MOST_ADDED


@pytest.mark.parametrize(("encoding", "delay"), [("mp3", MP3_DELAY), ("opus", 0)])
def test_the_last_moment_is_as_loud_as_the_first(encoding: str, delay: int) -> None:
    """The tail that a flush holds back is audio: peers lose up to two seconds of it."""
    samples = chord(1.0, 24_000)

    heard, _ = decoded(encoded(samples, encoding, 24_000))

    heard = heard[delay : delay + len(samples)]
    for moment in (slice(1200, 3600), slice(-3600, -1200)):
        level = np.sqrt(np.mean(heard[moment] ** 2))
        assert level == pytest.approx(np.sqrt(np.mean(samples[moment] ** 2)), rel=0.1)
    last = np.sqrt(np.mean(heard[-240:] ** 2))
    assert last > 0.1


@pytest.mark.parametrize("encoding", ["mp3", "opus"])
def test_parts_leave_no_seams(encoding: str) -> None:
    """However the samples come in, the same bytes come out."""
    samples = chord(1.0, 24_000)

    whole = decoded(encoded(samples, encoding, 24_000, part=len(samples)))[0]
    parts = decoded(encoded(samples, encoding, 24_000, part=101))[0]

    np.testing.assert_array_equal(whole, parts)


@pytest.mark.parametrize("encoding", ["mp3", "opus"])
def test_no_step_is_larger_than_the_sound_has(encoding: str) -> None:
    samples = chord(1.0, 24_000)

    heard, _ = decoded(encoded(samples, encoding, 24_000))

    # Twice the steepest slope of the chord itself; a click is a multiple of it
    assert np.abs(np.diff(heard)).max() < 2 * np.abs(np.diff(samples)).max()


@pytest.mark.parametrize(("encoding", "most_ms"), [("mp3", 60), ("opus", 61)])
def test_the_first_bytes_come_soon(encoding: str, most_ms: int) -> None:
    """The Ogg headers come at once; sound is what comes behind them."""
    encoder = make_encoder(encoding, 24_000)
    samples = chord(1.0, 24_000)
    headers = encoder.encode(samples[:24])

    after_ms = next(ms for ms in range(1, 1000) if encoder.encode(samples[24 * ms : 24 * ms + 24]))

    assert (headers[:4] == b"OggS") == (encoding == "opus")
    assert after_ms < most_ms


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_nothing_said_is_no_bytes(encoding: str) -> None:
    encoder = make_encoder(encoding, 24_000)

    assert encoder.encode(np.zeros(0, np.float32)) == b""
    assert encoder.finish() == b""


@pytest.mark.parametrize("encoding", ["mp3", "opus"])
def test_too_loud_is_clipped_not_wrapped(encoding: str) -> None:
    samples = 1.4 * chord(0.5, 24_000) / 0.5

    heard, _ = decoded(encoded(samples.astype(np.float32), encoding, 24_000))

    assert np.abs(np.diff(heard)).max() < 1.0  # a wrap would be a step of nearly 2
