"""An engine by its name."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from kokoro_container.weights import Progress

from .base import Engine

ENGINES: Final = ("auto", "onnx", "tone")


def load_engine(name: str = "auto", progress: Progress | None = None) -> Engine:
    """Loads the model. Takes seconds, and up to a minute where weights are prepared first.

    Args:
        name: one of `ENGINES`; `auto` is the best that is installed.
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
    if find_spec("onnxruntime") is None:
        raise RuntimeError(
            "engine onnx needs the package onnxruntime, which is not installed here; install"
            " kokoro-sagemaker-container[onnx]"
        )
    from .onnx import OnnxEngine

    return OnnxEngine.load(progress)
