"""A command's own server never outlives it, however it ends."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import COMMAND, Cli, free_port

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks into /proc")


def children(pid: int) -> list[int]:
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def gone(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


def until(happened: Callable[[], object], timeout_s: float = 30.0) -> None:
    deadline_s = time.monotonic() + timeout_s
    while not happened():
        assert time.monotonic() < deadline_s, "it did not happen in time"
        time.sleep(0.05)  # between two looks


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_server_ends_with_the_command(how: signal.Signals, tmp_path: Path) -> None:
    command = subprocess.Popen(
        [*COMMAND, "speak", "--engine", "tone", "-o", str(tmp_path / "a.wav")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        # A shell's background job, which a test run may be, ignores SIGINT and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        until(lambda: children(command.pid))
        (server,) = children(command.pid)

        os.killpg(command.pid, how)
        _, complaint = command.communicate(timeout=30)

        until(lambda: gone(server))
        assert b"Traceback" not in complaint
        assert command.returncode == (130 if how == signal.SIGINT else -how)
    finally:
        command.kill()
        command.wait()


def test_serve_on_a_port_that_is_taken_says_so(cli: Cli) -> None:
    with socket.socket() as taken:
        port = free_port()
        taken.bind(("127.0.0.1", port))
        taken.listen()

        done = cli("serve", "--engine", "tone", "--port", str(port))

    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr.decode()
    assert b"Traceback" not in done.stderr
