"""What a POST's body is understood as: the AWS sample's, ours, OpenAI's; and what is refused."""

import json
import math
from typing import Any

import pytest

from kokoro_container.openai_api import VOICE_ALIASES
from kokoro_container.requests import Invocation, parse, request_id_from_headers
from kokoro_container.voices import Voices
from kokoro_sagemaker_agents.errors import InvalidInput
from kokoro_sagemaker_agents.protocol import ENCODINGS, Limits, Ready

READY = Ready(
    instance_id="i",
    model="m",
    engine="tone",
    voices=("af_heart", "bf_emma"),
    languages=("en-us", "fr"),
    encodings=ENCODINGS,
    limits=Limits(),
)
NOW_S = 1_760_000_000.0


def understood(body: dict[str, Any], **about: Any) -> Invocation:
    about = {"now_s": NOW_S, "max_age_s": 56.0} | about
    return parse(json.dumps(body).encode(), READY, **about)


def refusal(body: dict[str, Any], **about: Any) -> InvalidInput:
    with pytest.raises(InvalidInput) as refused:
        understood(body, **about)
    return refused.value


def test_what_is_left_out_has_a_default() -> None:
    asked = understood({"text": "Hello."})

    assert (asked.container, asked.stream, asked.events) == ("wav", False, False)
    assert (asked.options.voice, asked.options.sample_rate) == ("af_heart", 24_000)
    assert asked.request_id.startswith("req-")


def test_the_sample_client_is_streamed_to_though_it_says_nothing() -> None:
    """Its body, by its `TTSClient`; its own server streams unless told not to."""
    body = {
        "text": "Hello.",
        "voice": "af_heart",
        "speed": 1.0,
        "format": "mp3",
        "request_timestamp": NOW_S - 1,
        "sample_rate": 16_000,
    }

    asked = understood(body)

    assert asked.stream
    assert asked.media_type == "audio/mpeg"
    assert asked.options.sample_rate == 16_000
    assert not understood(body | {"stream": False}).stream


@pytest.mark.parametrize(
    ("fields", "media_type"),
    [
        ({}, "audio/wav"),
        ({"format": "mp3"}, "audio/mpeg"),
        ({"encoding": "mp3"}, "audio/mpeg"),
        ({"format": "opus"}, "audio/ogg"),
        ({"format": "pcm"}, "audio/pcm; rate=24000; encoding=pcm_s16le"),
        ({"format": "pcm", "encoding": "pcm_mulaw"}, "audio/pcm; rate=24000; encoding=pcm_mulaw"),
        ({"format": "mp3", "transport": "sse"}, "text/event-stream"),
    ],
)
def test_a_format_has_its_media_type(fields: dict[str, str], media_type: str) -> None:
    assert understood({"text": "a", **fields}).media_type == media_type


@pytest.mark.parametrize(
    ("accept", "container"),
    [
        ("audio/mpeg", "mp3"),
        ("audio/ogg; q=0.9, audio/wav", "opus"),
        ("*/*", "wav"),
        ("application/json", "wav"),
        ("", "wav"),
    ],
)
def test_accept_names_the_format_where_the_body_does_not(accept: str, container: str) -> None:
    assert understood({"text": "a"}, accept=accept).container == container
    assert understood({"text": "a", "format": "pcm"}, accept=accept).container == "pcm"


def test_openai_body_is_translated() -> None:
    body = {
        "model": "tts-1",
        "input": "Hello.",
        "voice": "nova",
        "instructions": "Cheerfully.",
        "speed": 1.25,
        "response_format": "opus",
        "stream_format": "sse",
    }

    asked = understood(body)

    assert (asked.text, asked.options.speed, asked.container) == ("Hello.", 1.25, "opus")
    assert asked.options.voice == VOICE_ALIASES["nova"]
    assert (asked.stream, asked.events, asked.dialect) == (True, True, "openai")
    assert understood({"input": "a"}).media_type == "audio/mpeg"
    assert understood({"input": "a", "voice": {"id": "bf_emma"}}).options.voice == "bf_emma"


@pytest.mark.parametrize("name", sorted(VOICE_ALIASES))
def test_every_openai_voice_can_be_spoken(name: str, tmp_path: Any) -> None:
    voices = Voices(tmp_path)

    voices.check(VOICE_ALIASES[name])

    assert len({*VOICE_ALIASES.values()}) == len(VOICE_ALIASES)


@pytest.mark.parametrize("age_s", [57, 1e9])
def test_an_old_request_is_stale(age_s: float) -> None:
    assert refusal({"text": "a", "request_timestamp": NOW_S - age_s}).code == "request_stale"


@pytest.mark.parametrize("age_s", [0, 55, -30])
def test_a_recent_one_is_not(age_s: float) -> None:
    """Nor one from a clock that is ahead."""
    assert understood({"text": "a", "request_timestamp": NOW_S - age_s}).text == "a"


@pytest.mark.parametrize("timestamp", ["now", True, [], math.nan, math.inf, -math.inf, 10**400])
def test_a_timestamp_that_is_no_time(timestamp: Any) -> None:
    assert refusal({"text": "a", "request_timestamp": timestamp}).code == "invalid_message"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"text": "a", "format": "flac"}, "unsupported_encoding"),
        ({"text": "a", "format": "mp3", "encoding": "opus"}, "unsupported_encoding"),
        ({"text": "a", "format": "wav", "encoding": "pcm_alaw"}, "unsupported_encoding"),
        ({"text": "a", "format": "opus", "sample_rate": 44_100}, "unsupported_sample_rate"),
        ({"text": "a", "transport": "smoke"}, "invalid_message"),
        ({"text": "a", "stream": 1}, "invalid_message"),
        ({"text": "a", "request_id": "two\nlines"}, "invalid_message"),
        ({"text": "a", "request_id": "x" * 129}, "invalid_message"),
        ({"text": "a", "request_id": 7}, "invalid_message"),
        ({"input": None}, "invalid_message"),
        ({"input": "a", "response_format": "aac"}, "unsupported_encoding"),
        ({"input": "a", "response_format": ["mp3"]}, "unsupported_encoding"),
        ({"input": "a", "stream_format": "tape"}, "unsupported_encoding"),
        ({"input": "a", "voice": 3}, "invalid_voice"),
        ({"input": "a", "voice": {"name": "x"}}, "invalid_voice"),
    ],
)
def test_what_cannot_be_used_is_named(body: dict[str, Any], code: str) -> None:
    refused = refusal(body)
    assert refused.code == code
    assert len(str(refused)) < 300


@pytest.mark.parametrize("depth", [100, 900, 990, 1000, 1400, 1500, 100_000])
def test_deep_nesting_is_refused_at_any_depth(depth: int) -> None:
    for name in ("voice", "format", "speed", "transport", "request_id"):
        body = f'{{"text": "a", "{name}": {"[" * depth}{"]" * depth}}}'
        with pytest.raises(InvalidInput):
            parse(body.encode(), READY)


@pytest.mark.parametrize(
    ("headers", "request_id"),
    [
        ({}, None),
        ({"X-Request-Id": "r-1"}, "r-1"),
        ({"X-Request-Id": "bad id"}, None),
        ({"X-Amzn-SageMaker-Custom-Attributes": "r-2"}, "r-2"),
        ({"X-Amzn-SageMaker-Custom-Attributes": "tenant=a; Request_Id=r-3"}, "r-3"),
        ({"X-Amzn-SageMaker-Custom-Attributes": "request-id=r-4,x=y"}, "r-4"),
        ({"X-Amzn-SageMaker-Custom-Attributes": "free text", "X-Request-Id": "r-5"}, "r-5"),
    ],
)
def test_headers_name_the_request(headers: dict[str, str], request_id: str | None) -> None:
    assert request_id_from_headers(headers) == request_id
    named = understood({"text": "a"}, request_id=request_id).request_id
    assert named == request_id or (request_id is None and named.startswith("req-"))
    assert understood({"text": "a", "request_id": "mine"}, request_id="r").request_id == "mine"
