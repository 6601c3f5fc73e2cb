"""Calls that break, and calls that are refused."""

import asyncio
from typing import Any

import pytest

from kokoro_container.engines.tone import ToneEngine
from kokoro_sagemaker_agents import (
    ConnectionFailed,
    ConnectionLost,
    OverloadedError,
    SpeechSession,
)

from .conftest import DEADLINE_S, Take, collect, session_of, tuned

NUMBERS = ["one", "two", "three", "four"]
TEXT = " ".join(f"Sentence number {n} is one of several here." for n in NUMBERS)


def slow_engine() -> ToneEngine:
    """Slow enough that a fault in the middle is in the middle."""
    return ToneEngine(call_s=0.01)


_heard: list[Take] = []  # once for all tests: the tones are the same each time


@pytest.fixture
async def expected(serving: Any) -> Take:
    if not _heard:
        async with serving(slow_engine()) as server, SpeechSession.connect(server.url) as session:
            _heard.append(Take(await collect(session.speak(TEXT))))
    return _heard[0]


# --- a call that breaks ---


@pytest.mark.parametrize("fault", ["abort", "truncate", "end", "model_error", "kill"])
@pytest.mark.parametrize("moment", ["audio:0", "audio:3"])
async def test_a_call_that_breaks_loses_no_word(
    emulating: Any, expected: Take, fault: str, moment: str
) -> None:
    async with emulating(slow_engine()) as emulator, session_of(emulator) as session:
        emulator.faults.add(f"{fault}@{moment}")

        assert Take(await collect(session.speak(TEXT))) == expected
        assert not emulator.faults.pending
    assert emulator.counters.open_streams == emulator.counters.open_connections == 0


async def test_a_silent_call_is_made_again(emulating: Any, expected: Take) -> None:
    async with (
        emulating(slow_engine()) as emulator,
        tuned(emulator, {"silence_s": 0.5}) as session,
    ):
        emulator.faults.add("stall@audio:2")
        assert Take(await collect(session.speak(TEXT))) == expected
        assert not emulator.faults.pending


async def test_the_minute_that_a_call_may_take_is_no_limit(emulating: Any, expected: Take) -> None:
    from kokoro_sagemaker_agents.emulator import Clock

    clock = Clock(scale=0)
    async with emulating(slow_engine(), clock=clock) as emulator, session_of(emulator) as session:
        emulator.faults.add("slow@audio:2,delay_s=1000")
        reader = asyncio.create_task(collect(session.speak(TEXT)))
        async with asyncio.timeout(DEADLINE_S):
            while emulator.faults.pending:  # noqa: ASYNC110  # a plan tells nobody
                await asyncio.sleep(0.01)
        clock.advance(60)

        assert Take(await reader) == expected


async def test_compressed_audio_cannot_go_on_in_the_middle_and_says_so(emulating: Any) -> None:
    long = "This sentence goes on and on, " * 9 + "and it ends here. "
    async with emulating(slow_engine()) as emulator, session_of(emulator) as session:
        emulator.faults.add("model_error@audio:4")
        take = Take(await collect(session.speak(long + "This is the next one.", encoding="mp3")))

    assert [failed.retryable for failed in take.failed] == [True]
    assert take.done is not None
    assert take.done.chunks > 0


async def test_calls_that_break_for_ever_are_an_error_within_its_deadline(emulator: Any) -> None:
    async with session_of(emulator, reconnect_s=1.0) as session:
        emulator.faults.add("abort@audio:0,times=10000")
        with pytest.raises(ConnectionLost):
            await collect(session.speak("Hello there."))
        emulator.faults.clear()
        assert Take(await collect(session.speak("Hello there."))).done


# --- a call that is refused ---


@pytest.mark.parametrize("fault", ["throttle", "refuse", "abort@open", "error,status=503"])
async def test_a_call_that_is_refused_for_now_is_made_again(
    emulating: Any, expected: Take, fault: str
) -> None:
    async with emulating(slow_engine()) as emulator, session_of(emulator) as session:
        emulator.faults.add(fault)
        assert Take(await collect(session.speak(TEXT))) == expected
        assert not emulator.faults.pending


async def test_a_busy_endpoint_fails_the_chunk_and_says_so(emulator: Any) -> None:
    async with tuned(emulator, {"overloaded_s": 0.2}) as session:
        emulator.faults.add("throttle,times=10000")
        take = Take(await collect(session.speak("Hello there.")))
        assert [(failed.code, failed.retryable) for failed in take.failed] == [("throttled", True)]
        emulator.faults.clear()
        assert Take(await collect(session.speak("Hello there."))).done


async def test_an_endpoint_that_is_deleted_ends_the_utterance_within_its_deadline(
    emulator: Any,
) -> None:
    async with session_of(emulator, reconnect_s=0.5) as session:
        emulator.faults.add("error,status=403,error=AccessDeniedException,times=10000")
        with pytest.raises(ConnectionLost, match="access denied"):
            await collect(session.speak("Hello there."))


# --- openings that fail ---


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("throttle", OverloadedError, "throttled"),
        ("refuse", OverloadedError, "/aws/sagemaker/Endpoints/kokoro"),
        (
            "error,status=403,error=AccessDeniedException",
            ConnectionFailed,
            "sagemaker:InvokeEndpointWithResponseStream",
        ),
        ("error,status=403,error=ExpiredTokenException", ConnectionFailed, "log in again"),
        ("error,status=500,error=InternalServerError", ConnectionFailed, "try again"),
        ("abort@open", ConnectionFailed, "cannot be reached"),
        ("slow@open,delay_s=60", ConnectionFailed, "connect_timeout_s"),
    ],
)
async def test_each_refusal_is_an_error_that_says_what_to_do(
    emulator: Any, fault: str, error: type[Exception], message: str
) -> None:
    emulator.faults.add(f"{fault},times=10000")
    with pytest.raises(error, match=message):
        await session_of(emulator, connect_timeout_s=1.0).open()
    emulator.faults.clear()

    async with session_of(emulator) as session:
        assert Take(await collect(session.speak("Hello."))).done


async def test_an_endpoint_that_does_not_exist_is_told(emulator: Any) -> None:
    with pytest.raises(ConnectionFailed, match=r"'nowhere' in us-east-1 was not found") as caught:
        await session_of(emulator, "nowhere").open()
    assert not caught.value.retryable


async def test_no_credentials_and_no_trust_are_told(
    emulator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    untrusting = SpeechSession.sagemaker(
        "kokoro",
        region="us-east-1",
        endpoint_url=emulator.endpoint_url,
        transport="invocations",
    )
    with pytest.raises(ConnectionFailed, match=r"(?i)certificate.*ca_bundle"):
        await untrusting.open()
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ConnectionFailed, match="no AWS credentials found"):
        await session_of(emulator).open()
