"""Options, sources of text, the public names, and deadlines that need a transport of their own."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

import pytest

import kokoro_sagemaker_agents
from kokoro_sagemaker_agents import (
    ConnectionLost,
    DeadlineExceeded,
    InvalidInput,
    SpeechSession,
    connection,
)
from kokoro_sagemaker_agents.config import SessionConfig
from kokoro_sagemaker_agents.protocol import Limits, Ready, ServerProtocol
from kokoro_sagemaker_agents.sources import tokens_of
from kokoro_sagemaker_agents.transports.base import Transport
from kokoro_sagemaker_agents.unsent import ServerRoom

# --- options ---


@pytest.mark.parametrize(
    ("options", "language"),
    [
        ({}, "en-us"),
        ({"voice": "bf_emma"}, "en-gb"),
        ({"voice": "zf_xiaobei"}, "zh"),
        ({"voice": "jf_alpha(2)+af_sky(1)"}, "ja"),
        ({"voice": "custom"}, "en-us"),
        ({"voice": "bf_emma", "language": "fr"}, "fr"),
    ],
)
def test_text_is_cut_by_the_rules_of_the_language_it_is_spoken_in(
    options: Any, language: str
) -> None:
    assert SessionConfig.of(options).utterance.chunker_language == language


def test_an_utterances_options_replace_the_sessions_and_none_replaces_nothing() -> None:
    session = SessionConfig.of({"voice": "bf_emma", "speed": 1.5}).utterance
    changed = session.changed({"voice": None, "speed": 2.0, "window_s": 1.0})

    assert (changed.voice, changed.speed, changed.window) == ("bf_emma", 2.0, 24_000)
    assert session.speed == 1.5


def test_the_smallest_window_lets_something_through() -> None:
    assert SessionConfig.of({"window_s": 1e-9}).utterance.window == 1


# --- room at the server ---


def test_room_is_held_against_every_limit() -> None:
    limits = Limits(contexts=2, queued_chunks=2, queued_chars=100)
    room = ServerRoom()

    assert room.allows("a", 1000, limits, ())  # too long for any moment: the server says so
    room.sent("a", 0, 60)
    assert not room.allows("b", 41, limits, ("a",))
    assert room.allows("b", 40, limits, ("a",))
    room.sent("a", 1, 10)
    assert not room.allows("a", 1, limits, ("a",))
    room.answered("a", 0)
    room.answered("a", 0)
    assert room.allows("a", 90, limits, ("a",))
    assert not room.allows("c", 1, limits, ("a", "b"))
    room.forget("a")
    assert room.allows("a", 1000, limits, ("a",))


# --- sources ---


async def first_of(source: Any, count: int) -> list[str]:
    found = []
    async with aclosing(tokens_of(source)) as tokens:
        async for token in tokens:
            found.append(token)
            if len(found) == count:
                break
    return found


async def test_a_thread_reads_an_iterable_in_order_and_not_far_ahead() -> None:
    given: list[int] = []
    ended = threading.Event()

    def endless() -> Iterator[str]:
        try:
            while True:
                given.append(threading.get_ident())
                yield str(len(given))
        finally:
            ended.set()

    assert await first_of(endless(), 1000) == [str(n) for n in range(1, 1001)]
    assert await asyncio.to_thread(ended.wait, 10)
    assert len(given) < 1300
    assert set(given) - {threading.get_ident()} == set(given)


async def test_an_async_generator_is_closed_when_it_is_left() -> None:
    ended = asyncio.Event()

    async def endless() -> AsyncIterator[str]:
        try:
            while True:
                yield "x"
        finally:
            ended.set()

    assert await first_of(endless(), 3) == ["x"] * 3
    assert ended.is_set()


async def test_what_a_source_raises_is_raised_to_the_reader() -> None:
    def broken() -> Iterator[str]:
        yield "x"
        raise ZeroDivisionError

    class NotIterable:
        def __iter__(self) -> Iterator[str]:
            raise ZeroDivisionError

    for source in (broken(), NotIterable()):
        with pytest.raises(ZeroDivisionError):
            await first_of(source, 9)
    with pytest.raises(InvalidInput, match="gave a int"):
        await first_of(iter([1]), 9)


# --- the public names ---


def test_every_public_name_is_there() -> None:
    for name in kokoro_sagemaker_agents.__all__:
        assert getattr(kokoro_sagemaker_agents, name).__class__ is not None
        assert name in dir(kokoro_sagemaker_agents)
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        _ = kokoro_sagemaker_agents.Nonsense


def test_events_and_errors_load_no_asyncio() -> None:
    program = (
        "import sys\n"
        "from kokoro_sagemaker_agents import TextChunk, AudioChunk, ConnectionLost, Heard\n"
        "print('asyncio' in sys.modules or 'numpy' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


# --- deadlines ---


class Memory(Transport):
    """A server inside the transport, which can stop taking frames."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._server = ServerProtocol(
            Ready(
                instance_id="i",
                model="m",
                engine="e",
                voices=("af_heart",),
                languages=("en-us",),
                limits=limits or Limits(),
            )
        )
        self._frames: asyncio.Queue[str | bytes] = asyncio.Queue()
        self.takes_frames = True
        self.stuck = asyncio.Event()
        self.closed = 0

    async def open(self) -> None:
        self._server.ready()

    async def send(self, frame: str) -> None:
        if not self.takes_frames:
            self.stuck.set()
            await asyncio.Event().wait()
        self._server.receive(frame)
        for answer in self._server.data_to_send():
            self._frames.put_nowait(answer)

    async def receive(self) -> str | bytes:
        return await self._frames.get()

    async def close(self) -> None:
        self.closed += 1


async def test_a_server_that_takes_no_more_text_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "SEND_TIMEOUT_S", 0.05)
    transport = Memory()
    async with SpeechSession(lambda: transport, reconnect_s=0) as session:
        transport.takes_frames = False
        with pytest.raises(DeadlineExceeded, match="took no more text"):
            async with asyncio.timeout(10):
                _ = [event async for event in session.speak("Hello there.")]
    assert transport.closed


async def test_a_goodbye_that_nobody_takes_does_not_hold_up_the_close(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "CLOSE_TIMEOUT_S", 0.05)
    transport = Memory()
    session = SpeechSession(lambda: transport, reconnect_s=0)
    await session.open()
    transport.takes_frames = False
    await asyncio.wait_for(session.close(), 5)
    assert transport.closed


async def test_a_cancelled_close_still_frees_the_connection() -> None:
    transport = Memory()
    session = SpeechSession(lambda: transport, reconnect_s=0)
    await session.open()
    transport.takes_frames = False
    closing = asyncio.create_task(session.close())
    await asyncio.wait_for(transport.stuck.wait(), 10)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert transport.closed == 1


async def test_a_mistake_of_ours_ends_the_connection_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Broken(Memory):
        async def receive(self) -> str | bytes:
            if self._frames.empty():
                await asyncio.sleep(0)
            frame = await self._frames.get()
            if frame == "bug":
                raise ZeroDivisionError
            return frame

    transport = Broken()
    async with SpeechSession(lambda: transport, reconnect_s=0) as session:
        utterance = session.utterance()
        transport._frames.put_nowait("bug")
        with pytest.raises(ConnectionLost, match="ZeroDivisionError"):
            await anext(utterance)
    assert "mistake in this library" in caplog.text
