"""Connections come and go, and the listener hears every word once."""

import asyncio
from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    ChunkStarted,
    ConnectionLost,
    SpeechSession,
    UtteranceDone,
    WordTimestamps,
)
from kokoro_sagemaker_agents.protocol import Speak

SENTENCES = [f"Sentence number {n} has a few words of its own." for n in range(12)]
TEXT = " ".join(SENTENCES)
DEADLINE_S = 20


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(DEADLINE_S):
        return [event async for event in events]


async def until_audio(events: Any) -> list[Any]:
    found: list[Any] = []
    async with asyncio.timeout(DEADLINE_S):
        async for event in events:
            found.append(event)
            if isinstance(event, AudioChunk):
                break
    return found


def check_all_was_heard_once(fake: Any, events: list[Any], text: str = TEXT) -> None:
    """Samples, words, chunks and positions are those of an undisturbed utterance."""
    spoken = [event.spoken for event in events if isinstance(event, ChunkStarted)]
    assert " ".join(spoken) == text
    pcm = b"".join(event.pcm for event in events if isinstance(event, AudioChunk))
    assert pcm == b"".join(fake.pcm(sentence) for sentence in spoken)
    words = [w for event in events if isinstance(event, WordTimestamps) for w in event.words]
    assert [word.text for word in words] == text.split()
    assert [text[word.char_start : word.char_end] for word in words] == text.split()
    assert [word.start_s for word in words] == sorted(word.start_s for word in words)
    assert not [event for event in events if isinstance(event, ChunkFailed)]
    assert isinstance(events[-1], UtteranceDone)
    assert events[-1].samples * 2 == len(pcm)


# --- outages ---


@pytest.mark.parametrize("pieces", [0, 1, 2, 4, 5, 9, 40])
async def test_a_connection_lost_at_any_moment_loses_no_sample(fake: Any, pieces: int) -> None:
    fake.allow(pieces)
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push(TEXT)
        await utterance.end()
        reader = asyncio.create_task(collect(utterance))
        await fake.until(lambda: len(fake.texts()) >= 12 and fake.pieces_left == 0)

        fake.vanish()
        fake.allow(float("inf"))

        check_all_was_heard_once(fake, await reader)
        assert session.connections == 2


async def test_a_connection_lost_again_and_again_is_replaced_while_there_is_progress(
    fake: Any,
) -> None:
    fake.allow(3)
    async with SpeechSession.connect(fake.url) as session:
        reader = asyncio.create_task(collect(session.speak(TEXT)))
        for lost in range(1, 8):
            await fake.until(lambda: fake.pieces_left == 0)
            fake.vanish()
            await fake.until(lambda lost=lost: len(fake.protocols) == lost + 1)
            fake.allow(3)
        fake.allow(float("inf"))

        check_all_was_heard_once(fake, await reader)


async def test_every_utterance_of_a_session_survives_with_its_own_words(fake: Any) -> None:
    fake.allow(17)
    async with SpeechSession.connect(fake.url) as session:
        texts = [f"This is speaker {n}. " + TEXT for n in range(5)]
        readers = [asyncio.create_task(collect(session.speak(text))) for text in texts]
        await fake.until(lambda: fake.pieces_left == 0)

        fake.vanish()
        fake.allow(float("inf"))

        for reader, text in zip(readers, texts, strict=True):
            check_all_was_heard_once(fake, await reader, text)


async def test_text_pushed_during_an_outage_is_spoken_after_it(faking: Any) -> None:
    async with faking() as fake, SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push(SENTENCES[0] + " ")
        events = await until_audio(utterance)
        fake.says_ready = False  # whoever connects now waits
        fake.vanish()
        await fake.until(lambda: len(fake.protocols) == 2)
        assert not session.connected
        late = session.utterance()
        for sentence in SENTENCES[1:]:
            await utterance.push(sentence + " ")
        await late.push("I came late.")
        await utterance.end()
        await late.end()

        fake.says_ready = True
        fake.vanish()

        check_all_was_heard_once(fake, events + await collect(utterance))
        check_all_was_heard_once(fake, await collect(late), "I came late.")


async def test_only_the_end_was_lost(fake: Any) -> None:
    """All chunks are done; the server's word that the utterance is done never came."""
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push(SENTENCES[0])
        await utterance.flush()
        events: list[Any] = []
        while not events or not isinstance(events[-1], ChunkDone):
            events.append(await anext(utterance))
        fake.answers = False
        await utterance.end()
        await fake.until(lambda: not fake.protocols[0].contexts)
        fake.answers = True
        fake.vanish()

        check_all_was_heard_once(fake, events + await collect(utterance), SENTENCES[0])
        assert len(fake.asked(Speak)) == 1


async def test_an_idle_session_is_connected_again_before_it_is_needed(fake: Any) -> None:
    async with SpeechSession.connect(fake.url) as session:
        fake.vanish()
        await fake.until(lambda: len(fake.protocols) == 2 and len(fake.connections) == 1)
        check_all_was_heard_once(fake, await collect(session.speak(TEXT)))
        assert session.connections == 2


async def test_an_outage_that_lasts_is_told_within_its_deadline(faking: Any) -> None:
    async with faking() as fake:
        fake.allow(1)
        async with SpeechSession.connect(fake.url, reconnect_s=0.5) as session:
            speech = session.speak(TEXT)
            await until_audio(speech)
            fake.says_ready = False  # (its socket is there, so that the port stays its own)
            fake.refuses = True
            fake.vanish()
            with pytest.raises(ConnectionLost, match=r"within reconnect_s = 0\.5 s"):
                await collect(speech)

            fake.says_ready, fake.refuses = True, False
            fake.allow(float("inf"))
            events = await collect(session.speak(TEXT))  # the session itself has survived

            check_all_was_heard_once(fake, events)


async def test_a_text_that_always_brings_the_server_down_ends_alone(fake: Any) -> None:
    fake.poison = "CRASH"
    async with SpeechSession.connect(fake.url) as session:
        innocent = asyncio.create_task(collect(session.speak(TEXT)))
        with pytest.raises(ConnectionLost):
            await collect(session.speak("This will CRASH it."))

        check_all_was_heard_once(fake, await innocent)


async def test_another_model_begins_again_at_a_word(fake: Any) -> None:
    """Its samples are not those of the first one, so the rest of the sentence is asked for."""
    fake.models = ["fake", "newer"]
    fake.allow(2)
    sentence = SENTENCES[0]
    async with SpeechSession.connect(fake.url) as session:
        speech = session.speak(sentence)
        reader = asyncio.create_task(collect(speech))
        await fake.until(lambda: fake.pieces_left == 0)
        fake.vanish()
        fake.allow(float("inf"))
        events = await reader

    asked, again = fake.texts()
    assert asked == sentence
    # 2 pieces of 100 ms are 20 characters: "Sentence number 0 ha"
    assert again == "has a few words of its own."
    pcm = b"".join(event.pcm for event in events if isinstance(event, AudioChunk))
    assert pcm == fake.pcm(sentence)[: 2 * 2 * 2400] + fake.pcm(again)
    words = [w for event in events if isinstance(event, WordTimestamps) for w in event.words]
    assert [sentence[w.char_start : w.char_end] for w in words] == sentence.split()
    assert events[-1].samples * 2 == len(pcm)


async def test_a_lost_compressed_chunk_fails_and_the_next_one_is_spoken(fake: Any) -> None:
    fake.allow(2)
    async with SpeechSession.connect(fake.url, encoding="mp3") as session:
        reader = asyncio.create_task(collect(session.speak(SENTENCES[0] + " " + SENTENCES[1])))
        await fake.until(lambda: fake.pieces_left == 0 and len(fake.texts()) == 2)
        fake.vanish()
        fake.allow(float("inf"))
        events = await reader

    (failed,) = [event for event in events if isinstance(event, ChunkFailed)]
    assert failed.text.strip() == SENTENCES[0]
    assert failed.retryable
    assert "PCM" in failed.message
    assert events[-1].chunks == 1


async def test_cancelled_during_an_outage_is_not_asked_for_again(fake: Any) -> None:
    fake.allow(1)
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push(TEXT)
        await until_audio(utterance)
        fake.says_ready = False
        fake.vanish()
        await fake.until(lambda: len(fake.protocols) == 2)
        asked = len(fake.asked(Speak))
        heard = await utterance.cancel()
        fake.says_ready = True
        fake.vanish()
        fake.allow(float("inf"))
        await collect(session.speak("Next."))

        assert heard.char_end <= len(TEXT)
        assert [speak.text for speak in fake.asked(Speak)[asked:]] == ["Next."]


async def test_memory_stays_bounded_over_reconnections(fake: Any) -> None:
    """A new connection may not send a whole window on top of what is unread already."""
    window_s = 0.5
    async with SpeechSession.connect(fake.url, window_s=window_s) as session:
        utterance = session.utterance()
        await utterance.push(TEXT)
        await utterance.end()
        for lost in range(1, 3):
            await fake.until(lambda: fake.protocols and fake.sent_samples["u1"] >= 12_000)
            fake.vanish()
            await fake.until(lambda lost=lost: len(fake.protocols) == lost + 1)
            await fake.until(lambda: "u1" in fake.protocols[-1].contexts)

        # A piece that has begun is finished, so each connection may add one
        assert fake.sent_samples["u1"] <= (window_s * 24_000) + 3 * 2400
        check_all_was_heard_once(fake, await collect(utterance))


# --- rotation ---


@pytest.mark.parametrize("pieces", [0, 1, 4, 5, 9])
async def test_a_rotation_loses_nothing_and_speaks_what_was_asked_where_it_was(
    fake: Any, pieces: int
) -> None:
    fake.allow(pieces)
    async with SpeechSession.connect(fake.url) as session:
        utterance = session.utterance()
        await utterance.push(" ".join(SENTENCES[:6]) + " ")
        reader = asyncio.create_task(collect(utterance))
        await fake.until(lambda: fake.pieces_left == 0 and len(fake.texts()) >= 5)

        session.rotate()
        await fake.until(lambda: len(fake.protocols) == 2)
        fake.allow(float("inf"))
        await utterance.push(" ".join(SENTENCES[6:]))
        await utterance.end()

        check_all_was_heard_once(fake, await reader)
        assert session.connections == 2
        await fake.until(lambda: len(fake.connections) == 1)
        assert len(fake.asked(Speak)) == 12  # none of them twice


async def test_a_draining_server_gets_a_successor(fake: Any) -> None:
    fake.allow(1)
    async with SpeechSession.connect(fake.url) as session:
        speech = session.speak(TEXT)
        before = await until_audio(speech)
        fake.protocols[0].draining(30.0)
        fake.allow(float("inf"))
        await fake.until(lambda: len(fake.protocols) == 2)

        check_all_was_heard_once(fake, before + await collect(speech))
        await fake.until(lambda: len(fake.connections) == 1)
        assert not session.draining


async def test_a_connection_that_may_not_grow_old_is_replaced_in_time(fake: Any) -> None:
    from kokoro_sagemaker_agents.transports.websocket import WebSocketTransport

    class Short(WebSocketTransport):
        max_age_s = 0.2

    async with SpeechSession(lambda: Short(fake.url)) as session:
        utterance = session.utterance()
        reader = asyncio.create_task(collect(utterance))
        for number, sentence in enumerate(SENTENCES, 1):
            await utterance.push(sentence + " ")
            if number % 4 == 0:
                await fake.until(lambda n=number: len(fake.protocols) > n // 4)
        await utterance.end()

        check_all_was_heard_once(fake, await reader)
        assert session.connections >= 4


async def test_a_rotation_that_finds_no_server_keeps_the_connection(fake: Any) -> None:
    async with SpeechSession.connect(fake.url, reconnect_s=0.2) as session:
        fake.refuses = True
        session.rotate()
        await fake.until(lambda: fake.refused >= 1)

        check_all_was_heard_once(fake, await collect(session.speak(TEXT)))
        assert session.connections == 1


async def test_closing_in_an_outage_leaves_nothing(fake: Any) -> None:
    session = SpeechSession.connect(fake.url)
    await session.open()
    fake.says_ready = False
    fake.vanish()
    await fake.until(lambda: len(fake.protocols) == 2)
    await asyncio.wait_for(session.close(), 5)
    await fake.until(lambda: not fake.connections)
