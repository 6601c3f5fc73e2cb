"""The torch engine as the rest of the container sees it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from kokoro_container.engines.base import CancelToken, EngineCancelled, EngineFailed
from kokoro_container.engines.loading import load_engine
from kokoro_container.engines.torch import TorchEngine
from kokoro_container.voices import Voices

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

SHORT = "jˈɛlO wˈɪndOz."
OTHER = "dˈɑktəɹ."


@pytest.fixture(scope="module")
def heart(voices: Voices) -> NDArray[np.float32]:
    return voices.style("af_heart", len(SHORT))


class CancelledAfter(CancelToken):
    """Counts how often the engine looks, and is cancelled once that was `looks` times."""

    def __init__(self, looks: int | None = None) -> None:
        super().__init__()
        self.looked = 0
        self._left = looks

    @property
    def cancelled(self) -> bool:
        self.looked += 1
        return self._left is not None and self.looked > self._left


def test_it_is_found_by_name_and_speaks(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    audio = torch_engine.synthesize(SHORT, heart, 1.0)

    assert torch_engine.name == "torch"
    assert 0.05 < np.abs(audio.samples).max() < 1.0


@pytest.mark.skipif(torch.cuda.is_available(), reason="auto takes torch where there is a GPU")
def test_without_a_gpu_auto_takes_the_faster_one() -> None:
    engine = load_engine("auto")
    assert engine.name == "onnx"
    engine.close()


def test_with_a_gpu_auto_takes_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    class Asked(Exception):
        pass

    def load(_progress: object) -> TorchEngine:
        raise Asked

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(TorchEngine, "load", load)
    with pytest.raises(Asked):
        load_engine("auto")


def test_the_same_call_gives_the_same_samples(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    first = torch_engine.synthesize(SHORT, heart, 1.0).samples
    torch.manual_seed(7)  # whatever the host's random numbers are at
    assert np.array_equal(first, torch_engine.synthesize(SHORT, heart, 1.0).samples)


def test_random_numbers_of_the_host_are_left_alone(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    torch.manual_seed(7)
    expected = torch.rand(4)
    torch.manual_seed(7)
    torch_engine.synthesize(SHORT, heart, 1.0)
    assert torch.equal(torch.rand(4), expected)


def test_calls_from_threads_do_not_disturb_each_other(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    def say(phonemes: str) -> NDArray[np.float32]:
        return torch_engine.synthesize(phonemes, heart, 1.0).samples

    alone = [say(SHORT), say(OTHER)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(say, [SHORT, OTHER] * 2))

    for i, samples in enumerate(together):
        # Not bit by bit: torch shares out sums differently when fewer threads are free.
        np.testing.assert_allclose(samples, alone[i % 2], atol=1e-3)


def test_a_token_cancelled_beforehand_computes_nothing(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    ran: list[object] = []
    hook = torch_engine._model.bert.register_forward_hook(lambda *of: ran.append(of))
    token = CancelToken()
    token.cancel()

    with pytest.raises(EngineCancelled):
        torch_engine.synthesize(SHORT, heart, 1.0, token)

    hook.remove()
    assert ran == []


def test_a_running_call_stops_where_it_is_cancelled(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    whole = CancelledAfter()
    torch_engine.synthesize(SHORT, heart, 1.0, whole)
    assert whole.looked > 100  # often enough that none of the steps between is long

    for looks in (1, whole.looked // 2, whole.looked - 1):
        token = CancelledAfter(looks)
        with pytest.raises(EngineCancelled):
            torch_engine.synthesize(SHORT, heart, 1.0, token)
        assert token.looked == looks + 1

    assert torch_engine.synthesize(SHORT, heart, 1.0).samples.size > 0


def test_speed_changes_the_length(torch_engine: TorchEngine, heart: NDArray[np.float32]) -> None:
    slow, fast = (torch_engine.synthesize(SHORT, heart, speed).samples.size for speed in (0.5, 2.0))
    assert slow > 2 * fast


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan"), float("inf"), 0.4, 100.0])
def test_speeds_out_of_range_are_refused(
    torch_engine: TorchEngine, heart: NDArray[np.float32], speed: float
) -> None:
    with pytest.raises(ValueError, match=r"outside 0\.5 to 2\.0"):
        torch_engine.synthesize(SHORT, heart, speed)


def test_lengths_out_of_range_are_refused(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    for phonemes in ("", "a" * 511):
        with pytest.raises(ValueError, match="one call takes 1 to 510"):
            torch_engine.synthesize(phonemes, heart, 1.0)


def test_a_style_that_gives_no_sound_is_an_error_of_this_call_only(
    torch_engine: TorchEngine, heart: NDArray[np.float32]
) -> None:
    with pytest.raises(EngineFailed):
        torch_engine.synthesize(SHORT, np.full(256, np.nan, np.float32), 1.0)
    assert torch_engine.synthesize(SHORT, heart, 1.0).samples.size > 0


def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(EngineFailed, match="model on cuda:99"):
        TorchEngine.load(device="cuda:99")
