"""The same session against the container itself, with its tone engine."""

import asyncio
from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkStarted,
    InvalidInput,
    SpeechSession,
    UtteranceCancelled,
    UtteranceDone,
    WordTimestamps,
)

pytest.importorskip("kokoro_container", reason="only the client is installed here")

TEXT = "**Hello** there, my friend. How are you today? It is a fine day to speak of many things."


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(20):
        return [event async for event in events]


def audio(events: list[Any]) -> bytes:
    return b"".join(event.pcm for event in events if isinstance(event, AudioChunk))


async def test_many_utterances_sound_as_each_does_alone(server: Any) -> None:
    texts = [f"This is utterance number {n}. It says little. It ends here." for n in range(6)]
    async with SpeechSession.connect(server.url) as session:
        alone = [audio(await collect(session.speak(text))) for text in texts]
        together = await asyncio.gather(*(collect(session.speak(iter(t))) for t in texts))

    assert [audio(events) for events in together] == alone
    for events, pcm in zip(together, alone, strict=True):
        assert events[-1].samples * 2 == len(pcm) > 24_000


async def test_words_point_into_the_source_and_lie_inside_the_audio(server: Any) -> None:
    async with SpeechSession.connect(server.url) as session:
        events = await collect(session.speak(TEXT))

    words = [word for event in events if isinstance(event, WordTimestamps) for word in event.words]
    assert len(words) == 18
    times = [time for word in words for time in (word.start_s, word.end_s)]
    assert times == sorted(times)
    assert times[-1] <= events[-1].duration_s
    assert [TEXT[word.char_start : word.char_end].strip(".,?") for word in words] == [
        word.strip("*.,?") for word in TEXT.split()
    ]


async def test_a_small_window_changes_nothing_but_the_pace(server: Any) -> None:
    async with SpeechSession.connect(server.url) as session:
        wide = await collect(session.speak(TEXT))
        narrow = await collect(session.speak(TEXT, window_s=0.05))

    assert audio(wide) == audio(narrow)


@pytest.mark.parametrize("encoding", ["pcm_mulaw", "mp3", "opus"])
async def test_other_encodings_have_the_right_length(server: Any, encoding: Any) -> None:
    async with SpeechSession.connect(server.url) as session:
        plain = (await collect(session.speak(TEXT)))[-1]
        try:
            session.utterance(encoding=encoding)
        except InvalidInput:
            pytest.skip(f"this container was installed without {encoding}")
        speech = session.speak(TEXT, encoding=encoding, window_s=0.5)
        done = (await collect(speech))[-1]
        speech.played(done.samples)

    assert done.samples == plain.samples
    assert speech.heard().complete


async def test_barge_in(server: Any) -> None:
    async with SpeechSession.connect(server.url) as session:
        speech = session.speak(TEXT)
        async for event in speech:
            if isinstance(event, ChunkStarted) and event.chunk_id == 1:
                speech.played(event.first_sample)
                heard = await speech.cancel()
        assert event == UtteranceCancelled(heard=heard)
        assert TEXT.startswith(heard.text)
        assert heard.text
        assert isinstance((await collect(session.speak("Next.")))[-1], UtteranceDone)


async def test_an_unknown_voice_is_told_at_opening_or_fails_its_chunks(server: Any) -> None:
    with pytest.raises(InvalidInput, match="passwd"):
        await SpeechSession.connect(server.url, voice="../../etc/passwd").open()
    async with SpeechSession.connect(server.url) as session:
        events = await collect(session.speak("Hello there.", voice="nobody"))
    assert (events[0].code, events[-1].failed) == ("unknown_voice", 1)
