"""Where the torch engine's weights come from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from kokoro_container.engines import kmodel
from kokoro_container.engines.recover import CONFIG, recovered_state
from kokoro_container.engines.torch import TorchEngine
from kokoro_container.weights import WeightsNotFound

from .conftest import Speak
from .spectra import correlation

pytestmark = [pytest.mark.model, pytest.mark.timeout(240)]

WINDOWS = "Seven yellow windows were open in the morning."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model folder that is set, and holds nothing yet."""
    monkeypatch.setenv("KOKORO_MODEL_DIR", str(tmp_path))
    return tmp_path


def publish(folder: Path, drop: str = "") -> None:
    """Writes the recovered weights as hexgrad/Kokoro-82M publishes its own, less some."""
    parts: dict[str, dict[str, torch.Tensor]] = {}
    for name, array in recovered_state()[1].items():
        part, _, rest = name.partition(".")
        if not (drop and name.startswith(drop)):
            parts.setdefault(part, {})[f"module.{rest}"] = torch.from_numpy(array)
    parts["bert"]["module.embeddings.position_ids"] = torch.arange(512)[None]
    torch.save(parts, folder / "kokoro-v1_0.pth")
    (folder / "config.json").write_text(json.dumps(dict(CONFIG)))


def test_a_published_checkpoint_in_the_folder_wins(
    folder: Path, torch_engine: TorchEngine, speak: Speak
) -> None:
    publish(folder)

    engine = TorchEngine.load(device="cpu")

    ours, recovered = speak(engine, WINDOWS), speak(torch_engine, WINDOWS)
    assert np.array_equal(ours.frames, recovered.frames)
    assert correlation(ours.samples, recovered.samples) > 0.98  # only the noise is another
    # What sounds different must not pass for the same: a listener may be moved between servers.
    assert engine.model != torch_engine.model
    engine.close()


def test_an_empty_folder_is_named_with_what_it_needs(folder: Path) -> None:
    with pytest.raises(WeightsNotFound, match=r"neither kokoro-v1_0\.pth nor .*int8\.onnx"):
        kmodel.find_weights()


def test_weights_without_their_config_are_refused(folder: Path) -> None:
    (folder / "kokoro-v1_0.pth").touch()
    with pytest.raises(WeightsNotFound, match=r"no config\.json beside it"):
        kmodel.find_weights()


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"PK\x03\x04 cut off"])
def test_a_damaged_checkpoint_is_refused(folder: Path, content: bytes) -> None:
    (folder / "kokoro-v1_0.pth").write_bytes(content)
    (folder / "config.json").write_text(json.dumps(dict(CONFIG)))
    with pytest.raises(WeightsNotFound, match="cannot be read"):
        kmodel.find_weights()


def test_code_in_a_checkpoint_is_not_run(folder: Path) -> None:
    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return (exec, ("raise SystemExit('the checkpoint ran')",))

    torch.save({"bert": Hostile()}, folder / "kokoro-v1_0.pth")
    (folder / "config.json").write_text(json.dumps(dict(CONFIG)))
    with pytest.raises(WeightsNotFound, match="cannot be read"):
        kmodel.find_weights()


def test_a_checkpoint_with_a_layer_missing_is_refused(folder: Path) -> None:
    publish(folder, drop="predictor.shared.")
    with pytest.raises(WeightsNotFound, match=r"predictor\.shared\.weight_ih_l0"):
        TorchEngine.load(device="cpu")


def test_another_models_shape_is_refused(folder: Path) -> None:
    publish(folder)
    (folder / "config.json").write_text(json.dumps({**CONFIG, "n_token": 200}))
    with pytest.raises(WeightsNotFound, match="do not fit the model"):
        TorchEngine.load(device="cpu")
