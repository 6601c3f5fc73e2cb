"""The torch engine's weights from the ONNX export; tests/torch/ hears whether they are right."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from kokoro_container import weights
from kokoro_container.engines.recover import State, recovered_state

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def state(folder: Path, monkeypatch: pytest.MonkeyPatch) -> State:
    monkeypatch.setenv("KOKORO_CACHE_DIR", str(folder))
    return recovered_state()[1]


def test_every_part_of_the_model_is_there(state: State) -> None:
    # 81.8 million with BERT's pooler, which nothing reads (research: the original checkpoint).
    assert sum(array.size for array in state.values()) == pytest.approx(81.2e6, rel=0.001)
    assert {name.split(".")[0] for name in state} == {
        "bert",
        "bert_encoder",
        "decoder",
        "predictor",
        "text_encoder",
    }
    assert state["bert.embeddings.word_embeddings.weight"].shape == (178, 128)
    assert state["predictor.shared.weight_ih_l0_reverse"].shape == (1024, 640)
    assert state["decoder.generator.ups.0.weight_v"].shape == (512, 256, 20)
    assert all(array.dtype == np.float32 for array in state.values())


def test_no_weight_is_lost_to_a_division_by_zero(state: State) -> None:
    assert all(np.isfinite(array).all() for array in state.values())
    directions = [name for name in state if name.endswith("weight_v")]
    assert directions
    for name in directions:
        assert (np.abs(state[name]).reshape(len(state[name]), -1).sum(axis=1) > 0).all()


def test_the_second_time_it_comes_from_the_cache(
    state: State, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(weights, "PART_PACKAGES", ("not_installed",))  # nothing to recover from

    again = recovered_state()[1]

    assert again.keys() == state.keys()
    assert all(np.array_equal(again[name], state[name]) for name in state)
    assert [path.suffix for path in folder.iterdir() if path.suffix != ".lock"] == [".npz"]


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_cache_is_replaced(state: State, folder: Path, damage: str) -> None:
    (kept,) = folder.glob("*.npz")
    content = bytearray(kept.read_bytes())
    middle = len(content) // 2
    content[middle] ^= 1
    kept.write_bytes({"cut": content[:middle], "flipped": content}[damage])

    again = recovered_state()[1]

    assert all(np.array_equal(again[name], state[name]) for name in state)
    assert recovered_state()[1].keys() == state.keys()


def test_another_graph_is_refused() -> None:
    import onnx

    from kokoro_container.engines.recover import recover_state

    graph = onnx.helper.make_graph([], "empty", [], [])
    with pytest.raises(ValueError, match="not the export"):
        recover_state(onnx.helper.make_model(graph).SerializeToString())
