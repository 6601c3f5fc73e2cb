"""Kokoro-82M on PyTorch: the engine for GPUs. It runs on a CPU too, slower than ONNX Runtime.

Single precision throughout. Half precision is not offered: a phase that is summed over a sentence
and an inverse STFT are in the model, and there was no GPU to prove on that nothing is heard of it.
"""

from __future__ import annotations

import functools
import hashlib
import os
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.overrides import TorchFunctionMode

from kokoro_container import weights
from kokoro_container.engines import kmodel
from kokoro_container.engines.base import (
    MAX_PHONEMES,
    CancelToken,
    EngineAudio,
    EngineCancelled,
    EngineFailed,
)
from kokoro_container.text.vocabulary import to_ids

# Before each of these a call looks whether it was cancelled. On two CPU cores the longest stretch
# between two of them is a twenty-fifth of the call (measured: 0.2 of 4.4 s for 7 s of audio).
_LOOKS_UP = (torch.nn.Conv1d, torch.nn.ConvTranspose1d, torch.nn.LSTM, torch.nn.LayerNorm)

# Phonemes of one call each: kernels are chosen, and loaded, by size when first used.
_WARM_UP_CPU = (16,)
_WARM_UP_CUDA = (16, 64, 256)


class TorchEngine:
    """Runs `KModel`. Safe to call from threads; on a GPU each running call has its own stream.

    How many calls run at a time is the caller's choice. The same call gives the same samples on
    the same kind of machine: the model's noise is drawn from a seed over everything it speaks.

    Args:
        model: What `kmodel.build` made.
        label: Which weights it has; see `Engine.model`.
        device: The torch device that it is on.
    """

    name = "torch"

    def __init__(self, model: Any, label: str, device: str) -> None:
        self.model = label
        self.device = torch.device(device)
        self.quick = self.device.type == "cuda"
        self._model = model
        self._call = _Call()
        self._streams: queue.SimpleQueue[Any] = queue.SimpleQueue()
        for module in model.modules():
            if isinstance(module, _LOOKS_UP):
                module.register_forward_pre_hook(self._call.look_up)
        source = model.decoder.generator.m_source  # the only part that draws random numbers
        source.forward = functools.partial(self._call.seeded, source.forward)

    @classmethod
    def load(
        cls, progress: weights.Progress | None = None, device: str | None = None
    ) -> TorchEngine:
        """Finds the weights, loads and warms up.

        Args:
            progress: Told in a few words what is going on.
            device: A torch device; by default `KOKORO_DEVICE`, else `cuda` if there is one, else
                `cpu`.

        Raises:
            kokoro_container.weights.WeightsNotFound: No weights, or damaged ones.
            EngineFailed: The device does not take the model, or the model speaks no sense.
        """
        device = device or os.environ.get("KOKORO_DEVICE")
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        found = kmodel.find_weights(progress)
        if progress is not None:
            progress("loading the model", 0.8)
        try:
            model = kmodel.build(found, device)
        except (RuntimeError, AssertionError) as error:  # (the latter from a torch without CUDA)
            raise EngineFailed(
                f"torch cannot put the model on {device}: {error}; name a device that is here"
            ) from error
        if torch.device(device).type == "cuda":
            torch.cuda.synchronize(device)  # every stream may read the weights from here on
        engine = cls(model, found.label, device)
        engine.warm_up()
        return engine

    def warm_up(self) -> None:
        """Speaks for nobody, so that the first listener does not wait for kernels to load.

        Raises:
            EngineFailed: There was no usable audio.
        """
        style = np.zeros(256, dtype=np.float32)
        for length in _WARM_UP_CUDA if self.device.type == "cuda" else _WARM_UP_CPU:
            self.synthesize("a" * length, style, 1.0)

    def synthesize(
        self,
        phonemes: str,
        style: NDArray[np.float32],
        speed: float,
        cancel: CancelToken | None = None,
    ) -> EngineAudio:
        """Speaks one phoneme string; see `Engine.synthesize`."""
        ids = to_ids(phonemes)
        if not 1 <= len(ids) <= MAX_PHONEMES:
            raise ValueError(f"{len(ids)} phonemes: one call takes 1 to {MAX_PHONEMES}")
        if not 0.5 <= speed <= 2.0:
            raise ValueError(f"speed {speed} is outside 0.5 to 2.0")
        style = np.asarray(style, dtype=np.float32).reshape(1, 256)
        generator = torch.Generator(self.device).manual_seed(_seed(self.model, ids, style, speed))
        with self._call.of(generator, cancel):
            samples, frames = self._run(ids, style, speed)
        if samples.size == 0 or not np.isfinite(samples).all():
            raise EngineFailed("the model gave no usable audio for these phonemes")
        return EngineAudio(samples=samples, frames=frames)

    def _run(
        self, ids: Sequence[int], style: NDArray[np.float32], speed: float
    ) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        stream = self._take_stream()
        try:
            with torch.inference_mode(), torch.cuda.stream(stream):
                self._call.look_up()
                audio, frames = self._model.forward_with_tokens(
                    torch.tensor([[0, *ids, 0]], device=self.device),
                    torch.tensor(style, device=self.device),
                    speed,
                )
                return audio.reshape(-1).cpu().numpy(), frames.reshape(-1).cpu().numpy()
        except EngineCancelled:
            raise
        except Exception as error:  # (its text may hold shapes, never the words)
            raise EngineFailed(f"torch failed: {type(error).__name__}: {error}") from error
        finally:
            self._streams.put(stream)

    def _take_stream(self) -> Any:
        """A CUDA stream that no other call is using; None without CUDA."""
        try:
            return self._streams.get_nowait()
        except queue.Empty:
            return torch.cuda.Stream(self.device) if self.device.type == "cuda" else None

    def close(self) -> None:
        """Drops the model and gives its memory back."""
        self._model = None
        if self.device.type == "cuda":
            torch.cuda.empty_cache()


class _Call(threading.local):
    """What the model's hooks need to know of the call that runs in their thread."""

    def __init__(self) -> None:
        self.generator: Any = None
        self.cancel: CancelToken | None = None

    def of(self, generator: Any, cancel: CancelToken | None) -> _Call:
        self.generator, self.cancel = generator, cancel
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        self.generator = self.cancel = None

    def look_up(self, *_: object) -> None:
        """Raises `EngineCancelled` if the running call was cancelled."""
        if self.cancel is not None and self.cancel.cancelled:
            raise EngineCancelled

    def seeded(self, forward: Callable[[Any], Any], f0: Any) -> Any:
        """The harmonic source, with its noise from this call's generator."""
        with _NoiseFrom(self.generator):
            return forward(f0)


class _NoiseFrom(TorchFunctionMode):  # type: ignore[misc]  # (untyped where torch is missing)
    """Random numbers from one generator instead of torch's global one; for this thread only."""

    def __init__(self, generator: Any) -> None:
        super().__init__()
        self._generator = generator

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        drawn = func in (torch.rand, torch.randn_like)
        return func(*args, **(kwargs or {}), **({"generator": self._generator} if drawn else {}))


def _seed(model: str, ids: Sequence[int], style: NDArray[np.float32], speed: float) -> int:
    said = hashlib.sha256(repr((model, tuple(ids), float(speed))).encode())
    said.update(style.astype("<f4").tobytes())
    return int.from_bytes(said.digest()[:8], "big")
