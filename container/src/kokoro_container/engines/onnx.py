"""Kokoro-82M on ONNX Runtime: the CPU engine."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kokoro_container import weights
from kokoro_container.engines.base import (
    FRAME_SAMPLES,
    MAX_PHONEMES,
    CancelToken,
    EngineAudio,
    EngineCancelled,
    EngineFailed,
)
from kokoro_container.text.vocabulary import to_ids


class OnnxEngine:
    """Runs the graph that `kokoro_container.engines.graph` prepares. Safe to call from threads.

    ONNX Runtime runs one call at a time per session at full speed; two at once share the cores.

    Args:
        path: The prepared ONNX file.
        threads: How many to compute with; by default the cores this process may use.

    Raises:
        EngineFailed: The file does not load.
    """

    name = "onnx"
    quick = False
    model = weights.MODEL_NAME

    def __init__(self, path: str, threads: int | None = None) -> None:
        import onnxruntime

        self.threads = threads or usable_cores()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        # Every sentence has its own lengths: a memory plan per length would be kept for ever.
        options.enable_mem_pattern = False
        # Threads that wait by spinning are 6 % faster on an idle machine, and a third slower as
        # soon as anything else (the event loop, G2P, a client) wants a core (both measured).
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 3
        try:
            self._session: Any = onnxruntime.InferenceSession(
                path,
                options,
                providers=["CPUExecutionProvider"],
                # Blocked layouts help wide 2-D convolutions; ours are 1-D, or have one channel.
                disabled_optimizers=["NchwcTransformer"],
            )
        except Exception as error:
            raise EngineFailed(f"ONNX Runtime cannot load {path}: {error}") from error
        self._run_options = onnxruntime.RunOptions

    @classmethod
    def load(cls, progress: weights.Progress | None = None) -> OnnxEngine:
        """Prepares the weights if need be and loads them.

        Args:
            progress: Told in a few words what is going on.

        Raises:
            kokoro_container.weights.WeightsNotFound: No weights, or damaged ones.
            EngineFailed: ONNX Runtime cannot load even a newly prepared graph.
        """
        for last_try in (False, True):
            prepared = weights.prepared_graph(progress)
            if progress is not None:
                progress("loading the model", 0.8)
            try:
                return cls(prepared.path)
            except EngineFailed:
                if last_try:
                    raise
                weights.discard_prepared()
        raise AssertionError("unreachable")

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
        feeds: dict[str, NDArray[Any]] = {
            "tokens": np.array([[0, *ids, 0]], dtype=np.int64),
            "style": np.asarray(style, dtype=np.float32).reshape(1, 256),
            "speed": np.array([speed], dtype=np.float32),
        }
        samples, frames = self._run(feeds, cancel)
        durations = np.rint(frames.reshape(-1)).astype(np.int64)
        if samples.size == 0 or not np.isfinite(samples).all():
            raise EngineFailed("the model gave no usable audio for these phonemes")
        return EngineAudio(samples=samples.reshape(-1), frames=durations)

    def _run(
        self, feeds: dict[str, NDArray[Any]], cancel: CancelToken | None
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        options = self._run_options()

        def interrupt() -> None:
            options.terminate = True  # looked at between two operators: takes effect in a moment

        if cancel is not None:
            cancel.on_cancel(interrupt)
        try:
            samples, frames = self._session.run(["audio", "frames"], feeds, options)
        except Exception as error:
            if cancel is not None and cancel.cancelled:
                raise EngineCancelled from None
            raise EngineFailed(f"ONNX Runtime failed: {type(error).__name__}") from error
        finally:
            if cancel is not None:
                cancel.on_cancel(None)
        return samples, frames

    def close(self) -> None:
        """Drops the session and with it its memory and threads."""
        self._session = None


def usable_cores() -> int:
    """How many cores this process may run on (a container may have fewer than the machine)."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def expected_samples(frames: NDArray[np.int64]) -> int:
    """How many samples these durations stand for."""
    return int(frames.sum()) * FRAME_SAMPLES
