"""What a listener gets when the way to the container breaks: ours beside Pipecat's client.

Every fault of the emulator (and, for a plain WebSocket, of a proxy) × the moment it happens: before
the first audio, in a sentence, between two sentences, while nothing is spoken. The sides are our
session over SageMaker's bidirectional stream, over its REST calls, over a WebSocket, and the
`SageMakerBidiClient` of pipecat-ai, used as its own services use it, with the AWS SDK it pins.

    .venv/bin/python benchmarks/fault_matrix.py [--faults abort,stall] [--limit-s 15] [--json PATH]

Needs Python 3.12 and the extras `[local,sagemaker,emulator,dev]`. All cells take about ten minutes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from _peers import ROOT, peer_python

sys.path.insert(0, str(ROOT / "tests/integration/session"))
from faulty_proxy import FAULTS as SOCKET_FAULTS
from faulty_proxy import FaultyProxy

HERE = Path(__file__).resolve().parent
FAULTS = [
    "abort", "reset", "goaway", "drain", "stall", "truncate", "end", "model_error",
    "stream_failure", "kill",
]  # fmt: skip
PLACE = {"before first audio": "audio:0", "mid-sentence": "audio:4"}
MOMENTS = [*PLACE, "between sentences", "idle"]
SENTENCES = [f"Sentence number {n} is one of several here." for n in ("one", "two", "three")]
# A silent server is noticed after twice this.
KEEPALIVE_S = 1.0
PIPECAT = "1.14.0"
#: A call by REST has no connection between two sentences, and goes over HTTP/1.1.
OF_REST = ("abort", "stall", "truncate", "end", "model_error", "stream_failure", "kill")


@asynccontextmanager
async def container() -> AsyncIterator[Any]:
    from kokoro_container.engines.tone import ToneEngine, spell
    from kokoro_container.server import running_server

    async with running_server(lambda: ToneEngine(call_s=0.02), phonemize=spell) as server:
        yield server


# --- our session ---


async def listen(session: Any, moment: str, fault: Any) -> str:
    """Speak the sentences and have the fault in its moment; what came of it.

    Args:
        session: Not open yet.
        moment: When it happens.
        fault: Makes it happen now, or lets it happen at its place among the audio.
    """
    from kokoro_sagemaker_agents import ChunkDone, UtteranceDone, WordTimestamps

    words: list[str] = []
    last: Any = None

    async def read(events: Any, until: type) -> None:
        nonlocal last
        async for last in events:
            if isinstance(last, WordTimestamps):
                words.extend(word.text for word in last.words)
            if isinstance(last, until):
                return

    async with session:
        utterance = session.utterance(first_chunk="sentence")
        rest = " ".join(SENTENCES)
        if moment == "between sentences":
            await utterance.push(SENTENCES[0] + " " + SENTENCES[1][:1])
            await read(utterance, ChunkDone)
            rest = " ".join(SENTENCES[1:])[1:]
        await fault()
        await utterance.push(rest)
        await utterance.end()
        await read(utterance, UtteranceDone)
    expected = [word.strip(".") for word in " ".join(SENTENCES).split()]
    complete = isinstance(last, UtteranceDone) and not last.failed and words == expected
    return "all words once" if complete else "words wrong"


async def bounded(session: Any, moment: str, fault: Any, limit_s: float) -> dict[str, Any]:
    began_s = time.monotonic()
    try:
        async with asyncio.timeout(limit_s):
            found = {"outcome": await listen(session, moment, fault)}
    except TimeoutError as error:
        typed = type(error).__module__.startswith("kokoro")
        found = (
            {"outcome": "error", "error": type(error).__name__} if typed else {"outcome": "hang"}
        )
    except Exception as error:
        found = {"outcome": "error", "error": type(error).__name__}
    return {**found, "seconds": round(time.monotonic() - began_s, 1)}


async def ours(server: Any, fault: str, moment: str, limit_s: float, way: str) -> dict[str, Any]:
    from kokoro_sagemaker_agents import SpeechSession
    from kokoro_sagemaker_agents.emulator import Emulator, Settings

    async with Emulator(server.url, settings=Settings(restart_s=0.5)) as emulator:
        session = SpeechSession.sagemaker(
            "kokoro",
            region="us-east-1",
            endpoint_url=emulator.endpoint_url,
            ca_bundle=str(emulator.ca_path),
            transport=way,  # type: ignore[arg-type]  # one of them
            keepalive_s=KEEPALIVE_S,
        )

        async def now() -> None:
            if moment in PLACE:
                emulator.faults.add(f"{fault}@{PLACE[moment]}")
            else:
                emulator.inject(fault)

        return await bounded(session, moment, now, limit_s)


async def by_websocket(server: Any, fault: str, moment: str, limit_s: float) -> dict[str, Any]:
    from kokoro_sagemaker_agents import SpeechSession

    async with FaultyProxy(server.url) as proxy:

        async def now() -> None:
            if moment in PLACE:
                proxy.at_audio(int(PLACE[moment].partition(":")[2]), fault)
            else:
                await proxy.now(fault)

        session = SpeechSession.connect(proxy.url, keepalive_s=KEEPALIVE_S)
        return await bounded(session, moment, now, limit_s)


# --- Pipecat's client ---


async def pipecat(
    python: str, server: Any, fault: str, moment: str, limit_s: float
) -> dict[str, Any]:
    from kokoro_sagemaker_agents.emulator import Emulator, Settings

    async with Emulator(server.url, settings=Settings(restart_s=0.5)) as emulator:
        if moment in PLACE:
            emulator.faults.add(f"{fault}@{PLACE[moment]}")
        process = await asyncio.create_subprocess_exec(
            python,
            str(HERE / "_fault_pipecat.py"),
            emulator.endpoint_url,
            moment,
            str(limit_s),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={**os.environ, "SSL_CERT_FILE": str(emulator.ca_path)},
        )
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(SENTENCES).encode() + b"\n")
        try:
            async with asyncio.timeout(limit_s + 60):  # and the imports
                while line := (await process.stdout.readline()).decode().strip():
                    if line.startswith("{"):
                        found: dict[str, Any] = json.loads(line)
                        return found
                    emulator.inject(fault)
                    process.stdin.write(b"done\n")
        except TimeoutError:
            return {"outcome": "hang", "seconds": limit_s}
        finally:
            if process.returncode is None:
                process.kill()
            await process.wait()
    return {"outcome": "error", "error": "no answer of the benchmark's own process"}


# --- all cells ---


async def measure(args: argparse.Namespace) -> list[dict[str, Any]]:
    wanted = args.faults.split(",") if args.faults else [*FAULTS, *SOCKET_FAULTS]
    python = (
        "" if args.no_peer else peer_python("fault-pipecat", f"pipecat-ai[sagemaker]=={PIPECAT}")
    )
    cells: list[dict[str, Any]] = []

    def note(who: str, fault: str, moment: str, found: dict[str, Any]) -> None:
        cells.append({"who": who, "fault": fault, "moment": moment, **found})
        print(f"{who:<22}{fault:<16}{moment:<20}{told(found)}", flush=True)

    async with container() as server:
        for moment in MOMENTS:
            for fault in (fault for fault in FAULTS if fault in wanted):
                limit_s = args.limit_s
                found = await ours(server, fault, moment, limit_s, "stream")
                note("ours, stream", fault, moment, found)
                if fault in OF_REST and moment in PLACE:
                    found = await ours(server, fault, moment, max(limit_s, 40), "invocations")
                    note("ours, invocations", fault, moment, found)
                if python:
                    found = await pipecat(python, server, fault, moment, limit_s)
                    note("pipecat", fault, moment, found)
            for fault in (fault for fault in SOCKET_FAULTS if fault in wanted):
                found = await by_websocket(server, fault, moment, args.limit_s)
                note("ours, websocket", fault, moment, found)
    return cells


def told(found: dict[str, Any]) -> str:
    error = f" ({found['error']})" if "error" in found else ""
    close = ", and close() hangs" if found.get("close") else ""
    return f"{found['outcome']}{error} in {found.get('seconds', 0)} s{close}"


def report(cells: list[dict[str, Any]]) -> dict[str, Any]:
    print()
    summary: dict[str, dict[str, int]] = {}
    for who in sorted({cell["who"] for cell in cells}):
        outcomes = Counter(cell["outcome"] for cell in cells if cell["who"] == who)
        outcomes["close() hangs"] = sum(cell["who"] == who and "close" in cell for cell in cells)
        summary[who] = {name: count for name, count in outcomes.most_common() if count}
        print(f"{who:<22}" + ", ".join(f"{name} {n}" for name, n in summary[who].items()))
    return {"outcomes": summary, "cells": cells, "pipecat": PIPECAT, "cores": os.cpu_count()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--faults", help="only these, with commas between")
    parser.add_argument("--limit-s", type=float, default=15.0, help="after which it is a hang")
    parser.add_argument("--no-peer", action="store_true", help="only ours")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    logging.disable(logging.ERROR)
    os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"] = "AKID", "local"
    found = report(asyncio.run(measure(args)))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
