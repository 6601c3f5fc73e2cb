"""The server's figures for CloudWatch: lines on standard output that it turns into metrics.

Nothing can scrape `/metrics` inside a SageMaker endpoint. But what a container prints ends in
CloudWatch Logs, and a line in the embedded metric format becomes metrics there, without an agent or
a permission for it. Format and limits: Amazon CloudWatch user guide, "Embedded metric format
specification".

Every metric has the dimension `Service`, so that two endpoints don't mix; errors are there once in
all and once with their code as a second dimension. The instance is in each line, for Logs Insights,
but it is no dimension: instances come and go, and each would be a metric to pay for.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from .metrics import Metrics, Report

logger = logging.getLogger(__name__)

NAMESPACE: Final = "KokoroTTS"
DEFAULT_SERVICE: Final = "kokoro"
DEFAULT_EVERY_S: Final = 60.0
"""CloudWatch keeps one value a minute of a metric unless asked (and paid) for more."""

MOST_VALUES: Final = 100  # of one metric in one line; the specification's


def lines(report: Report, *, service: str, instance: str, at_ms: int) -> Iterator[str]:
    """A report as lines of JSON.

    Args:
        report: what happened since the last one.
        service: the dimension all metrics have, such as the endpoint's name.
        instance: which server it was.
        at_ms: when, in milliseconds since the epoch.
    """
    names = {"Service": service}
    whose = {"InstanceId": instance}
    units = dict.fromkeys(report.gauges, "Count") | {"Errors": "Count"}
    values: dict[str, Any] = {**report.gauges, "Errors": sum(report.errors.values())}
    for name, (amount, unit) in report.counts.items():
        units[name], values[name] = unit, amount
    yield _line(names, whose, values, units, at_ms)
    for code, count in report.errors.items():
        yield _line({**names, "Code": code}, whose, {"Errors": count}, units, at_ms)
    longest = max((len(kept) for kept, _ in report.values.values()), default=0)
    for start in range(0, longest, MOST_VALUES):
        part = {
            name: [round(value, 6) for value in kept[start : start + MOST_VALUES]]
            for name, (kept, _) in report.values.items()
            if len(kept) > start
        }
        units = {name: report.values[name][1] for name in part}
        yield _line(names, whose, part, units, at_ms)


def _line(
    names: dict[str, str],
    whose: dict[str, str],
    values: dict[str, Any],
    units: dict[str, str],
    at_ms: int,
) -> str:
    directive = {
        "Namespace": NAMESPACE,
        "Dimensions": [list(names)],
        "Metrics": [{"Name": name, "Unit": units[name]} for name in values],
    }
    about = {"Timestamp": at_ms, "CloudWatchMetrics": [directive]}
    return json.dumps({"_aws": about, **names, **whose, **values}, separators=(",", ":"))


def print_line(line: str) -> None:
    """Prints it at once: standard output into a pipe is kept back otherwise."""
    print(line, file=sys.stdout, flush=True)


class Reporter:
    """Prints a report now and then.

    Args:
        metrics: what to report.
        instance: the server's name.
        every_s: seconds between two reports.
        service: the dimension all metrics have.
        write: takes a line.
        clock: seconds since the epoch.
    """

    def __init__(
        self,
        metrics: Metrics,
        instance: str,
        *,
        every_s: float = DEFAULT_EVERY_S,
        service: str = DEFAULT_SERVICE,
        write: Callable[[str], None] = print_line,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._metrics = metrics
        self._instance = instance
        self._every_s = every_s
        self._service = service
        self._write = write
        self._clock = clock

    async def run(self) -> None:
        """Reports until it is cancelled, and then what is left."""
        try:
            while True:
                await asyncio.sleep(self._every_s)
                self.report()
        finally:
            self.report()

    def report(self) -> None:
        """Prints what happened since the last time."""
        report = self._metrics.report()
        at_ms = round(self._clock() * 1000)
        try:
            for line in lines(report, service=self._service, instance=self._instance, at_ms=at_ms):
                self._write(line)
        except OSError as error:  # nobody reads it any more; speech goes on
            logger.warning("the figures could not be printed: %s", error)
