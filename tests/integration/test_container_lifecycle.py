"""From the first /ping to the last word: loading, load, draining."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest

from kokoro_container.engines.tone import ToneEngine, spell
from kokoro_container.server import running_server
from kokoro_container.service import Settings


class SlowToLoad:
    """Gives an engine when it is told to."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.go = threading.Event()

    def __call__(self) -> ToneEngine:
        self.asked.set()
        assert self.go.wait(20)
        return ToneEngine()


async def test_ping_is_503_until_a_text_was_spoken(connect) -> None:
    loader = SlowToLoad()
    async with (
        running_server(loader, phonemize=spell, wait_ready=False) as server,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        assert await asyncio.to_thread(loader.asked.wait, 20)
        before = await http.get("/ping")
        early = asyncio.create_task(http.post("/invocations", json={"text": "Hello."}))
        loader.go.set()
        async with connect(server.url) as client:  # says ready when it is
            await client.says()
        after = await http.post("/ping")

        assert (await early).status_code == 200
    assert (before.status_code, before.json()) == (503, {"status": "loading", "stage": "model"})
    assert (after.status_code, after.json()) == (200, {"status": "ready"})


async def test_a_server_that_cannot_load_says_why_and_ends() -> None:
    def broken() -> ToneEngine:
        raise RuntimeError("the weights are damaged")

    with pytest.raises(RuntimeError, match="weights are damaged"):
        async with running_server(broken, phonemize=spell):
            pass


async def test_a_model_that_cannot_speak_is_not_ready() -> None:
    class Mute(ToneEngine):
        def synthesize(self, *args, **kwargs):
            raise RuntimeError("no sound")

    with pytest.raises(RuntimeError, match="no sound"):
        async with running_server(Mute, phonemize=spell):
            pass


async def test_ping_answers_while_the_model_works(serving, connect) -> None:
    async with (
        serving(ToneEngine(call_s=0.05)) as server,
        connect(server.url) as client,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        for number in range(50):
            await client.speak(f"c{number}", "One sentence after the other is said here. " * 20)
        slowest = 0.0
        for _ in range(20):
            started = time.perf_counter()
            assert (await http.get("/ping")).status_code == 200
            slowest = max(slowest, time.perf_counter() - started)

    assert slowest < 2  # what SageMaker gives it; 3 ms here


async def test_draining_finishes_what_was_begun_and_takes_no_new_session(serving, connect) -> None:
    async with (
        serving(ToneEngine(call_s=0.1)) as server,
        connect(server.url) as client,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        await client.speak("a", "One sentence after the other is said here. " * 10)
        await client.until("chunk_started")
        draining = asyncio.create_task(server.drain())
        message, _, _ = await client.until("draining")
        ping = await http.get("/ping")
        async with connect(server.url) as late:
            told, _, _ = await late.until("draining")
            await asyncio.wait_for(late.socket.wait_closed(), 10)
        await client.speak("a", "And one more.", 1)
        await client.send("end", context_id="a")
        done, _, _ = await client.until("context_done", "a")
        await asyncio.wait_for(client.socket.wait_closed(), 10)
        await draining

    assert message["deadline_s"] == 20.0
    assert ping.status_code == 503
    assert told["type"] == "draining"
    assert late.socket.close_code == 1012
    assert done["chunks"] == 2
    assert client.socket.close_code == 1012


async def test_draining_does_not_wait_longer_than_its_deadline(serving, connect) -> None:
    engine = ToneEngine()
    async with serving(engine, Settings(drain_s=0.2)) as server, connect(server.url) as client:
        engine.call_s = 60.0
        await client.speak("a", "Hello.")
        await client.send("ping")
        await client.until("pong")
        started = time.monotonic()
        await server.drain()
        await asyncio.wait_for(client.socket.wait_closed(), 10)

    assert time.monotonic() - started < 5
    assert client.socket.close_code == 1012


async def test_a_taken_port_is_a_clear_error() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]

        with pytest.raises(OSError, match=f"cannot listen on 127.0.0.1:{port}.*another port"):
            async with running_server("tone", port, phonemize=spell):
                pass


@pytest.fixture
def process():
    """The server as SageMaker starts it, and the port it was told."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PORT": str(port), "KOKORO_ENGINE": "tone"}
    environment["KOKORO_LANGUAGES"] = "en-us"
    command = [sys.executable, "-m", "kokoro_container", "serve"]
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as started:
        yield started, port
        started.kill()


async def test_sigterm_drains_the_process_and_it_ends_well(process, connect) -> None:
    started, port = process
    await _until_ready(port)
    async with connect(f"ws://127.0.0.1:{port}") as client:
        await client.speak("a", "One sentence after the other is said here. " * 50)
        await client.until("chunk_started")
        started.send_signal(signal.SIGTERM)
        await client.until("draining")
        await client.send("end", context_id="a")
        done, _, _ = await client.until("context_done")
    _, log = await asyncio.to_thread(started.communicate, timeout=20)

    assert done["chunks"] == 1
    assert started.returncode == 0
    assert "ready after" in log
    assert "SIGTERM received" in log
    assert "Traceback" not in log


async def _until_ready(port: int) -> None:
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=5) as http:
        for _ in range(600):
            try:
                if (await http.get("/ping")).status_code == 200:
                    return
            except httpx.TransportError:
                pass  # the socket isn't open yet
            await asyncio.sleep(0.1)
    raise AssertionError("the server was not ready within a minute")
