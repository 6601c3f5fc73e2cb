"""The twin without asyncio, against the same server, which runs in a thread here."""

import asyncio
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkStarted,
    ConnectionFailed,
    ConnectionLost,
    InvalidInput,
    LocalProtocolError,
    SessionClosed,
    TextChunk,
    UtteranceCancelled,
    UtteranceDone,
)
from kokoro_sagemaker_agents.blocking import SpeechSession
from kokoro_sagemaker_agents.protocol import Cancel

LONG = "This goes on for quite a while. " * 20


class Threaded:
    """A fake server in a loop of its own."""

    def __init__(self, faking: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._faking = faking
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._main()))
        self._thread.start()
        assert self._ready.wait(10)

    async def _main(self) -> None:
        self._stop = asyncio.Event()
        async with self._faking() as self.fake:
            self._ready.set()
            await self._stop.wait()

    def until(self, condition: Callable[[], Any]) -> None:
        asyncio.run_coroutine_threadsafe(self.fake.until(condition), self._loop).result(20)

    def do(self, function: Callable[[], Any]) -> None:
        self._loop.call_soon_threadsafe(function)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(20)
        self._loop.close()


@pytest.fixture
def threaded(faking: Any) -> Iterator[Threaded]:
    started = Threaded(faking)
    yield started
    started.stop()


@pytest.fixture
def _no_task_is_left() -> Iterator[None]:
    """A test's end is the end of every thread that its sessions began."""
    yield
    deadline_s = time.monotonic() + 10
    while left := [t for t in threading.enumerate() if t.name.startswith("kokoro")]:
        assert time.monotonic() < deadline_s, left
        left[0].join(0.1)


pytestmark = pytest.mark.usefixtures("_no_task_is_left")


def audio(events: list[Any]) -> bytes:
    return b"".join(event.pcm for event in events if isinstance(event, AudioChunk))


def test_a_string_and_a_generator_are_spoken_alike(threaded: Threaded) -> None:
    text = "Hello there, my friend. How are you today? Fine."
    with SpeechSession.connect(threaded.fake.url) as session:
        whole = list(session.speak(text))
        streamed = list(session.speak(text[i : i + 3] for i in range(0, len(text), 3)))
        assert session.ready.instance_id == "i-1"
        assert not session.draining

    spoken = [event.spoken for event in whole if isinstance(event, ChunkStarted)]
    assert audio(whole) == audio(streamed) == b"".join(map(threaded.fake.pcm, spoken))
    assert isinstance(whole[-1], UtteranceDone)


def test_an_utterance_takes_text_and_gives_events(threaded: Threaded) -> None:
    with SpeechSession.connect(threaded.fake.url) as session, session.utterance() as utterance:
        utterance.push("Hel")
        utterance.push("lo there. How are ")
        utterance.push("you?")
        utterance.end()
        events = list(utterance)
        utterance.played(events[-1].samples)

        heard = utterance.cancel()

    assert audio(events) == b"".join(map(threaded.fake.pcm, threaded.fake.texts()))
    assert heard.complete
    assert heard.text == utterance.id.replace(utterance.id, "Hello there. How are you?")


def test_chunks_of_ones_own_and_flush(threaded: Threaded) -> None:
    with SpeechSession.connect(threaded.fake.url) as session:
        own = session.utterance()
        own.push_chunk(TextChunk("Mine.", "Mine.", 0, 5, "sentence"))
        own.end()
        assert audio(list(own)) == threaded.fake.pcm("Mine.")
        other = session.utterance()
        other.push("Not finished")
        other.flush()
        threaded.until(lambda: "Not finished" in threaded.fake.texts())
        other.cancel()


def test_cancel_from_another_thread_ends_the_loop(threaded: Threaded) -> None:
    threaded.do(lambda: threaded.fake.allow(1))
    with SpeechSession.connect(threaded.fake.url) as session:
        speech = session.speak(LONG)
        events: list[Any] = []
        reader = threading.Thread(target=lambda: events.extend(speech))
        reader.start()
        threaded.until(lambda: threaded.fake.pieces_left == 0)
        heard = speech.cancel()
        reader.join(10)

        assert events[-1] == UtteranceCancelled(heard=heard)
        assert speech.heard() == heard


@pytest.mark.parametrize("way", ["break", "block"])
def test_leaving_the_loop_cancels_on_the_server(threaded: Threaded, way: str) -> None:
    with SpeechSession.connect(threaded.fake.url, window_s=1) as session:
        if way == "break":
            for event in session.speak(LONG):
                if isinstance(event, AudioChunk):
                    break
        else:
            with session.speak(LONG) as speech:
                next(speech)
        threaded.until(lambda: threaded.fake.asked(Cancel))


def test_errors_are_raised_where_they_belong(threaded: Threaded) -> None:
    def broken() -> Iterator[str]:
        yield "Well, this is one. And"
        raise ZeroDivisionError("the LLM is gone")

    with pytest.raises(InvalidInput):
        SpeechSession.connect("no address")
    with pytest.raises(InvalidInput, match="nobody"):
        SpeechSession.connect(threaded.fake.url, voice="nobody").open()
    with pytest.raises(ConnectionFailed):
        SpeechSession.connect("ws://127.0.0.1:1").open()
    with SpeechSession.connect(threaded.fake.url, reconnect_s=0) as session:
        with pytest.raises(InvalidInput):
            session.speak(7)  # type: ignore[arg-type]  # the point
        with pytest.raises(ZeroDivisionError, match="the LLM is gone"):
            list(session.speak(broken()))
        with pytest.raises(LocalProtocolError):
            session.open()
        threaded.until(lambda: not threaded.fake.protocols[-1].contexts)
        threaded.do(lambda: threaded.fake.allow(1))
        speech = session.speak(LONG)
        next(speech)
        threaded.do(threaded.fake.vanish)
        with pytest.raises(ConnectionLost):
            list(speech)


def test_after_close_everything_says_so_and_nothing_hangs(threaded: Threaded) -> None:
    session = SpeechSession.connect(threaded.fake.url)
    with pytest.raises(LocalProtocolError, match="not open"):
        session.utterance()
    session.close()
    with session:
        utterance = session.utterance()
        speech = session.speak(LONG)
    session.close()
    with pytest.raises(SessionClosed):
        session.speak("More.")
    with pytest.raises(SessionClosed):
        utterance.push("More.")
    with pytest.raises(SessionClosed):
        next(speech)
    speech.close()


def test_closing_in_one_thread_wakes_a_reader_in_another(threaded: Threaded) -> None:
    threaded.do(lambda: threaded.fake.allow(1))
    session = SpeechSession.connect(threaded.fake.url)
    session.open()
    caught: list[BaseException] = []

    def read() -> None:
        try:
            list(session.speak(LONG))
        except SessionClosed as error:
            caught.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    threaded.until(lambda: threaded.fake.pieces_left == 0)
    session.close()
    reader.join(10)
    assert len(caught) == 1


def test_a_session_that_nobody_closes_does_not_keep_the_program_alive(threaded: Threaded) -> None:
    program = (
        "from kokoro_sagemaker_agents.blocking import SpeechSession\n"
        f"session = SpeechSession.connect({threaded.fake.url!r})\n"
        "session.open()\n"
        "print(next(session.speak('Hello there.')).spoken)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=30, check=True
    )
    assert done.stdout == "Hello there.\n"
    assert "Traceback" not in done.stderr
