"""Every way for a WebSocket to end, at every moment: the listener gets all words once."""

import asyncio
from typing import Any

import pytest

from kokoro_sagemaker_agents import (
    AudioChunk,
    ChunkDone,
    ChunkFailed,
    SpeechSession,
    UtteranceDone,
    WordTimestamps,
)

from .faulty_proxy import FAULTS, FaultyProxy

pytest.importorskip("kokoro_container", reason="only the client is installed here")

from kokoro_container.engines.tone import ToneEngine

SENTENCES = [f"Sentence number {n} is one of several here." for n in ("one", "two", "three")]
TEXT = " ".join(SENTENCES)
DEADLINE_S = 20


def session_of(proxy: FaultyProxy, fault: str) -> SpeechSession:
    """A session that notices within a second if nothing comes any more, where that is the test."""
    return SpeechSession.connect(proxy.url, keepalive_s=0.3 if fault == "silence" else 20)


async def collect(events: Any) -> list[Any]:
    async with asyncio.timeout(DEADLINE_S):
        return [event async for event in events]


def heard(events: list[Any]) -> tuple[bytes, list[Any], bool]:
    """The samples, the words with their times, and whether it came to its end in one piece."""
    pcm = b"".join(event.pcm for event in events if isinstance(event, AudioChunk))
    words = [w for event in events if isinstance(event, WordTimestamps) for w in event.words]
    failed = any(isinstance(event, ChunkFailed) for event in events)
    return pcm, words, isinstance(events[-1], UtteranceDone) and not failed


_expected: list[Any] = []  # once for all tests: the tones are the same each time


@pytest.fixture
async def container(serving: Any) -> Any:
    """Slow enough that a fault in the middle is in the middle."""
    async with serving(ToneEngine(call_s=0.01)) as server:
        if not _expected:
            async with SpeechSession.connect(server.url) as session:
                _expected.append(heard(await collect(session.speak(TEXT))))
            assert [w.text for w in _expected[0][1]] == TEXT.replace(".", "").split()
        yield server


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("frames", [0, 4])
async def test_before_the_first_audio_and_in_a_sentence(
    container: Any, fault: str, frames: int
) -> None:
    async with (
        FaultyProxy(container.url) as proxy,
        session_of(proxy, fault) as session,
    ):
        proxy.at_audio(frames, fault)
        events = await collect(session.speak(TEXT))

        assert heard(events) == _expected[0]
        assert not proxy.pending
        assert proxy.connections > 1


@pytest.mark.parametrize("fault", FAULTS)
async def test_between_sentences(container: Any, fault: str) -> None:
    """Sentence one is spoken, the LLM is still writing sentence two."""
    async with (
        FaultyProxy(container.url) as proxy,
        session_of(proxy, fault) as session,
    ):
        utterance = session.utterance()
        await utterance.push(SENTENCES[0] + " " + SENTENCES[1][:1])
        events = []
        async with asyncio.timeout(DEADLINE_S):
            async for event in utterance:
                events.append(event)
                if isinstance(event, ChunkDone):
                    break
        await proxy.now(fault)
        await utterance.push(SENTENCES[1][1:] + " " + SENTENCES[2])
        await utterance.end()

        assert heard(events + await collect(utterance)) == _expected[0]


@pytest.mark.parametrize("fault", FAULTS)
async def test_while_nothing_is_spoken(container: Any, fault: str) -> None:
    async with (
        FaultyProxy(container.url) as proxy,
        session_of(proxy, fault) as session,
    ):
        await proxy.now(fault)

        assert heard(await collect(session.speak(TEXT))) == _expected[0]
        assert proxy.connections > 1
