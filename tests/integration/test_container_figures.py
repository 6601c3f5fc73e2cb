"""What an operator sees of a server: `/metrics`, the log, the lines for CloudWatch."""

import asyncio
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from kokoro_container.engines.tone import ToneEngine
from kokoro_container.server import running_server
from kokoro_container.text.phonemes import Phonemes

SECRET = "Xylophone quagmire zeppelin"
WORDS = SECRET.lower().split()


async def figures(http: httpx.AsyncClient) -> dict[str, float]:
    answer = await http.get("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    return {
        sample.name + "".join(f" {label}" for label in sample.labels.values()): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


async def test_a_servers_life_in_figures(server, connect, http) -> None:
    before = await figures(http)
    async with connect(server.url) as client:
        await client.says("Hello there.", "a")
        await client.speak("open", "Hello again.")
        await client.until("chunk_done", "open")
        during = await figures(http)
        await client.send("cancel", context_id="open")
        await client.until("context_cancelled")
        await client.speak("b", "Hello.", voice="nobody")
        await client.until("error")
        await http.post("/invocations", content=b"no json")
        await http.post("/invocations", json={"text": "Hello."})
    after = await figures(http)

    assert before["kokoro_ready"] == 1
    assert before["kokoro_draining"] == 0
    assert before["kokoro_chunks_total"] == 0
    assert during["kokoro_active_sessions"] == 1
    assert during["kokoro_active_contexts"] == 1
    assert during["kokoro_queued_chunks"] == 0
    assert during["kokoro_chunks_total"] == 2
    assert during["kokoro_first_audio_seconds_count"] == 2
    assert after["kokoro_chunks_total"] == 3
    assert after["kokoro_cancelled_contexts_total"] == 1
    assert after["kokoro_errors_total unknown_voice"] == 1
    assert after["kokoro_errors_total invalid_json"] == 1
    assert after["kokoro_audio_seconds_total"] > during["kokoro_audio_seconds_total"] > 0
    assert after["process_resident_memory_bytes"] > 1e6


async def test_a_failure_that_quotes_the_text_is_not_logged_with_it(
    connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "kokoro_container")

    def quoting(text: str, language: str) -> Phonemes:
        if SECRET in text:
            raise ValueError(f"cannot say {text!r}")
        return Phonemes("a", (), ())

    async with (
        running_server(ToneEngine, phonemize=quoting) as server,
        connect(server.url) as client,
        httpx.AsyncClient(base_url=server.http_url, timeout=20) as http,
    ):
        await client.speak("a", SECRET)
        error, _, _ = await client.until("error")
        post = await http.post("/invocations", json={"text": SECRET})

    assert error["code"] == "internal"
    assert post.status_code == 500
    assert "ValueError" in caplog.text
    assert not [word for word in WORDS if word in caplog.text.lower()]


@pytest.fixture
def process() -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A container's server with all its words on, and its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PORT": str(port),
        "KOKORO_ENGINE": "tone",
        "KOKORO_LANGUAGES": "en-us",
        "KOKORO_LOG_LEVEL": "DEBUG",
        "KOKORO_METRICS_EVERY_S": "3600",  # one report, when it ends
        "KOKORO_SERVICE_NAME": "kokoro-test",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "kokoro_container", "serve"],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        yield started, port
        started.kill()


async def test_a_container_logs_json_and_reports_to_cloudwatch_and_keeps_secrets(
    process: tuple[subprocess.Popen[str], int], connect
) -> None:
    started, port = process
    await _until_ready(port)
    async with connect(f"ws://127.0.0.1:{port}") as client:
        await client.says(SECRET, "a")
        await client.send("speak", context_id=SECRET, chunk_id="none", text=SECRET)
        await client.until("error")
        await client.socket.send('{"type": "speak", "text": "' + SECRET)
        await client.until("error")
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=20) as http:
        headers = {"X-Request-Id": "r-17"}
        await http.post("/invocations", json={"text": SECRET}, headers=headers)
        await http.post("/invocations", json={"text": SECRET, "voice": SECRET})
        await http.post("/invocations", content=SECRET.encode())
    started.send_signal(signal.SIGTERM)
    printed, log = await asyncio.to_thread(started.communicate, timeout=30)

    lines: list[dict[str, Any]] = [json.loads(line) for line in log.splitlines()]
    by_message = {line["message"]: line for line in lines}
    assert {"time", "level", "logger", "message"} <= set(lines[0])
    session = by_message["session closed"]
    assert (session["chunks"], session["chars"]) == (1, len(SECRET))
    assert by_message["session opened"]["session"] == session["session"]
    assert by_message["chunk spoken"]["level"] == "DEBUG"
    assert by_message["a POST was answered"]["request_id"] == "r-17"

    report = json.loads(printed.splitlines()[0])
    assert report["Service"] == "kokoro-test"
    assert report["Chunks"] == 2
    assert report["Errors"] == 4
    assert report["Draining"] == 1
    assert report["InstanceId"].startswith("kokoro-")

    assert not [word for word in WORDS if word in (log + printed).lower()]


async def _until_ready(port: int) -> None:
    async with asyncio.timeout(90), httpx.AsyncClient(timeout=5) as http:
        while True:
            try:
                if (await http.get(f"http://127.0.0.1:{port}/ping")).status_code == 200:
                    return
            except httpx.TransportError:
                pass  # the socket isn't open yet
            await asyncio.sleep(0.1)
