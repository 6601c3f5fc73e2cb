"""The AWS Kokoro sample's clients against our container: its requests, read as they read."""

import asyncio
import base64
import json
import struct
import threading
import time
from collections.abc import AsyncIterator
from typing import Any

import httpx
import numpy as np
import pytest
import websockets

from kokoro_container.engines.base import EngineAudio
from kokoro_container.engines.tone import ToneEngine, read_back
from kokoro_container.service import Settings

STREAM = "/invocations-bidirectional-stream"


def heard(pcm: bytes, sample_rate: int = 24_000) -> str:
    return read_back(np.frombuffer(pcm, "<i2").astype(np.float32) / 32767.0, sample_rate)


def events_in(parts: list[bytes]) -> list[tuple[str, dict[str, Any]]]:
    """A reader of the sample's events, fed with the stream in whatever parts it came."""
    found, buffer = [], b""
    for part in parts:
        buffer += part
        while b"\n\n" in buffer:
            block, _, buffer = buffer.partition(b"\n\n")
            fields = dict(line.split(": ", 1) for line in block.decode().split("\n"))
            found.append((fields["event"], json.loads(fields["data"])))
    assert buffer == b""
    return found


class HeldEngine(ToneEngine):
    """Makes so many calls and then waits until it is released."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = threading.Semaphore(1_000_000)

    def hold(self, *, after: int) -> None:
        self._calls = threading.Semaphore(after)

    def release(self) -> None:
        self._calls.release(1_000_000)

    def synthesize(self, *args: Any, **kwargs: Any) -> EngineAudio:
        self._calls.acquire(timeout=20)
        return super().synthesize(*args, **kwargs)


async def drain(socket: websockets.ClientConnection) -> tuple[list[dict[str, Any]], bytes]:
    """Reads as the sample's client does: what begins with a brace and is JSON is no audio."""
    messages, audio = [], b""
    while True:
        frame = await asyncio.wait_for(socket.recv(), 20)
        data = frame.encode() if isinstance(frame, str) else frame
        if data[:1] == b"{":
            message = json.loads(data)
            if message["type"] != "ready":  # unknown to it, so it goes on
                messages.append(message)
            if message["type"] in ("synthesis_complete", "error"):
                return messages, audio
        else:
            audio += data


@pytest.fixture
async def socket(server) -> AsyncIterator[websockets.ClientConnection]:
    async with websockets.connect(server.url + STREAM, close_timeout=2) as opened:
        yield opened


def message(text: str, **fields: Any) -> bytes:
    body = {"text": text, "voice": "af_heart", "request_timestamp": time.time(), **fields}
    return json.dumps(body).encode()


async def test_sentence_after_sentence_on_one_session(socket) -> None:
    for text in ("Hello there.", "How are you?", "Bye now."):
        await socket.send(message(text))
        messages, audio = await drain(socket)

        assert [m["type"] for m in messages] == ["synthesis_start", "synthesis_complete"]
        assert len({m["request_id"] for m in messages}) == 1
        assert heard(audio) in text.lower().translate({ord(c): None for c in " .?"}).replace(
            "ll", "l"
        )
        duration_s = len(audio) / 2 / 24_000
        assert messages[-1]["total_duration_s"] == pytest.approx(duration_s, abs=0.001)
        assert 0 <= messages[-1]["elapsed_s"] < 20
    await socket.send('{"type": "close"}')
    with pytest.raises(websockets.ConnectionClosedOK):
        await asyncio.wait_for(socket.recv(), 20)


async def test_a_client_that_says_close_at_once_still_hears_everything(socket) -> None:
    await socket.send(message("Hello there.", request_id="r-1"))
    await socket.send(message("Bye.", request_id="r-2"))
    await socket.send('{"type": "close"}')

    first = await drain(socket)
    second = await drain(socket)

    assert [heard(audio) for _, audio in (first, second)] == ["helothere", "bye"]
    assert [m[-1]["request_id"] for m, _ in (first, second)] == ["r-1", "r-2"]
    with pytest.raises(websockets.ConnectionClosedOK):
        await asyncio.wait_for(socket.recv(), 20)


async def test_speed_and_rate(socket) -> None:
    await socket.send(message("Hello there.", sample_rate=8000))
    plain, narrow = await drain(socket)
    await socket.send(message("Hello there.", speed=2.0))
    fast, _ = await drain(socket)

    assert len(narrow) / 2 / 8000 == pytest.approx(plain[-1]["total_duration_s"], abs=0.001)
    assert fast[-1]["total_duration_s"] < 0.7 * plain[-1]["total_duration_s"]


@pytest.mark.parametrize(
    ("text", "age_s", "fields", "code"),
    [
        ("", 0.0, {}, "invalid_message"),
        ("a", 0.0, {"voice": "../../etc/passwd"}, "unknown_voice"),
        ("a", 100.0, {}, "request_stale"),
    ],
)
async def test_a_refused_message_leaves_the_session_alive(
    socket, text: str, age_s: float, fields: dict[str, str], code: str
) -> None:
    await socket.send(message(text, request_timestamp=time.time() - age_s, **fields))
    messages, _ = await drain(socket)
    await socket.send(message("Still here."))
    _, audio = await drain(socket)

    assert messages[-1]["message"].startswith(code)
    assert heard(audio) == "stilhere"


async def test_audio_comes_before_all_of_it_is_made(serving) -> None:
    """The sample synthesises a whole message before it sends a byte."""
    engine = HeldEngine()
    async with (
        serving(engine) as server,
        websockets.connect(server.url + STREAM, close_timeout=2) as socket,
    ):
        engine.hold(after=1)
        await socket.send(message("One sentence after the other is said here. " * 20))
        while not isinstance(await asyncio.wait_for(socket.recv(), 20), bytes):
            pass
        assert server.service.scheduler.jobs == 1
        engine.release()
        messages, _ = await drain(socket)

    assert messages[-1]["total_duration_s"] > 20


async def test_events_in_the_samples_words(http) -> None:
    body = {"text": "Hello there. Bye.", "format": "wav", "transport": "sse", "request_id": "r-1"}

    response = await http.post("/invocations", json=body)

    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers["cache-control"] == "no-cache"
    events = events_in([response.content])
    assert [name for name, _ in events[:2]] == ["audio_stream_start", "audio_chunk"]
    start = {"request_id": "r-1", "format": "wav", "voice": "af_heart", "sample_rate": 24_000}
    assert events[0][1] == start
    chunks = [data for name, data in events if name == "audio_chunk"]
    assert [chunk["seq"] for chunk in chunks] == list(range(len(chunks)))
    wav = b"".join(base64.b64decode(chunk["data"]) for chunk in chunks)
    assert wav[:4] == b"RIFF"
    assert heard(wav[44:]) == "helotherebye"
    end = {
        "request_id": "r-1",
        "total_chunks": len(chunks),
        "duration_s": pytest.approx((len(wav) - 44) / 48_000, abs=0.001),
    }
    assert events[-1] == ("audio_stream_end", end)


async def test_events_survive_being_split_anywhere(http) -> None:
    """SageMaker's parts end where they like, inside an event, a line or a character."""
    body = {"text": "Hello there.", "format": "mp3", "transport": "sse", "request_id": "r-1"}
    stream = (await http.post("/invocations", json=body)).content
    whole = events_in([stream])

    for size in (1, 2, 3, 7, 64, 1000):
        assert events_in([stream[at : at + size] for at in range(0, len(stream), size)]) == whole
    for at in range(0, len(stream), 97):
        assert events_in([stream[:at], stream[at:]]) == whole
    assert max(map(len, stream.split(b"\n"))) < 32_768


async def test_a_streamed_wav_as_its_client_reads_it(http) -> None:
    body = {
        "text": "Hello there.",
        "voice": "af_heart",
        "speed": 1.0,
        "format": "wav",
        "request_timestamp": time.time(),
        "sample_rate": 16_000,
    }

    response = await http.post("/invocations", json=body, headers={"Accept": "audio/wav"})

    wav = response.content
    assert wav[:4] == b"RIFF"
    assert wav[40:44] == b"\xff\xff\xff\xff"
    assert struct.unpack_from("<I", wav, 24) == (16_000,)
    assert heard(wav[44:], 16_000) == "helothere"


async def test_headers_of_a_whole_answer(http) -> None:
    body = {"text": "Hello there.", "stream": False, "request_id": "r-1"}

    response = await http.post("/invocations", json=body)

    duration_s = (len(response.content) - 44) / 48_000
    assert float(response.headers["x-audio-duration"]) == pytest.approx(duration_s, abs=0.001)
    assert float(response.headers["x-rtf"]) > 0
    assert int(response.headers["x-inference-time-ms"]) >= 0
    assert response.headers["x-characters-processed"] == "12"
    assert response.headers["x-request-id"] == "r-1"


async def test_a_stale_request_is_refused(serving) -> None:
    settings = Settings(request_age_s=5.0)
    async with (
        serving(settings=settings) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        old = {"text": "a", "request_timestamp": time.time() - 6, "request_id": "r-1"}
        stale = await http.post("/invocations", json=old)
        fresh = await http.post("/invocations", json=old | {"request_timestamp": time.time()})

    assert stale.status_code == 408
    assert stale.json()["error"]["code"] == "request_stale"
    assert fresh.status_code == 200


async def test_no_more_posts_than_the_queue_may_hold(serving) -> None:
    """Sessions are not counted, and room is there again once an answer is sent."""
    engine = HeldEngine()
    async with (
        serving(engine, Settings(posts=2)) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
        websockets.connect(server.url + STREAM, close_timeout=2) as socket,
    ):
        engine.hold(after=0)
        answered = [
            asyncio.create_task(http.post("/invocations", json={"text": "a"})) for _ in range(2)
        ]
        while len(server.service.posts) < 2:  # noqa: ASYNC110  # nothing announces its arrival
            await asyncio.sleep(0)
        refused = await http.post("/invocations", json={"text": "a"})
        engine.release()
        await socket.send(message("Hello."))
        messages, _ = await drain(socket)
        assert [(await post).status_code for post in answered] == [200, 200]
        after = await http.post("/invocations", json={"text": "a"})

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    assert refused.json()["error"] == {
        "code": "queue_saturated",
        "message": refused.json()["error"]["message"],
        "retryable": True,
    }
    assert messages[-1]["type"] == "synthesis_complete"
    assert after.status_code == 200
