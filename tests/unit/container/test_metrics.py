"""A server's figures: as Prometheus reads them, and as CloudWatch does."""

import asyncio
import json
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kokoro_container import emf
from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.metrics import RECENT_VALUES, Metrics
from kokoro_container.scheduler import Job, Scheduler, Stream
from kokoro_container.synthesis import Rendered, Speech, Synthesizer
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.protocol import SpeechOptions

VOICES = Voices()


def read(metrics: Metrics) -> dict[str, float]:
    """What Prometheus makes of it: value by name and labels."""
    return {
        sample.name + "".join(f" {key}={label}" for key, label in sample.labels.items()): (
            sample.value
        )
        for family in text_string_to_metric_families(metrics.text().decode())
        for sample in family.samples
    }


class Deaf:
    def on_audio(self, job: Job, audio: Rendered) -> None: ...

    def on_done(self, job: Job) -> None: ...

    def on_failed(self, job: Job, error: Exception) -> None: ...


def speech(text: str = "hello there", engine: ToneEngine | None = None) -> Speech:
    return Synthesizer(engine or ToneEngine(), spell, VOICES).speech(text, SpeechOptions())


# --- what is counted -----------------------------------------------------------------------------


def test_two_servers_in_one_process_do_not_mix() -> None:
    one, other = Metrics(), Metrics()
    one.error("overloaded")

    assert read(one)["kokoro_errors_total code=overloaded"] == 1
    assert "kokoro_errors_total code=overloaded" not in read(other)


def test_a_gauge_is_asked_when_it_is_read() -> None:
    metrics, waiting = Metrics(), [1, 2]
    metrics.gauge("Waiting", "kokoro_waiting", "Who waits.", lambda: len(waiting))
    assert read(metrics)["kokoro_waiting"] == 2

    waiting.clear()

    assert read(metrics)["kokoro_waiting"] == 0


async def test_what_the_scheduler_does_shows() -> None:
    metrics = Metrics()
    scheduler = Scheduler(metrics=metrics)
    listening = Stream(Deaf())

    for chunk_id in (0, 1):
        scheduler.add(listening, speech(engine=ToneEngine(call_s=0.001)), chunk_id)
    await scheduler.wait_idle()
    shown = read(metrics)
    await scheduler.aclose()

    assert shown["kokoro_chunks_total"] == 2
    assert shown["kokoro_synthesis_seconds_count"] == 2
    assert shown["kokoro_synthesis_seconds_sum"] >= 0.002
    assert shown["kokoro_g2p_seconds_count"] == 2
    assert shown["kokoro_queue_wait_seconds_count"] == 2
    assert shown["kokoro_real_time_factor_count"] == 2
    assert shown["kokoro_audio_seconds_total"] > 1
    # The second text came while the listener was waiting as well, but then there was audio.
    assert shown["kokoro_first_audio_seconds_count"] == 1
    assert shown["kokoro_dropped_chunks_total"] == 0


async def test_a_text_for_an_idle_listener_is_a_first_one_again() -> None:
    metrics, clock = Metrics(), iter(range(0, 10_000, 100))
    scheduler = Scheduler(metrics=metrics, clock=lambda: float(next(clock)))
    listening = Stream(Deaf())

    for chunk_id in (0, 1):
        scheduler.add(listening, speech(), chunk_id)
        await scheduler.wait_idle()
    await scheduler.aclose()

    assert read(metrics)["kokoro_first_audio_seconds_count"] == 2


async def test_a_whole_reply_has_no_first_audio() -> None:
    metrics = Metrics()
    scheduler = Scheduler(metrics=metrics)

    scheduler.add(Stream(Deaf(), patience_s=10.0), speech())
    await scheduler.wait_idle()
    await scheduler.aclose()

    assert read(metrics)["kokoro_first_audio_seconds_count"] == 0
    assert read(metrics)["kokoro_chunks_total"] == 1


async def test_dropped_texts_are_counted_and_finished_ones_are_not() -> None:
    metrics = Metrics()
    scheduler = Scheduler(metrics=metrics)
    finished, dropped = Stream(Deaf()), Stream(Deaf())
    scheduler.add(finished, speech())
    await scheduler.wait_idle()
    dropped.paused = True
    for chunk_id in range(3):
        scheduler.add(dropped, speech(), chunk_id)

    scheduler.close(finished)
    scheduler.close(dropped)

    assert read(metrics)["kokoro_dropped_chunks_total"] == 3
    await scheduler.aclose()


# --- reports -------------------------------------------------------------------------------------


def emitted(metrics: Metrics) -> list[dict[str, Any]]:
    lines = emf.lines(metrics.report(), service="kokoro-1", instance="kokoro-abc", at_ms=1234)
    return [json.loads(line) for line in lines]


def values(line: dict[str, Any], name: str) -> tuple[Any, str]:
    """A metric's value and unit, found the way CloudWatch does."""
    (directive,) = line["_aws"]["CloudWatchMetrics"]
    (unit,) = (metric["Unit"] for metric in directive["Metrics"] if metric["Name"] == name)
    return line[name], unit


def test_a_report_has_what_happened_since_the_last_one() -> None:
    metrics = Metrics()
    metrics.gauge("QueuedChunks", "kokoro_queued_chunks", "Waiting.", lambda: 7)
    metrics.chunks.add(3)
    metrics.first_audio.observe(0.25)
    metrics.first_audio.observe(0.5)
    metrics.error("overloaded")

    state, error, timings = emitted(metrics)
    (later,) = emitted(metrics)

    assert state["_aws"]["Timestamp"] == 1234
    assert state["InstanceId"] == "kokoro-abc"
    assert values(state, "QueuedChunks") == (7, "Count")
    assert values(state, "Chunks") == (3, "Count")
    assert values(state, "AudioSeconds") == (0, "Seconds")
    assert values(state, "Errors") == (1, "Count")
    assert (error["Code"], values(error, "Errors")) == ("overloaded", (1, "Count"))
    assert values(timings, "FirstAudio") == ([0.25, 0.5], "Seconds")
    assert (values(later, "Chunks"), values(later, "Errors")) == ((0, "Count"), (0, "Count"))
    assert values(later, "QueuedChunks") == (7, "Count")
    # The Prometheus side keeps counting.
    assert read(metrics)["kokoro_chunks_total"] == 3


def test_every_line_keeps_to_the_embedded_metric_format() -> None:
    metrics = Metrics()
    metrics.gauge("Ready", "kokoro_ready", "Whether.", lambda: True)
    for number in range(RECENT_VALUES + 50):
        metrics.synthesis.observe(number / 1000)
    metrics.g2p.observe(0.01)
    metrics.error("internal")
    metrics.error("overloaded")
    lines = emitted(metrics)

    for line in lines:
        (directive,) = line["_aws"]["CloudWatchMetrics"]
        assert directive["Namespace"] == "KokoroTTS"
        assert 0 < len(directive["Metrics"]) <= 100
        for dimension in directive["Dimensions"][0]:
            assert isinstance(line[dimension], str)
        for metric in directive["Metrics"]:
            value = line[metric["Name"]]
            assert type(value) in (int, float) or 0 < len(value) <= 100
        assert len(json.dumps(line)) < 256_000
    sent = [value for line in lines for value in line.get("Synthesis", [])]
    assert sent == [n / 1000 for n in range(50, RECENT_VALUES + 50)]  # the latest
    assert [line["G2P"] for line in lines if "G2P" in line] == [[0.01]]


async def test_a_reporter_that_is_stopped_reports_what_is_left() -> None:
    metrics, printed = Metrics(), []
    reporter = emf.Reporter(metrics, "kokoro-abc", every_s=3600, write=printed.append)
    task = asyncio.create_task(reporter.run())
    await asyncio.sleep(0)
    metrics.chunks.add()

    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    assert json.loads(printed[0])["Chunks"] == 1


def test_a_closed_standard_output_does_not_end_the_reports(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def closed(line: str) -> None:
        raise BrokenPipeError("nobody reads")

    emf.Reporter(Metrics(), "kokoro-abc", write=closed).report()

    assert "figures could not be printed: nobody reads" in caplog.text
