"""Our HTTP/2 transport beside the AWS SDK's own (CRT), and what a session adds to it.

SDK → emulator (TLS, HTTP/2) → WebSocket → echo, and back. Both transports send the same payloads in
turns, in this one process; the far side is a process of its own. Then, through a session: how long
after the token that completes a sentence the container has its text.

    .venv/bin/python benchmarks/transport.py [--rounds 300] [--json PATH]

Needs Python 3.12 and the extras `[sagemaker,emulator,dev]`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SIZES = {"64": 64, "1k": 1024, "4k": 4096, "16k": 16384}
OPENS = 40
SENTENCES = 300


class Pipe:
    """One open stream with either transport."""

    def __init__(self, stream: Any, output: Any, models: Any) -> None:
        self._stream, self._output, self._models = stream, output, models

    async def echo(self, payload: bytes) -> None:
        part = self._models.RequestPayloadPart(bytes_=payload, data_type="BINARY")
        await self._stream.input_stream.send(self._models.RequestStreamEventPayloadPart(value=part))
        event = await self._output.receive()
        assert event is not None
        assert event.value.bytes_ == payload


async def open_pipe(client: Any) -> Pipe:
    from aws_sdk_sagemaker_runtime_http2 import models

    stream = await client.invoke_endpoint_with_bidirectional_stream(
        models.InvokeEndpointWithBidirectionalStreamInput(endpoint_name="kokoro")
    )
    _, output = await stream.await_output()
    return Pipe(stream, output, models)


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def figures(times_ms: list[float]) -> dict[str, float]:
    return {
        "p50": round(statistics.median(times_ms), 3),
        "p95": round(percentile(times_ms, 0.95), 3),
        "p99": round(percentile(times_ms, 0.99), 3),
    }


async def timed_ms(work: Callable[[], Awaitable[Any]]) -> float:
    began_s = time.perf_counter()
    await work()
    return (time.perf_counter() - began_s) * 1000


async def clients(told: dict[str, str]) -> tuple[Callable[[], Awaitable[Any]], Any]:
    """What makes one of ours (per stream, as a session does), and the stock one (shared)."""
    from smithy_http.aio.crt import AWSCRTHTTPClient

    from kokoro_sagemaker_agents.transports.aws.credentials import Credentials
    from kokoro_sagemaker_agents.transports.aws.sdk import Target, _client
    from kokoro_sagemaker_agents.transports.aws.sdk_transport import (
        ConnectionPool,
        DuplexHttp2Transport,
        shared_pool,
    )

    target = Target("kokoro", "us-east-1", told["echo_endpoint_url"])
    credentials = Credentials("AKIDEXAMPLE", "local", None)
    pool: ConnectionPool = shared_pool(told["echo_ca"])
    pool.acquire()

    async def ours() -> Any:
        return await _client(target, credentials, DuplexHttp2Transport(pool))

    return ours, await _client(target, credentials, AWSCRTHTTPClient())


async def measure_echo(told: dict[str, str], rounds: int) -> dict[str, Any]:
    make_ours, stock = await clients(told)
    found: dict[str, Any] = {"echo_ms": {}}
    pipes = {"ours": await open_pipe(await make_ours()), "crt": await open_pipe(stock)}
    for name, size in SIZES.items():
        payload = os.urandom(size)
        times: dict[str, list[float]] = {"ours": [], "crt": []}
        for pipe in pipes.values():
            for _ in range(10):
                await pipe.echo(payload)
        for _ in range(rounds):
            for who, pipe in pipes.items():
                times[who].append(await timed_ms(partial(pipe.echo, payload)))
        found["echo_ms"][name] = {who: figures(values) for who, values in times.items()}
    # Until the first frame is back: the CRT holds back what follows a stream's opening.
    opens: dict[str, list[float]] = {"ours": [], "crt": []}

    async def open_and_echo(client: Any) -> None:
        await (await open_pipe(client)).echo(b"first")

    async def open_ours() -> None:
        await open_and_echo(await make_ours())

    for _ in range(OPENS):
        opens["ours"].append(await timed_ms(open_ours))
        opens["crt"].append(await timed_ms(partial(open_and_echo, stock)))
    found["warm_open_ms"] = {who: figures(values) for who, values in opens.items()}
    return found


async def measure_session(told: dict[str, str]) -> dict[str, Any]:
    from kokoro_sagemaker_agents import ChunkDone, SpeechSession

    def through_emulator() -> SpeechSession:
        return SpeechSession.sagemaker(
            "kokoro",
            region="us-east-1",
            endpoint_url=told["times_endpoint_url"],
            ca_bundle=told["times_ca"],
        )

    found = {}
    for name, make in (
        ("sagemaker", through_emulator),
        ("websocket", lambda: SpeechSession.connect(told["times_url"])),
    ):
        times_ms: list[float] = []
        async with make() as session:
            for number in range(SENTENCES):
                utterance = session.utterance(first_chunk="sentence")
                await utterance.push(f"This is sentence number {number} of a reply.")
                completed_s = time.monotonic()
                await utterance.push(" And")  # the token that completes it
                async for event in utterance:
                    if isinstance(event, ChunkDone):
                        times_ms.append((float(event.warnings[0]) - completed_s) * 1000)
                        break
                await utterance.cancel()
        found[name] = figures(times_ms)
    return found


@contextmanager
def far_side() -> Any:
    process = subprocess.Popen(
        [sys.executable, str(HERE / "_transport_server.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(20)


async def measure(rounds: int) -> dict[str, Any]:
    with far_side() as told:
        os.environ["SSL_CERT_FILE"] = told["echo_ca"]  # how the CRT learns of an authority
        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"] = "AKID", "local"
        found = await measure_echo(told, rounds)
        found["token_to_container_ms"] = await measure_session(told)
    return found


def ratio(of: dict[str, dict[str, float]], share: str) -> float:
    return round(of["ours"][share] / of["crt"][share], 3)


def report(found: dict[str, Any]) -> dict[str, Any]:
    """Prints the table and returns all figures."""
    echo = found["echo_ms"]
    print("round trip, ms      ours p50    p95    p99      CRT p50    p95    p99    ratios")
    rows = [(f"{name} bytes", echo[name]) for name in SIZES]
    rows.append(("warm open", found["warm_open_ms"]))
    for title, row in rows:
        ours, crt = row["ours"], row["crt"]
        print(
            f"{title:<18}{ours['p50']:>10.2f} {ours['p95']:>6.2f} {ours['p99']:>6.2f}"
            f"{crt['p50']:>13.2f} {crt['p95']:>6.2f} {crt['p99']:>6.2f}"
            f"     {ratio(row, 'p50'):.2f} / {ratio(row, 'p95'):.2f} / {ratio(row, 'p99'):.2f}"
        )
    session = found["token_to_container_ms"]
    for name, values in session.items():
        print(f"token to container, {name}: p50 {values['p50']:.2f} ms, p99 {values['p99']:.2f} ms")
    return {
        "p95_ratio_4k": ratio(echo["4k"], "p95"),
        "p50_ratio_16k": ratio(echo["16k"], "p50"),
        "p99_ratio_16k": ratio(echo["16k"], "p99"),
        "warm_open_ratio": ratio(found["warm_open_ms"], "p50"),
        "token_to_container_ms_p50": session["sagemaker"]["p50"],
        "token_to_container_websocket_ms_p50": session["websocket"]["p50"],
        **found,
        "versions": {
            "python": platform.python_version(),
            **{
                name: metadata.version(name)
                for name in ("aws-sdk-sagemaker-runtime-http2", "awscrt", "h2", "websockets")
            },
        },
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = report(asyncio.run(measure(args.rounds)))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
