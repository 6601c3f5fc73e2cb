"""What a session says is what was asked, in order, to the sample and to the character."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from itertools import pairwise
from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    InvalidInput,
    LocalProtocolError,
    OverloadedError,
    SessionClosed,
    SpeechSession,
    TextChunk,
    Utterance,
    UtteranceDone,
    WordTimestamps,
)
from kokoro_sagemaker_agents.protocol import Configure, End, Limits, Speak, Window

REPLY = "It costs $4.50, and Dr. Lee said yes. Is that fine? Good, then we go on.\n- one\n- two\n"


async def tokens_of(text: str, size: int = 3) -> AsyncIterator[str]:
    for start in range(0, len(text), size):
        await asyncio.sleep(0)
        yield text[start : start + size]


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(20):
        return [event async for event in events]


async def push_often(utterance: Utterance, chunk: TextChunk, times: int) -> None:
    for _ in range(times):
        await utterance.push_chunk(chunk)


def audio(events: list[Any]) -> bytes:
    return b"".join(event.pcm for event in events if isinstance(event, AudioChunk))


def of(kind: type, events: list[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


async def test_a_string_is_heard_whole_and_its_events_come_in_order(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        events = await collect(session.speak("Hello there. How are you today?"))

    assert audio(events) == fake.pcm("Hello there.") + fake.pcm("How are you today?")
    order = [type(event).__name__ for event in events if not isinstance(event, AudioChunk)]
    chunk = ["ChunkStarted", "WordTimestamps", "ChunkDone"]
    assert order == [*chunk, *chunk, "UtteranceDone"]
    position = 0
    for event in of(AudioChunk, events):
        assert event.first_sample == position
        position += event.samples
    done = events[-1]
    assert (done.samples, done.chunks, done.failed) == (position, 2, 0)
    assert done.duration_s == pytest.approx(position / 24_000)
    assert [(e.text, e.start, e.end) for e in of(ChunkStarted, events)] == [
        ("Hello there.", 0, 12),
        (" How are you today?", 12, 31),
    ]


@pytest.mark.parametrize("kind", ["async generator", "generator", "list", "characters"])
async def test_the_same_text_gives_the_same_chunks_however_it_comes(fake: Any, kind: str) -> None:
    pieces = [REPLY[i : i + 4] for i in range(0, len(REPLY), 4)]
    source: Any = {
        "async generator": tokens_of(REPLY),
        "generator": (piece for piece in pieces),
        "list": pieces,
        "characters": tokens_of(REPLY, 1),
    }[kind]

    async with SpeechSession.connect(fake.url) as session:
        whole = await collect(session.speak(REPLY))
        streamed = await collect(session.speak(source))

    assert fake.texts("u1") == fake.texts("u2")
    assert len(fake.texts("u1")) >= 4
    assert of(ChunkStarted, whole) == of(ChunkStarted, streamed)
    assert audio(whole) == audio(streamed)


async def test_words_point_into_the_text_as_the_llm_wrote_it(fake: Any) -> None:
    source = "**Hello** *brave* world. <think>no, wait</think>Now `this` one &amp; that."

    async with SpeechSession.connect(fake.url) as session:
        events = await collect(session.speak(source))

    words = [word for event in of(WordTimestamps, events) for word in event.words]
    found = [source[word.char_start : word.char_end] for word in words]
    assert [word.text for word in words] == str.split("Hello brave world. Now this one & that.")
    assert found == str.split("Hello brave world. Now this one &amp; that.")
    starts = {event.chunk_id: event.first_sample for event in of(ChunkStarted, events)}
    second = of(WordTimestamps, events)[1]
    assert second.words[0].start_s == pytest.approx(starts[1] / 24_000)
    assert all(a.end_s <= b.start_s for a, b in pairwise(words))


async def test_utterances_at_once_keep_their_audio_apart(fake: Any) -> None:
    texts = [f"Number {n} speaks now. It says {n * n} things. Then it stops." for n in range(12)]

    async with SpeechSession.connect(fake.url) as session:
        everything = await asyncio.gather(
            *(collect(session.speak(tokens_of(text))) for text in texts)
        )

    for text, events in zip(texts, everything, strict=True):
        spoken = [event.spoken for event in of(ChunkStarted, events)]
        assert "".join(event.text for event in of(ChunkStarted, events)) == text
        assert audio(events) == b"".join(map(fake.pcm, spoken))


async def test_sentences_leave_while_the_text_is_still_written(fake: Any) -> None:
    fake.allow(0)
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push("The first sentence is here. And the second one too. ")
        await utterance.push("Then")

        await fake.until(lambda: len(fake.texts()) == 2)

        assert fake.asked(End) == []
        await utterance.push(" the third.")
        await utterance.end()
        fake.allow(float("inf"))
        assert len(of(ChunkDone, await collect(utterance))) == 3


async def test_a_stalled_text_lets_a_finished_sentence_go(fake: Any) -> None:
    async with SpeechSession.connect(fake.url, idle_flush_s=0.05) as session:
        utterance = session.utterance()
        await utterance.push("Let me look that up.")

        await fake.until(lambda: fake.texts() == ["Let me look that up."])
        await utterance.push(" Here it")
        await utterance.end()

        events = await collect(utterance)
    assert [event.spoken for event in of(ChunkStarted, events)] == [
        "Let me look that up.",
        "Here it",
    ]


async def test_flush_speaks_what_is_there_and_more_may_follow(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push("Let me check")
        await utterance.flush()
        await fake.until(lambda: fake.texts() == ["Let me check"])
        await utterance.push(". It is done")
        await utterance.end()

        events = await collect(utterance)

    assert audio(events) == b"".join(fake.pcm(e.spoken) for e in of(ChunkStarted, events))
    assert "".join(event.text for event in of(ChunkStarted, events)) == "Let me check. It is done"


@pytest.mark.parametrize("text", ["", "   \n", "…!?", "🎉🎉", "```\ncode\n```", []])
async def test_text_without_anything_to_speak_is_silence(fake: Any, text: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        events = await collect(session.speak(text))
        again = await collect(session.speak("Still here."))

    assert events == [UtteranceDone(samples=0, duration_s=0.0, chunks=0, failed=0)]
    assert audio(again) == fake.pcm("Still here.")


async def test_hostile_text_neither_fails_nor_shifts_offsets(fake: Any) -> None:
    source = "Odd \ud800 half\x00 here. مرحبا بالعالم. " + "9" * 310 + " done."

    async with SpeechSession.connect(fake.url) as session:
        events = await collect(session.speak(source))

    assert of(ChunkFailed, events) == []
    words = [word for event in of(WordTimestamps, events) for word in event.words]
    # (the server has U+FFFD for the half of a pair)
    found = [source[w.char_start : w.char_end].replace("\ud800", "\ufffd") for w in words]
    assert found == [word.text for word in words]


async def test_a_very_long_text_goes_through(fake: Any) -> None:
    text = "This sentence is one of very many. " * 3000

    async with SpeechSession.connect(fake.url, window_s=1e6) as session:
        events = await collect(session.speak(text))

    assert events[-1].chunks == 3000
    assert events[-1].failed == 0


async def test_a_failed_chunk_leaves_the_others_whole(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        events = await collect(session.speak("This is fine. This will FAIL now. This is too."))

    assert audio(events) == fake.pcm("This is fine.") + fake.pcm("This is too.")
    (failed,) = of(ChunkFailed, events)
    assert (failed.code, failed.retryable) == ("synthesis_failed", True)
    assert failed.text.strip() == "This will FAIL now."
    assert (events[-1].chunks, events[-1].failed) == (2, 1)


async def test_what_was_not_speakable_is_told(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push_chunk(TextChunk("Snow ☃.", "Snow ☃.", 0, 7, "sentence"))
        await utterance.end()
        events = await collect(utterance)

    assert of(ChunkDone, events)[0].warnings == ("☃ was left out",)


async def test_chunks_of_the_callers_own_are_spoken_as_they_are(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        for number, text in enumerate(["One and. ", "two"]):
            await utterance.push_chunk(TextChunk(text, text.strip(), 9 * number, 99, "sentence"))
        with pytest.raises(LocalProtocolError, match="either push or push_chunk"):
            await utterance.push("three")
        await utterance.end()
        events = await collect(utterance)

    assert audio(events) == fake.pcm("One and.") + fake.pcm("two")


async def test_options_go_to_the_session_and_to_one_utterance(fake: Any) -> None:
    async with SpeechSession.connect(fake.url, voice="af_heart", speed=1.5) as session:
        await collect(session.speak("Fast."))
        await collect(session.speak("Slow.", speed=0.5, voice="bf_emma", sample_rate=8000))

    (configured,) = fake.asked(Configure)
    assert (configured.voice, configured.speed, configured.timestamps) == ("af_heart", 1.5, "word")
    first, second = fake.asked(Speak)
    assert (first.voice, first.speed, first.sample_rate) == ("af_heart", 1.5, 24_000)
    assert (second.voice, second.speed, second.sample_rate) == ("bf_emma", 0.5, 8000)


async def test_an_option_that_cannot_be_is_refused_before_anything_is_sent(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        for options, complaint in [
            ({"speed": 3}, "speed"),
            ({"speed": float("nan")}, "speed"),
            ({"sample_rate": 12_345}, "sample_rate"),
            ({"language": "tlh"}, "language"),
            ({"language": "fr"}, "language"),  # there is such a language, but not on this server
            ({"voice": "v" * 10_000}, "voice"),
            ({"encoding": "wav"}, "encoding"),
            ({"window_s": 0}, "window_s"),
            ({"idle_flush_s": -1}, "idle_flush_s"),
            ({"first_chunk": "word"}, "first_chunk"),
        ]:
            with pytest.raises(InvalidInput, match=complaint):
                session.utterance(**options)
        with pytest.raises(TypeError, match="voise"):
            session.utterance(voise="af_heart")

    assert fake.asked(Speak) == []


@pytest.mark.parametrize("text", [b"bytes", 7, None, {"text": "x"}])
async def test_speak_takes_only_text(fake: Any, text: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        with pytest.raises(InvalidInput, match="takes a string"):
            session.speak(text)


async def test_a_token_that_is_no_string_is_named(fake: Any) -> None:
    async def deltas() -> AsyncIterator[Any]:
        yield "Well. "
        yield None

    async with SpeechSession.connect(fake.url) as session:
        with pytest.raises(InvalidInput, match="NoneType"):
            await collect(session.speak(deltas()))


async def test_a_blocking_iterable_does_not_hold_up_anything(fake: Any) -> None:
    go_on = threading.Event()

    def tokens() -> Iterator[str]:
        yield "This takes a moment. "
        assert go_on.wait(10)
        yield "Now it goes on."

    async with SpeechSession.connect(fake.url, idle_flush_s=0.02) as session:
        blocked = asyncio.create_task(collect(session.speak(tokens())))
        other = await collect(session.speak("Meanwhile, this is spoken."))
        await fake.until(lambda: len(fake.texts("u1")) == 1)
        go_on.set()
        events = await blocked

    assert audio(other) == b"".join(map(fake.pcm, fake.texts("u2")))
    assert audio(events) == fake.pcm("This takes a moment.") + fake.pcm("Now it goes on.")


async def test_what_the_source_raises_reaches_the_reader_and_stops_speech(fake: Any) -> None:
    async def broken() -> AsyncIterator[str]:
        yield "This much was written. And then"
        await fake.until(lambda: fake.texts())
        raise ZeroDivisionError("the LLM is gone")

    def broken_too() -> Iterator[str]:
        yield "This much was written. And then"
        raise ZeroDivisionError("the LLM is gone")

    async with SpeechSession.connect(fake.url) as session:
        for source in (broken(), broken_too()):
            with pytest.raises(ZeroDivisionError, match="the LLM is gone"):
                await collect(session.speak(source))
        await fake.until(lambda: not fake.protocols[0].contexts)
        assert audio(await collect(session.speak("Next."))) == fake.pcm("Next.")


async def test_a_source_is_read_on_while_nobody_takes_audio_and_memory_stays_bounded(
    fake: Any,
) -> None:
    written = asyncio.Event()

    async def tokens() -> AsyncIterator[str]:
        for number in range(60):
            yield f"Sentence number {number} of a long reply is spoken. "
        written.set()

    async with SpeechSession.connect(fake.url, window_s=1.0) as session:
        speech = session.speak(tokens())
        first = await anext(speech)
        await asyncio.wait_for(written.wait(), 10)
        await fake.until(lambda: (fake.protocols[0].credit("u1") or 0) <= 0)

        assert isinstance(first, ChunkStarted)
        assert fake.sent_samples["u1"] < 2 * 24_000
        rest = await collect(speech)

    assert audio(rest) == b"".join(map(fake.pcm, fake.texts()))
    assert len(fake.asked(Window)) > 10


async def test_a_slow_reader_does_not_disturb_another(fake: Any) -> None:
    long = "This goes on for quite a while. " * 40

    async with SpeechSession.connect(fake.url, window_s=0.5) as session:
        slow = session.speak(long)
        await anext(slow)
        quick = await collect(session.speak(long))
        taken = fake.sent_samples["u1"]
        rest = await collect(slow)

    assert audio(quick) == b"".join(map(fake.pcm, fake.texts("u2")))
    assert taken < 24_000
    assert audio(rest) == b"".join(map(fake.pcm, fake.texts("u1")))


async def test_text_is_held_back_where_the_server_has_no_room(faking: Any) -> None:
    limits = Limits(queued_chunks=2, queued_chars=100, contexts=2)
    texts = [f"Utterance {n} has a sentence. It has another. And one more. End." for n in range(6)]

    async with faking(limits) as fake, SpeechSession.connect(fake.url) as session:
        everything = await asyncio.gather(*(collect(session.speak(text)) for text in texts))

        assert fake.most_queued_chars <= 100
        assert fake.most_contexts <= 2
    for events in everything:
        assert of(ChunkFailed, events) == []
        spoken = [event.spoken for event in of(ChunkStarted, events)]
        assert audio(events) == b"".join(map(fake.pcm, spoken))
        assert len(spoken) >= 4


async def test_a_chunk_beyond_every_limit_fails_alone(faking: Any) -> None:
    limits = Limits(text_chars=50, queued_chars=60)
    async with faking(limits) as fake, SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        for text in ("Short one.", "x" * 80, "y" * 55, "Short two."):
            await utterance.push_chunk(TextChunk(text, text, 0, len(text), "sentence"))
        await utterance.end()
        events = await collect(utterance)

    assert audio(events) == fake.pcm("Short one.") + fake.pcm("Short two.")
    assert [event.code for event in of(ChunkFailed, events)] == ["text_too_long"] * 2


async def test_pushing_without_end_is_refused_at_a_million_characters(fake: Any) -> None:
    fake.allow(0)
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        text = "x" * 9_000
        chunk = TextChunk(text, text, 0, len(text), "sentence")
        with pytest.raises(OverloadedError, match="wait to be spoken"):
            await push_often(utterance, chunk, 400)
        await utterance.cancel()


async def test_an_ended_utterance_takes_no_more(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push("One.")
        await utterance.end()
        await utterance.end()
        with pytest.raises(SessionClosed, match="ended or cancelled"):
            await utterance.push("Two.")
        with pytest.raises(InvalidInput, match="takes str"):
            await session.utterance().push(["list"])  # type: ignore[arg-type]  # the point
        events = await collect(utterance)
        assert await collect(utterance) == []

    assert audio(events) == fake.pcm("One.")


async def test_two_tasks_cannot_read_one_utterance(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        reader = asyncio.create_task(collect(utterance))
        await asyncio.sleep(0)
        with pytest.raises(LocalProtocolError, match="another task"):
            await anext(utterance)
        await utterance.push("Fine.")
        await utterance.end()

        assert audio(await reader) == fake.pcm("Fine.")
