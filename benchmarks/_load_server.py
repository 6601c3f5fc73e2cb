"""A server in a process of its own, so that its memory and time are its own: both ends of it.

As a script it serves, `ours` or `theirs`, until its standard input ends, and answers every line
there with one of JSON: what it holds, or has used. `ServerProcess` is the other end.

`theirs` is the AWS Kokoro sample's way on the same engine: one message at a time, under a lock, and
its first byte when all of it is synthesised.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import websockets

from kokoro_container.connection import Connection
from kokoro_container.engines.base import CancelToken, Engine
from kokoro_container.engines.loading import load_engine
from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.scheduler import Job, Stream
from kokoro_container.server import running_server
from kokoro_container.service import Service
from kokoro_sagemaker_agents.protocol import SpeechOptions

STATM = Path("/proc/self/statm")


class QuickTones(ToneEngine):
    """Tones that take a GPU's time."""

    @property
    def quick(self) -> bool:
        return True


class ServerProcess:
    """Starts one and asks it; a context manager.

    Args:
        way: `ours` or `theirs`.
        options: as on the command line.

    Attributes:
        url: `ws://…`.
        http_url: `http://…`; only ours takes POSTs.
    """

    def __init__(self, way: str, **options: object) -> None:
        self.url = ""
        self.http_url = ""
        self._command = [sys.executable, __file__, way]
        for name, value in options.items():
            self._command += [f"--{name.replace('_', '-')}", str(value)]

    def __enter__(self) -> ServerProcess:
        self._process = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.url = self._read()["url"]
        self.http_url = self.url.replace("ws", "http", 1)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise RuntimeError("the server did not end when it was told to") from None

    def state(self) -> dict[str, Any]:
        """What it holds; see `state`."""
        return self._ask("state")

    def cpu_s(self) -> float:
        """The processor time that it has used."""
        return float(self._ask("cpu")["cpu_s"])

    def _ask(self, question: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{question}\n")
        self._process.stdin.flush()
        return self._read()

    def _read(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the server ended with {self._process.wait()}")
        told: dict[str, Any] = json.loads(line)
        return told


# --- the server ---


def state(service: Service) -> dict[str, Any]:
    """What this process holds, once it has forgotten what it can."""
    gc.collect()
    objects = gc.get_objects()
    return {
        "rss_kb": _rss_kb(),
        "tasks": len(asyncio.all_tasks()),
        "files": len(os.listdir("/dev/fd")),
        "sessions": len(service.sessions),
        "posts": len(service.posts),
        "jobs": service.scheduler.jobs,
        "objects": sum(isinstance(one, (Connection, Stream, Job)) for one in objects),
    }


def _rss_kb() -> int:
    if STATM.exists():
        return int(STATM.read_text().split()[1]) * resource.getpagesize() // 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


async def _serve(args: argparse.Namespace) -> None:
    engine: Engine | str = args.engine
    if args.engine == "tone":
        kind = QuickTones if args.quick else ToneEngine
        engine = kind(call_s=args.call_s, realtime_factor=args.realtime_factor)
    serving = _ours if args.way == "ours" else _theirs
    async with serving(engine) as (url, service):
        print(json.dumps({"url": url}), flush=True)
        while question := await asyncio.to_thread(sys.stdin.readline):
            cpu = question == "cpu\n"
            print(json.dumps({"cpu_s": time.process_time()} if cpu else state(service)), flush=True)


@asynccontextmanager
async def _ours(engine: Engine | str) -> AsyncIterator[tuple[str, Service]]:
    if isinstance(engine, str):
        async with running_server(engine) as server:
            yield server.url, server.service
        return
    made = engine
    async with running_server(lambda: made, phonemize=spell) as server:
        yield server.url, server.service


@asynccontextmanager
async def _theirs(engine: Engine | str) -> AsyncIterator[tuple[str, Service]]:
    made = load_engine(engine) if isinstance(engine, str) else engine
    service = Service(lambda: made, phonemize=None if isinstance(engine, str) else spell)
    await service.load()
    lock = asyncio.Lock()

    async def answer(socket: websockets.ServerConnection) -> None:
        async for message in socket:
            async with lock:
                audio = await asyncio.to_thread(_whole, service, json.loads(message)["text"])
            await socket.send(audio)
            await socket.send('{"type": "synthesis_complete"}')

    try:
        async with websockets.serve(answer, "127.0.0.1", 0, compression=None) as server:
            port = next(iter(server.sockets)).getsockname()[1]
            yield f"ws://127.0.0.1:{port}", service
    finally:
        await service.aclose()


def _whole(service: Service, text: str) -> bytes:
    speech = service.synthesizer.speech(text, SpeechOptions())
    audio = b""
    more = True
    while more:
        made = speech.phonemise()
        audio += b"".join(speech.render(piece, CancelToken()).data for piece in made.pieces)
        more = made.more
    return audio + speech.rest().data


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("way", choices=("ours", "theirs"))
    parser.add_argument("--engine", choices=("tone", "onnx"), default="tone")
    parser.add_argument("--call-s", type=float, default=0.0)
    parser.add_argument("--realtime-factor", type=float, default=0.0)
    parser.add_argument("--quick", type=int, default=0)
    asyncio.run(_serve(parser.parse_args()))


if __name__ == "__main__":
    main()
