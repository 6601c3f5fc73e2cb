"""`POST /invocations`: whole, streamed, given up."""

import asyncio
import io
import time
import wave

import httpx
import numpy as np
import pytest

from kokoro_container.engines.base import EngineFailed
from kokoro_container.engines.tone import ToneEngine, read_back
from kokoro_container.service import Settings


def heard(pcm: bytes, sample_rate: int = 24_000) -> str:
    return read_back(np.frombuffer(pcm, "<i2").astype(np.float32) / 32767.0, sample_rate)


async def test_a_whole_wav_has_an_exact_header(http) -> None:
    response = await http.post("/invocations", json={"text": "Hello **there**. Bye.", "x": 1})

    assert response.headers["content-type"] == "audio/wav"
    with wave.open(io.BytesIO(response.content)) as file:
        assert file.getparams()[:3] == (1, 2, 24_000)
        assert len(response.content) == 44 + 2 * file.getnframes()
        assert heard(file.readframes(file.getnframes())) == "helotherebye"


async def test_the_sample_requests_of_aws_are_understood(http) -> None:
    request = {
        "text": "Hello there.",
        "voice": "af_heart",
        "speed": 1.0,
        "stream": False,
        "transport": "binary",
        "format": "wav",
        "sample_rate": 24000,
        "request_id": "r-1",
        "request_timestamp": time.time(),
    }

    assert (await http.post("/invocations", json=request)).status_code == 200


@pytest.mark.parametrize("rate", [8000, 16000, 48000])
async def test_rates_are_honoured(http, rate: int) -> None:
    response = await http.post("/invocations", json={"text": "Hello there.", "sample_rate": rate})

    with wave.open(io.BytesIO(response.content)) as file:
        assert file.getframerate() == rate
        assert file.getnframes() / rate == pytest.approx(1.1, abs=0.1)


async def test_raw_pcm_says_what_it_is(http) -> None:
    request = {"text": "Hello.", "format": "pcm", "encoding": "pcm_alaw", "sample_rate": 8000}

    response = await http.post("/invocations", json=request)

    assert response.headers["content-type"] == "audio/pcm; rate=8000; encoding=pcm_alaw"
    assert len(response.content) / 8000 == pytest.approx(0.65, abs=0.1)


async def test_a_stream_starts_before_the_rest_is_made_and_holds_the_same_audio(serving) -> None:
    text = "One sentence after the other is said here. " * 20
    async with (
        serving(ToneEngine(call_s=0.1)) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        loop = asyncio.get_running_loop()
        started, first_s, parts = loop.time(), None, b""
        async with http.stream(
            "POST", "/invocations", json={"text": text, "stream": True}
        ) as response:
            async for part in response.aiter_raw():
                parts += part
                if first_s is None and len(parts) > 44:
                    first_s = loop.time() - started
        all_s = loop.time() - started

    assert response.headers["content-type"] == "audio/wav"
    assert parts[:4] == b"RIFF"
    assert parts[4:8] == parts[40:44] == b"\xff\xff\xff\xff"
    assert set(heard(parts[44:])) == set("onesentenceaftertheotherissaidhere")
    assert first_s is not None
    assert all_s > 3 * first_s


async def test_a_client_that_goes_away_stops_its_synthesis(serving) -> None:
    text = "One sentence after the other is said here. " * 200
    async with (
        serving(ToneEngine(call_s=0.02)) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        async with http.stream(
            "POST", "/invocations", json={"text": text, "stream": True}
        ) as response:
            await anext(response.aiter_raw())
        await asyncio.wait_for(server.service.scheduler.wait_idle(), 10)

        with pytest.raises(httpx.ReadTimeout):
            await http.post("/invocations", json={"text": text}, timeout=0.2)
        await asyncio.wait_for(server.service.scheduler.wait_idle(), 10)


class _Fails(ToneEngine):
    """Cannot say an x, once the server is ready."""

    armed = False

    def synthesize(self, phonemes, *args, **kwargs):
        if self.armed and "x" in phonemes:
            raise EngineFailed("the model cannot say an x")
        return super().synthesize(phonemes, *args, **kwargs)


@pytest.fixture
async def failing(serving):
    engine = _Fails()
    async with (
        serving(engine) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        engine.armed = True
        yield http


@pytest.mark.parametrize("stream", [True, False])
async def test_a_failed_synthesis_is_an_error_not_an_empty_file(failing, stream: bool) -> None:
    response = await failing.post("/invocations", json={"text": "x", "stream": stream})

    assert response.status_code == 500
    assert response.json()["error"]["code"] == "synthesis_failed"
    assert response.json()["error"]["retryable"]
    assert (await failing.post("/invocations", json={"text": "a"})).status_code == 200


async def test_a_stream_that_fails_midway_is_cut_off_not_ended(failing) -> None:
    text = "One sentence after the other is said here. " * 20 + "x"

    with pytest.raises(httpx.RemoteProtocolError):
        await failing.post("/invocations", json={"text": text, "stream": True})


async def test_part_of_a_failed_reply_is_not_passed_off_as_all_of_it(failing) -> None:
    text = "One sentence after the other is said here. " * 20 + "x"

    response = await failing.post("/invocations", json={"text": text})

    assert response.status_code == 500


async def test_a_post_that_finds_no_room_is_told_to_come_back(serving) -> None:
    engine = ToneEngine()
    settings = Settings(queued_chunks=1)
    async with (
        serving(engine, settings) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        engine.call_s = 0.3
        first = asyncio.create_task(http.post("/invocations", json={"text": "Hello."}))
        while not server.service.scheduler.jobs:  # noqa: ASYNC110  # nothing announces its arrival
            await asyncio.sleep(0)
        second = await http.post("/invocations", json={"text": "Hello."})

        assert (await first).status_code == 200
    assert second.status_code == 503
    assert second.headers["retry-after"] == "1"
    assert second.json()["error"]["code"] == "queue_saturated"
