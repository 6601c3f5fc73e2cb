"""A server that speaks the protocol on a real socket, with an engine whose audio can be told apart.

Every chunk has audio of its own, made of its text, so that a sample that is lost, doubled, out of
order or of another utterance shows in a comparison. Tests steer it: it can pause, fail, go silent
and vanish, and it keeps what it was asked.
"""

import asyncio
import zlib
from array import array
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import cache
from typing import Any

import pytest
from msgspec import structs
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import (
    ClientMessage,
    Limits,
    Ready,
    ServerProtocol,
    Speak,
    SpeakRequested,
    SpeechOptions,
    Word,
    decode_client,
)

SAMPLES_PER_CHAR = 240  # 10 ms at 24 kHz
PIECE = 2400
DEADLINE_S = 10.0


@cache
def pcm_of(text: str) -> bytes:
    """The audio of a text: 16-bit samples that count up from a number made of it."""
    first = zlib.crc32(text.encode())
    samples = len(text) * SAMPLES_PER_CHAR
    return array("H", [(first + i) & 0xFFFF for i in range(samples)]).tobytes()


def words_of(text: str) -> Iterator[Word]:
    """Its words, each heard while its characters are."""
    at = 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        second = SAMPLES_PER_CHAR / 24_000
        yield Word(text=word, start=start * second, end=at * second, char_start=start, char_end=at)


def check_voice(options: SpeechOptions) -> None:
    if options.voice == "nobody":
        raise InvalidInput("voice 'nobody' is not one of af_heart, bf_emma", code="unknown_voice")


class FakeServer:
    """See the module's text."""

    def __init__(self, limits: Limits) -> None:
        self.url = ""
        self.received: list[ClientMessage] = []
        self.sent_samples: Counter[str] = Counter()
        self.connections: set[ServerConnection] = set()
        self.protocols: list[ServerProtocol] = []
        self.most_queued_chars = 0
        self.most_contexts = 0
        self.says_ready = True
        self.answers = True  # to anything at all
        self.ignores_windows = False
        self.pieces_left: float = float("inf")  # how many it may still send
        self.refuses = False  # any new connection
        self.refused = 0
        self.poison = ""  # a text with this brings it down
        self.models: list[str] = []  # that the next connections will find, in place of the first
        self.ready = Ready(
            instance_id="i-1",
            model="fake",
            engine="fake",
            voices=("af_heart", "bf_emma"),
            languages=("en-us", "en-gb"),
            limits=limits,
        )
        self._changed = asyncio.Event()
        self._work = asyncio.Event()
        self._sending = asyncio.Lock()

    pcm = staticmethod(pcm_of)

    # --- for tests ---

    def asked(self, kind: type) -> list[Any]:
        """The messages of this kind that came, in order."""
        return [message for message in self.received if isinstance(message, kind)]

    def texts(self, context_id: str | None = None) -> list[str]:
        """The texts it was asked to speak."""
        return [m.text for m in self.asked(Speak) if context_id in (None, m.context_id)]

    async def until(self, condition: Callable[[], Any]) -> None:
        """Wait until something happened here that makes this true."""
        async with asyncio.timeout(DEADLINE_S):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    def allow(self, pieces: float) -> None:
        """Let it send so many more pieces of audio."""
        self.pieces_left = pieces
        self._work.set()

    def vanish(self) -> None:
        """Break every connection, without a word."""
        for connection in list(self.connections):
            connection.transport.abort()

    # --- the server ---

    async def handle(self, connection: ServerConnection) -> None:
        if self.refuses:
            self.refused += 1
            self._changed.set()
            connection.transport.abort()
            return
        model = self.models.pop(0) if self.models else self.ready.model
        ready = structs.replace(self.ready, model=model)
        protocol = ServerProtocol(ready, validate=check_voice)
        self.protocols.append(protocol)
        self.connections.add(connection)
        if self.says_ready:
            protocol.ready()
        requests: dict[tuple[str, int], SpeakRequested] = {}
        speaker = asyncio.create_task(self._speak(connection, protocol, requests))
        try:
            await self._flush(connection, protocol)
            async for frame in connection:
                self.received.append(decode_client(frame))
                for event in protocol.receive(frame):
                    if isinstance(event, SpeakRequested):
                        if self.poison and self.poison in event.text:
                            self.vanish()
                        requests[event.context_id, event.chunk_id] = event
                queued = [(c, i) for c in protocol.contexts for i in protocol.unanswered(c)]
                chars = sum(len(requests[key].text) for key in queued)
                self.most_queued_chars = max(self.most_queued_chars, chars)
                self.most_contexts = max(self.most_contexts, len(protocol.contexts))
                self._work.set()
                self._changed.set()
                if protocol.closed:
                    break
                await self._flush(connection, protocol)
        except ConnectionClosed:
            pass
        finally:
            speaker.cancel()
            await asyncio.wait([speaker])
            await connection.close()
            self.connections.discard(connection)
            self._changed.set()

    async def _flush(self, connection: ServerConnection, protocol: ServerProtocol) -> None:
        async with self._sending:  # two tasks send, and order is everything
            for frame in protocol.data_to_send():
                if self.answers:
                    await connection.send(frame)

    async def _speak(
        self,
        connection: ServerConnection,
        protocol: ServerProtocol,
        requests: dict[tuple[str, int], SpeakRequested],
    ) -> None:
        """A piece of each context's first chunk in turn, for ever."""
        positions: Counter[tuple[str, int]] = Counter()
        try:
            while True:
                worked = False
                for context_id in protocol.contexts:
                    for chunk_id in protocol.unanswered(context_id)[:1]:
                        key = (context_id, chunk_id)
                        worked |= self._speak_piece(protocol, requests[key], positions)
                        await self._flush(connection, protocol)
                        self._changed.set()
                if not worked:
                    await self._flush(connection, protocol)  # what a test has put in
                    self._work.clear()
                    await self._work.wait()
                await asyncio.sleep(0)
        except ConnectionClosed:
            pass

    def _speak_piece(
        self,
        protocol: ServerProtocol,
        request: SpeakRequested,
        positions: Counter[tuple[str, int]],
    ) -> bool:
        """Whether there was something to do, and it was done."""
        key, text = (request.context_id, request.chunk_id), request.text
        positions.setdefault(key, request.from_sample)
        credit = protocol.credit(key[0])
        if self.pieces_left <= 0:
            return False
        if credit is not None and credit <= 0 and not self.ignores_windows:
            return False
        if "FAIL" in text:
            protocol.chunk_failed(*key, "synthesis_failed", "the engine could not say this")
            return True
        start = positions[key]
        if start == request.from_sample and request.options.timestamps == "word":
            # From the word on in whose middle the audio begins: the earlier ones were told.
            protocol.words(*key, (w for w in words_of(text) if w.end * 24_000 > start))
        data = pcm_of(text)[start * 2 : (start + PIECE) * 2]
        positions[key] += len(data) // 2
        self.pieces_left -= 1
        self.sent_samples[key[0]] += len(data) // 2
        counted = request.options.encoding == "pcm_s16le"
        protocol.audio(*key, data, None if counted else len(data) // 2)
        if positions[key] == len(text) * SAMPLES_PER_CHAR:
            protocol.chunk_done(*key, warnings=["☃ was left out"] if "☃" in text else [])
        return True


@pytest.fixture
def faking() -> Callable[..., AbstractAsyncContextManager[FakeServer]]:
    """Starts a fake server."""

    @asynccontextmanager
    async def start(limits: Limits | None = None, **knobs: Any) -> AsyncIterator[FakeServer]:
        fake = FakeServer(limits or Limits())
        for name, value in knobs.items():
            setattr(fake, name, value)
        async with serve(fake.handle, "127.0.0.1", 0, compression=None) as server:
            port = server.sockets[0].getsockname()[1]
            fake.url = f"ws://127.0.0.1:{port}"
            yield fake
            fake.vanish()

    return start


@pytest.fixture
async def fake(faking: Any) -> AsyncIterator[FakeServer]:
    """A fake server with nothing special about it."""
    async with faking() as started:
        yield started


@pytest.fixture(autouse=True)
async def _no_task_is_left() -> AsyncIterator[None]:
    """A test's end is the end of every task that its sessions began."""
    yield
    left = [task for task in asyncio.all_tasks() if task.get_name().startswith("kokoro")]
    if left:  # the clean-up of an iteration that was broken off, perhaps
        await asyncio.wait(left, timeout=DEADLINE_S)
    assert [task.get_name() for task in left if not task.done()] == []
