"""How long /ping takes while another client sends the worst texts known for G2P.

A server in a process of its own is asked for /ping every 20 ms, each time over a new connection:
first with nothing else to do, then while a third process sends one hostile text after the other,
several at a time, over WebSocket sessions and by POST. They are those that keep the G2P library
busy for seconds to minutes when it is given them as they are. Beside them a fourth listens: a
session says one plain sentence after the other, each of which must come out as it did before.

The bar is a 99th percentile below 20 ms under attack. A platform gives /ping 2 s.

    .venv/bin/python benchmarks/ping_under_hostile_text.py [--seconds 30] [--engine tone|onnx]
        [--sessions 4] [--json PATH]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import contextlib
import http.client
import json
import os
import platform
import random
import signal
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import websockets

BAR_MS = 20.0
EVERY_S = 0.02
SENTENCE = "The quick brown fox jumps over the lazy dog."
STREAM = "/invocations-bidirectional-stream"
READY_S = 300.0  # preparing the real model's weights takes up to a minute

_random = random.Random(7)
HOSTILE = [
    "[" * 2000,
    "([{<" * 500,
    "-".join(map(str, range(1, 200))),
    "https://example.com/" + "/".join(f"s{i}?x={i}" for i in range(80)),
    base64.b64encode(_random.randbytes(750)).decode(),
    json.dumps(
        [{"id": i, "tags": ["a", "b"], "v": i / 7} for i in range(30)], separators=(",", ":")
    ),
    "9" * 310,
    "1,2" * 300,
    "a" * 1000,
    "a'" * 500,
    "e" + "\u0301" * 3000,
    "[" * 500 + "](/" * 500,
    "नमस्ते" * 150,
    "漢字" * 1000,
    "😀" * 3000 + "x",
    "null\x00byte " * 100,
    "".join(_random.choice("([{<$€%#@&*+=/\\|~^_-.,:;!?'\"0aA漢न😀") for _ in range(1000)),
]


# --- the attacker and the listener, each in a process of its own ---


async def attack(url: str, sessions: int) -> None:
    """Sends hostile texts until it is ended."""
    async with asyncio.TaskGroup() as tasks:
        for number in range(sessions):
            tasks.create_task(_attack_session(url, number))
        tasks.create_task(_attack_posts(url))


async def _attack_session(url: str, number: int) -> None:
    texts = HOSTILE[number:] + HOSTILE[:number]
    async with _session(url) as socket:
        for count in range(1_000_000):
            await _say(socket, f"c{count}", texts[count % len(texts)])


async def _attack_posts(url: str) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=300) as client:
        for count in range(1_000_000):
            body = {"text": HOSTILE[-1 - count % len(HOSTILE)], "stream": count % 2 == 0}
            await client.post("/invocations", json=body)
            _tell("answered")


async def listen(url: str) -> None:
    """Says one sentence again and again; tells whether it sounds as at first."""
    async with _session(url) as socket:
        first = None
        for count in range(1_000_000):
            audio = await _say(socket, f"c{count}", SENTENCE)
            first = first or audio
            _tell("same" if audio == first and audio else "different")


@asynccontextmanager
async def _session(url: str) -> AsyncIterator[websockets.ClientConnection]:
    address = url.replace("http", "ws", 1) + STREAM
    async with websockets.connect(address, max_size=None, close_timeout=1) as socket:
        await socket.recv()  # ready
        yield socket


async def _say(socket: websockets.ClientConnection, context_id: str, text: str) -> bytes:
    """One text from beginning to end; its audio."""
    speak = {"type": "speak", "context_id": context_id, "chunk_id": 0, "text": text}
    await socket.send(json.dumps(speak))
    await socket.send(json.dumps({"type": "end", "context_id": context_id}))
    audio = bytearray()
    async for frame in socket:
        if isinstance(frame, bytes):
            audio += frame
            continue
        kind = json.loads(frame)["type"]
        if kind in ("chunk_done", "error"):
            _tell("answered" if kind == "chunk_done" else "refused")
        if kind in ("context_done", "context_cancelled"):
            return bytes(audio)
    raise RuntimeError("the server closed the session")


def _tell(what: str) -> None:
    with contextlib.suppress(BrokenPipeError):
        print(what, flush=True)


# --- the measuring side ---


@contextmanager
def _server(engine: str) -> Iterator[str]:
    """A server's `http://` address, once /ping says 200."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"PORT": str(port), "KOKORO_ENGINE": engine}
    environment["KOKORO_LOG_LEVEL"] = "WARNING"
    command = [sys.executable, "-m", "kokoro_container", "serve"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as child:
        try:
            deadline = time.monotonic() + READY_S
            while (status := _status(port)) != 200:
                if child.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"the server did not become ready; /ping said {status}")
                time.sleep(0.2)
            yield f"http://127.0.0.1:{port}"
        finally:
            child.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                child.wait(5)
            child.kill()


def _status(port: int) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/ping")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


def _ping(port: int, seconds: float) -> dict[str, Any]:
    """Times of one ping after the other, in ms."""
    times: list[float] = []
    failed = 0
    end = time.perf_counter() + seconds
    while (began := time.perf_counter()) < end:
        failed += _status(port) != 200
        took = time.perf_counter() - began
        times.append(took * 1000)
        time.sleep(max(0.0, EVERY_S - took))
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return {
        "pings": len(times),
        "failed": failed,
        "p50_ms": round(cuts[49], 2),
        "p95_ms": round(cuts[94], 2),
        "p99_ms": round(cuts[98], 2),
        "max_ms": round(max(times), 2),
    }


@contextmanager
def _beside(*arguments: str) -> Iterator[list[str]]:
    """This script in another role; afterwards what it told, line by line."""
    told: list[str] = []
    command = [sys.executable, __file__, *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        if not child.stdout.readline():  # it has begun
            raise RuntimeError(f"{arguments[0]} ended with {child.wait()}")
        try:
            yield told
        finally:
            early = child.poll()
            child.kill()
            told += child.stdout.read().split()
    if early is not None:
        raise RuntimeError(f"{arguments[0]} ended early, with {early}")


def measure(engine: str, seconds: float, sessions: int) -> dict[str, Any]:
    with _server(engine) as url:
        port = int(url.rpartition(":")[2])
        quiet = _ping(port, min(seconds, 10.0))
        attack = _beside("--attack", url, "--sessions", str(sessions))
        with _beside("--listen", url) as heard, attack as told:
            hostile = _ping(port, seconds)
    version = platform.python_version()
    return {
        "engine": engine,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python {version}",
        "quiet": quiet,
        "hostile": hostile,
        "p99_ms": hostile["p99_ms"],
        "bar_ms": BAR_MS,
        "hostile_texts_answered": told.count("answered"),
        "hostile_texts_refused": told.count("refused"),
        "sentences_heard": heard.count("same"),
        "sentences_wrong": heard.count("different"),
    }


def show(result: dict[str, Any]) -> None:
    print(f"/ping, ms ({result['engine']} engine, {result['machine']})")
    columns = ("pings", "failed", "p50_ms", "p95_ms", "p99_ms", "max_ms")
    print(" " * 10 + "".join(f"{column:>10}" for column in columns))
    for phase in ("quiet", "hostile"):
        print(f"{phase:<10}" + "".join(f"{result[phase][column]:>10}" for column in columns))
    print(
        f"{result['hostile_texts_answered']} hostile texts answered,"
        f" {result['hostile_texts_refused']} refused; beside them {result['sentences_heard']}"
        f" sentences as ever, {result['sentences_wrong']} not"
    )
    verdict = "met" if result["p99_ms"] < BAR_MS else "missed"
    print(f"p99 {result['p99_ms']} ms under attack: the bar of {BAR_MS:g} ms is {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--engine", choices=("tone", "onnx"), default="tone")
    parser.add_argument("--sessions", type=int, default=4, help="hostile ones")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--attack", metavar="URL", help=argparse.SUPPRESS)
    parser.add_argument("--listen", metavar="URL", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.attack:
        asyncio.run(attack(args.attack, args.sessions))
    elif args.listen:
        asyncio.run(listen(args.listen))
    else:
        result = measure(args.engine, args.seconds, args.sessions)
        show(result)
        if args.json:
            args.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
