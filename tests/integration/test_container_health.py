"""`/ping` tells the truth, and who would wait too long is told so."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable

import httpx
import pytest

from kokoro_container.engines.base import EngineAudio, EngineFailed
from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.g2p_pool import PhonemizerPool
from kokoro_container.server import running_server
from kokoro_container.service import Settings
from kokoro_container.text.phonemes import Phonemes

LONG = "One sentence after the other is said here. " * 10


class Patient(ToneEngine):
    """Can be stopped, and made to fail."""

    def __init__(self, *, call_s: float = 0.0) -> None:
        super().__init__(call_s=call_s)
        self.go = threading.Event()
        self.go.set()
        self.error: Exception | None = None
        self.fails_at: str = ""
        self.calls: list[str] = []

    def synthesize(self, phonemes, style, speed, cancel=None) -> EngineAudio:  # type: ignore[no-untyped-def]  # as its base
        self.calls.append(phonemes)
        assert self.go.wait(60)
        if self.error is not None and self.fails_at in phonemes:
            raise self.error
        return super().synthesize(phonemes, style, speed, cancel)


async def until(http: httpx.AsyncClient, status: int) -> dict[str, str]:
    """Asks `/ping` until it answers so; the answer."""
    async with asyncio.timeout(30):
        while True:
            answer = await http.get("/ping")
            if answer.status_code == status:
                body: dict[str, str] = answer.json()
                return body
            await asyncio.sleep(0.02)


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


def asking(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=20)


async def test_a_stuck_model_shows_and_its_return_does_too(serving, connect) -> None:
    engine = Patient()
    async with (
        serving(engine, Settings(stall_s=0.3)) as server,
        connect(server.url) as client,
        asking(server.http_url) as http,
    ):
        engine.go.clear()
        await client.speak("a", "Hello there.")
        sick = await until(http, 503)
        metrics = (await http.get("/metrics")).text
        engine.go.set()
        well = await until(http, 200)
        done, audio, _ = await client.until("chunk_done")

    assert sick["status"] == "unhealthy"
    assert "model has not come back" in sick["problem"]
    assert "kokoro_ready 0.0" in metrics
    assert well == {"status": "ready"}
    assert len(audio["a", 0]) == done["samples"] * 2  # and its text was not lost


async def test_a_dead_model_shows_and_its_return_needs_no_client(serving, connect) -> None:
    engine = Patient()
    async with (
        serving(engine) as server,
        connect(server.url) as client,
        asking(server.http_url) as http,
    ):
        engine.error = EngineFailed("the device is gone")
        await client.speak("a", "Hello there.")
        error, _, _ = await client.until("error")
        sick = await until(http, 503)
        engine.error = None
        well = await until(http, 200)
        await client.says()

    assert error["code"] == "synthesis_failed"
    assert sick["problem"].endswith("EngineFailed: the device is gone")
    assert well == {"status": "ready"}


async def test_a_text_that_cannot_be_spoken_makes_nobody_sick(serving, connect) -> None:
    engine = Patient()
    async with (
        serving(engine) as server,
        connect(server.url) as client,
        asking(server.http_url) as http,
    ):
        engine.error, engine.fails_at = EngineFailed("no x"), "x"
        before = len(engine.calls)
        await client.speak("a", "xxx")
        await client.until("error")
        await eventually(lambda: len(engine.calls) == before + 2)  # the text, and one for nobody

        assert (await http.get("/ping")).status_code == 200
        await client.says("hello", "b")


async def test_stuck_g2p_shows_and_its_return_does_too(connect) -> None:
    go = threading.Event()
    go.set()

    def phonemize(text: str, language: str) -> Phonemes:
        assert go.wait(60)
        return spell(text, language)

    settings = Settings(stall_s=0.01)  # and twice what the G2P may need
    async with (
        running_server(ToneEngine, phonemize=phonemize, settings=settings) as server,
        connect(server.url) as client,
        asking(server.http_url) as http,
    ):
        go.clear()
        await client.speak("a", "Hello there.")
        sick = await until(http, 503)
        go.set()
        await until(http, 200)
        await client.until("chunk_done")

    assert "G2P has not come back" in sick["problem"]


async def test_g2p_that_says_it_is_dead_is_believed() -> None:
    class Processes:
        living = True

        def __call__(self, text: str, language: str) -> Phonemes:
            return spell(text, language)

        def alive(self) -> bool:
            return self.living

    processes = Processes()
    async with (
        running_server(ToneEngine, phonemize=processes) as server,
        asking(server.http_url) as http,
    ):
        assert (await http.get("/ping")).status_code == 200
        processes.living = False
        sick = await http.get("/ping")
        processes.living = True
        well = await http.get("/ping")

    assert (sick.status_code, well.status_code) == (503, 200)
    assert sick.json()["problem"] == "the G2P processes are gone or stuck"


async def test_killed_g2p_processes_show_until_others_are_there() -> None:
    settings = Settings(languages=("en-us",))
    async with (
        running_server(ToneEngine, settings=settings) as server,
        asking(server.http_url) as http,
    ):
        pool = server.service.phonemize
        assert isinstance(pool, PhonemizerPool)
        killed = pool.nursery_pid
        assert killed is not None
        assert (await http.get("/ping")).status_code == 200

        os.kill(killed, signal.SIGKILL)
        sick = await until(http, 503)
        await until(http, 200)
        spoken = await http.post("/invocations", json={"text": "Hello there."})

    assert sick["problem"] == "the G2P processes are gone or stuck"
    assert pool.nursery_pid != killed
    assert spoken.status_code == 200


async def test_who_would_wait_too_long_is_told_at_once(serving, connect) -> None:
    engine = Patient(call_s=0.3)  # which the warm-up teaches the server
    async with (
        serving(engine, Settings(max_wait_s=0.4)) as server,
        connect(server.url) as client,
        asking(server.http_url) as http,
    ):
        engine.go.clear()
        await client.speak("a", LONG)
        await client.speak("b", LONG)
        await client.speak("c", LONG)
        error, _, _ = await client.until("error")
        post = await http.post("/invocations", json={"text": LONG, "stream": True})
        await client.speak("a", "And more of what was begun.", 1)
        engine.call_s = 0.0
        engine.go.set()
        for context_id in ("a", "b"):
            await client.send("end", context_id=context_id)
        done = [await client.until("context_done") for _ in "ab"]

    assert (error["code"], error["retryable"]) == ("overloaded", True)
    assert (error["context_id"], error["chunk_id"]) == ("c", 0)
    assert "would wait about" in error["message"]
    assert (post.status_code, post.json()["error"]["retryable"]) == (503, True)
    assert sorted((message["context_id"], message["chunks"]) for message, _, _ in done) == [
        ("a", 2),
        ("b", 1),
    ]


async def test_a_closing_server_takes_no_new_post(serving, connect) -> None:
    async with (
        serving(ToneEngine(call_s=0.1)) as server,
        connect(server.url) as client,
        asking(server.http_url) as http,
    ):
        await client.speak("a", LONG)
        await client.until("chunk_started")
        draining = asyncio.create_task(server.drain())
        await client.until("draining")
        post = await http.post("/invocations", json={"text": "Hello."})
        metrics = (await http.get("/metrics")).text
        await client.send("end", context_id="a")
        done, _, _ = await client.until("context_done")
        await draining

    assert (post.status_code, post.json()["error"]["code"]) == (503, "draining")
    assert "kokoro_draining 1.0" in metrics
    assert done["chunks"] == 1


@pytest.mark.parametrize("workers", [1, 3])
async def test_so_many_texts_are_on_the_model_as_there_are_workers(
    workers: int, serving, connect
) -> None:
    engine = Patient()
    async with serving(engine, Settings(workers=workers)) as server, connect(server.url) as client:
        engine.go.clear()
        before = len(engine.calls)
        for number in range(5):
            await client.speak(f"c{number}", "Hello there.")
            await client.send("end", context_id=f"c{number}")
        await client.send("ping")
        await client.until("pong")
        await eventually(lambda: len(engine.calls) - before >= workers)
        at_once = len(engine.calls) - before
        engine.go.set()
        for _ in range(5):
            await client.until("context_done")

    assert at_once == workers
