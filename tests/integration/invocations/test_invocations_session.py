"""What a session does by POSTs is what it does over a connection."""

import asyncio
import importlib.util
import sys
from typing import Any

import pytest

from kokoro_container.engines.tone import ToneEngine
from kokoro_sagemaker_agents import ChunkStarted, SessionPool, SpeechSession

from .conftest import DEADLINE_S, TEXT, Take, collect, session_of, tuned

STREAMS = sys.version_info >= (3, 12) and importlib.util.find_spec(
    "aws_sdk_sagemaker_runtime_http2"
)
LONG = "A long text goes on and on. " * 200


@pytest.mark.parametrize("encoding", ["pcm_s16le", "pcm_mulaw", "mp3"])
async def test_posts_bring_what_a_websocket_brings(
    serving: Any, emulating: Any, encoding: Any
) -> None:
    async with serving() as server, SpeechSession.connect(server.url) as session:
        expected = Take(await collect(session.speak(TEXT, encoding=encoding)))

    async with emulating() as emulator, session_of(emulator) as session:
        assert session.ready.engine == "tone"
        assert "bf_emma" in session.ready.voices
        assert Take(await collect(session.speak(TEXT, encoding=encoding))) == expected
    assert expected.done is not None
    assert len(expected.words) == 13
    assert len(expected.pcm) > 10_000
    assert emulator.counters.open_streams == emulator.counters.open_connections == 0


async def test_calls_are_signed_and_share_a_connection(emulating: Any) -> None:
    from kokoro_sagemaker_agents.emulator import Credentials

    async with (
        emulating(credentials=Credentials("AKIDEXAMPLE", "secret")) as emulator,
        session_of(emulator) as session,
    ):
        assert Take(await collect(session.speak(TEXT))).done
    assert emulator.counters.connections == 1


async def test_many_utterances_at_once_take_turns_and_sound_as_each_does_alone(
    emulator: Any,
) -> None:
    texts = [f"This is utterance number {n}. And its end." for n in range(40)]
    calls = 0

    async def watch() -> None:
        nonlocal calls
        while True:
            calls = max(calls, emulator.counters.open_streams)
            seen = emulator.counters.streams
            await emulator.counters.until(lambda counters, seen=seen: counters.streams != seen)

    async with tuned(emulator, {"calls": 6}) as session:
        alone = [Take(await collect(session.speak(text))) for text in texts]
        watcher = asyncio.create_task(watch())
        together = await asyncio.gather(*(collect(session.speak(text)) for text in texts))
        watcher.cancel()

    assert [Take(events) for events in together] == alone
    assert 1 < calls <= 6 + 1  # one may be ending while the next begins


async def test_a_pool_of_them(emulator: Any) -> None:
    async with SessionPool(lambda: session_of(emulator), size=2) as pool:
        takes = await asyncio.gather(*(collect(pool.speak(TEXT)) for _ in range(4)))
    first = Take(takes[0])
    assert first.done
    assert [Take(events) for events in takes] == [first] * 4


async def test_cancel_ends_its_call_and_no_other(emulating: Any) -> None:
    async with (
        emulating(ToneEngine(call_s=0.01)) as emulator,
        session_of(emulator) as session,
    ):
        other = asyncio.create_task(collect(session.speak(TEXT)))
        speech = session.speak(LONG)
        await anext(speech)
        await speech.cancel()

        assert Take(await other).done
        async with asyncio.timeout(DEADLINE_S):
            await emulator.counters.until(lambda seen: not seen.open_streams)
        assert Take(await collect(session.speak("And the next one."))).done


async def test_a_call_that_nobody_listens_to_is_given_up_and_made_again(
    serving: Any, emulating: Any
) -> None:
    long = "This sentence goes on and on, " * 11 + "and it ends here."
    async with serving() as server, SpeechSession.connect(server.url) as session:
        expected = Take(await collect(session.speak(long, first_chunk="sentence")))

    async with (
        emulating() as emulator,
        tuned(emulator, {"held_s": 0.1}, window_s=1.0) as session,
    ):
        speech = session.speak(long, first_chunk="sentence")
        events = [await anext(speech)]
        async with asyncio.timeout(DEADLINE_S):
            # The sentence is longer than all buffers, so it's the client who ends this.
            await emulator.counters.until(lambda seen: not seen.open_connections)
        calls = emulator.counters.streams
        events += await collect(speech)

        assert Take(events) == expected
        assert emulator.counters.streams > calls


async def test_a_voice_that_is_not_there_fails_its_chunks_and_no_others(emulator: Any) -> None:
    async with session_of(emulator) as session:
        take = Take(await collect(session.speak("Hello there.", voice="nobody")))
        assert [failed.code for failed in take.failed] == ["unknown_voice"]
        assert Take(await collect(session.speak(TEXT))).done


async def test_a_sessions_lexicon_is_heeded(emulator: Any) -> None:
    async with session_of(emulator) as session:
        plain = Take(await collect(session.speak("Nguyen is here.")))
    async with session_of(emulator, lexicon={"en-us": {"Nguyen": "win"}}) as session:
        said = Take(await collect(session.speak("Nguyen is here.")))
    assert said.done
    assert len(said.pcm) < len(plain.pcm)  # three letters instead of six


@pytest.mark.parametrize(
    "transport",
    [
        pytest.param(
            "stream", marks=pytest.mark.skipif(not STREAMS, reason="AWS's SDK needs Python 3.12")
        ),
        "invocations",
    ],
)
async def test_barge_in_gives_what_was_heard_to_the_word(emulator: Any, transport: Any) -> None:
    async with session_of(emulator, transport=transport) as session:
        speech = session.speak(TEXT)
        words: list[Any] = []
        async for event in speech:
            if isinstance(event, ChunkStarted) and event.chunk_id == 2:
                break
            words += getattr(event, "words", ())
        last = words[5]  # "costs"; the sentence after it has begun to come
        speech.played(round(last.end_s * 24_000))
        heard = await speech.cancel()

    assert heard.text == "Hello there, Dr. Smith. It costs"
    assert not heard.complete
