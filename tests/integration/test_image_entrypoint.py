"""The image's process without Docker: its ENTRYPOINT and CMD, its environment, no network."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from ._dockerfile import image, pairs

KILLED_AFTER_S = 30  # by SageMaker, after SIGTERM

# Runs before anything else in the server and in every Python that it starts.
NO_NETWORK = """
import os, socket

def guarded(name):
    real = getattr(socket.socket, name)
    def call(self, *arguments):
        address = arguments[-1]
        if self.family != socket.AF_UNIX and address[0] not in ("127.0.0.1", "::1", "0.0.0.0"):
            refuse(address[0])
        return real(self, *arguments)
    return call

def refuse(host):
    with open(os.environ["ASKED_FOR"], "a") as file:
        file.write(f"{host}\\n")
    raise OSError(f"no network in this test: {host}")

def look_up(host, *arguments, real=socket.getaddrinfo, **options):
    if host not in (None, "", "127.0.0.1", "localhost", "0.0.0.0"):
        refuse(host)
    return real(host, *arguments, **options)

for name in ("connect", "connect_ex", "sendto"):
    setattr(socket.socket, name, guarded(name))
socket.getaddrinfo = look_up
"""


@dataclass
class Container:
    """The running process.

    Attributes:
        port: what it was told to listen on.
        process: itself.
        environment: what it was started with.
        log: its standard error.
        asked_for: the hosts that something in it wanted to reach.
    """

    port: int
    process: subprocess.Popen[bytes]
    environment: dict[str, str]
    log: Path
    asked_for: Path

    async def until_ready(self) -> None:
        async with httpx.AsyncClient(timeout=5) as http:
            while True:  # pytest's own deadline ends it
                assert self.process.poll() is None, self.log.read_text()
                try:
                    if (await http.get(f"http://127.0.0.1:{self.port}/ping")).status_code == 200:
                        return
                except httpx.TransportError:
                    pass  # the socket isn't open yet
                await asyncio.sleep(0.1)

    def healthy(self) -> bool:
        """What the image's HEALTHCHECK says."""
        (check,) = image("onnx").all("HEALTHCHECK")
        command = json.loads(check.split("CMD", 1)[1])
        done = subprocess.run(command, env=self.environment, capture_output=True, check=False)
        assert done.returncode in (0, 1), done.stderr
        return done.returncode == 0


Run = Callable[..., AbstractContextManager[Container]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Starts the image's process: `docker run -e NAME=VALUE … image ARGUMENT …`."""

    @contextmanager
    def start(*arguments: str, **variables: str) -> Iterator[Container]:
        (tmp_path / "sitecustomize.py").write_text(NO_NETWORK)
        asked_for, log = tmp_path / "asked_for", tmp_path / "log"
        asked_for.touch()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        stage = image("onnx")
        environment = {
            "HOME": os.environ.get("HOME", "/"),
            **pairs(stage, "ENV", "onnx"),
            # Where this machine has what the image has in its own places:
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(tmp_path),
            "ASKED_FOR": str(asked_for),
            "SAGEMAKER_BIND_TO_PORT": str(port),
            "KOKORO_LANGUAGES": "en-us",
            **variables,
        }
        command = [*json.loads(stage.all("ENTRYPOINT")[0]), *arguments]
        with log.open("wb") as errors:
            process = subprocess.Popen(
                command, env=environment, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=errors
            )
        try:
            yield Container(port, process, environment, log, asked_for)
        finally:
            process.kill()
            process.wait()

    return start


@pytest.mark.parametrize(
    "engine",
    ["tone", pytest.param("onnx", marks=[pytest.mark.model, pytest.mark.timeout(240)])],
)
async def test_the_image_serves_offline_and_drains_on_sigterm(
    engine: str, run: Run, connect
) -> None:
    (command,) = image("onnx").all("CMD")
    # This machine's cache: preparing the weights anew is another test's.
    own = {"KOKORO_ENGINE": engine, "KOKORO_CACHE_DIR": os.environ.get("KOKORO_CACHE_DIR", "")}
    with run(*json.loads(command), **own) as container:
        await container.until_ready()
        assert container.healthy()
        async with httpx.AsyncClient(timeout=60) as http:
            url = f"http://127.0.0.1:{container.port}/invocations"
            answer = await http.post(url, json={"text": "Hello from the image."})
        async with connect(f"ws://127.0.0.1:{container.port}") as client:
            await client.speak("a", "One sentence after the other is said here. " * 2)
            await client.until("chunk_started")
            container.process.send_signal(signal.SIGTERM)
            _, before, _ = await client.until("draining")
            await client.send("end", context_id="a")
            done, behind, messages = await client.until("context_done")
        code = await asyncio.to_thread(container.process.wait, KILLED_AFTER_S)
        log = container.log.read_text()

    assert answer.status_code == 200
    assert answer.content[:4] == b"RIFF"
    assert len(answer.content) > 24_000  # half a second
    (chunk,) = (message for message in messages if message["type"] == "chunk_done")
    spoken = sum(len(part) for part in (*before.values(), *behind.values()))
    assert spoken == 2 * chunk["samples"] > 0
    assert done["chunks"] == 1
    assert code == 0, log
    assert "Traceback" not in log
    assert container.asked_for.read_text() == ""
    assert not container.healthy()


def test_the_network_is_closed_in_these_tests(run: Run) -> None:
    with run("serve", KOKORO_ENGINE="tone") as container:
        attempt = "import urllib.request as r; r.urlopen('http://example.com')"
        done = subprocess.run(
            [sys.executable, "-c", attempt],
            env=container.environment,
            capture_output=True,
            check=False,
        )

    assert b"no network in this test" in done.stderr
    assert container.asked_for.read_text() == "example.com\n"


@pytest.mark.parametrize(
    ("arguments", "variables", "said"),
    [
        (("train",), {}, "'train' is nothing this image can do.*`serve`"),
        (
            ("serve",),
            {"SAGEMAKER_BIND_TO_PORT": "http"},
            "SAGEMAKER_BIND_TO_PORT='http' is no port",
        ),
    ],
)
def test_a_wrong_start_is_told_in_one_line(
    arguments: tuple[str, ...], variables: dict[str, str], said: str, run: Run
) -> None:
    with run(*arguments, **variables) as container:
        code = container.process.wait(60)

    (line,) = container.log.read_text().splitlines()
    assert code == 1
    assert re.search(said, line)
