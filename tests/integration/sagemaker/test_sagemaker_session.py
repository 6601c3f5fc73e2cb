"""A session through AWS's SDK and the emulator to the container, and back."""

import asyncio
import time
from typing import Any

import pytest

from kokoro_container.engines.tone import ToneEngine
from kokoro_sagemaker_agents import (
    ConnectionFailed,
    OverloadedError,
    SessionPool,
    SpeechSession,
)

from .conftest import Take, collect, session_of

TEXT = "Hello there, Dr. Smith. It costs 4 dollars. And that was the third sentence."


async def test_a_stream_brings_what_a_websocket_brings(serving: Any, emulating: Any) -> None:
    async with serving() as server, SpeechSession.connect(server.url) as session:
        expected = Take(await collect(session.speak(TEXT)))

    async with emulating() as emulator, session_of(emulator) as session:
        assert session.ready.engine == "tone"
        assert Take(await collect(session.speak(TEXT))) == expected
    assert expected.done
    assert len(expected.pcm) > 48_000
    assert emulator.counters.open_streams == emulator.counters.open_connections == 0


async def test_requests_and_events_are_signed(emulating: Any) -> None:
    from kokoro_sagemaker_agents.emulator import Credentials

    async with (
        emulating(credentials=Credentials("AKIDEXAMPLE", "secret")) as emulator,
        session_of(emulator) as session,
    ):
        assert Take(await collect(session.speak(TEXT))).done
    async with emulating(credentials=Credentials("AKIDEXAMPLE", "another")) as emulator:
        with pytest.raises(ConnectionFailed, match="does not accept these credentials") as caught:
            await session_of(emulator).open()
        assert not caught.value.retryable


async def test_a_hundred_utterances_over_one_stream_and_a_pool(emulator: Any) -> None:
    texts = [f"This is utterance number {n}. And its end." for n in range(100)]
    async with session_of(emulator) as session:
        alone = [Take(await collect(session.speak(text))) for text in texts]
        together = await asyncio.gather(*(collect(session.speak(text)) for text in texts))
    async with SessionPool(lambda: session_of(emulator), size=4) as pool:
        pooled = await asyncio.gather(*(collect(pool.speak(text)) for text in texts))
        connections = emulator.counters.open_connections

    assert [Take(events) for events in together] == alone
    assert [Take(events) for events in pooled] == alone
    assert connections == 1  # four streams share it


async def test_cancel_stops_one_utterance_and_no_other(emulating: Any) -> None:
    async with (
        emulating(ToneEngine(call_s=0.01)) as emulator,
        session_of(emulator) as session,
    ):
        other = asyncio.create_task(collect(session.speak(TEXT)))
        speech = session.speak("A long text goes on and on. " * 200)
        await anext(speech)
        await speech.cancel()

        assert Take(await other).done
        assert Take(await collect(session.speak("And the next one."))).done


async def test_a_target_variant_reaches_the_service(emulator: Any) -> None:
    async with session_of(emulator, target_variant="AllTraffic") as session:
        assert Take(await collect(session.speak("Hello."))).done
    with pytest.raises(ConnectionFailed, match="nobody"):
        await session_of(emulator, target_variant="nobody").open()


# --- openings that fail ---


async def test_an_endpoint_that_does_not_exist_is_told(emulator: Any) -> None:
    with pytest.raises(ConnectionFailed, match=r"'nowhere' in us-east-1 was not found") as caught:
        await session_of(emulator, "nowhere").open()
    assert not caught.value.retryable


@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("refuse", OverloadedError, "/aws/sagemaker/Endpoints/kokoro"),
        ("throttle", OverloadedError, "throttled"),
        ("error,status=429,error=TooManyRequestsException", OverloadedError, "throttled"),
        (
            "error,status=403,error=AccessDeniedException",
            ConnectionFailed,
            "sagemaker:InvokeEndpointWithBidirectionalStream",
        ),
        ("error,status=403,error=ExpiredTokenException", ConnectionFailed, "log in again"),
        ("error,status=500,error=InternalServerError", ConnectionFailed, "try again"),
        ("error,status=503,error=ServiceUnavailableError", ConnectionFailed, "try again"),
        ("reset@open", ConnectionFailed, "reset the stream"),
        ("goaway@open", ConnectionFailed, "GOAWAY"),
        ("abort@open", ConnectionFailed, "cannot be reached"),
        ("hang", ConnectionFailed, "connect_timeout_s"),
        ("slow@open,delay_s=60", ConnectionFailed, "connect_timeout_s"),
    ],
)
async def test_each_refusal_is_an_error_that_says_what_to_do(
    emulator: Any, fault: str, error: type[Exception], message: str
) -> None:
    for _ in range(50):  # however often it is tried again
        emulator.faults.add(fault)
    started_s = time.monotonic()
    with pytest.raises(error, match=message):
        await session_of(emulator, connect_timeout_s=1.0).open()
    assert time.monotonic() - started_s < 10
    emulator.faults.clear()

    async with session_of(emulator) as session:
        assert Take(await collect(session.speak("Hello."))).done


async def test_a_busy_endpoint_is_tried_again(emulator: Any) -> None:
    emulator.faults.add("throttle,times=2")
    async with session_of(emulator) as session:
        assert Take(await collect(session.speak("Hello."))).done


async def test_no_credentials_is_an_error_within_seconds(
    emulator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    with pytest.raises(ConnectionFailed, match="no AWS credentials found") as caught:
        async with asyncio.timeout(5):
            await session_of(emulator).open()
    assert not caught.value.retryable


async def test_no_region_no_profile_no_certificates_are_told(
    emulator: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConnectionFailed, match="no AWS region"):
        await SpeechSession.sagemaker("kokoro").open()
    with pytest.raises(ConnectionFailed, match="profile 'nobody' is not configured"):
        await SpeechSession.sagemaker("kokoro", profile="nobody").open()
    with pytest.raises(ConnectionFailed, match=r"no/such\.pem"):
        await SpeechSession.sagemaker("kokoro", region="us-east-1", ca_bundle="no/such.pem").open()


async def test_an_untrusted_certificate_is_told_at_once(emulator: Any) -> None:
    with pytest.raises(ConnectionFailed, match=r"CERTIFICATE_VERIFY_FAILED.*ca_bundle"):
        await SpeechSession.sagemaker(
            "kokoro", region="us-east-1", endpoint_url=emulator.endpoint_url
        ).open()


async def test_nobody_listens() -> None:
    with pytest.raises(ConnectionFailed, match="cannot be reached"):
        await SpeechSession.sagemaker(
            "kokoro", region="us-east-1", endpoint_url="https://127.0.0.1:1"
        ).open()


@pytest.mark.parametrize(
    ("region", "url"),
    [
        ("eu-west-1", "https://runtime.sagemaker.eu-west-1.amazonaws.com:8443"),
        ("cn-north-1", "https://runtime.sagemaker.cn-north-1.amazonaws.com.cn:8443"),
    ],
)
def test_the_service_is_where_aws_documents_it(region: str, url: str) -> None:
    from kokoro_sagemaker_agents.transports.aws.credentials import Account

    assert Account(region).runtime_url == url
