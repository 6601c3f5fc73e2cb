"""What the load benchmark's sessions say and when, and what their listeners hear.

A session is a reply of six sentences. The text of one is there every half second, as an LLM writes
it; its audio lasts 4 s. Sessions arrive at random, so many that an engine which needs `SENTENCE_S`
for a sentence said whole, as the peer says it, is busy for the given part of the time.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

SENTENCE = "We come at seven tonight, and then we eat at home. "
SENTENCES = 6
TEXT_EVERY_S = 0.5
SAMPLE_RATE = 24_000

# An A10G's costs (the AWS Kokoro sample's own load test: 60 ms for a short text at one session): a
# sentence said whole takes 60 ms; opened at a clause it is two calls of 40 ms.
SENTENCE_S = 0.060
PART_S = 0.040

TOLERANCE_S = 1e-6
"""Of a virtual clock's arithmetic. Real listeners are given `REAL_TOLERANCE_S`."""

REAL_TOLERANCE_S = 0.02
"""A player's own buffer is longer, and a scheduler of a busy machine is not more exact."""


def arrivals(sessions: int, load: float, seed: int, sentence_s: float = SENTENCE_S) -> list[float]:
    """When each session begins, in seconds: a Poisson process, stretched to just this load."""
    source = random.Random(seed)
    now, times = 0.0, []
    for _ in range(sessions):
        now += source.expovariate(1.0)
        times.append(now)
    stretch = sessions * SENTENCES * sentence_s / load / now
    return [at * stretch for at in times]


@dataclass
class Playback:
    """One listener: plays what has come, one piece after the other.

    Attributes:
        asked_at: when the first sentence's text was there.
        first_audio_s: how long after that the first audio came; None before.
        gaps_s: the silences in the middle of the reply.
        audio_s: seconds of audio that came.
        ended_at: when the last audio came.
    """

    asked_at: float
    tolerance_s: float = TOLERANCE_S
    first_audio_s: float | None = None
    gaps_s: list[float] = field(default_factory=list)
    audio_s: float = 0.0
    ended_at: float = 0.0
    _plays_until: float = 0.0

    def hears(self, now: float, audio_bytes: int) -> None:
        """16-bit audio at the model's rate comes."""
        if not audio_bytes:
            return
        if self.first_audio_s is None:
            self.first_audio_s = now - self.asked_at
        elif now > self._plays_until + self.tolerance_s:
            self.gaps_s.append(now - self._plays_until)
        length_s = audio_bytes / 2 / SAMPLE_RATE
        self._plays_until = max(self._plays_until, now) + length_s
        self.audio_s += length_s
        self.ended_at = now


@dataclass(frozen=True)
class Outcome:
    """What all listeners of one side heard."""

    sessions: int
    p50_first_audio_s: float
    p95_first_audio_s: float
    p99_first_audio_s: float
    sessions_with_gaps: int
    longest_gap_s: float
    throughput: float  # replies per second, from the first text to the last audio
    engine_busy: float | None = None  # the part of that time that the engine computed

    @classmethod
    def of(cls, heard: Sequence[Playback], engine_s: float | None = None) -> Outcome:
        """Sums up; a session that heard nothing at all is an error.

        Raises:
            RuntimeError: it is not a whole run.
        """
        firsts = sorted(p.first_audio_s for p in heard if p.first_audio_s is not None)
        least_s = 0.9 * SENTENCES * 4.0
        if len(firsts) < len(heard) or any(p.audio_s < least_s for p in heard):
            raise RuntimeError("some sessions did not hear their whole reply; the run is void")
        gaps = [gap for playback in heard for gap in playback.gaps_s]
        took_s = max(p.ended_at for p in heard) - min(p.asked_at for p in heard)
        return cls(
            sessions=len(heard),
            p50_first_audio_s=_quantile(firsts, 0.50),
            p95_first_audio_s=_quantile(firsts, 0.95),
            p99_first_audio_s=_quantile(firsts, 0.99),
            sessions_with_gaps=sum(1 for playback in heard if playback.gaps_s),
            longest_gap_s=max(gaps, default=0.0),
            throughput=len(heard) / took_s,
            engine_busy=None if engine_s is None else engine_s / took_s,
        )


@dataclass(frozen=True)
class Run:
    """One side's whole run: what each listener heard, in order of arrival."""

    heard: Sequence[Playback]
    engine_s: float

    @property
    def outcome(self) -> Outcome:
        """Of all of it."""
        return Outcome.of(self.heard, self.engine_s)

    def parts(self, count: int) -> list[Outcome]:
        """Of so many stretches of it, one after the other."""
        each = len(self.heard) // count
        return [Outcome.of(self.heard[at * each : (at + 1) * each]) for at in range(count)]


def _quantile(ordered: Sequence[float], share: float) -> float:
    """The smallest value that so many of the values are not above."""
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]
