"""`kokoro-agents emulate` as a process, called by a client that has set what it prints."""

import json
import signal
import ssl
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from .conftest import COMMAND, Cli

pytest.importorskip("h2", reason="the extra [emulator] is not installed")
pytest.importorskip("cryptography", reason="the extra [emulator] is not installed")


def test_it_serves_until_it_is_told_to_end(tone_server: str, tmp_path: Path) -> None:
    command = subprocess.Popen(
        [
            *COMMAND,
            "emulate",
            *("--container", tone_server, "--endpoint", "speech", "--port", "0", "--json"),
            *("--fault", "throttle", "--directory", str(tmp_path)),
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert command.stdout is not None
        told = json.loads(command.stdout.readline())
        assert told["environment"]["SSL_CERT_FILE"] == str(tmp_path / "ca.pem")

        request = urllib.request.Request(
            f"{told['endpoint_url']}/endpoints/speech/invocations",
            json.dumps({"text": "Hello there."}).encode(),
            {"Content-Type": "application/json"},
        )
        trust = ssl.create_default_context(cafile=told["ca"])
        with pytest.raises(urllib.error.HTTPError, match="400"):
            urllib.request.urlopen(request, context=trust, timeout=30)
        with urllib.request.urlopen(request, context=trust, timeout=30) as answer:
            assert answer.read(4) == b"RIFF"

        command.send_signal(signal.SIGTERM)
        assert command.wait(30) == 0
    finally:
        command.kill()
        command.wait()


def test_a_fault_that_is_none_is_said_in_words(cli: Cli) -> None:
    done = cli("emulate", "--container", "ws://127.0.0.1:1", "--fault", "reset@open:x")

    assert done.returncode == 2
    assert "give a number" in done.stderr.decode()
    assert b"Traceback" not in done.stderr
