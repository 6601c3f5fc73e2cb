"""What a server measures of itself; `/metrics` shows it, and `emf` prints it for CloudWatch.

Each server has figures of its own, so that two of them in one process don't mix. The parts of the
server write into them on the event loop, in microseconds; gauges are asked when they are read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_PLAIN_0_0_4,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

CONTENT_TYPE: Final = CONTENT_TYPE_PLAIN_0_0_4

WAIT_BUCKETS_S: Final = (0.02, 0.05, 0.1, 0.15, 0.25, 0.4, 0.7, 1.0, 1.7, 3.0, 5.0, 10.0, 20.0)
"""From what nobody notices to what nobody waits for. A GPU's first audio is at 0.1, one under
load at 0.3 to 3 (the AWS Kokoro sample's own figures), a CPU's at 1."""

CALL_BUCKETS_S: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
"""A GPU's call takes some 0.06 s, a CPU's up to 3 (measured)."""

G2P_BUCKETS_S: Final = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0)
"""A sentence takes 0.01 s, the worst section known 0.2 (measured)."""

FACTOR_BUCKETS: Final = (0.01, 0.02, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.2, 2.0)
"""Above 1 a listener hears gaps. CPUs need 0.35 to 0.6 (measured)."""

RECENT_VALUES: Final = 2000
"""Kept of each distribution between two reports: a minute of 33 calls a second. The oldest go."""


@dataclass(frozen=True, slots=True)
class Report:
    """What happened since the last report; names and units are CloudWatch's.

    Attributes:
        gauges: how things stand, by name.
        counts: how much was added, by name; with its unit.
        values: each value that was observed, by name; with their unit.
        errors: how many, by code.
    """

    gauges: dict[str, float]
    counts: dict[str, tuple[float, str]]
    values: dict[str, tuple[list[float], str]]
    errors: dict[str, float]


class Distribution:
    """Values of one kind: buckets for Prometheus, the latest values themselves for a report."""

    def __init__(self, histogram: Histogram) -> None:
        self._histogram = histogram
        self._recent: deque[float] = deque(maxlen=RECENT_VALUES)

    def observe(self, value: float) -> None:
        """Adds one."""
        self._histogram.observe(value)
        self._recent.append(value)

    def take(self) -> list[float]:
        """Those since it was called last."""
        taken = list(self._recent)
        self._recent.clear()
        return taken


class Total:
    """A sum that only grows, and what was added since the last report."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._added = 0.0

    def add(self, amount: float = 1.0) -> None:
        """Adds to it."""
        self._counter.inc(amount)
        self._added += amount

    def take(self) -> float:
        """What was added since it was called last."""
        taken, self._added = self._added, 0.0
        return taken


class Metrics:
    """The figures of one server.

    Attributes:
        queue_wait: seconds from a text's arrival to the model, less the time for its phonemes.
        first_audio: seconds from a text's arrival to its first audio, where somebody heard silence
            when it came. A POST that is answered whole is not counted.
        synthesis: seconds of a model call.
        real_time_factor: the same, for each second of audio it gave.
        g2p: seconds to make phonemes of a section of a text.
        audio_s: seconds of audio made.
        chunks: texts spoken to their end.
        dropped_chunks: unfinished texts dropped: their context was cancelled or their client left.
        cancelled_contexts: contexts that a client cancelled.
    """

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._distributions: dict[str, tuple[Distribution, str]] = {}
        self._totals: dict[str, tuple[Total, str]] = {}
        self._gauges: dict[str, Callable[[], float]] = {}
        self._errors: dict[str, Total] = {}
        distribution, total = self._distribution, self._total
        self.queue_wait = distribution(
            "QueueWait",
            "kokoro_queue_wait_seconds",
            "Seconds a text waited for the model, without the time for its phonemes.",
            WAIT_BUCKETS_S,
        )
        self.first_audio = distribution(
            "FirstAudio",
            "kokoro_first_audio_seconds",
            "Seconds from a text's arrival to its first audio, for a listener who heard silence.",
            WAIT_BUCKETS_S,
        )
        self.synthesis = distribution(
            "Synthesis", "kokoro_synthesis_seconds", "Seconds of a model call.", CALL_BUCKETS_S
        )
        self.g2p = distribution(
            "G2P",
            "kokoro_g2p_seconds",
            "Seconds to make phonemes of a section of a text.",
            G2P_BUCKETS_S,
        )
        self.real_time_factor = distribution(
            "RealTimeFactor",
            "kokoro_real_time_factor",
            "Seconds of a model call for each second of audio it gave.",
            FACTOR_BUCKETS,
            "None",
        )
        self.audio_s = total(
            "AudioSeconds", "kokoro_audio_seconds", "Seconds of audio made.", "Seconds"
        )
        self.chunks = total("Chunks", "kokoro_chunks", "Texts spoken to their end.")
        self.dropped_chunks = total(
            "DroppedChunks",
            "kokoro_dropped_chunks",
            "Unfinished texts dropped by a cancel or by a client that left.",
        )
        self.cancelled_contexts = total(
            "CancelledContexts", "kokoro_cancelled_contexts", "Contexts that a client cancelled."
        )
        self._error_counter = Counter(
            "kokoro_errors",
            "Errors that clients were told of, by their code.",
            ["code"],
            registry=self._registry,
        )

    def gauge(self, name: str, prometheus: str, about: str, ask: Callable[[], float]) -> None:
        """Adds a figure that is asked whenever it is read.

        Args:
            name: CloudWatch's.
            prometheus: the other one.
            about: what it says.
            ask: gives it; called on the event loop.
        """
        self._gauges[name] = ask
        Gauge(prometheus, about, registry=self._registry).set_function(ask)

    def error(self, code: str) -> None:
        """A client was told of an error."""
        if code not in self._errors:
            self._errors[code] = Total(self._error_counter.labels(code))
        self._errors[code].add()

    def rendered(self, elapsed_s: float, audio_s: float) -> None:
        """A model call gave audio."""
        self.synthesis.observe(elapsed_s)
        self.audio_s.add(audio_s)
        if audio_s:
            self.real_time_factor.observe(elapsed_s / audio_s)

    def text(self) -> bytes:
        """All of them in Prometheus' text format, version 0.0.4."""
        return generate_latest(self._registry)

    def report(self) -> Report:
        """All of them since this was called last."""
        return Report(
            gauges={name: float(ask()) for name, ask in self._gauges.items()},
            counts={name: (total.take(), unit) for name, (total, unit) in self._totals.items()},
            values={
                name: (values, unit)
                for name, (kept, unit) in self._distributions.items()
                if (values := kept.take())
            },
            errors={code: n for code, total in self._errors.items() if (n := total.take())},
        )

    def _distribution(
        self,
        name: str,
        prometheus: str,
        about: str,
        buckets: Sequence[float],
        unit: str = "Seconds",
    ) -> Distribution:
        histogram = Histogram(prometheus, about, buckets=buckets, registry=self._registry)
        self._distributions[name] = made = Distribution(histogram), unit
        return made[0]

    def _total(self, name: str, prometheus: str, about: str, unit: str = "Count") -> Total:
        counter = Counter(prometheus, about, registry=self._registry)
        self._totals[name] = made = Total(counter), unit
        return made[0]
