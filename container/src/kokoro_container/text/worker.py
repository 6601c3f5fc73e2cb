"""The G2P in processes of its own; see `kokoro_container.g2p_pool` for the server's side.

    server ── control ──> nursery: loads the languages once, then only makes and kills copies
       └──── a socket ──> copy of the nursery (fork): phonemises one text after the other

The nursery never runs a text, so it is always able to replace a copy that one has stopped. It has
one thread and no lock anybody could hold, which makes forking it safe, and a copy shares its
memory: it is there after 16 ms and adds 9 MB to the nursery's 340 (measured, two old cores).

Nothing here outlives the server: the nursery ends with its control socket, killing its copies, and
a copy ends with its own socket or, on Linux, with the nursery, however that ended.

Messages are msgpack behind their length. Nothing received can name code to run.
"""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import signal
import socket
import struct
import sys
import time
from typing import Final, TypeVar

import msgspec

from .g2p import Phonemizer
from .phonemes import Phonemes

FORK: Final = b"F"
KILL: Final = b"K"
ORDER: Final = struct.Struct("!cI")
"""What the nursery is told: what to do, and with KILL to which process. A FORK comes with the
copy's socket and is answered by the process id, as `PID`."""

PID: Final = struct.Struct("!I")

LOADED_BY_COPIES: Final = frozenset({"ja"})
"""Languages the nursery leaves to its copies: Japanese brings onnxruntime's threads (measured),
which a fork would leave behind."""

_LENGTH: Final = struct.Struct("!I")
_MOST_BYTES: Final = 64 * 1024 * 1024  # a text of a million characters has an answer of 40 MB
_PR_SET_PDEATHSIG: Final = 1  # linux/prctl.h


class Say(msgspec.Struct, frozen=True, tag=True):
    """Phonemise a text; answered by an `Answer` with phonemes."""

    text: str
    language: str


class Load(msgspec.Struct, frozen=True, tag=True):
    """Make a language ready; answered by an empty `Answer`."""

    language: str


Request = Say | Load


class Answer(msgspec.Struct, frozen=True):
    """What became of a request.

    Attributes:
        phonemes: of a `Say`.
        error: what was raised instead: the class's name and what it said.
        log: levels and messages of what was logged meanwhile.
    """

    phonemes: Phonemes | None = None
    error: tuple[str, str] | None = None
    log: tuple[tuple[int, str], ...] = ()


Message = TypeVar("Message")


def send(to: socket.socket, message: Say | Load | Answer) -> None:
    """Sends one message.

    Raises:
        OSError: the other side is gone, or (TimeoutError) does not take it.
    """
    data = msgspec.msgpack.encode(message)
    to.sendall(_LENGTH.pack(len(data)) + data)


def receive(
    source: socket.socket, decoder: msgspec.msgpack.Decoder[Message], until: float | None = None
) -> Message:
    """Waits for one message.

    Args:
        source: where from.
        decoder: knows what it may be.
        until: how long to wait, on the monotonic clock; None for ever.

    Raises:
        EOFError: the other side is gone.
        TimeoutError: it is too late.
        OSError: the connection failed.
        ValueError: what came is no such message.
    """
    (length,) = _LENGTH.unpack(exactly(source, _LENGTH.size, until))
    if length > _MOST_BYTES:
        raise ValueError(f"a message of {length} bytes is longer than any")
    return decoder.decode(exactly(source, length, until))


def exactly(source: socket.socket, length: int, until: float | None) -> bytes:
    """So many bytes; raises as `receive` does."""
    data = bytearray()
    while len(data) < length:
        if until is not None:
            source.settimeout(max(until - time.monotonic(), 1e-6))
        part = source.recv(length - len(data))
        if not part:
            raise EOFError("the other side ended")
        data += part
    return bytes(data)


class _Log(logging.Handler):
    """Keeps what is logged for the next answer: the server has the log."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: list[tuple[int, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self._kept.append((record.levelno, record.getMessage()))

    def take(self) -> tuple[tuple[int, str], ...]:
        taken, self._kept = self._kept, []
        return tuple(taken)


def main(phonemizer: Phonemizer | None = None) -> None:
    """Runs the nursery.

    Its standard input is the control socket, its arguments are the languages to load, with commas,
    and the server's process id.

    Args:
        phonemizer: what the copies answer with.
    """
    _die_with(int(sys.argv[2]))
    control = socket.socket(fileno=0)
    log = _Log()
    logging.getLogger().addHandler(log)
    phonemizer = phonemizer or Phonemizer()
    try:
        phonemizer.warm_up(
            language for language in sys.argv[1].split(",") if language not in LOADED_BY_COPIES
        )
    except Exception as error:  # the server says it, in its own log
        send(control, Answer(error=_named(error), log=log.take()))
        return
    # Kept out of the copies' collections, which would touch, and so unshare, every page.
    gc.collect()
    gc.freeze()
    send(control, Answer(log=log.take()))
    _nurse(control, phonemizer, log)


def _nurse(control: socket.socket, phonemizer: Phonemizer, log: _Log) -> None:
    """Makes and kills copies until the server's end of the socket is closed.

    Only here are they waited for, so a process id stays a copy's own until it is forgotten here.
    """
    copies: set[int] = set()
    while True:
        order, descriptors, _, _ = socket.recv_fds(control, ORDER.size, 1)
        copies -= {pid for pid in copies if os.waitpid(pid, os.WNOHANG)[0]}
        if not order:
            break
        kind, pid = ORDER.unpack(order)
        if kind == KILL:
            if pid in copies:
                _end(pid)
                copies.remove(pid)
            continue
        nursery = os.getpid()
        pid = os.fork()
        if not pid:
            control.close()
            _work(socket.socket(fileno=descriptors[0]), phonemizer, log, nursery)
        os.close(descriptors[0])
        copies.add(pid)
        control.sendall(PID.pack(pid))
    for pid in copies:
        _end(pid)


def _end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _work(server: socket.socket, phonemizer: Phonemizer, log: _Log, nursery: int) -> None:
    """The copy: answers requests until the server has no more. Does not return."""
    status = 1
    try:
        _die_with(nursery)
        _answer_all(server, phonemizer, log)
        status = 0
    except OSError:
        pass  # the server is gone in the middle of a message
    finally:
        os._exit(status)  # nothing of the nursery's own end is the copy's business


def _die_with(parent: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before this was arranged
        os._exit(1)


def _answer_all(server: socket.socket, phonemizer: Phonemizer, log: _Log) -> None:
    decoder = msgspec.msgpack.Decoder(Request)
    while True:
        try:
            request = receive(server, decoder)
        except EOFError:
            return
        phonemes = error = None
        try:
            if isinstance(request, Say):
                phonemes = phonemizer(request.text, request.language)
            else:
                phonemizer.warm_up([request.language])
        except Exception as raised:  # goes to whoever asked
            error = _named(raised)
        send(server, Answer(phonemes, error, log.take()))


def _named(error: Exception) -> tuple[str, str]:
    return type(error).__name__, str(error)


if __name__ == "__main__":
    main()
