"""Finished phrases: what a hit saves, what it must not change, and how much is kept."""

import asyncio
import threading

import numpy as np
import pytest

from kokoro_container.engines.base import CancelToken, EngineAudio
from kokoro_container.engines.tone import ToneEngine, read_back, spell
from kokoro_container.phrases import Cut, PhraseCache, PhraseKey
from kokoro_container.preload import PHRASE_CHARS, Preload
from kokoro_container.scheduler import Job, Scheduler, Stream
from kokoro_container.synthesis import Rendered, Speech, Synthesizer
from kokoro_container.text.lexicon import Lexicon
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.protocol import SpeechOptions, Word

VOICES = Voices()
GREETING = "Hello there, and welcome to the show. How may I help you today?"


class Counting(ToneEngine):
    """Writes down what it is asked to say. While `gate` is closed it says nothing and waits."""

    def __init__(self) -> None:
        super().__init__()
        self.said: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.began = threading.Event()

    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        self.said.append(phonemes)
        self.began.set()
        cancel.on_cancel(self.gate.set)
        assert self.gate.wait(20)
        return super().synthesize(phonemes, style, speed, cancel)


def server(engine: ToneEngine, max_bytes: int = 50_000_000, **options: object) -> Synthesizer:
    return Synthesizer(engine, spell, VOICES, phrases=PhraseCache(max_bytes), **options)  # type: ignore[arg-type]  # the test's choice


def spoken(speech: Speech) -> tuple[bytes, list[Word]]:
    data, words, more = b"", [], True
    while more:
        done = speech.phonemise()
        more = done.more
        for piece in done.pieces:
            audio = speech.render(piece, CancelToken())
            data += audio.data
            words += audio.words
    return data + speech.rest().data, words


# --- what a hit is -------------------------------------------------------------------------------


def test_said_again_it_costs_no_call_and_sounds_the_same() -> None:
    engine = Counting()
    everything = server(engine)

    first = spoken(everything.speech(GREETING, SpeechOptions(), opening=True))
    calls = len(engine.said)
    again = spoken(everything.speech(GREETING, SpeechOptions(), opening=True))

    assert calls > 0
    assert len(engine.said) == calls
    assert again == first
    assert first == spoken(
        Synthesizer(ToneEngine(), spell, VOICES).speech(GREETING, SpeechOptions(), opening=True)
    )


@pytest.mark.parametrize("rate", [8000, 22_050, 48_000])
def test_rate_and_encoding_come_after_and_share_what_is_kept(rate: int) -> None:
    engine = Counting()
    everything = server(engine)
    spoken(everything.speech(GREETING, SpeechOptions()))
    calls = len(engine.said)

    options = SpeechOptions(sample_rate=rate, encoding="pcm_mulaw")
    data, words = spoken(everything.speech(GREETING, options))

    assert len(engine.said) == calls
    assert (data, words) == spoken(
        Synthesizer(ToneEngine(), spell, VOICES).speech(GREETING, options)
    )


@pytest.mark.parametrize(
    "change",
    [{"voice": "bf_emma"}, {"speed": 1.5}, {"voice": "af_heart(2)+bf_emma(1)"}],
)
def test_another_voice_or_speed_is_made_anew(change: dict[str, object]) -> None:
    engine = Counting()
    everything = server(engine)
    spoken(everything.speech(GREETING, SpeechOptions()))
    calls = len(engine.said)

    spoken(everything.speech(GREETING, SpeechOptions(**change)))  # type: ignore[arg-type]  # some option

    assert len(engine.said) > calls


def test_another_sessions_lexicon_is_never_heard() -> None:
    everything = server(ToneEngine())
    own = Lexicon.of({"en-us": {"hello": "/abc/"}})

    with_it, _ = spoken(everything.speech("Hello you", SpeechOptions(), lexicon=own))
    without, _ = spoken(everything.speech("Hello you", SpeechOptions()))

    assert [heard(with_it), heard(without)] == ["abcyou", "heloyou"]


def test_without_a_cache_every_text_is_made() -> None:
    engine = Counting()
    everything = Synthesizer(engine, spell, VOICES)

    for _ in range(2):
        spoken(everything.speech("Hello", SpeechOptions()))

    assert engine.said == ["hello", "hello"]


def heard(data: bytes) -> str:
    return read_back(np.frombuffer(data, "<i2").astype(np.float32) / 32767.0)


# --- how much is kept ----------------------------------------------------------------------------


def key(name: str) -> PhraseKey:
    return PhraseKey("model", name, "voice", 1.0)


def cut(samples: int = 10_000) -> Cut:
    return Cut(np.zeros(samples, np.float32), np.zeros(5, np.int64))


def test_memory_is_bounded_and_the_oldest_goes_first() -> None:
    cache = PhraseCache(1_000_000)  # 24 of these

    for number in range(100):
        cache.put(key(str(number)), cut())

    assert cache.nbytes <= 1_000_000
    assert len(cache) == 24
    assert cache.get(key("75")) is None
    assert cache.get(key("99")) is not None


def test_what_is_said_again_outlives_what_is_said_once() -> None:
    cache = PhraseCache(1_000_000)
    cache.put(key("greeting"), cut())
    cache.put(key("preloaded"), cut(), keep=True)
    assert cache.get(key("greeting")) is not None

    for number in range(1000):
        cache.put(key(str(number)), cut())

    assert cache.get(key("greeting")) is not None
    assert cache.get(key("preloaded")) is not None
    assert cache.nbytes <= 1_000_000


def test_even_what_is_said_again_is_bounded() -> None:
    cache = PhraseCache(1_000_000)

    for number in range(1000):
        cache.put(key(str(number)), cut(), keep=True)
        cache.get(key(str(number // 2)))

    assert cache.nbytes <= 1_000_000
    assert cache.nbytes == len(cache) * cut().nbytes


def test_what_is_too_large_does_not_drive_all_others_out() -> None:
    cache = PhraseCache(1_000_000)
    cache.put(key("small"), cut())

    cache.put(key("large"), cut(100_000))

    assert cache.get(key("large")) is None
    assert cache.get(key("small")) is not None


def test_what_is_kept_cannot_be_changed() -> None:
    cache = PhraseCache(1_000_000)
    cache.put(key("a"), cut())
    kept = cache.get(key("a"))

    assert kept is not None
    with pytest.raises(ValueError, match="read-only"):
        kept.samples[0] = 1.0


def test_no_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="0 bytes"):
        PhraseCache(0)


# --- in advance ----------------------------------------------------------------------------------


class Ear:
    """A listener that knows when its chunk is finished."""

    def __init__(self) -> None:
        self.heard = b""
        self.finished = asyncio.Event()

    def on_audio(self, job: Job, audio: Rendered) -> None:
        self.heard += audio.data

    def on_done(self, job: Job) -> None:
        self.heard += job.speech.rest().data
        self.finished.set()

    def on_failed(self, job: Job, error: Exception) -> None:
        raise AssertionError(error)


def preload(
    everything: Synthesizer, scheduler: Scheduler, *phrases: str, warnings: list[str] | None = None
) -> Preload:
    made = Preload(
        everything,
        scheduler,
        phrases,
        SpeechOptions(sample_rate=8000, encoding="pcm_mulaw"),
        None,
        opening_chunks=2,
        warn=(warnings if warnings is not None else []).append,
    )
    made.go_on()
    return made


async def test_a_preloaded_greeting_needs_no_model_as_one_text_or_in_sentences() -> None:
    engine = Counting()
    everything, scheduler = server(engine), Scheduler()
    preload(everything, scheduler, GREETING, "One moment, please.")
    await asyncio.wait_for(scheduler.wait_idle(), 20)
    calls = len(engine.said)

    whole, _ = spoken(everything.speech(GREETING, SpeechOptions(), opening=True))
    parts = ("Hello there, and welcome to the show.", "How may I help you today?")
    for part in parts:
        spoken(everything.speech(part, SpeechOptions(), opening=True))
    spoken(everything.speech("One moment, please.", SpeechOptions(), opening=True))

    assert len(engine.said) == calls
    assert heard(whole) == "helothereandwelcometotheshowhowmayihelpyoutoday"
    await scheduler.aclose()


async def test_whoever_waits_goes_before_a_phrase_and_the_phrase_is_made_after() -> None:
    """The phrase is on the model, which would take for ever; a listener arrives."""
    engine = Counting()
    engine.gate.clear()
    everything, scheduler = server(engine), Scheduler()
    preload(everything, scheduler, "phrase")
    assert await asyncio.to_thread(engine.began.wait, 20)
    ear = Ear()

    scheduler.add(Stream(ear), everything.speech("listener", SpeechOptions()))
    await asyncio.wait_for(ear.finished.wait(), 20)
    await asyncio.wait_for(scheduler.wait_idle(), 20)

    assert heard(ear.heard) == "listener"
    assert engine.said == ["phrase", "listener", "phrase"]
    await scheduler.aclose()


async def test_phrases_wait_while_others_have_work() -> None:
    engine = Counting()
    engine.gate.clear()
    everything, scheduler = server(engine), Scheduler()
    ears = [Ear(), Ear()]
    scheduler.add(Stream(ears[0]), everything.speech("one", SpeechOptions()))
    assert await asyncio.to_thread(engine.began.wait, 20)

    preload(everything, scheduler, "phrase")
    two = scheduler.add(Stream(ears[1]), everything.speech("two", SpeechOptions()))
    async with asyncio.timeout(20):
        while not two.pieces:  # noqa: ASYNC110  # the scheduler tells nobody when they are there
            await asyncio.sleep(0)
    engine.gate.set()
    await asyncio.wait_for(scheduler.wait_idle(), 20)

    assert engine.said == ["one", "two", "phrase"]
    await scheduler.aclose()


async def test_many_phrases_take_one_place_in_the_queue() -> None:
    engine = Counting()
    engine.gate.clear()
    everything, scheduler = server(engine), Scheduler(max_jobs=2)

    preload(everything, scheduler, *(f"phrase {chr(97 + n)}" for n in range(20)))
    assert scheduler.jobs == 1

    engine.gate.set()
    await asyncio.wait_for(scheduler.wait_idle(), 20)
    assert len(engine.said) == 20
    await scheduler.aclose()


async def test_a_closed_preload_makes_no_more() -> None:
    engine = Counting()
    engine.gate.clear()
    everything, scheduler = server(engine), Scheduler()
    made = preload(everything, scheduler, "one", "two", "three")
    assert await asyncio.to_thread(engine.began.wait, 20)

    scheduler.close(made)
    await asyncio.wait_for(scheduler.wait_idle(), 20)
    await scheduler.aclose()

    assert engine.said == ["one"]


async def test_a_phrase_that_is_none_is_told_and_the_others_are_made() -> None:
    engine, warnings = Counting(), []
    everything, scheduler = server(engine), Scheduler()

    preload(everything, scheduler, "x" * (PHRASE_CHARS + 1), "two", warnings=warnings)
    await asyncio.wait_for(scheduler.wait_idle(), 20)

    assert engine.said == ["two"]
    assert "phrase 0 has 501 characters" in warnings[0]
    await scheduler.aclose()
