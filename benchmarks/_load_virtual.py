"""The load benchmark on a virtual clock: days of traffic in minutes, and the same each time.

Ours is the shipped server from its WebSocket route inwards: `Connection`, the protocol's machine,
`Scheduler`, `Synthesizer`. Only the clock is another: the event loop's time jumps to the next thing
that happens, and a call of the engine takes what it should of that time and next to none of ours.
So nothing here models the scheduler. The client sends each sentence as it comes; or, `chunked`, as
`SpeechSession` does, which cuts the first one at a clause, so that the server has seven chunks.

The peer is the AWS Kokoro sample's way on the same engine: a lock, first come first served, and a
client that sends a sentence, drains its audio and sends the next.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine, Iterator, MutableMapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from functools import lru_cache, partial
from types import SimpleNamespace
from typing import Any, TypeVar
from unittest import mock

import _load_trace as trace
import numpy as np
from starlette.websockets import WebSocket

from kokoro_container import synthesis
from kokoro_container.connection import Connection
from kokoro_container.engines.base import (
    FRAME_SAMPLES,
    CancelToken,
    EngineAudio,
    EngineCancelled,
)
from kokoro_container.engines.tone import LEAD_FRAMES, PHONEME_FRAMES, TAIL_FRAMES, spell
from kokoro_container.scheduler import Scheduler
from kokoro_container.service import Service, Settings
from kokoro_sagemaker_agents.protocol import (
    AudioReceived,
    ClientProtocol,
    ContextCancelled,
    ContextDone,
    Error,
    ProtocolViolated,
    SpeechOptions,
)
from kokoro_sagemaker_agents.text import SentenceChunker
from kokoro_sagemaker_agents.text.chunker import IDLE_RELEASE_S

T = TypeVar("T")


class VirtualLoop(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps; work for executors is done at once and ends when it should.

    Attributes:
        now: the time, in seconds.
        spent_s: what the work being done has taken so far.
        model_s: what the engine has computed in all.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.spent_s = 0.0
        self.model_s = 0.0
        self._token: CancelToken | None = None
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self.now

    def spend(self, seconds: float, token: CancelToken | None) -> None:
        """The engine computes; the token stops it."""
        self.spent_s += seconds
        self._token = token

    def run_in_executor(  # type: ignore[override]  # asyncio's own types are wider
        self, executor: Executor | None, work: Callable[..., T], *arguments: Any
    ) -> asyncio.Future[T]:
        self.spent_s, self._token = 0.0, None
        future: asyncio.Future[T] = self.create_future()
        try:
            settle = partial(future.set_result, work(*arguments))
        except Exception as error:
            settle = partial(future.set_exception, error)
        cost_s, token, self.spent_s = self.spent_s, self._token, 0.0
        if not cost_s:
            settle()
            return future
        timer = self.call_later(cost_s, self._end, settle, cost_s)
        if token is not None:
            token.on_cancel(partial(self._interrupt, future, timer, self.now))
        return future

    def _end(self, settle: Callable[[], None], cost_s: float) -> None:
        self.model_s += cost_s
        settle()

    def _interrupt(
        self, future: asyncio.Future[Any], timer: asyncio.TimerHandle, since: float
    ) -> None:
        if not future.done():
            timer.cancel()
            self._end(partial(future.set_exception, EngineCancelled()), self.now - since)


class _Jumping(selectors.SelectSelector):
    """Instead of waiting for a socket it lets the time pass."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise RuntimeError("everything waits for something that will never happen")
        self._loop.now += timeout
        return []


class VirtualEngine:
    """Silence of the right length. A whole sentence takes 60 ms, a part of one 40.

    Args:
        loop: whose time it takes.
        whole: phonemes of a whole sentence.
    """

    name = "virtual"
    model = "none"
    quick = True  # as a GPU is

    def __init__(self, loop: VirtualLoop, whole: int) -> None:
        self._loop = loop
        self._whole = whole

    def synthesize(
        self, phonemes: str, style: Any, speed: float, cancel: CancelToken | None = None
    ) -> EngineAudio:
        cost_s = trace.SENTENCE_S if len(phonemes) >= self._whole else trace.PART_S
        self._loop.spend(cost_s, cancel)
        frames = np.full(len(phonemes) + 2, PHONEME_FRAMES, np.int64)
        frames[0], frames[-1] = LEAD_FRAMES, TAIL_FRAMES
        return EngineAudio(np.zeros(int(frames.sum()) * FRAME_SAMPLES, np.float32), frames)

    def close(self) -> None:
        pass


@contextmanager
def server() -> Iterator[tuple[VirtualLoop, Service]]:
    """A ready server on a virtual clock, not listening anywhere."""
    loop = VirtualLoop()
    whole = len(spell(trace.SENTENCE.strip(), "en-us").phonemes)
    clock = SimpleNamespace(perf_counter=lambda: loop.now + loop.spent_s)
    asyncio.set_event_loop(loop)
    try:
        with mock.patch.object(synthesis, "time", clock):
            service = Service(
                lambda: VirtualEngine(loop, whole), phonemize=lru_cache(spell), settings=Settings()
            )
            settings = service.settings
            service.scheduler = Scheduler(
                phonemisers=settings.g2p_processes,
                max_jobs=settings.queued_chunks,
                max_wait_s=settings.max_wait_s,
                metrics=service.metrics,
                health=service.health,
                clock=loop.time,
            )
            loop.run_until_complete(service.load())
            loop.model_s = 0.0
            yield loop, service
            loop.run_until_complete(service.aclose())
    finally:
        asyncio.set_event_loop(None)
        loop.close()


class Client:
    """A session with one reply, on a wire in memory.

    Attributes:
        playback: what its listener hears.
        done: the reply has ended.
    """

    def __init__(self, loop: VirtualLoop, service: Service, playback: trace.Playback) -> None:
        self.playback = playback
        self.done = asyncio.Event()
        self._loop = loop
        self._machine = ClientProtocol()
        self._to_server: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._to_server.put_nowait({"type": "websocket.connect"})
        scope = {"type": "websocket", "query_string": b"", "headers": [], "path": "/"}
        socket = WebSocket(scope, self._to_server.get, self._receive)
        self._serving = loop.create_task(Connection(socket, service).run())

    async def speak(self, sentences: int, *, chunked: bool = False) -> None:
        """The reply, as the text comes; returns when all of it was heard.

        Args:
            sentences: how many.
            chunked: cut them as `SpeechSession` does; else each is sent as it is.
        """
        chunker = SentenceChunker() if chunked else None
        for number in range(sentences):
            await self._sleep_until(self.playback.asked_at + number * trace.TEXT_EVERY_S)
            if chunker is None:
                self._say([trace.SENTENCE.strip()])
                continue
            self._say([chunk.spoken for chunk in chunker.feed(trace.SENTENCE)])
            if number < sentences - 1:
                await asyncio.sleep(IDLE_RELEASE_S)
                self._say([chunk.spoken for chunk in chunker.poll(IDLE_RELEASE_S)])
        if chunker is not None:
            self._say([chunk.spoken for chunk in chunker.flush()])
        self._machine.end("reply")
        self._flush()
        await self.done.wait()
        await self.leave()

    def ask(self, sentences: int) -> None:
        """Everything at once."""
        self._say([trace.SENTENCE.strip()] * sentences)

    def cancel(self) -> None:
        self._machine.cancel("reply")
        self._flush()

    async def leave(self) -> None:
        self._to_server.put_nowait({"type": "websocket.disconnect", "code": 1000})
        await self._serving

    def _say(self, texts: Sequence[str]) -> None:
        for text in texts:
            self._machine.speak("reply", text)
        self._flush()

    def _flush(self) -> None:
        for frame in self._machine.data_to_send():
            self._to_server.put_nowait({"type": "websocket.receive", "text": frame})

    async def _receive(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] != "websocket.send":
            return
        frame = message.get("text") or message["bytes"]
        for event in self._machine.receive(frame):
            match event:
                case AudioReceived():
                    self.playback.hears(self._loop.now, len(event.data))
                case ContextDone() | ContextCancelled():
                    self.done.set()
                case Error() | ProtocolViolated():
                    raise RuntimeError(f"the server answered with {event}")

    async def _sleep_until(self, when: float) -> None:
        await asyncio.sleep(max(0.0, when - self._loop.now))


def ours(times: Sequence[float], *, chunked: bool = False) -> trace.Run:
    """The trace through the shipped server; see `Client.speak`."""
    heard = [trace.Playback(at) for at in times]
    with server() as (loop, service):

        async def session(playback: trace.Playback) -> None:
            await asyncio.sleep(playback.asked_at - loop.now)
            client = Client(loop, service, playback)
            await client.speak(trace.SENTENCES, chunked=chunked)

        loop.run_until_complete(_all(session, heard, loop.now))
        return trace.Run(heard, loop.model_s)


def theirs(times: Sequence[float]) -> trace.Run:
    """The same trace the AWS sample's way."""
    heard = [trace.Playback(at) for at in times]
    with server() as (loop, service):
        lock = asyncio.Lock()

        async def session(playback: trace.Playback) -> None:
            for number in range(trace.SENTENCES):
                there_at = playback.asked_at + number * trace.TEXT_EVERY_S
                await asyncio.sleep(max(0.0, there_at - loop.now))
                async with lock:
                    audio = await loop.run_in_executor(None, _whole_message, service)
                playback.hears(loop.now, len(audio))

        loop.run_until_complete(_all(session, heard, loop.now))
        return trace.Run(heard, loop.model_s)


def _whole_message(service: Service) -> bytes:
    speech = service.synthesizer.speech(trace.SENTENCE, SpeechOptions())
    parts = [speech.render(piece, CancelToken()).data for piece in speech.phonemise().pieces]
    return b"".join(parts) + speech.rest().data


async def _all(
    session: Callable[[trace.Playback], Coroutine[Any, Any, None]],
    heard: Sequence[trace.Playback],
    start: float,
) -> None:
    async with asyncio.TaskGroup() as tasks:
        for playback in heard:
            playback.asked_at += start
            tasks.create_task(session(playback))


def cancelled(contexts: int = 20, sentences: int = 40) -> float:
    """How much of the remaining work a cancel frees, from 0 to 1.

    Many long replies are asked for at once, and all are cancelled after a few sentences. What the
    engine still computes after that, beside what it would have, is not freed.
    """
    with server() as (loop, service):

        async def run() -> float:
            clients = [Client(loop, service, trace.Playback(loop.now)) for _ in range(contexts)]
            for client in clients:
                client.ask(sentences)
            await asyncio.sleep(contexts * 3 * trace.SENTENCE_S)
            for client in clients:
                client.cancel()
            before_s = loop.model_s
            for client in clients:
                await client.done.wait()
                await client.leave()
            await service.scheduler.wait_idle()
            await asyncio.sleep(60.0)
            left_s = contexts * sentences * trace.SENTENCE_S - before_s
            return 1 - (loop.model_s - before_s) / left_s

        return loop.run_until_complete(run())
