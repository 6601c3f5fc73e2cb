"""Who is let in: the estimate by itself, then the scheduler on a clock that a test moves."""

import asyncio
import threading

import pytest

from kokoro_container.admission import Pace, wait_s
from kokoro_container.engines.base import EngineAudio
from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.pieces import Piece
from kokoro_container.scheduler import Job, Scheduler, Stream
from kokoro_container.synthesis import Rendered, Speech, Synthesizer
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.errors import OverloadedError
from kokoro_sagemaker_agents.protocol import SpeechOptions

VOICES = Voices()
NOW = 100.0


class Deaf:
    def on_audio(self, job: Job, audio: Rendered) -> None: ...

    def on_done(self, job: Job) -> None: ...

    def on_failed(self, job: Job, error: Exception) -> None: ...


def speech(text: str = "hello", engine: ToneEngine | None = None) -> Speech:
    return Synthesizer(engine or ToneEngine(), spell, VOICES).speech(text, SpeechOptions())


def stream(
    *phonemes: int, arrived_at: float = NOW - 1, patience_s: float | None = None, rest: str = ""
) -> Stream:
    """One with a job that has pieces of so many phonemes, and a text not looked at yet."""
    made = Stream(Deaf(), patience_s)
    job = Job(speech(rest), 0, arrived_at)
    job.unphonemised = bool(rest)
    job.pieces.extend(Piece("a" * count, (), "none") for count in phonemes)
    made.jobs.append(job)
    return made


def pace(seconds_per_phoneme: float = 0.01, call: int = 50) -> Pace:
    made = Pace()
    made.note_call(call, call * seconds_per_phoneme)
    return made


def wait(*streams: Stream, patience_s: float | None = None, workers: int = 1) -> float:
    return wait_s(streams, pace(), now=NOW, patience_s=patience_s, workers=workers)


# --- the estimate --------------------------------------------------------------------------------


def test_nothing_is_expected_of_a_model_that_was_never_called() -> None:
    assert wait_s([stream(100)], Pace(), now=NOW, patience_s=None, workers=1) == 0.0
    assert Pace().call_s == 0.0


def test_pace_follows_a_model_that_becomes_slower() -> None:
    model = pace(0.01)
    assert model.seconds(200) == pytest.approx(2.0)

    for _ in range(100):
        model.note_call(50, 2.0)

    assert model.seconds(50) == pytest.approx(2.0, rel=0.02)
    assert model.call_s == pytest.approx(2.0, rel=0.02)


def test_a_language_with_more_phonemes_than_characters_counts_as_such() -> None:
    model = Pace()
    assert model.phonemes(10) == 10

    model.note_text(chars=10, phonemes=45)

    assert model.phonemes(20) == pytest.approx(90)


def test_each_listener_who_waits_already_costs_a_newcomer_one_call() -> None:
    assert wait() == 0.0
    assert wait(stream(50), stream(50)) == pytest.approx(1.0)
    # After one call (0.5 s) a long text has audio ahead, and the newcomer's turn comes.
    assert wait(stream(50, 50, 50, 50)) == pytest.approx(0.5)
    assert wait(stream(20)) == pytest.approx(0.2)


def test_who_has_audio_ahead_or_is_paused_costs_nothing() -> None:
    ahead, paused = stream(50), stream(50)
    ahead.audio_left(NOW, 5.0)
    paused.paused = True

    assert wait(ahead, paused) == 0.0


def test_a_reply_that_is_due_costs_all_of_its_work() -> None:
    due = stream(50, 50, 50, arrived_at=NOW - 11, patience_s=10.0)
    not_due = stream(50, 50, 50, arrived_at=NOW - 9, patience_s=10.0)

    assert wait(due) == pytest.approx(1.5)
    assert wait(not_due) == 0.0


def test_a_text_not_looked_at_counts_by_its_length() -> None:
    due = stream(50, arrived_at=NOW - 11, patience_s=10.0, rest="a" * 250)
    due.jobs[0].phonemes = 50

    assert wait(due) == pytest.approx(0.5 + 2.0)


def test_a_reply_with_patience_waits_for_all_work_due_before_it() -> None:
    listening = stream(50, 50)
    listening.audio_left(NOW, 5.0)

    assert wait(listening, patience_s=10.0) == pytest.approx(1.0)


def test_two_workers_halve_the_wait() -> None:
    assert wait(stream(50), stream(50), workers=2) == pytest.approx(0.5)


# --- the scheduler -------------------------------------------------------------------------------


class Gate(ToneEngine):
    """Lets its calls through when it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.open = threading.Event()

    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        if cancel is not None:
            cancel.on_cancel(self.open.set)
        assert self.open.wait(10)
        return super().synthesize(phonemes, style, speed, cancel)


class Clock:
    def __init__(self) -> None:
        self.now_s = NOW

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize(("workers", "most"), [(1, 2), (2, 4)])
async def test_a_newcomer_who_would_wait_too_long_is_refused(workers: int, most: int) -> None:
    clock, gate = Clock(), Gate()
    scheduler = Scheduler(workers=workers, max_wait_s=1.0, clock=clock)
    for _ in range(100):
        scheduler.pace.note_call(5, 0.6)
    streams = [Stream(Deaf()) for _ in range(most)]
    for waiting in streams:
        scheduler.add(waiting, speech("hello", gate))

    with pytest.raises(OverloadedError, match=r"would wait about 1 s.*another instance") as refused:
        scheduler.add(Stream(Deaf()), speech("hello", gate))

    assert refused.value.retryable
    assert refused.value.code == "overloaded"
    assert scheduler.jobs == most
    scheduler.add(streams[0], speech("and more", gate), 1)  # it was let in before
    gate.open.set()
    await asyncio.wait_for(scheduler.wait_idle(), 10)
    scheduler.add(Stream(Deaf()), speech("hello", gate))  # there is room again
    await scheduler.aclose()


async def test_who_listens_to_audio_does_not_keep_others_out() -> None:
    clock, gate = Clock(), Gate()
    scheduler = Scheduler(max_wait_s=1.0, clock=clock)
    scheduler.pace.note_call(5, 0.6)
    for _ in range(10):
        listening = Stream(Deaf())
        listening.audio_left(NOW, 30.0)
        scheduler.add(listening, speech("hello", gate))

    scheduler.add(Stream(Deaf()), speech("hello", gate))

    gate.open.set()
    await asyncio.wait_for(scheduler.wait_idle(), 10)
    await scheduler.aclose()
