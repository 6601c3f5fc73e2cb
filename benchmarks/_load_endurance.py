"""What an idle server costs, and what is left behind in one that was badly treated for long."""

from __future__ import annotations

import asyncio
import hashlib
import random
import statistics
import time
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import websockets
from _load_server import ServerProcess
from _load_sockets import STREAM

from kokoro_sagemaker_agents.protocol import (
    AudioReceived,
    ChunkDone,
    ClientProtocol,
    ContextDone,
    Error,
    ProtocolViolated,
    Ready,
)

TEXTS = [
    "Hello there.",
    "One moment, please, and then we go on with it.",
    "We come at seven tonight, and then we eat at home.",
    "First this. Then that. And at the very end, much later, a little more of the same.",
]
GARBAGE: list[str | bytes] = [
    "nonsense", "{", "[]", '{"type": "speak"}', b"\x00\xff\xfe", '{"type": 3}', "[" * 5000,
    '{"type": "speak", "context_id": "g", "chunk_id": -1, "text": 5}', '{"type": "nothing"}',
    '{"type": "window", "context_id": "g", "samples": "many"}',
    b'{"type": "speak", "text": "\xc3"}',
]  # fmt: skip
BAD_BODIES = [b"", b"{", b'{"text": 3}', b'{"text": "a", "speed": 1e999}', b"[" * 5000, b"\xff"]

HELD = ("tasks", "files", "sessions", "posts", "jobs", "objects")
SETTLE_S = 30.0
ANSWER_S = 30.0


# --- idle sessions ---


def idle(sessions: int, seconds: float) -> dict[str, float]:
    """What each of many sessions costs in which nothing happens."""
    with ServerProcess("ours") as server:
        return asyncio.run(_idle(server, sessions, seconds))


async def _idle(server: ServerProcess, sessions: int, seconds: float) -> dict[str, float]:
    async with AsyncExitStack() as warm:
        await _open(warm, server, 20)
    before = await _settled(server)
    async with AsyncExitStack() as stack:
        await _open(stack, server, sessions)
        held = server.state()
        began_s, started = server.cpu_s(), time.perf_counter()
        await asyncio.sleep(seconds)
        used_s, took_s = server.cpu_s() - began_s, time.perf_counter() - started
    return {
        "idle_sessions": sessions,
        "idle_s": seconds,
        "idle_kb_per_session": (held["rss_kb"] - before["rss_kb"]) / sessions,
        "idle_cpu_percent": used_s / took_s * 100,
    }


async def _open(stack: AsyncExitStack, server: ServerProcess, sessions: int) -> None:
    for _ in range(sessions):
        connecting = websockets.connect(server.url + STREAM, compression=None)
        socket = await stack.enter_async_context(connecting)
        await socket.recv()


# --- memory ---


def memory(utterances: int, warm_up: int) -> dict[str, float]:
    """How much a server grows over many utterances, after its first ones.

    Its figures keep the latest 2 000 values of each kind, so that many come before.
    """
    with ServerProcess("ours") as server:

        async def speak(count: int) -> int:
            run = Soak(server, seed=1)
            async with asyncio.TaskGroup() as tasks:
                for _ in range(4):
                    tasks.create_task(run.replies(count // 4))
            run.raise_failures()
            kb: int = (await _settled(server))["rss_kb"]
            return kb

        before = asyncio.run(speak(warm_up))
        after = asyncio.run(speak(utterances))
    return {"utterances": utterances, "memory_growth_kb": after - before}


# --- the soak ---


@dataclass
class Soak:
    """Clients that come and go, and behave well and badly, until it is over.

    Args:
        server: the one they talk to.
        seed: of what they do.

    Attributes:
        counts: what was done, by name.
        failures: what was lost or wrong.
    """

    server: ServerProcess
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    _sounds: dict[tuple[str, bool], str] = field(default_factory=dict)

    def raise_failures(self) -> None:
        if self.failures:
            raise RuntimeError("; ".join(self.failures[:5]))

    async def replies(self, count: int) -> None:
        """So many, one after the other on one session, all heard to their end."""
        async with _Client(self.server, self) as client:
            for _ in range(count):
                await client.reply([TEXTS[1]])

    async def run(self, seconds: float, clients: int) -> None:
        """Everything at random."""
        end = time.perf_counter() + seconds
        async with (
            httpx.AsyncClient(base_url=self.server.http_url, timeout=ANSWER_S) as http,
            asyncio.TaskGroup() as tasks,
        ):
            for number in range(clients):
                source = random.Random(self.seed * 1000 + number)
                tasks.create_task(self._misbehave(source, http, end))

    async def _misbehave(self, source: random.Random, http: httpx.AsyncClient, end: float) -> None:
        while time.perf_counter() < end:
            try:
                if source.random() < 0.25:
                    await self._post(source, http)
                else:
                    await self._session(source)
            except Exception as error:  # noted, and the soak goes on
                self.failures.append(f"{type(error).__name__}: {error}"[:300])

    async def _session(self, source: random.Random) -> None:
        self.counts["sessions"] += 1
        async with _Client(self.server, self) as client:
            for _ in range(source.randrange(1, 6)):
                texts = source.choices(TEXTS, k=source.randrange(1, 5))
                kind = source.choice(("reply", "reply", "cancel", "garbage", "vanish"))
                self.counts[kind] += 1
                if kind == "reply":
                    await client.reply(texts)
                elif kind == "cancel":
                    await client.cancelled_reply(texts, after=source.randrange(0, 6))
                elif kind == "garbage":
                    await client.garbage(source.choices(GARBAGE, k=source.randrange(1, 9)))
                else:
                    await client.vanish(texts, after=source.randrange(0, 6))
                    return

    async def _post(self, source: random.Random, http: httpx.AsyncClient) -> None:
        kind = source.choice(("whole", "streamed", "bad", "given up"))
        self.counts[f"POST {kind}"] += 1
        if kind == "bad":
            response = await http.post("/invocations", content=source.choice(BAD_BODIES))
            if not 400 <= response.status_code < 500 or "error" not in response.json():
                self.failures.append(f"a bad POST was answered with {response.status_code}")
            return
        body = {"text": source.choice(TEXTS), "stream": kind != "whole", "format": "pcm"}
        async with http.stream("POST", "/invocations", json=body) as response:
            if kind == "given up":
                return
            audio = b"".join([part async for part in response.aiter_bytes()])
        self.heard(f"POST {body['text']}", kind == "streamed", audio)
        if response.status_code != 200:
            self.failures.append(f"a good POST was answered with {response.status_code}")

    def heard(self, text: str, opened: bool, audio: bytes) -> None:
        """The same text sounds the same each time, whatever goes on beside it."""
        sound = hashlib.sha256(audio).hexdigest()
        if not audio or self._sounds.setdefault((text, opened), sound) != sound:
            self.failures.append(f"{len(audio)} bytes of audio are not those of the text")


class _Client:
    """One session."""

    def __init__(self, server: ServerProcess, soak: Soak) -> None:
        self._url = server.url + STREAM
        self._soak = soak
        self._replies = 0

    async def __aenter__(self) -> _Client:
        self._socket = await websockets.connect(self._url, max_size=None, compression=None)
        self._machine = ClientProtocol()
        await self._receive()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._socket.close()

    async def reply(self, texts: list[str]) -> None:
        """A reply, heard to its end: each text is answered once, with its own audio."""
        name = await self._ask(texts)
        audio: dict[int, bytes] = {}
        answered: list[int] = []
        over = False
        while not over:
            for event in await self._receive():
                match event:
                    case AudioReceived(chunk_id=number, data=data):
                        audio[number] = audio.get(number, b"") + data
                    case ChunkDone(chunk_id=number, samples=samples):
                        answered.append(number)
                        if 2 * samples != len(audio.get(number, b"")):
                            self._fail(f"{samples} samples were announced, others came")
                    case ContextDone(context_id=done):
                        over = done == name
                    case Error():
                        self._fail(f"a good text was refused: {event.code}")
        if answered != list(range(len(texts))):
            self._fail(f"{len(texts)} texts were asked for, and {answered} answered")
        for number, text in enumerate(texts):
            self._soak.heard(text, number < 2, audio.get(number, b""))

    async def cancelled_reply(self, texts: list[str], after: int) -> None:
        """One that is cancelled after some frames; nothing of it comes later."""
        name = await self._ask(texts)
        for _ in range(after):
            if any(isinstance(event, ContextDone) for event in await self._receive()):
                return
        self._machine.cancel(name)
        await self._flush()
        while name in self._machine.contexts:
            await self._receive()

    async def garbage(self, frames: list[str | bytes]) -> None:
        """Nonsense: one error each, and then a good reply."""
        for frame in frames:
            await self._socket.send(frame)
        errors = 0
        while errors < len(frames):
            errors += sum(isinstance(event, Error) for event in await self._receive())
        await self.reply([TEXTS[0]])

    async def vanish(self, texts: list[str], after: int) -> None:
        """The connection is torn while audio comes."""
        await self._ask(texts)
        for _ in range(after):
            await self._receive()
        self._socket.transport.abort()

    async def _ask(self, texts: list[str]) -> str:
        self._replies += 1
        name = f"reply{self._replies}"
        for text in texts:
            self._machine.speak(name, text)
        self._machine.end(name)
        await self._flush()
        return name

    async def _flush(self) -> None:
        for frame in self._machine.data_to_send():
            await self._socket.send(frame)

    async def _receive(self) -> list[Any]:
        frame = await asyncio.wait_for(self._socket.recv(), ANSWER_S)
        events = self._machine.receive(frame)
        for event in events:
            if isinstance(event, ProtocolViolated):
                self._fail(f"the server broke the protocol: {event}")
        return [event for event in events if not isinstance(event, Ready)]

    def _fail(self, what: str) -> None:
        self._soak.failures.append(what)


def soak(seconds: float, seed: int, clients: int = 8) -> dict[str, Any]:
    """Badly treated for so long: what was lost, and what is left behind."""
    with ServerProcess("ours", call_s=0.002, realtime_factor=0.001) as server:
        return asyncio.run(_soak(server, seconds, seed, clients))


async def _soak(server: ServerProcess, seconds: float, seed: int, clients: int) -> dict[str, Any]:
    run = Soak(server, seed)
    # Threads, imports and caches come with the first clients of each kind: those don't count.
    await run.run(min(10.0, seconds / 4), clients)
    before = await _settled(server)
    memory_kb: list[tuple[float, int]] = []
    started = time.perf_counter()
    rounds = max(4, min(20, int(seconds / 5)))
    for _ in range(rounds):
        await run.run(seconds / rounds, clients)
        memory_kb.append((time.perf_counter() - started, (await _settled(server))["rss_kb"]))
    after = await _settled(server, before)
    slope = statistics.linear_regression(*zip(*memory_kb[rounds // 2 :], strict=True)).slope
    return {
        "soak_s": seconds,
        "done": dict(sorted(run.counts.items())),
        "failures": run.failures[:20],
        "failed": len(run.failures),
        "left_behind": {name: after[name] - before[name] for name in HELD},
        "memory_kb_first": memory_kb[0][1],
        "memory_kb_last": memory_kb[-1][1],
        "memory_slope_kb_per_minute": slope * 60,
    }


async def _settled(server: ServerProcess, like: dict[str, Any] | None = None) -> dict[str, Any]:
    """The server's state once it has noticed that all are gone.

    Args:
        server: which one.
        like: an earlier state, which it gets some time to come back to.

    Raises:
        RuntimeError: it still holds something.
    """
    deadline = time.perf_counter() + SETTLE_S
    while True:
        now = server.state()
        gone = not (now["sessions"] or now["posts"] or now["jobs"])
        if gone and (like is None or all(now[name] <= like[name] for name in HELD)):
            return now
        if time.perf_counter() > deadline:
            if gone:
                return now
            raise RuntimeError(f"nobody is there any more, and the server still holds {now}")
        await asyncio.sleep(0.1)
