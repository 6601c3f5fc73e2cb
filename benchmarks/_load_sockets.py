"""The load benchmark over real sockets: the same trace, shorter, in real time, both ways."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import _load_trace as trace
import websockets
from _load_server import ServerProcess

from kokoro_sagemaker_agents.protocol import (
    AudioReceived,
    ClientProtocol,
    ContextDone,
    Error,
    ProtocolViolated,
)

STREAM = "/invocations-bidirectional-stream"

# So that a sentence takes `trace.SENTENCE_S` and half of one `trace.PART_S`, as the tones' lengths
# with the silence around them are (4.3 and 2.45 s).
CALL_S = 0.0139
REALTIME_FACTOR = 0.01067

LIMIT_S = 900.0
"""A run that takes longer has hung."""

Session = Callable[[str, trace.Playback, str], Coroutine[Any, Any, None]]


def gpu_like(sessions: int, load: float, seed: int) -> dict[str, trace.Outcome]:
    """Both ways, one after the other, on tones that take an A10G's time."""
    times = trace.arrivals(sessions, load, seed)
    engine = {"call_s": CALL_S, "realtime_factor": REALTIME_FACTOR, "quick": 1}
    return _both(times, trace.SENTENCE.strip(), engine)


def real(sessions: int, load: float, seed: int) -> tuple[float, dict[str, trace.Outcome]]:
    """Both ways on the real model; also how long a sentence takes it here, alone."""
    sentence = REAL_SENTENCE
    with ServerProcess("theirs", engine="onnx") as server:
        sentence_s = min(asyncio.run(_one_sentence(server.url, sentence)) for _ in range(3))
    times = trace.arrivals(sessions, load, seed, sentence_s)
    return sentence_s, _both(times, sentence, {"engine": "onnx"})


REAL_SENTENCE = "We are going to come at seven tonight, and then we will eat at home, all of us."
"""About 4 s of speech."""


def _both(times: Sequence[float], text: str, engine: dict[str, Any]) -> dict[str, trace.Outcome]:
    outcomes = {}
    for way, session in (("theirs", _theirs), ("ours", _ours)):
        with ServerProcess(way, **engine) as server:
            outcomes[way] = asyncio.run(_run(server.url, session, times, text))
    return outcomes


async def _run(url: str, session: Session, times: Sequence[float], text: str) -> trace.Outcome:
    start = time.perf_counter() + 0.5
    heard = [trace.Playback(start + at, trace.REAL_TOLERANCE_S) for at in times]
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        for playback in heard:
            tasks.create_task(session(url, playback, text))
    return trace.Outcome.of(heard)


async def _sleep_until(when: float) -> None:
    await asyncio.sleep(max(0.0, when - time.perf_counter()))


async def _ours(url: str, playback: trace.Playback, text: str) -> None:
    """Sends each sentence as it comes, and listens meanwhile."""
    await _sleep_until(playback.asked_at - 0.2)
    async with websockets.connect(url + STREAM, max_size=None, compression=None) as socket:
        machine = ClientProtocol()
        machine.receive(await socket.recv())

        async def speak() -> None:
            for number in range(trace.SENTENCES):
                await _sleep_until(playback.asked_at + number * trace.TEXT_EVERY_S)
                machine.speak("reply", text)
                if number == trace.SENTENCES - 1:
                    machine.end("reply")
                for frame in machine.data_to_send():
                    await socket.send(frame)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(speak())
            done = False
            while not done:
                for event in machine.receive(await socket.recv()):
                    match event:
                        case AudioReceived():
                            playback.hears(time.perf_counter(), len(event.data))
                        case ContextDone():
                            done = True
                        case Error() | ProtocolViolated():
                            raise RuntimeError(f"the server answered with {event}")


async def _theirs(url: str, playback: trace.Playback, text: str) -> None:
    """Sends a sentence, drains it, sends the next."""
    await _sleep_until(playback.asked_at - 0.2)
    async with websockets.connect(url, max_size=None, compression=None) as socket:
        for number in range(trace.SENTENCES):
            await _sleep_until(playback.asked_at + number * trace.TEXT_EVERY_S)
            await socket.send(json.dumps({"text": text}))
            while isinstance(frame := await socket.recv(), bytes):
                playback.hears(time.perf_counter(), len(frame))


async def _one_sentence(url: str, text: str) -> float:
    async with websockets.connect(url, max_size=None, compression=None) as socket:
        started = time.perf_counter()
        await socket.send(json.dumps({"text": text}))
        while isinstance(await socket.recv(), bytes):
            pass
        return time.perf_counter() - started
