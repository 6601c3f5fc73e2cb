"""A process that does one thing at a time on request, so that two sides can take turns.

The parent sends a JSON line and gets one back; the timing is done in the child, around the work.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any


class Worker:
    """The parent's end: a context manager whose `ask` does one request."""

    def __init__(self, python: str, script: Path, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [python, str(script), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._process.args} ended with {self._process.wait()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def serve(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """The child's end: answers requests until the parent closes the pipe."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
