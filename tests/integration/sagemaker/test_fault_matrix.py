"""Every fault at every moment: the listener gets all words once."""

import asyncio
from typing import Any

import pytest

from kokoro_container.engines.tone import ToneEngine
from kokoro_sagemaker_agents import ChunkDone, SpeechSession

from .conftest import Take, collect, session_of

NUMBERS = ["one", "two", "three", "four", "five", "six"]
SENTENCES = [f"Sentence number {n} is one of several here." for n in NUMBERS]
TEXT = " ".join(SENTENCES)
# A silent server is noticed after twice this.
KEEPALIVE_S = 0.3

FAULTS = [
    "reset", "goaway", "drain", "abort", "stall", "truncate", "end", "model_error",
    "stream_failure", "kill",
]  # fmt: skip


def slow_engine() -> ToneEngine:
    """Slow enough that a fault in the middle is in the middle."""
    return ToneEngine(call_s=0.01)


_heard: list[Take] = []  # once for all tests: the tones are the same each time


@pytest.fixture
async def expected(serving: Any) -> Take:
    if _heard:
        return _heard[0]
    async with serving(slow_engine()) as server, SpeechSession.connect(server.url) as session:
        take = Take(await collect(session.speak(TEXT)))
    assert take.done
    assert take.words == [word.strip(".") for word in TEXT.split()]
    _heard.append(take)
    return take


def check(take: Take, expected: Take) -> None:
    assert take == expected
    assert not take.failed


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("moment", ["audio:0", "audio:4", "input:3", "output:9"])
async def test_a_fault_during_speech(
    emulating: Any, expected: Take, fault: str, moment: str
) -> None:
    """Before the first audio, in a sentence, and around the server's other messages."""
    async with (
        emulating(slow_engine()) as emulator,
        session_of(emulator, keepalive_s=KEEPALIVE_S) as session,
    ):
        emulator.faults.add(f"{fault}@{moment}")
        take = Take(await collect(session.speak(TEXT)))

        check(take, expected)
        assert not emulator.faults.pending
    assert emulator.counters.open_streams == emulator.counters.open_connections == 0


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_between_sentences(emulating: Any, expected: Take, fault: str) -> None:
    """Sentence one is spoken, the LLM is still writing sentence two."""
    async with (
        emulating(slow_engine()) as emulator,
        session_of(emulator, keepalive_s=KEEPALIVE_S) as session,
    ):
        utterance = session.utterance()
        await utterance.push(SENTENCES[0] + " " + SENTENCES[1][:1])
        events = []
        async with asyncio.timeout(20):
            async for event in utterance:
                events.append(event)
                if isinstance(event, ChunkDone):
                    break
        emulator.inject(fault)
        await utterance.push(SENTENCES[1][1:] + " " + " ".join(SENTENCES[2:]))
        await utterance.end()

        check(Take(events + await collect(utterance)), expected)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_while_nothing_is_spoken(emulating: Any, expected: Take, fault: str) -> None:
    async with (
        emulating(slow_engine()) as emulator,
        session_of(emulator, keepalive_s=KEEPALIVE_S) as session,
    ):
        emulator.inject(fault)

        check(Take(await collect(session.speak(TEXT))), expected)


@pytest.mark.parametrize("fault", FAULTS)
async def test_a_fault_takes_no_other_session_of_the_process_with_it(
    emulating: Any, expected: Take, fault: str
) -> None:
    """Streams share a connection; a stream's end is its own, a connection's end is survived."""
    async with emulating(slow_engine()) as emulator:
        sessions = [session_of(emulator, keepalive_s=KEEPALIVE_S) for _ in range(3)]
        for session in sessions:
            await session.open()
        emulator.faults.add(f"{fault}@audio:3")
        takes = await asyncio.gather(*(collect(session.speak(TEXT)) for session in sessions))
        for session in sessions:
            await session.close()

    for take in takes:
        check(Take(take), expected)


async def test_the_thirty_minutes_pass_while_somebody_speaks(
    emulating: Any, expected: Take
) -> None:
    """The limit itself: the session has not rotated, and goes on all the same."""
    from kokoro_sagemaker_agents.emulator import Clock

    clock = Clock(scale=0)
    async with emulating(slow_engine(), clock=clock) as emulator, session_of(emulator) as session:
        speech = session.speak(TEXT)
        events = [await anext(speech) for _ in range(4)]
        clock.advance(30 * 60)

        check(Take(events + await collect(speech)), expected)
        assert session.connections == 2
