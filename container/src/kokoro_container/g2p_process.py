"""The processes of `g2p_pool`, seen from the server: the nursery and its copies."""

from __future__ import annotations

import contextlib
import logging
import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from typing import Final

import msgspec

from .text.worker import FORK, KILL, ORDER, PID, Answer, Load, Say, exactly, receive, send

logger = logging.getLogger(__name__)

WORKER: Final = f"{__package__}.text.worker"
"""What the processes run."""

START_S: Final = 120.0
"""For starting: 5 s on two old cores, 9 s with all nine languages (measured); cold disks are
slower."""

FORK_S: Final = 2.0
"""For a new copy, which takes 16 ms (measured). The nursery has nothing else to do."""

END_S: Final = 2.0

_ANSWERS: Final = msgspec.msgpack.Decoder(Answer)

# Threads of a library would be missing in a copy; phonemes have no use for them.
_ONE_THREAD: Final = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"), "1"
)


class ProcessEnded(Exception):
    """The process is gone, for whatever reason, or makes no sense."""


class Nursery:
    """The process that has the languages loaded and makes copies of itself.

    It ends with the thread that made it (on Linux) and with the server (everywhere).

    Args:
        languages: what it loads.
        module: what it runs.

    Raises:
        OSError: it could not be started.
    """

    def __init__(self, languages: Iterable[str], module: str = WORKER) -> None:
        self._loaded = False
        self._lock = threading.Lock()  # one order at a time
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", module, ",".join(languages), str(os.getpid())],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,  # what libraries print is not the server's output
                env=os.environ | _ONE_THREAD,
                process_group=0,  # Ctrl-C is the server's alone, which finishes what is queued
            )

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

    @property
    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def wait_loaded(self) -> None:
        """Returns when it can make copies.

        Raises:
            ValueError: an unknown language.
            RuntimeError: a language's data is not installed, or the process ended.
        """
        try:
            answer = receive(self._control, _ANSWERS, time.monotonic() + START_S)
        except TimeoutError:
            raise RuntimeError(
                f"the G2P process did not load its languages within {START_S:.0f} s; give the"
                " machine more time, or name fewer languages"
            ) from None
        except (EOFError, OSError, msgspec.MsgspecError, ValueError):
            self._process.kill()
            raise RuntimeError(
                f"the G2P process ended with status {self._process.wait()} while it loaded its"
                " languages; it needs 400 MB of memory"
            ) from None
        _pass_on(answer)
        if answer.error is not None:
            raise same_error(*answer.error)
        self._loaded = True

    def copy(self) -> Copy:
        """A new copy.

        Raises:
            OSError: it makes none (TimeoutError), or is gone.
            EOFError: it is gone.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs, self._lock:
                self._control.settimeout(FORK_S)
                socket.send_fds(self._control, [ORDER.pack(FORK, 0)], [theirs.fileno()])
                answer = exactly(self._control, PID.size, time.monotonic() + FORK_S)
        except BaseException:
            ours.close()
            raise
        return Copy(PID.unpack(answer)[0], ours, self)

    def kill_copy(self, pid: int) -> None:
        """Kills a copy, unless it is gone."""
        with contextlib.suppress(OSError), self._lock:
            self._control.settimeout(FORK_S)
            self._control.sendall(ORDER.pack(KILL, pid))

    def wait(self) -> int:
        """Returns when it has ended, its status."""
        return self._process.wait()

    def kill(self) -> None:
        """Ends it and its copies at once."""
        self._process.kill()

    def end(self) -> None:
        """Ends it and its copies; returns when they are gone."""
        if not self._loaded:
            self._process.kill()
        with contextlib.suppress(OSError):
            self._control.shutdown(socket.SHUT_RDWR)
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with self._lock:
            self._control.close()


class Copy:
    """A process for one text at a time.

    Attributes:
        pid: of the process.
        languages: what it has loaded, beside what the nursery had.
    """

    def __init__(self, pid: int, connection: socket.socket, nursery: Nursery) -> None:
        self.pid = pid
        self.languages: set[str] = set()
        self._connection = connection
        self._nursery = nursery

    @property
    def running(self) -> bool:
        """Whether an idle copy can be given something: it has not ended."""
        readable, _, _ = select.select([self._connection], [], [], 0)
        return not readable  # it says nothing unasked

    def ask(self, request: Say | Load, limit_s: float) -> Answer:
        """Has one request answered.

        Raises:
            TimeoutError: it took longer than this.
            ProcessEnded: it ended instead.
        """
        until = time.monotonic() + limit_s
        try:
            self._connection.settimeout(limit_s)
            send(self._connection, request)
            answer = receive(self._connection, _ANSWERS, until)
        except TimeoutError:
            raise
        except (EOFError, OSError, msgspec.MsgspecError, ValueError) as error:
            raise ProcessEnded from error
        _pass_on(answer)
        return answer

    def hang_up(self) -> None:
        """Ends it once it is idle, and a call that waits for it at once."""
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Ends it once it is idle; no call may wait for it."""
        self._connection.close()

    def kill(self) -> None:
        """Ends it, whatever it is at; no call may wait for it."""
        self._nursery.kill_copy(self.pid)
        self._connection.close()


def same_error(name: str, message: str) -> Exception:
    """What was raised in the process. Of an unforeseen error only the name is told: what it said
    may hold the text."""
    if name in ("ValueError", "RuntimeError"):
        return (ValueError if name == "ValueError" else RuntimeError)(message)
    return RuntimeError(f"the G2P failed with {name}")


def _pass_on(answer: Answer) -> None:
    for level, message in answer.log:
        logger.log(level, "%s", message)
