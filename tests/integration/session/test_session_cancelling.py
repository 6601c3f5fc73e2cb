"""Barge-in: what stops, what goes on, and what was heard."""

import asyncio
import gc
from collections.abc import AsyncIterator
from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkStarted,
    SessionClosed,
    SpeechSession,
    UtteranceCancelled,
    UtteranceDone,
)
from kokoro_sagemaker_agents.protocol import Cancel, Speak

LONG = "This goes on for quite a while. " * 20


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(20):
        return [event async for event in events]


def audio(events: list[Any]) -> bytes:
    return b"".join(event.pcm for event in events if isinstance(event, AudioChunk))


async def first_audio(events: Any) -> AudioChunk:
    async with asyncio.timeout(20):
        while not isinstance(event := await anext(events), AudioChunk):
            pass
    return event


async def stumble(events: Any) -> None:
    async for _ in events:
        raise KeyError


async def endless() -> AsyncIterator[str]:
    while True:
        await asyncio.sleep(0)
        yield "Another sentence of this endless reply. "


async def test_cancel_stops_its_own_utterance_only_and_nothing_follows(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        victim = session.utterance()
        other = asyncio.create_task(collect(session.speak(LONG)))
        await victim.push(LONG)
        await victim.end()
        await first_audio(victim)

        heard = await victim.cancel()

        rest = await collect(victim)
        events = await other
        await fake.until(lambda: not fake.protocols[0].contexts)
    assert rest == [UtteranceCancelled(heard=heard)]
    assert not heard.complete
    assert fake.sent_samples[victim.id] < len(LONG) * 240
    assert isinstance(events[-1], UtteranceDone)
    spoken = [event.spoken for event in events if isinstance(event, ChunkStarted)]
    assert audio(events) == b"".join(map(fake.pcm, spoken))


async def test_cancel_wakes_a_reader_that_waits_in_another_task(fake: Any) -> None:
    fake.allow(1)
    async with SpeechSession.connect(fake.url) as session:
        speech = session.speak(endless())
        reader = asyncio.create_task(collect(speech))
        await fake.until(lambda: fake.pieces_left == 0)

        heard = await speech.cancel()

        assert (await reader)[-1] == UtteranceCancelled(heard=heard)
        assert await speech.cancel() == heard


async def test_after_cancel_the_utterance_takes_no_text(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push("Never finished")
        await utterance.cancel()
        with pytest.raises(SessionClosed, match="cancelled"):
            await utterance.push(" text.")
        await utterance.end()

    assert fake.asked(Speak) == []


@pytest.mark.parametrize("way", ["break", "exception", "aclose", "block"])
async def test_leaving_the_loop_cancels_on_the_server_and_closes_the_source(
    fake: Any, way: str
) -> None:
    closed = asyncio.Event()

    async def tokens() -> AsyncIterator[str]:
        try:
            async for token in endless():
                yield token
        finally:
            closed.set()

    async with SpeechSession.connect(fake.url, window_s=1) as session:
        if way == "break":
            async for event in session.speak(tokens()):
                if isinstance(event, AudioChunk):
                    break
        elif way == "exception":
            with pytest.raises(KeyError):
                await stumble(session.speak(tokens()))
        elif way == "aclose":
            speech = session.speak(tokens())
            await first_audio(speech)
            await speech.aclose()
        else:
            async with session.speak(tokens()) as speech:
                await first_audio(speech)
        await fake.until(lambda: fake.asked(Cancel))
        await asyncio.wait_for(closed.wait(), 10)
        await fake.until(lambda: not fake.protocols[0].contexts)
        assert isinstance((await collect(session.speak("Next.")))[-1], UtteranceDone)


@pytest.mark.parametrize("busy", [False, True])
async def test_cancelling_the_readers_task_cancels_on_the_server(fake: Any, busy: bool) -> None:
    fake.allow(1)
    got_audio = asyncio.Event()

    async def read(session: SpeechSession) -> None:
        async for event in session.speak(LONG):
            if isinstance(event, AudioChunk):
                got_audio.set()
                if busy:
                    await asyncio.sleep(3600)

    async with SpeechSession.connect(fake.url) as session:
        reader = asyncio.create_task(read(session))
        await asyncio.wait_for(got_audio.wait(), 10)
        reader.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reader
        del reader
        await fake.until(lambda: fake.asked(Cancel))


async def test_cancelling_a_task_that_reads_an_utterance_cancels_it(fake: Any) -> None:
    fake.allow(1)
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push(LONG)
        reader = asyncio.create_task(collect(utterance))
        await fake.until(lambda: fake.pieces_left == 0)
        await asyncio.sleep(0)
        reader.cancel()
        await fake.until(lambda: [m.context_id for m in fake.asked(Cancel)] == [utterance.id])


async def test_an_utterance_that_nobody_refers_to_is_cancelled(fake: Any) -> None:
    fake.allow(0)
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance(idle_flush_s=0.01)
        await utterance.push(LONG)
        await fake.until(lambda: fake.asked(Speak))
        del utterance
        gc.collect()
        await fake.until(lambda: fake.asked(Cancel))


async def test_leaving_an_utterances_block_cancels_what_is_not_done(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        async with session.utterance() as done:
            await done.push("Short.")
            await done.end()
            await collect(done)
        async with session.utterance() as left:
            await left.push(LONG)
            await first_audio(left)
        await fake.until(lambda: fake.asked(Cancel))

    assert [message.context_id for message in fake.asked(Cancel)] == [left.id]


async def test_what_was_heard_by_the_players_count_is_exact_to_the_word(fake: Any) -> None:
    source = "**Hello** brave world. And a second sentence."
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push(source)
        await utterance.end()
        events = await collect(utterance)  # all of it has come; the player is behind
        first = [event for event in events if isinstance(event, ChunkStarted)][1].first_sample

        utterance.played(0)
        assert utterance.heard().text == ""
        utterance.played(5 * 240)
        assert utterance.heard().text == "**Hello"
        utterance.played(11 * 240)
        assert utterance.heard().text == "**Hello** brave"
        assert utterance.heard().spoken == "Hello brave"
        utterance.played(first)
        assert utterance.heard().text == "**Hello** brave world."
        utterance.played(first + len("And a") * 240)
        heard = await utterance.cancel()

    assert heard.text == source[: heard.char_end] == "**Hello** brave world. And a"
    assert heard.spoken == "Hello brave world. And a"
    assert not heard.complete
    assert heard.played_s == pytest.approx((first + 5 * 240) / 24_000)


async def test_what_was_heard_is_complete_when_all_was_played(fake: Any) -> None:
    source = "<think>hm</think>Hello. Bye.\n```\ncode\n```\n"
    async with SpeechSession.connect(fake.url) as session:
        speech = session.speak(source)
        events = await collect(speech)
        speech.played(events[-1].samples)
        heard = await speech.cancel()

    assert heard.complete
    assert (heard.text, heard.spoken) == (source.rstrip(), "Hello. Bye.")


async def test_unreported_audio_counts_as_played_in_real_time(fake: Any) -> None:
    loop = asyncio.get_running_loop()
    async with SpeechSession.connect(fake.url) as session:
        speech = session.speak(f"One two, {'and so on, ' * 30}until eleven.")
        began_s = loop.time()
        await collect(speech)
        await asyncio.sleep(began_s + 0.2 - loop.time())  # (time passing is the subject here)
        heard = await speech.cancel()
        most_s = loop.time() - began_s

    assert 0 < heard.played_s <= most_s
    assert "One two" in heard.text
    assert "eleven" not in heard.text


async def test_without_word_times_what_was_heard_ends_between_words(fake: Any) -> None:
    text = "One two three four five six seven eight nine ten eleven."
    async with SpeechSession.connect(fake.url, timestamps="none") as session:
        speech = session.speak(text)
        await collect(speech)
        speech.played(len("One two thr") * 240)
        assert speech.heard().text == "One two"


async def test_leaving_the_block_ends_a_task_that_reads_inside_it(fake: Any) -> None:
    fake.allow(1)
    async with SpeechSession.connect(fake.url) as session:
        async with session.speak(endless()) as speech:
            reader = asyncio.create_task(collect(speech))
            await fake.until(lambda: fake.pieces_left == 0)
        assert isinstance((await reader)[-1], UtteranceCancelled)
        await fake.until(lambda: fake.asked(Cancel))


async def test_a_speech_that_is_never_iterated_reads_nothing(fake: Any) -> None:
    async def tokens() -> AsyncIterator[str]:
        read.append(1)
        yield "Hello."

    read: list[int] = []
    async with SpeechSession.connect(fake.url) as session:
        session.speak(tokens())
        async with session.speak(tokens()) as speech:
            pass
        assert await collect(speech) == []
    assert read == []
