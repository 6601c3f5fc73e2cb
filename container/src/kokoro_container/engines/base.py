"""What the container needs of a speech model."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE = 24_000
"""Kokoro-82M's own rate, in hertz."""

FRAME_SAMPLES = 600
"""Samples per frame of a phoneme's duration (25 ms): hop 5 times upsampling 10, 6 and 2."""

MAX_PHONEMES = 510
"""Longest phoneme string of one call: the model's 512 positions less start and end."""


class EngineCancelled(Exception):
    """The call was stopped by its `CancelToken`; there is no audio."""


class EngineFailed(Exception):
    """The model could not speak this; the engine itself goes on."""


class CancelToken:
    """Stops one engine call from another thread.

    The engine puts in `on_cancel` what interrupts its running call; whoever cancels calls `cancel`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled = False
        self._interrupt: Callable[[], None] | None = None

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """Stop the call that runs under this token, now or as soon as it starts."""
        with self._lock:
            self._cancelled = True
            if self._interrupt is not None:
                self._interrupt()

    def on_cancel(self, interrupt: Callable[[], None] | None) -> None:
        """Sets what `cancel` calls (None: nothing); called at once if already cancelled."""
        with self._lock:
            self._interrupt = interrupt
            if self._cancelled and interrupt is not None:
                interrupt()


@dataclass(frozen=True, slots=True)
class EngineAudio:
    """What one call gave.

    Attributes:
        samples: float32 `[n]` at `SAMPLE_RATE`, not clipped, silence at both ends included.
        frames: int64 `[len(phonemes) + 2]`: how many frames of `FRAME_SAMPLES` each phoneme lasts,
            with the start mark before and the end mark behind. Their sum times `FRAME_SAMPLES` is
            `n`, up to a frame.
    """

    samples: NDArray[np.float32]
    frames: NDArray[np.int64]


class Engine(Protocol):
    """A speech model. Calls may come from several threads; an engine serialises where it must."""

    @property
    def name(self) -> str:
        """As in `--engine`: `onnx`, `tone`."""
        ...

    @property
    def model(self) -> str:
        """Which weights: two engines with equal `model` say the same in the same voice."""
        ...

    @property
    def quick(self) -> bool:
        """Whether a sentence takes so little that a part of it would hardly be there sooner.

        On a GPU it does, and most of a call's time is the same for any length: two halves cost a
        third more than the whole (the AWS Kokoro sample's A10G: 60 ms, and 40 twice).
        """
        ...

    def synthesize(
        self,
        phonemes: str,
        style: NDArray[np.float32],
        speed: float,
        cancel: CancelToken | None = None,
    ) -> EngineAudio:
        """Speaks one phoneme string.

        Args:
            phonemes: 1 to `MAX_PHONEMES` symbols of the model's vocabulary.
            style: float32 `[256]`: the voice pack's row for this length.
            speed: 0.5 to 2.0; 1.0 is the voice's own.
            cancel: stops the call.

        Raises:
            ValueError: an argument outside these bounds.
            EngineCancelled: `cancel` was used.
            EngineFailed: the model could not do it.
        """
        ...

    def close(self) -> None:
        """Gives memory and threads back; no call may follow."""
        ...
