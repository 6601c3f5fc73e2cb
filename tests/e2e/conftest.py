"""The command line against a server in a process of its own, as a user has both."""

import http.client
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

COMMAND = [sys.executable, "-m", "kokoro_sagemaker_agents.cli.main"]
START_S = 100.0  # on a fresh machine the weights are prepared first, which takes up to a minute

Cli = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Runs `kokoro-agents` with arguments and, if given, standard input."""

    def run(
        *arguments: str, stdin: bytes = b"", timeout_s: float = 60.0, **variables: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [*COMMAND, *arguments],
            input=stdin,
            capture_output=True,
            timeout=timeout_s,
            check=False,
            env={**os.environ, **variables},
        )

    return run


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def ping(port: int) -> int:
    """The status of `/ping`; 0 if nobody listens."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/ping")
        return connection.getresponse().status
    except OSError:
        return 0
    finally:
        connection.close()


@contextmanager
def serving(engine: str) -> Iterator[str]:
    """The `ws://` address of `kokoro-agents serve`, ended as an operator ends it."""
    port = free_port()
    server = subprocess.Popen([*COMMAND, "serve", "--engine", engine, "--port", str(port)])
    deadline_s = time.monotonic() + START_S
    try:
        while ping(port) != 200:
            assert server.poll() is None, "the server ended before it was ready"
            assert time.monotonic() < deadline_s, "the server was not ready in time"
            time.sleep(0.1)  # between two questions; what is waited for is the answer
        yield f"ws://127.0.0.1:{port}"
        server.send_signal(signal.SIGTERM)
        assert server.wait(30) == 0
    finally:
        server.kill()
        server.wait()


@pytest.fixture(scope="session")
def tone_server() -> Iterator[str]:
    """A server with the tone engine."""
    with serving("tone") as url:
        yield url
