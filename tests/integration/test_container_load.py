"""The container under load and over time: `benchmarks/container_load.py` at a size for every day.

The load is on a virtual clock, so its figures are the same each time and on each machine.
"""

import importlib
import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from kokoro_container.engines.tone import ToneEngine

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TEXT = "We come at seven tonight, and then we eat at home."


@pytest.fixture
def benchmark(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Gives a part of the benchmark by its name."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module


def test_nine_tenths_busy_the_first_words_come_at_once_and_nothing_breaks_off(
    benchmark: Any,
) -> None:
    times = benchmark("_load_trace").arrivals(250, 0.9, seed=7)
    ours = benchmark("_load_virtual").ours(times).outcome
    theirs = benchmark("_load_virtual").theirs(times).outcome

    assert theirs.engine_busy > 0.85
    assert ours.p95_first_audio_s < 0.15
    assert ours.p95_first_audio_s < 0.15 * theirs.p95_first_audio_s
    assert ours.sessions_with_gaps == 0
    assert ours.throughput > 0.999 * theirs.throughput


def test_a_cancel_frees_nearly_all_that_was_left(benchmark: Any) -> None:
    assert benchmark("_load_virtual").cancelled(contexts=10, sentences=20) > 0.95


class Held(ToneEngine):
    """Counts its calls, and stays in one until it is cancelled or let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.hold = False
        self.called = threading.Event()

    def synthesize(self, phonemes, style, speed, cancel=None):  # type: ignore[no-untyped-def]  # as its base
        self.calls += 1
        self.call_s = 60.0 if self.hold else 0.0
        self.called.set()
        return super().synthesize(phonemes, style, speed, cancel)


async def test_after_a_cancel_the_engine_is_called_for_others_only(serving, connect) -> None:
    engine = Held()
    async with serving(engine) as server, connect(server.url) as client:
        engine.hold, engine.calls = True, 0
        engine.called.clear()
        for context in range(10):
            for chunk in range(20):
                await client.speak(f"c{context}", TEXT, chunk)
        while not engine.called.is_set():
            await client.send("ping")
            await client.until("pong")
        engine.hold = False
        for context in range(10):
            await client.send("cancel", context_id=f"c{context}")
        for context in range(10):
            await client.until("context_cancelled", f"c{context}")
        await client.says("Other.")

        assert engine.calls == 2  # of 210: the one that was stopped, and the other client's


@pytest.mark.parametrize(("quick", "calls"), [(False, 2), (True, 1)])
async def test_a_sentence_is_opened_only_where_that_is_sooner(
    serving, connect, monkeypatch: pytest.MonkeyPatch, quick: bool, calls: int
) -> None:
    monkeypatch.setattr(ToneEngine, "quick", quick)
    engine = Held()
    async with serving(engine) as server, connect(server.url) as client:
        engine.calls = 0
        assert await client.says(TEXT)

    assert engine.calls == calls


def test_idle_sessions_are_small(benchmark: Any) -> None:
    idle = benchmark("_load_endurance").idle(200, 0.1)

    assert idle["idle_kb_per_session"] < 200


def test_a_short_soak_loses_nothing_and_leaves_nothing_behind(tmp_path: Path) -> None:
    """Its `--seconds` are how long the clients go on; what they do comes from the seed."""
    figures = tmp_path / "soak.json"
    command = [sys.executable, BENCHMARKS / "container_load.py", "--part", "soak"]
    done = subprocess.run(
        [*command, "--seconds", "4", "--json", figures], capture_output=True, text=True, timeout=110
    )

    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(figures.read_text())
    assert {"reply", "cancel", "vanish", "garbage", "POST whole"} <= result["done"].keys()
    assert result["failed"] == 0
