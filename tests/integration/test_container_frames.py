"""A POST that is answered in the protocol's frames."""

import asyncio
import json
import threading
from typing import Any

import httpx
import pytest

from kokoro_container.engines.tone import ToneEngine
from kokoro_container.service import Settings
from kokoro_sagemaker_agents.protocol.framing import Unpacker

TEXT = "Hello there, my friend. How are you today?"


async def asked(http: httpx.AsyncClient, **fields: Any) -> list[Any]:
    """The answer's frames: messages decoded, audio as it is."""
    response = await http.post("/invocations", json={"transport": "frames", **fields})
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-kokoro-frames"
    frames = Unpacker().feed(response.content)
    return [json.loads(frame) if isinstance(frame, str) else frame for frame in frames]


def kinds(frames: list[Any]) -> list[str]:
    return [frame["type"] for frame in frames if isinstance(frame, dict)]


def audio(frames: list[Any]) -> bytes:
    return b"".join(frame for frame in frames if isinstance(frame, bytes))


async def test_the_answer_is_what_a_session_gets(
    server: Any, http: httpx.AsyncClient, connect: Any
) -> None:
    async with connect(server.url) as client:
        await client.speak("a", TEXT, timestamps="word")
        done, expected, messages = await client.until("chunk_done", "a")
    frames = await asked(http, text=TEXT, timestamps="word")

    assert audio(frames) == bytes(expected["a", 0])
    assert frames[-1]["type"] == "chunk_done"
    assert frames[-1]["samples"] == done["samples"]
    told = [m["words"] for m in messages if m["type"] == "word_timestamps"]
    assert [f["words"] for f in frames if isinstance(f, dict) and "words" in f] == told
    assert kinds(frames)[-1:] == ["chunk_done"]
    assert "context_done" not in kinds(frames)


async def test_without_a_text_it_says_what_it_is(server: Any, http: httpx.AsyncClient) -> None:
    (ready,) = await asked(http)
    assert ready["type"] == "ready"
    assert ready["engine"] == "tone"
    assert ready["instance_id"]


@pytest.mark.parametrize("encoding", ["pcm_s16le", "mp3"])
async def test_a_chunk_goes_on_from_a_sample(http: httpx.AsyncClient, encoding: str) -> None:
    whole = await asked(http, text=TEXT, chunk_id=0, encoding=encoding)
    rest = await asked(http, text=TEXT, chunk_id=0, encoding=encoding, from_sample=10_001)

    assert rest[-1]["samples"] == whole[-1]["samples"]
    if encoding == "pcm_s16le":
        assert audio(rest) == audio(whole)[2 * 10_001 :]


async def test_a_lexicon_and_markup_are_heeded(http: httpx.AsyncClient) -> None:
    plain = audio(await asked(http, text="Nguyen is here."))
    said = await asked(http, text="Nguyen is here.", lexicon={"en-us": {"Nguyen": "win"}})
    paused = await asked(http, text="Nguyen [pause:1s] is here.", markup="inline")
    assert len(audio(said)) < len(plain) < len(audio(paused)) - 40_000


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"text": 5}, "invalid_message"),
        ({"text": "a" * 30_000}, "text_too_long"),
        ({"text": "a", "voice": "nobody"}, "unknown_voice"),
        ({"text": "a", "speed": 9}, "invalid_speed"),
        ({"text": "a", "chunk_id": -1}, "invalid_message"),
        ({"text": "a", "lexicon": {"xx": {"a": "b"}}}, "invalid_lexicon"),
        ({"text": "a", "lexicon": "x"}, "invalid_lexicon"),
    ],
)
async def test_what_is_wrong_is_an_error_frame(
    http: httpx.AsyncClient, fields: dict[str, Any], code: str
) -> None:
    (error,) = await asked(http, **fields)
    assert (error["type"], error["code"]) == ("error", code)


async def test_an_engine_that_fails_is_an_error_frame(serving: Any) -> None:
    class Failing(ToneEngine):
        spoken = 0

        def synthesize(self, *args: Any) -> Any:
            self.spoken += 1
            if self.spoken > 2:  # the warm-up goes well
                raise RuntimeError("secret")
            return super().synthesize(*args)

    async with serving(Failing()) as server, httpx.AsyncClient(base_url=server.http_url) as http:
        frames = await asked(http, text=TEXT)
    assert frames[-1]["type"] == "error"
    assert "secret" not in frames[-1]["message"]


async def test_no_room_is_a_503(serving: Any) -> None:
    begun, go_on = threading.Event(), threading.Event()

    class Held(ToneEngine):
        warm_up = 2

        def synthesize(self, *args: Any) -> Any:
            self.warm_up -= 1
            if self.warm_up < 0:
                begun.set()
                assert go_on.wait(20)
            return super().synthesize(*args)

    async with (
        serving(Held(), Settings(queued_chunks=1)) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        first = asyncio.create_task(asked(http, text=TEXT))
        assert await asyncio.to_thread(begun.wait, 20)
        refused = await http.post("/invocations", json={"transport": "frames", "text": TEXT})
        go_on.set()

        assert refused.status_code == 503
        assert refused.json()["error"]["code"] == "queue_saturated"
        assert (await first)[-1]["type"] == "chunk_done"
