"""Who gets the model next: the decision by itself, then the shell with a slow engine."""

import asyncio
import threading
from collections.abc import AsyncIterator

import numpy as np
import pytest

from kokoro_container.engines.base import CancelToken, EngineAudio, EngineFailed
from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.pieces import Piece
from kokoro_container.scheduler import (
    PHONEMISED_AHEAD,
    Job,
    Scheduler,
    Stream,
    next_to_phonemise,
    next_to_render,
)
from kokoro_container.synthesis import Rendered, Speech, Synthesizer
from kokoro_container.text.phonemes import Phonemes
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.errors import OverloadedError
from kokoro_sagemaker_agents.protocol import SpeechOptions

VOICES = Voices()
PIECE = Piece("a", (), "none")


class Ear:
    """A listener that writes down what it hears."""

    def __init__(self, name: str = "", log: list[str] | None = None) -> None:
        self.name = name
        self.log: list[str] = [] if log is None else log
        self.errors: list[Exception] = []
        self.finished = asyncio.Event()

    def on_audio(self, job: Job, audio: Rendered) -> None:
        self.log.append(f"{self.name}{job.chunk_id} audio")

    def on_done(self, job: Job) -> None:
        self.log.append(f"{self.name}{job.chunk_id} done")
        self.finished.set()

    def on_failed(self, job: Job, error: Exception) -> None:
        self.log.append(f"{self.name}{job.chunk_id} failed")
        self.errors.append(error)


def speech(text: str = "hello", engine: ToneEngine | None = None, **options: bool) -> Speech:
    return Synthesizer(engine or ToneEngine(), spell, VOICES).speech(
        text, SpeechOptions(), **options
    )


def stream(arrived_at: float, *, pieces: int = 1, patience_s: float | None = None) -> Stream:
    """One with a job whose pieces are ready."""
    made = Stream(Ear(), patience_s)
    job = Job(speech(), 0, arrived_at)
    job.unphonemised = False
    job.pieces.extend([PIECE] * pieces)
    made.jobs.append(job)
    return made


# --- the decision --------------------------------------------------------------------------------


def test_who_came_first_is_served_first() -> None:
    early, late = stream(1.0), stream(2.0)

    assert next_to_render([late, early]) is early


def test_a_newcomer_goes_before_a_listener_with_audio_ahead() -> None:
    listening, newcomer = stream(0.0), stream(5.0)
    listening.audio_left(now=1.0, duration_s=10.0)

    assert next_to_render([listening, newcomer]) is newcomer


def test_a_listener_about_to_run_dry_goes_before_one_with_more_ahead() -> None:
    dry, fine = stream(0.0), stream(0.0)
    dry.audio_left(now=1.0, duration_s=2.0)
    fine.audio_left(now=1.0, duration_s=3.0)

    assert next_to_render([fine, dry]) is dry


def test_audio_is_played_one_after_the_other() -> None:
    listening = stream(0.0)
    listening.audio_left(now=1.0, duration_s=2.0)
    listening.audio_left(now=1.5, duration_s=2.0)  # while the first is playing
    assert listening.deadline == 5.0

    listening.audio_left(now=20.0, duration_s=2.0)  # after a silence
    assert listening.deadline == 22.0


def test_an_idle_listener_who_asks_again_counts_from_the_new_text() -> None:
    """Not from when its last audio ended, which would put it before everyone for ever."""
    idle, waiting = stream(100.0), stream(50.0)
    idle.audio_left(now=1.0, duration_s=2.0)

    assert next_to_render([idle, waiting]) is waiting


def test_a_whole_reply_has_patience_but_not_for_ever() -> None:
    post, session = stream(0.0, patience_s=10.0), stream(5.0)
    assert next_to_render([post, session]) is session

    later = stream(10.5)
    assert next_to_render([post, later]) is post


def test_sending_does_not_make_a_whole_reply_wait_longer() -> None:
    post = stream(0.0, patience_s=10.0)
    post.audio_left(now=1.0, duration_s=60.0)

    assert post.deadline == 10.0


def test_who_is_paused_running_or_not_phonemised_is_passed_over() -> None:
    paused, running, bare, last = stream(0.0), stream(1.0), stream(2.0, pieces=0), stream(3.0)
    paused.paused = True
    running.running = CancelToken()

    assert next_to_render([paused, running, bare, last]) is last
    assert next_to_render([paused, running, bare]) is None
    assert next_to_render([]) is None


def test_only_the_first_job_is_heard() -> None:
    listening = stream(0.0, pieces=0)
    listening.jobs[0].unphonemised = True
    listening.jobs.append(stream(0.0).jobs[0])

    assert next_to_render([listening]) is None


def test_the_next_text_is_phonemised_while_the_first_is_on_the_model() -> None:
    listening = stream(0.0)
    second = Job(speech(), 1, 0.0)
    listening.jobs.append(second)
    listening.running = CancelToken()

    assert next_to_phonemise([listening]) == (listening, second)


def test_phonemes_are_made_a_few_pieces_ahead_only() -> None:
    listening = stream(0.0, pieces=PHONEMISED_AHEAD)
    listening.jobs.append(Job(speech(), 1, 0.0))

    assert next_to_phonemise([listening]) is None


def test_texts_of_a_stream_are_phonemised_in_order() -> None:
    listening = stream(0.0)
    listening.jobs[0].phonemising = True
    listening.jobs.append(Job(speech(), 1, 0.0))

    assert next_to_phonemise([listening]) is None


def test_who_may_speak_is_phonemised_before_who_is_paused() -> None:
    paused, later = (Stream(Ear()) for _ in range(2))
    paused.jobs.append(Job(speech(), 0, 0.0))
    later.jobs.append(Job(speech(), 0, 9.0))
    paused.paused = True

    assert next_to_phonemise([paused, later]) == (later, later.jobs[0])
    assert next_to_phonemise([paused]) == (paused, paused.jobs[0])


# --- the shell -----------------------------------------------------------------------------------


@pytest.fixture
async def scheduler() -> AsyncIterator[Scheduler]:
    scheduler = Scheduler(max_jobs=5)
    yield scheduler
    await scheduler.aclose()


class Gate(ToneEngine):
    """Takes one call at a time through a gate, and tells when one stands before it."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Semaphore(0)
        self.open = threading.Semaphore(0)
        self.calls: list[str] = []

    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        self.calls.append(phonemes)
        if cancel is not None:
            cancel.on_cancel(self.open.release)
        self.entered.release()
        assert self.open.acquire(timeout=10)
        return super().synthesize(phonemes, style, speed, cancel)

    async def standing(self) -> None:
        """Returns when a call stands before the gate."""
        assert await asyncio.to_thread(self.entered.acquire, timeout=10)


async def test_a_streams_chunks_are_heard_in_order(scheduler: Scheduler) -> None:
    ear = Ear()
    listening = Stream(ear)

    for chunk_id in (0, 1, 2):
        scheduler.add(listening, speech("hello there."), chunk_id)
    await scheduler.wait_idle()

    assert ear.log == [f"{i} {what}" for i in range(3) for what in ("audio", "done")]


async def test_a_chunk_without_sound_is_done_without_the_model(scheduler: Scheduler) -> None:
    ear = Ear()
    listening = Stream(ear)
    listening.paused = True

    job = scheduler.add(listening, speech("!?"))
    await scheduler.wait_idle()

    assert ear.log == ["0 done"]
    assert job.taken_at is None
    assert job.warnings


async def test_the_first_words_of_another_go_between_two_pieces(scheduler: Scheduler) -> None:
    gate, log = Gate(), []
    long, short = Stream(Ear("long", log)), Stream(Ear("short", log))

    scheduler.add(long, speech("word " * 80, gate))
    await gate.standing()
    scheduler.add(short, speech("hello", gate))
    for _ in range(4):
        gate.open.release()
    await scheduler.wait_idle()

    assert log[:3] == ["long0 audio", "short0 audio", "short0 done"]
    assert log[3:] == ["long0 audio", "long0 audio", "long0 done"]


async def test_a_paused_stream_gives_up_the_model_and_gets_it_back(scheduler: Scheduler) -> None:
    gate, log = Gate(), []
    other_ear = Ear("other", log)
    one, other = Stream(Ear("one", log)), Stream(other_ear)
    scheduler.add(one, speech("word " * 80, gate))
    await gate.standing()

    scheduler.pause(one, True)
    scheduler.add(other, speech("hello", gate))
    gate.open.release(2)
    await other_ear.finished.wait()
    assert log == ["one0 audio", "other0 audio", "other0 done"]

    scheduler.pause(one, False)
    gate.open.release(2)
    await scheduler.wait_idle()
    assert log[-1] == "one0 done"


async def test_closing_stops_the_call_that_runs_and_drops_the_rest(scheduler: Scheduler) -> None:
    gate, log = Gate(), []
    gone, other = Stream(Ear("gone", log)), Stream(Ear("other", log))
    for chunk_id in (0, 1):
        scheduler.add(gone, speech("word " * 80, gate), chunk_id)
    await gate.standing()
    scheduler.add(other, speech("hello", gate))

    scheduler.close(gone)  # opens the gate as an engine's cancel does
    gate.open.release()
    await scheduler.wait_idle()

    assert log == ["other0 audio", "other0 done"]
    assert len(gate.calls) == 2


async def test_too_many_waiting_chunks_are_refused_and_the_others_go_on(
    scheduler: Scheduler,
) -> None:
    gate, ear = Gate(), Ear()
    listening = Stream(ear)
    for chunk_id in range(5):
        scheduler.add(listening, speech("a", gate), chunk_id)

    with pytest.raises(OverloadedError, match="5 chunks are waiting"):
        scheduler.add(Stream(Ear()), speech("b", gate))
    gate.open.release(5)
    await scheduler.wait_idle()

    assert ear.log.count("4 done") == 1
    assert scheduler.jobs == 0


class _Fails(ToneEngine):
    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        if "x" in phonemes:
            raise EngineFailed("no x")
        return super().synthesize(phonemes, style, speed, cancel)


async def test_a_failed_chunk_leaves_the_others_alone(scheduler: Scheduler) -> None:
    ear = Ear()
    listening = Stream(ear)

    for chunk_id, text in enumerate(["a", "x", "b"]):
        scheduler.add(listening, speech(text, _Fails()), chunk_id)
    await scheduler.wait_idle()

    assert ear.log == ["0 audio", "0 done", "1 failed", "2 audio", "2 done"]
    assert isinstance(ear.errors[0], EngineFailed)


async def test_g2p_that_fails_fails_its_chunk_only(scheduler: Scheduler) -> None:
    def broken(text: str, language: str) -> Phonemes:
        raise RuntimeError("no data")

    ear = Ear()
    listening = Stream(ear)
    scheduler.add(listening, speech("hello"), 0)
    scheduler.add(
        listening, Synthesizer(ToneEngine(), broken, VOICES).speech("x", SpeechOptions()), 1
    )
    scheduler.add(listening, speech("hello"), 2)
    await scheduler.wait_idle()

    assert sorted(ear.log) == ["0 audio", "0 done", "1 failed", "2 audio", "2 done"]


async def test_no_session_hears_another_ones_words() -> None:
    scheduler = Scheduler(workers=3)
    heard: dict[str, list[np.ndarray]] = {}

    class Recorder(Ear):
        def on_audio(self, job: Job, audio: Rendered) -> None:
            heard.setdefault(self.name, []).append(np.frombuffer(audio.data, "<i2"))

    texts = {name: " ".join([name * 3] * 60) for name in "abcdef"}
    for name, text in texts.items():
        scheduler.add(Stream(Recorder(name)), speech(text))
    await scheduler.wait_idle()
    await scheduler.aclose()

    alone: dict[str, bytes] = {}
    for name, text in texts.items():
        lonely = speech(text)
        pieces = lonely.phonemise().pieces
        alone[name] = b"".join(lonely.render(piece, CancelToken()).data for piece in pieces)
    assert {name: b"".join(p.tobytes() for p in parts) for name, parts in heard.items()} == alone
