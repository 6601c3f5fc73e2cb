"""`POST /v1/audio/speech` with the real `openai` client, which is told nothing but the address."""

import asyncio
import base64
import io
import json
from collections.abc import AsyncIterator

import numpy as np
import openai
import pytest
import soundfile

from kokoro_container.engines.tone import read_back

TEXT = "Hello there. Bye now."
HEARD = "helotherebyenow"


@pytest.fixture
async def client(server) -> AsyncIterator[openai.AsyncOpenAI]:
    url = f"{server.http_url}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0, timeout=20) as made:
        yield made


def heard(data: bytes) -> str:
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32")
    return read_back(samples, rate)


def heard_pcm(data: bytes, rate: int = 24_000) -> str:
    return read_back(np.frombuffer(data, "<i2").astype(np.float32) / 32767, rate)


async def test_mp3_is_what_one_gets_unless_one_says_otherwise(client) -> None:
    speech = await client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT)

    assert speech.response.headers["content-type"] == "audio/mpeg"
    assert heard(speech.content) == HEARD


async def test_other_formats(client) -> None:
    for container in ("opus", "wav", "pcm"):
        speech = await client.audio.speech.create(
            model="gpt-4o-mini-tts",
            voice="af_heart",
            input=TEXT,
            instructions="Whisper.",
            response_format=container,
        )

        if container == "opus":
            assert heard(speech.content) == HEARD
        else:
            assert heard_pcm(speech.content[44 if container == "wav" else 0 :]) == HEARD


async def test_audio_is_streamed(client) -> None:
    streaming = client.audio.speech.with_streaming_response
    async with streaming.create(
        model="tts-1", voice="nova", input=TEXT * 20, response_format="pcm"
    ) as response:
        parts = [part async for part in response.iter_bytes(4096)]

    assert len(parts) > 5
    assert heard_pcm(b"".join(parts)).startswith(HEARD)


async def test_events(client) -> None:
    streaming = client.audio.speech.with_streaming_response
    async with streaming.create(
        model="tts-1", voice="nova", input=TEXT, response_format="pcm", stream_format="sse"
    ) as response:
        lines = [line async for line in response.iter_lines() if line]

    events = [json.loads(line.removeprefix("data: ")) for line in lines]
    assert {event["type"] for event in events[:-1]} == {"speech.audio.delta"}
    assert events[-1]["type"] == "speech.audio.done"
    assert heard_pcm(b"".join(base64.b64decode(event["audio"]) for event in events[:-1])) == HEARD


async def test_the_blocking_client(server) -> None:
    def speak() -> bytes:
        url = f"{server.http_url}/v1"
        with openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=20) as client:
            return client.audio.speech.create(model="tts-1", voice="echo", input=TEXT).content

    assert heard(await asyncio.to_thread(speak)) == HEARD


async def test_speed_and_our_own_fields(client) -> None:
    async def pcm(**options) -> bytes:
        speech = await client.audio.speech.create(
            model="tts-1", voice="alloy", input=TEXT, response_format="pcm", **options
        )
        return speech.content

    plain, fast = await pcm(), await pcm(speed=2.0)
    narrow = await pcm(extra_body={"sample_rate": 8000})

    assert len(fast) < 0.7 * len(plain)
    assert len(narrow) == pytest.approx(len(plain) / 3, abs=2)


async def test_mistakes_are_bad_requests_in_the_clients_own_words(client) -> None:
    for options, code in (
        ({"voice": "nobody"}, "unknown_voice"),
        ({"response_format": "aac"}, "unsupported_encoding"),
        ({"speed": 40.0}, "invalid_speed"),
        ({"input": ""}, "invalid_message"),
    ):
        asked = {"model": "tts-1", "voice": "alloy", "input": TEXT} | options

        with pytest.raises(openai.BadRequestError) as refused:
            await client.audio.speech.create(**asked)

        assert refused.value.code == code
        assert refused.value.request_id.startswith("req-")


async def test_a_body_of_openai_is_taken_on_the_endpoints_own_route_too(http) -> None:
    response = await http.post("/invocations", json={"input": TEXT, "voice": "alloy"})

    assert response.headers["content-type"] == "audio/mpeg"
    assert heard(response.content) == HEARD


async def test_our_body_is_no_speech_request(http) -> None:
    response = await http.post("/v1/audio/speech", json={"text": TEXT})

    assert response.status_code == 400
    assert "input" in response.json()["error"]["message"]
