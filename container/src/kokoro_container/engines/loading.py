"""An engine by its name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from kokoro_container.weights import Progress

from .base import Engine

ENGINES: Final = ("auto", "onnx", "torch", "tone")

_NEEDS: Final = {"onnx": ("onnxruntime",), "torch": ("torch", "kokoro")}


def load_engine(name: str = "auto", progress: Progress | None = None) -> Engine:
    """Loads the model. Takes seconds, and up to a minute where weights are prepared first.

    Args:
        name: one of `ENGINES`; `auto` is torch where it has a GPU, or where it is the only one
            installed, and onnx everywhere else.
        progress: told in a few words what is going on, from this thread.

    Raises:
        ValueError: no engine has this name.
        RuntimeError: its runtime is not installed; the message says how to get it.
        kokoro_container.weights.WeightsNotFound: no weights, or damaged ones.
        EngineFailed: the model does not load.
    """
    if name == "tone":
        from .tone import ToneEngine

        return ToneEngine()
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} is not one of {', '.join(ENGINES)}")
    if name == "auto":
        name = "torch" if _torch_is_best() else "onnx"
    missing = [module for module in _NEEDS[name] if find_spec(module) is None]
    if missing:
        raise RuntimeError(
            f"engine {name} needs {' and '.join(missing)}, not installed here; install"
            f" kokoro-sagemaker-container[{name}]"
        )
    if name == "torch":
        from .torch import TorchEngine

        return TorchEngine.load(progress)
    from .onnx import OnnxEngine

    return OnnxEngine.load(progress)


def _torch_is_best() -> bool:
    if any(find_spec(module) is None for module in _NEEDS["torch"]):
        return False
    if find_spec("onnxruntime") is None:
        return True
    import torch

    return bool(torch.cuda.is_available())
