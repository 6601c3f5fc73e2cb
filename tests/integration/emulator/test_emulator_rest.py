"""The REST invocations, by aiobotocore, to the container's server."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx
import pytest

pytest.importorskip("kokoro_container", reason="only the client is installed here")
pytest.importorskip("aiobotocore", reason="the extra [sagemaker] is not installed")

from aiobotocore.config import AioConfig
from aiobotocore.session import get_session
from botocore.exceptions import ClientError, EventStreamError

from kokoro_sagemaker_agents.emulator import Clock, Credentials, Emulator
from kokoro_sagemaker_agents.emulator.invocations import PART_BYTES

from .conftest import DEADLINE_S

KEYS = Credentials("AKIDEXAMPLE", "right")
REQUEST = {"text": "Hello there, my friend. How are you today?", "stream": True, "format": "wav"}
Start = Callable[..., AbstractAsyncContextManager[tuple[Emulator, Any]]]


@pytest.fixture
def runtime(server: Any) -> Start:
    """An emulator that checks signatures, and a client of the runtime."""

    @asynccontextmanager
    async def start(**options: Any) -> AsyncIterator[tuple[Emulator, Any]]:
        async with (
            Emulator(server.url, credentials=KEYS, **options) as emulator,
            get_session().create_client(
                "sagemaker-runtime",
                region_name="us-east-1",
                endpoint_url=emulator.endpoint_url,
                verify=str(emulator.ca_path),
                aws_access_key_id=KEYS.access_key,
                aws_secret_access_key=KEYS.secret_key,
                config=AioConfig(retries={"total_max_attempts": 1}, read_timeout=DEADLINE_S),
            ) as client,
        ):
            yield emulator, client

    return start


def arguments(**body: Any) -> dict[str, Any]:
    return {
        "EndpointName": "kokoro",
        "ContentType": "application/json",
        "Body": json.dumps({**REQUEST, **body}).encode(),
    }


@pytest.fixture
async def direct(http: httpx.AsyncClient) -> bytes:
    """What the container itself answers."""
    response = await http.post("/invocations", json=REQUEST)
    assert response.status_code == 200
    return response.content


async def parts(response: dict[str, Any]) -> AsyncIterator[bytes]:
    async with asyncio.timeout(DEADLINE_S):
        async for event in response["Body"]:
            yield event["PayloadPart"]["Bytes"]


async def test_a_whole_answer(runtime: Start, direct: bytes) -> None:
    async with runtime() as (_, client):
        response = await client.invoke_endpoint(**arguments())
        assert await response["Body"].read() == direct
    assert response["ContentType"] == "audio/wav"
    assert response["InvokedProductionVariant"] == "AllTraffic"


async def test_a_streamed_answer_is_cut_anew(runtime: Start, direct: bytes) -> None:
    async with runtime() as (emulator, client):
        response = await client.invoke_endpoint_with_response_stream(**arguments())
        got = [part async for part in parts(response)]
        assert emulator.counters.events_out == len(got)
    assert response["ContentType"] == "audio/wav"
    assert b"".join(got) == direct
    assert len(got) > 1
    assert max(map(len, got)) == PART_BYTES
    ends = {sum(map(len, got[: n + 1])) for n in range(len(got))}
    assert set(range(PART_BYTES, len(direct), PART_BYTES)) <= ends


async def test_a_container_that_refuses_is_a_model_error(runtime: Start) -> None:
    async with runtime() as (_, client):
        for call in (client.invoke_endpoint, client.invoke_endpoint_with_response_stream):
            with pytest.raises(ClientError) as refused:
                await call(**arguments(voice="nobody"))
            answer = refused.value.response
            assert answer["Error"]["Code"] == "ModelError"
            assert answer["ResponseMetadata"]["HTTPStatusCode"] == 424
            assert answer["OriginalStatusCode"] == 400
            assert "nobody" in answer["OriginalMessage"]


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("throttle", "ThrottlingException"),
        ("refuse", "ModelError"),
        ("error,status=403,error=AccessDeniedException", "AccessDeniedException"),
    ],
)
async def test_a_refusal_is_a_client_error(runtime: Start, fault: str, code: str) -> None:
    async with runtime(faults=[fault]) as (_, client):
        with pytest.raises(ClientError) as refused:
            await client.invoke_endpoint_with_response_stream(**arguments())
        assert refused.value.response["Error"]["Code"] == code
        await (await client.invoke_endpoint(**arguments()))["Body"].read()


async def test_a_wrong_key_and_an_unknown_endpoint(server: Any, runtime: Start) -> None:
    async with runtime() as (emulator, client):
        with pytest.raises(ClientError, match="nobody of account"):
            await client.invoke_endpoint(**{**arguments(), "EndpointName": "nobody"})
        emulator._credentials = Credentials(KEYS.access_key, "another")
        with pytest.raises(ClientError) as refused:
            await client.invoke_endpoint(**arguments())
        assert refused.value.response["Error"]["Code"] == "InvalidSignatureException"


@pytest.mark.parametrize("fault", ["model_error@audio:2", "kill@audio:2"])
async def test_an_exception_after_two_parts(runtime: Start, direct: bytes, fault: str) -> None:
    got = b""
    async with runtime(faults=[fault]) as (_, client):
        response = await client.invoke_endpoint_with_response_stream(**arguments())
        with pytest.raises(EventStreamError, match="ModelStreamError"):  # noqa: PT012  # the loop
            async for part in parts(response):
                got += part
    assert got
    assert direct.startswith(got)


@pytest.mark.parametrize("fault", ["abort@audio:2", "reset@audio:2"])
async def test_a_connection_that_breaks_is_an_error(runtime: Start, fault: str) -> None:
    async with runtime(faults=[fault]) as (_, client):
        response = await client.invoke_endpoint_with_response_stream(**arguments())
        with pytest.raises(Exception, match=r"(?i)payload|reset|closed|not completed"):
            async for _ in parts(response):
                pass


async def test_an_invocation_takes_a_minute_at_most(runtime: Start) -> None:
    clock = Clock(0)
    async with runtime(clock=clock, faults=["slow@audio:1,delay_s=1000"]) as (_, client):
        response = await client.invoke_endpoint_with_response_stream(**arguments())
        with pytest.raises(EventStreamError, match="timed out"):  # noqa: PT012  # the loop again
            async for _ in parts(response):
                clock.advance(60)
