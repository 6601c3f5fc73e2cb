"""What a command is waiting for, on standard error."""

from __future__ import annotations

import sys
import time


class ProgressLine:
    """One line that says what is being done and for how long; a new line each where none can be
    overwritten (a log file).

    Args:
        quiet: show nothing.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet
        self._overwrite = sys.stderr.isatty()
        self._started_s = time.monotonic()
        self._shown = ""
        self._last_what = ""

    def show(self, what: str) -> None:
        """This is being done now; may be called again and again to show the time go by."""
        if self._quiet or (not self._overwrite and what == self._last_what):
            return
        self._last_what = what
        line = f"{time.monotonic() - self._started_s:5.1f} s  {what} …"
        if self._overwrite:
            print(f"\r{line:<{len(self._shown)}}", end="", file=sys.stderr, flush=True)
            self._shown = line
        else:
            print(line, file=sys.stderr, flush=True)

    def clear(self) -> None:
        """It is done: take the line away."""
        if self._shown:
            print(f"\r{' ' * len(self._shown)}\r", end="", file=sys.stderr, flush=True)
            self._shown = ""
