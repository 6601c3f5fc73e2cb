"""`POST /invocations`: formats and rates, whole and streamed, and SageMaker's headers."""

import io
import logging
import time
from typing import Any

import httpx
import numpy as np
import pytest
import soundfile

from kokoro_container.engines.base import EngineFailed
from kokoro_container.engines.tone import ToneEngine, read_back

TEXT = "Hello there. Bye now."
HEARD = "helotherebyenow"


def decoded(data: bytes) -> tuple[str, float]:
    """What is heard in a file, and how long it is."""
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32")
    return read_back(samples, rate), len(samples) / rate


@pytest.mark.parametrize("container", ["mp3", "opus"])
async def test_compressed_audio_is_all_there(http, container: str) -> None:
    """Peers lose the last second or two of these."""
    plain = await http.post("/invocations", json={"text": TEXT})
    exact_s = float(plain.headers["x-audio-duration"])
    for rate, stream in ((8000, True), (24_000, False), (24_000, True), (48_000, False)):
        body = {"text": TEXT, "format": container, "sample_rate": rate, "stream": stream}
        response = await http.post("/invocations", json=body)

        heard, duration_s = decoded(response.content)
        assert heard == HEARD
        # MP3 frames without a header for it are decoded with the encoder's delay around the audio.
        most_s = exact_s + (2304 / rate if container == "mp3" else 0) + 0.001
        assert exact_s - 0.001 <= duration_s <= most_s
        if not stream:
            told_s = float(response.headers["x-audio-duration"])
            assert told_s == pytest.approx(exact_s, abs=0.0015)


async def test_streamed_and_whole_are_the_same_audio(http) -> None:
    for container in ("wav", "pcm", "mp3", "opus"):
        body = {"text": TEXT, "format": container}

        whole = (await http.post("/invocations", json=body)).content
        streamed = (await http.post("/invocations", json=body | {"stream": True})).content

        header = 44 if container == "wav" else 0
        if container == "opus":  # the streams' serial numbers differ, and so do their checksums
            assert decoded(whole) == decoded(streamed)
        else:
            assert whole[header:] == streamed[header:]


async def test_any_beginning_of_an_mp3_stream_can_be_played(http) -> None:
    """Which is what a browser does that starts before the end is made."""
    body = {"text": TEXT, "format": "mp3", "stream": True}
    mp3 = (await http.post("/invocations", json=body)).content

    heard, _ = decoded(mp3[: len(mp3) // 2])

    assert len(heard) > 4
    assert HEARD.startswith(heard[:-1])


async def test_nothing_to_speak_is_an_empty_file_with_a_warning(http) -> None:
    for container in ("mp3", "opus"):
        response = await http.post("/invocations", json={"text": "?!", "format": container})

        assert (response.status_code, response.content) == (200, b"")
        assert "nothing to speak" in response.headers["x-kokoro-warnings"]
        assert (response.headers["x-audio-duration"], response.headers["x-rtf"]) == ("0.000", "0")


async def test_custom_attributes_name_the_request_and_come_back(http) -> None:
    """They are the only headers that SageMaker hands through, in both directions."""
    name = "X-Amzn-SageMaker-Custom-Attributes"
    for stream in (False, True):
        response = await http.post(
            "/invocations",
            json={"text": "a", "stream": stream},
            headers={name: "tenant=a;request_id=r-7"},
        )

        told = dict(part.split("=") for part in response.headers[name].split(";"))
        assert response.headers["x-request-id"] == told["request_id"] == "r-7"
        assert stream or told["audio_duration_s"] == response.headers["x-audio-duration"]


REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"text": ""}, 400, "invalid_message"),
    ({"text": "a", "voice": "nobody"}, 400, "unknown_voice"),
    ({"text": "a", "format": "opus", "sample_rate": 44100}, 400, "unsupported_sample_rate"),
    ({"text": "a", "request_timestamp": 1_000_000}, 408, "request_stale"),
    ({"text": "a", "request_timestamp": "x"}, 400, "invalid_message"),
    ({"text": "a", "transport": "tape"}, 400, "invalid_message"),
    ({"input": "a", "response_format": "flac"}, 400, "unsupported_encoding"),
    ({"text": "a" * 30_000}, 413, "text_too_long"),
]


@pytest.mark.parametrize("extra", [{}, {"transport": "sse", "stream_format": "sse"}])
async def test_a_refusal_is_json_with_its_status(http, extra: dict[str, str]) -> None:
    """Also where events were asked for: nothing of the answer was sent yet."""
    for body, status, code in REFUSALS:
        response = await http.post(
            "/invocations", json=extra | body, headers={"X-Request-Id": "r-1"}
        )

        assert response.status_code == status
        assert response.headers["content-type"] == "application/json"
        assert response.json()["error"]["code"] == code
        assert response.headers["x-request-id"] == "r-1"
        assert "Traceback" not in response.text


async def test_each_post_is_logged_with_its_figures_and_without_its_text(http, caplog) -> None:
    headers = {
        "X-Amzn-SageMaker-Target-Variant": "blue",
        "X-Amzn-SageMaker-Custom-Attributes": "request_id=r-9;note=marmalade",
    }
    with caplog.at_level(logging.DEBUG):
        await http.post("/invocations", json={"text": "Marmalade."}, headers=headers)
        await http.post("/invocations", json={"text": "Marmalade.", "speed": "x"}, headers=headers)

    answered = [r for r in caplog.records if getattr(r, "request_id", None) == "r-9"]
    assert len(answered) == 2
    assert (answered[0].variant, answered[0].chars) == ("blue", 10)
    assert answered[0].audio_s > 0
    assert "armalade" not in "".join(str(record.__dict__) for record in answered)


class _FailsLate(ToneEngine):
    """Cannot say an x."""

    def synthesize(self, phonemes, *args, **kwargs):
        if "x" in phonemes:
            raise EngineFailed("the model cannot say an x")
        return super().synthesize(phonemes, *args, **kwargs)


@pytest.mark.parametrize("dialect", ["sample", "openai"])
async def test_a_failure_midway_is_the_last_event(serving, dialect: str) -> None:
    """The stream ends as HTTP wants it, so the event arrives; the sample's error has its name."""
    text = "One sentence after the other is said here. " * 20 + "x"
    body = {
        "sample": {"text": text, "transport": "sse", "request_timestamp": time.time()},
        "openai": {"input": text, "stream_format": "sse", "response_format": "pcm"},
    }[dialect]
    async with (
        serving(_FailsLate()) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        response = await http.post("/invocations", json=body)

    assert response.status_code == 200
    last = response.text.strip().split("\n\n")[-1]
    assert "synthesis_failed" in last
    assert last.startswith("event: error\n" if dialect == "sample" else 'data: {"type": "error"')
    assert "audio_chunk" in response.text or "speech.audio.delta" in response.text
    assert "audio_stream_end" not in response.text
    assert "speech.audio.done" not in response.text


async def test_pieces_are_counted_exactly_at_every_rate(http) -> None:
    for rate in (8000, 16_000, 22_050, 24_000, 44_100, 48_000):
        body = {"text": TEXT, "format": "pcm", "sample_rate": rate}
        response = await http.post("/invocations", json=body)

        samples = np.frombuffer(response.content, "<i2")
        exact = float(response.headers["x-audio-duration"]) * rate
        assert len(samples) == pytest.approx(exact, abs=0.001 * rate)
        assert read_back(samples.astype(np.float32) / 32767, rate) == HEARD
