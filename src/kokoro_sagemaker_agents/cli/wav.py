"""Speech as a WAV file, written while it arrives."""

from __future__ import annotations

import struct
import sys
import wave
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final

from .failure import CommandFailed

SAMPLE_BYTES: Final = 2  # 16-bit PCM, one channel
STDOUT: Final = "-"
#: Length fields of a WAV whose length is not known yet; players then read to the end of the stream.
_UNKNOWN: Final = 0xFFFFFFFF


class WavWriter:
    """A mono 16-bit WAV that grows; a context manager.

    The file is made when the first audio is written, or by `finish`, so a command that fails before
    it has anything to write leaves what was there alone.

    Args:
        path: the file, or `-` for standard output (its header then says that the length is open).
        sample_rate: hertz.
    """

    def __init__(self, path: str, sample_rate: int) -> None:
        self.samples = 0
        self._path = path
        self._sample_rate = sample_rate
        self._file: wave.Wave_write | None = None
        self._stdout: BinaryIO | None = None
        self._open = ExitStack()

    @property
    def seconds(self) -> float:
        """How much was written."""
        return self.samples / self._sample_rate

    def write(self, pcm: bytes) -> None:
        """Append 16-bit little-endian samples."""
        if self._path == STDOUT:
            stream = self._stdout or self._open_stdout()
            stream.write(pcm)
            stream.flush()
        else:
            (self._file or self._open_file()).writeframes(pcm)
        self.samples += len(pcm) // SAMPLE_BYTES

    def finish(self) -> None:
        """Nothing follows. Without any audio the file is a WAV of length 0."""
        self.write(b"")
        self.close()

    def close(self) -> None:
        """Close the file, if there is one, with a header that fits what was written."""
        self._open.close()

    def _open_stdout(self) -> BinaryIO:
        self._stdout = sys.stdout.buffer
        self._stdout.write(open_ended_header(self._sample_rate))
        return self._stdout

    def _open_file(self) -> wave.Wave_write:
        try:
            Path(self._path).parent.mkdir(parents=True, exist_ok=True)
            file = open(self._path, "wb")  # noqa: SIM115 - close() closes it
        except OSError as error:
            raise CommandFailed(
                f"cannot write {self._path}: {error.strerror}; name another file"
            ) from error
        self._open.enter_context(file)
        self._file = wave.open(file, "wb")  # noqa: SIM115 - close() closes it
        self._open.enter_context(self._file)
        self._file.setnchannels(1)
        self._file.setsampwidth(SAMPLE_BYTES)
        self._file.setframerate(self._sample_rate)
        return self._file

    def __enter__(self) -> WavWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def open_ended_header(sample_rate: int) -> bytes:
    """The 44 bytes before the samples of a mono 16-bit WAV of unknown length."""
    layout = struct.pack(
        "<4sIHHIIHH", b"fmt ", 16, 1, 1, sample_rate, sample_rate * SAMPLE_BYTES, SAMPLE_BYTES, 16
    )
    return (
        struct.pack("<4sI4s", b"RIFF", _UNKNOWN, b"WAVE")
        + layout
        + struct.pack("<4sI", b"data", _UNKNOWN)
    )
