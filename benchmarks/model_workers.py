"""How many model calls at a time pay: throughput and waiting, for 1, 2, … workers in turns.

Each turn gives the scheduler the same texts at once, each as a listener of its own, and waits for
all. More workers pay where the audio made in a second grows. On a CPU the calls share its cores, so
what is gained is only what one call leaves unused, and each call takes longer: look at both.

    .venv/bin/python benchmarks/model_workers.py [--engine auto] [--workers 1,2] [--texts 12]
        [--rounds 3] [--json PATH]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import time
from pathlib import Path
from typing import Any

from kokoro_container.engines.base import CancelToken, Engine
from kokoro_container.engines.loading import load_engine
from kokoro_container.engines.tone import spell
from kokoro_container.scheduler import Job, Scheduler, Stream
from kokoro_container.synthesis import Rendered, Synthesizer
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.protocol import SpeechOptions

TEXT = "The train to the north leaves from platform nine at a quarter past seven"


class Ear:
    """Hears one text, and notes when its first audio came."""

    def __init__(self) -> None:
        self.heard_s: float | None = None
        self.audio_s = 0.0

    def on_audio(self, job: Job, audio: Rendered) -> None:
        if self.heard_s is None:
            self.heard_s = time.monotonic() - job.arrived_at
        self.audio_s += audio.duration_s

    def on_done(self, job: Job) -> None:
        pass

    def on_failed(self, job: Job, error: Exception) -> None:
        raise error


async def turn(engine: Engine, workers: int, texts: int) -> dict[str, float]:
    """All texts at once, spoken by so many workers."""
    # Letters for phonemes: the model takes them for words as long, and G2P is not what is measured.
    synthesizer = Synthesizer(engine, spell, Voices())
    scheduler = Scheduler(workers=workers)
    ears = [Ear() for _ in range(texts)]
    started = time.monotonic()
    for number, ear in enumerate(ears):
        scheduler.add(Stream(ear), synthesizer.speech(f"{TEXT} {number}.", SpeechOptions()))
    await scheduler.wait_idle()
    took_s = time.monotonic() - started
    call_s = scheduler.pace.call_s
    await scheduler.aclose()
    return {
        "audio_s_per_s": sum(ear.audio_s for ear in ears) / took_s,
        "call_s": call_s,
        "first_audio_p50_s": statistics.median(ear.heard_s or took_s for ear in ears),
    }


def measure(engine: Engine, counts: list[int], texts: int, rounds: int) -> list[dict[str, Any]]:
    """The median of each figure, the turns interleaved."""
    turns: dict[int, list[dict[str, float]]] = {workers: [] for workers in counts}
    for _ in range(rounds):
        for workers in counts:
            turns[workers].append(asyncio.run(turn(engine, workers, texts)))
    return [
        {"workers": workers}
        | {name: statistics.median(one[name] for one in done) for name in done[0]}
        for workers, done in turns.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--workers", default="1,2")
    parser.add_argument("--texts", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    engine = load_engine(args.engine)
    warm = Synthesizer(engine, spell, Voices()).speech(TEXT, SpeechOptions())
    for piece in warm.phonemise().pieces:
        warm.render(piece, CancelToken())
    counts = [int(count) for count in args.workers.split(",")]
    rows = measure(engine, counts, args.texts, args.rounds)
    print(f"engine {engine.name}, {os.cpu_count()} cores, {args.texts} texts at once")
    print(f"{'workers':>8} {'audio s/s':>10} {'call s':>8} {'first audio p50 s':>18}")
    for row in rows:
        print(
            f"{row['workers']:>8} {row['audio_s_per_s']:>10.2f} {row['call_s']:>8.3f}"
            f" {row['first_audio_p50_s']:>18.2f}"
        )
    if args.json:
        about = {"engine": engine.name, "cores": os.cpu_count(), "machine": platform.platform()}
        args.json.write_text(json.dumps({**about, "texts": args.texts, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
