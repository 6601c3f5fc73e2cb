"""AWS's own SDK with its stock transport, through the emulator, to the container's server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import pytest

pytest.importorskip("kokoro_container", reason="only the client is installed here")
pytest.importorskip("aws_sdk_sagemaker_runtime_http2", reason="AWS's SDK needs Python 3.12")
pytest.importorskip("awscrt", reason="the SDK's stock transport is not installed")

from aws_sdk_sagemaker_runtime_http2 import client as sdk
from aws_sdk_sagemaker_runtime_http2 import config as sdk_config
from aws_sdk_sagemaker_runtime_http2 import models
from smithy_core.exceptions import CallError
from smithy_http.aio.crt import AWSCRTHTTPClient

from kokoro_sagemaker_agents.emulator import Credentials, Emulator, Settings
from kokoro_sagemaker_agents.emulator.eventstream import Message
from kokoro_sagemaker_agents.emulator.exchange import TASK
from kokoro_sagemaker_agents.emulator.signatures import EventChain

from .conftest import DEADLINE_S

# The stock transport leaves tasks behind at each end (aws-crt-python issue 762); this is about
# those that the garbage collector finds before the fixture does.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

KEYS = Credentials("AKIDEXAMPLE", "right")
TEXTS = ["Hello there, my friend.", "How are you today? It is a fine day."]


class Stream:
    """One stream of the SDK."""

    def __init__(self, opened: Any) -> None:
        self._opened = opened
        self._output: Any = None

    async def send(self, data_type: str | None = "UTF8", **message: Any) -> None:
        part = models.RequestPayloadPart(bytes_=json.dumps(message).encode(), data_type=data_type)
        await self._opened.input_stream.send(models.RequestStreamEventPayloadPart(value=part))

    async def output(self) -> str | None:
        """Wait for the response's headers; the variant."""
        async with asyncio.timeout(DEADLINE_S):
            head, self._output = await self._opened.await_output()
        variant: str | None = head.invoked_production_variant
        return variant

    async def receive(self) -> Any:
        """The next part; None at the end."""
        event = await asyncio.wait_for(self._output.receive(), DEADLINE_S)
        return None if event is None else event.value

    async def end(self) -> None:
        await asyncio.wait_for(self._opened.input_stream.close(), DEADLINE_S)


Open = Callable[..., Any]


@pytest.fixture
def sdk_client(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., AbstractAsyncContextManager[tuple[Emulator, Open]]]:
    """An emulator that checks signatures, and what opens a stream of it through the SDK."""

    @asynccontextmanager
    async def start(secret: str = "right", **options: Any) -> AsyncIterator[tuple[Emulator, Open]]:
        before = asyncio.all_tasks()
        streams = []  # kept, or the collector would end them
        settings = Settings(accept_s=DEADLINE_S)
        async with Emulator(server.url, credentials=KEYS, settings=settings, **options) as emulator:
            # It reads this when a client is made.
            monkeypatch.setenv("SSL_CERT_FILE", str(emulator.ca_path))
            monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEYS.access_key)
            monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", secret)
            config = await sdk_config.AsyncSageMakerRuntimeHTTP2Config.resolve(
                endpoint_uri=emulator.endpoint_url,
                region="us-east-1",
                transport=AWSCRTHTTPClient(),
            )
            client = sdk.AsyncSageMakerRuntimeHTTP2Client(config=config)

            async def open_stream(endpoint: str = "kokoro", **names: Any) -> Stream:
                wanted = models.InvokeEndpointWithBidirectionalStreamInput(
                    endpoint_name=endpoint, **names
                )
                opened = await client.invoke_endpoint_with_bidirectional_stream(wanted)
                streams.append(Stream(opened))
                return streams[-1]

            yield emulator, open_stream
            left = [t for t in asyncio.all_tasks() - before if t.get_name() != TASK]
            for task in left:
                task.cancel()
            await asyncio.wait_for(asyncio.gather(*left, return_exceptions=True), DEADLINE_S)

    return start


async def speak(stream: Stream) -> tuple[list[dict[str, Any]], bytes]:
    """All messages and all audio of the texts, said in one context."""
    for chunk_id, text in enumerate(TEXTS):
        # Without a DataType it arrives as a binary frame, which the container takes as well.
        await stream.send(
            "UTF8" if chunk_id else None,
            type="speak",
            context_id="c",
            chunk_id=chunk_id,
            text=text,
            timestamps="word",
        )
    await stream.send(type="end", context_id="c")
    messages, audio = [], bytearray()
    while (part := await stream.receive()) is not None:
        assert part.completion_state == "COMPLETE"
        if part.data_type == "BINARY":
            audio += part.bytes_
            continue
        messages.append(json.loads(part.bytes_))
        if messages[-1]["type"] == "context_done":
            break
    return messages, bytes(audio)


async def test_words_and_audio_are_those_of_the_container(
    server: Any, connect: Any, sdk_client: Any
) -> None:
    async with connect(server.url) as direct:
        for chunk_id, text in enumerate(TEXTS):
            await direct.speak("c", text, chunk_id, timestamps="word")
        await direct.send("end", context_id="c")
        _, chunks, told = await direct.until("context_done", "c")

    async with sdk_client() as (emulator, open_stream):
        stream = await open_stream(model_query_string="voice=af_heart")
        assert await stream.output() == "AllTraffic"
        messages, audio = await speak(stream)
        await stream.end()
        assert await stream.receive() is None
        assert emulator.counters.events_in == len(TEXTS) + 1

    assert messages[0]["type"] == "ready"
    words = [one["words"] for one in told if one["type"] == "word_timestamps"]
    assert [one["words"] for one in messages if one["type"] == "word_timestamps"] == words
    assert sum(map(len, words)) == 13
    assert audio == b"".join(chunks[key] for key in sorted(chunks))


@pytest.mark.parametrize(
    ("fault", "failure", "message"),
    [
        ("refuse", models.ModelError, "container"),
        ("throttle", CallError, "ThrottlingException"),
        ("error,status=403,error=AccessDeniedException", CallError, "403"),
        ("error,status=503,error=ServiceUnavailableError", models.ServiceUnavailableError, "fault"),
    ],
)
async def test_a_refusal_is_the_sdks_exception(
    sdk_client: Any, fault: str, failure: type[Exception], message: str
) -> None:
    async with sdk_client(faults=[fault]) as (_, open_stream):
        with pytest.raises(failure, match=message):
            await (await open_stream()).output()


async def test_an_unknown_endpoint_is_told(sdk_client: Any) -> None:
    async with sdk_client() as (_, open_stream):
        with pytest.raises(models.InputValidationError, match="nobody"):
            await (await open_stream("nobody")).output()


async def test_a_wrong_key_is_told(sdk_client: Any) -> None:
    async with sdk_client(secret="wrong") as (_, open_stream):
        with pytest.raises(CallError, match="InvalidSignatureException"):
            await (await open_stream()).output()


@pytest.mark.parametrize(
    ("fault", "failure"),
    [("model_error", "ModelStreamError"), ("stream_failure", "InternalStreamFailure")],
)
async def test_a_failure_in_mid_audio_is_raised(sdk_client: Any, fault: str, failure: str) -> None:
    async with sdk_client(faults=[f"{fault}@audio:1"]) as (_, open_stream):
        stream = await open_stream()
        await stream.output()
        with pytest.raises(Exception, match="asked for by a fault") as failed:
            await speak(stream)
        assert type(failed.value).__name__ == failure


async def test_an_event_signed_wrongly_ends_the_stream(
    sdk_client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK signs rightly, so the second event is changed on its way."""
    seen = 0
    check = EventChain.accepts

    def tampered(chain: EventChain, event: Message) -> bool:
        nonlocal seen
        seen += 1
        changed = Message(event.headers, event.payload + b"!") if seen == 2 else event
        return check(chain, changed)

    monkeypatch.setattr(EventChain, "accepts", tampered)
    async with sdk_client() as (emulator, open_stream):
        stream = await open_stream()
        await stream.output()
        with pytest.raises(Exception, match="signature of an event"):
            await speak(stream)
        assert emulator.counters.events_in == 1
