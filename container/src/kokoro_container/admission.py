"""How long a newcomer would wait, and so whether to let it in at all.

A listener refused at once can go to another instance; one who is let in and waits half a minute is
lost, and makes everyone else wait. So the wait is estimated before: by how fast the model was of
late, and by those whose turn comes first. That is fewer than it seems. Where the earliest deadline
goes first (`scheduler`), a listener who has audio ahead waits for a newcomer, and one who is late
is content with a single call.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from .scheduler import Job, Stream

_FADE: Final = 0.95
"""The weight of a call when the next one is seen: the latest 20 or so count."""


class Pace:
    """How fast the model is, by its latest calls; nothing is expected of it before the first."""

    def __init__(self) -> None:
        self._calls = 0.0
        self._spent_s = 0.0
        self._phonemes = 0.0
        self._text_chars = 0.0
        self._text_phonemes = 0.0

    def note_call(self, phonemes: int, elapsed_s: float) -> None:
        """A call has ended."""
        self._calls = self._calls * _FADE + 1
        self._spent_s = self._spent_s * _FADE + elapsed_s
        self._phonemes = self._phonemes * _FADE + phonemes

    def note_text(self, chars: int, phonemes: int) -> None:
        """A text has become phonemes."""
        self._text_chars = self._text_chars * _FADE + chars
        self._text_phonemes = self._text_phonemes * _FADE + phonemes

    @property
    def call_s(self) -> float:
        """What a call takes, in seconds."""
        return self._spent_s / self._calls if self._calls else 0.0

    def seconds(self, phonemes: float) -> float:
        """What so many phonemes take."""
        return phonemes * self._spent_s / self._phonemes if self._phonemes else 0.0

    def phonemes(self, chars: int) -> float:
        """What so many characters become; as many, before a text was seen."""
        return chars * self._text_phonemes / self._text_chars if self._text_chars else float(chars)


def wait_s(
    streams: Iterable[Stream], pace: Pace, *, now: float, patience_s: float | None, workers: int
) -> float:
    """How long a new stream would wait for the model's first call, in seconds.

    Args:
        streams: those with jobs.
        pace: of the model.
        now: the scheduler's clock.
        patience_s: the new stream's, as `Stream` has it.
        workers: calls at the same time.
    """
    deadline = now + (patience_s or 0.0)
    ahead_s = 0.0
    for stream in streams:
        if stream.paused or stream.deadline > deadline:
            continue
        work_s = pace.seconds(sum(_phonemes_left(job, pace) for job in stream.jobs))
        # After one call a live listener has audio ahead, unless the newcomer has time for more.
        once = stream.is_live and patience_s is None
        ahead_s += min(work_s, pace.call_s) if once else work_s
    return ahead_s / workers


def _phonemes_left(job: Job, pace: Pace) -> float:
    ready = sum(len(piece.phonemes) for piece in job.pieces)
    if not job.unphonemised:
        return ready
    return ready + max(0.0, pace.phonemes(job.speech.chars) - job.phonemes)
