"""The CPU engine with the real weights."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from importlib import resources

import numpy as np
import pytest
from numpy.typing import NDArray

from kokoro_container.engines.base import FRAME_SAMPLES, CancelToken, EngineCancelled
from kokoro_container.engines.onnx import OnnxEngine

pytestmark = pytest.mark.model

SHORT = "sˈɛvən jˈɛlO wˈɪndOz."


@pytest.fixture(scope="module")
def engine() -> Iterator[OnnxEngine]:
    engine = OnnxEngine.load()
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def heart() -> NDArray[np.float32]:
    pack = resources.files("kokoro_container") / "assets/kokoro-v1.0-voices-fp16.npz"
    with resources.as_file(pack) as path:
        voice: NDArray[np.float32] = np.load(path)["af_heart"].astype(np.float32)
    return voice


def test_durations_account_for_every_sample(engine: OnnxEngine, heart: NDArray[np.float32]) -> None:
    for phonemes in ("ˌA.", SHORT, SHORT * 5):
        audio = engine.synthesize(phonemes, heart[len(phonemes) - 1], 1.0)
        assert len(audio.frames) == len(phonemes) + 2
        assert audio.frames.min() >= 1
        assert audio.samples.size == audio.frames.sum() * FRAME_SAMPLES
        assert audio.samples.dtype == np.float32
        assert 0.05 < np.abs(audio.samples).max() < 1.0


def test_the_same_call_gives_the_same_samples(
    engine: OnnxEngine, heart: NDArray[np.float32]
) -> None:
    first = engine.synthesize(SHORT, heart[20], 1.0).samples
    assert np.array_equal(first, engine.synthesize(SHORT, heart[20], 1.0).samples)


def test_speed_changes_the_length(engine: OnnxEngine, heart: NDArray[np.float32]) -> None:
    slow, plain, fast = (
        engine.synthesize(SHORT, heart[20], speed).samples.size for speed in (0.5, 1.0, 2.0)
    )
    assert slow > 1.5 * plain
    assert plain > 1.3 * fast


def test_a_cancelled_call_stops_early_and_the_next_one_works(
    engine: OnnxEngine, heart: NDArray[np.float32]
) -> None:
    started = time.process_time()  # (of all threads: other load on the machine does not count)
    begun_s = time.perf_counter()
    engine.synthesize(SHORT * 10, heart[200], 1.0)
    whole = time.process_time() - started
    token = CancelToken()
    timer = threading.Timer((time.perf_counter() - begun_s) / 10, token.cancel)
    timer.start()
    started = time.process_time()
    with pytest.raises(EngineCancelled):
        engine.synthesize(SHORT * 10, heart[200], 1.0, token)
    assert time.process_time() - started < whole / 2
    timer.join()
    assert engine.synthesize(SHORT, heart[20], 1.0).samples.size > 0


def test_a_token_cancelled_beforehand_computes_nothing(
    engine: OnnxEngine, heart: NDArray[np.float32]
) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(EngineCancelled):
        engine.synthesize(SHORT, heart[20], 1.0, token)


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf"), 0.4, 100.0])
def test_speeds_out_of_range_are_refused(
    engine: OnnxEngine, heart: NDArray[np.float32], speed: float
) -> None:
    with pytest.raises(ValueError, match=r"outside 0\.5 to 2\.0"):
        engine.synthesize(SHORT, heart[20], speed)


def test_lengths_out_of_range_are_refused(engine: OnnxEngine, heart: NDArray[np.float32]) -> None:
    for phonemes in ("", "a" * 511):
        with pytest.raises(ValueError, match="one call takes 1 to 510"):
            engine.synthesize(phonemes, heart[0], 1.0)
