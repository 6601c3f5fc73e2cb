"""The torch engine on a GPU: time to first audio and throughput with 1 to 50 sessions at once.

A server with the torch engine runs in a process of its own; each session is a connection that says
one short text after the other and asks for the next when the last one has been heard whole (a
closed loop, as in the measurement that the AWS sample published for an ml.g5.xlarge: texts of about
25 characters, 95th percentile of the time to first audio; theirs includes about 34 ms of network).
Every session's first text is not counted.

Needs a GPU; without one it says so and measures nothing. `--engine tone` tries the script out, and
`--engine torch --cpu` measures the torch engine on a CPU. The environment of the torch engine,
.venv-torch, is made on first use.

    .venv/bin/python benchmarks/torch_engine.py [--sessions 1,5,10,20,50] [--seconds 30]
        [--workers 1] [--engine torch] [--cpu] [--json PATH]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import http.client
import itertools
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kokoro_sagemaker_agents import AudioChunk, SpeechSession

ROOT = Path(__file__).resolve().parent.parent
READY_S = 300.0  # recovering the weights and loading kernels takes up to a minute
TEXTS = [
    "Your order is on its way.",
    "The shop closes at seven.",
    "I can help you with that.",
    "It will rain until noon.",
    "Please hold for a moment.",
    "That seat is still free.",
    "She called you yesterday.",
    "Would Tuesday suit you?",
]
# Sessions → ms at the 95th percentile; aws-samples/sample-kokoro-tts-for-ai-agents, August 2026.
PUBLISHED_P95_MS = {1: 65, 5: 286, 10: 568, 20: 1129, 50: 2806}
PUBLISHED_PER_S = 17.9


@dataclass
class Load:
    """What some sessions at once found."""

    first_audio_ms: list[float] = field(default_factory=list)
    audio_s: float = 0.0
    elapsed_s: float = 0.0

    def figures(self, sessions: int) -> dict[str, Any]:
        times = sorted(self.first_audio_ms)
        return {
            "sessions": sessions,
            "requests": len(times),
            "requests_per_s": len(times) / self.elapsed_s,
            "audio_s_per_s": self.audio_s / self.elapsed_s,
            "first_audio_p50_ms": statistics.median(times),
            "first_audio_p95_ms": times[min(len(times) - 1, int(0.95 * len(times)))],
            "published_p95_ms": PUBLISHED_P95_MS.get(sessions),
        }


def device_of(python: Path) -> str | None:
    """The GPU that this Python's torch sees."""
    script = (
        "import torch; print(torch.cuda.get_device_name() if torch.cuda.is_available() else '')"
    )
    done = subprocess.run([python, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.strip() or None


@contextlib.contextmanager
def serving(python: Path, engine: str, workers: int, device: str | None) -> Iterator[str]:
    """The `ws://` address of a server that is ready."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(python), "-m", "kokoro_sagemaker_agents.cli.main", "serve", "--engine", engine]
    command += ["--port", str(port), "--workers", str(workers), "--max-wait", "60"]
    chosen = {"KOKORO_DEVICE": device} if device else {}
    server = subprocess.Popen(command, env={**os.environ, **chosen}, stderr=subprocess.DEVNULL)
    try:
        wait_ready(server, port)
        yield f"ws://127.0.0.1:{port}"
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(60)


def wait_ready(server: subprocess.Popen[bytes], port: int) -> None:
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise SystemExit(
                f"the server ended with {server.returncode}; run it by hand to see why"
            )
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        with contextlib.suppress(OSError):
            connection.request("GET", "/ping")
            if connection.getresponse().status == 200:
                return
        connection.close()
        time.sleep(0.2)
    raise SystemExit(f"the server was not ready after {READY_S:.0f} s")


async def measure(url: str, sessions: int, seconds: float) -> Load:
    load = Load()
    ready = asyncio.Barrier(sessions)
    begun: list[float] = []

    async def listener(number: int) -> None:
        texts = itertools.islice(itertools.cycle(TEXTS), number, None)
        async with SpeechSession.connect(url) as session:
            await say(session, next(texts), Load())
            await ready.wait()
            begun.append(time.perf_counter())
            while time.perf_counter() - begun[0] < seconds:
                await say(session, next(texts), load)

    async with asyncio.TaskGroup() as group:
        for number in range(sessions):
            group.create_task(listener(number))
    load.elapsed_s = time.perf_counter() - begun[0]
    return load


async def say(session: SpeechSession, text: str, load: Load) -> None:
    started, first_ms = time.perf_counter(), None
    async for event in session.speak(text):
        if isinstance(event, AudioChunk):
            if first_ms is None:
                first_ms = 1000 * (time.perf_counter() - started)
            load.audio_s += event.samples / event.sample_rate
    if first_ms is None:
        raise RuntimeError("a text was answered without audio; see the server's log")
    load.first_audio_ms.append(first_ms)


def torch_python() -> Path:
    done = subprocess.run(["sh", str(ROOT / "scripts/make_torch_env.sh")], check=False)
    if done.returncode:
        raise SystemExit("the torch engine's environment could not be made")
    return ROOT / ".venv-torch/bin/python"


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    python, gpu = Path(sys.executable), None
    if arguments.engine == "torch":
        python = torch_python()
        gpu = None if arguments.cpu else device_of(python)
        if gpu is None and not arguments.cpu:
            print("no GPU here, nothing measured; --cpu measures the torch engine on the CPU")
            return {"skipped": "no GPU"}
    print(
        f"engine {arguments.engine} on {gpu or 'the CPU'}, {arguments.workers} model calls at once"
    )
    print("\nsessions  requests/s  audio s/s   first audio, ms: p50     p95   published p95")
    rows = []
    device = "cpu" if arguments.cpu else None
    with serving(python, arguments.engine, arguments.workers, device) as url:
        for sessions in arguments.sessions:
            row = asyncio.run(measure(url, sessions, arguments.seconds)).figures(sessions)
            rows.append(row)
            print(
                f"{sessions:8}  {row['requests_per_s']:10.1f}  {row['audio_s_per_s']:9.1f}"
                f"  {row['first_audio_p50_ms']:21.0f}  {row['first_audio_p95_ms']:6.0f}"
                f"  {row['published_p95_ms'] or '-':>14}"
            )
    print(f"\npublished for an ml.g5.xlarge: at most {PUBLISHED_PER_S} requests/s")
    return {"engine": arguments.engine, "gpu": gpu, "workers": arguments.workers, "loads": rows}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument(
        "--sessions",
        type=lambda text: [int(part) for part in text.split(",")],
        default=sorted(PUBLISHED_P95_MS),
        help="how many at once, one measurement each (default 1,5,10,20,50)",
    )
    parser.add_argument("--seconds", type=float, default=30.0, help="per measurement (default 30)")
    parser.add_argument("--workers", type=int, default=1, help="model calls at once (default 1)")
    parser.add_argument("--engine", choices=("torch", "onnx", "tone"), default="torch")
    parser.add_argument("--cpu", action="store_true", help="torch on the CPU")
    parser.add_argument("--json", metavar="PATH", help="also write the figures there")
    arguments = parser.parse_args()
    result = run(arguments)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(result, indent=2), "utf-8")


if __name__ == "__main__":
    main()
