"""A server for the time of one command, when none was named."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from .failure import CommandFailed, UsageError
from .progress import ProgressLine

#: Preparing the weights takes up to a minute on a slow machine; this only ends a hopeless wait.
_START_TIMEOUT_S: Final = 300.0
#: A model call that is running can be let go within this; then the process is killed.
_STOP_TIMEOUT_S: Final = 5.0
#: How often the progress line shows the time going by.
_TICK_S: Final = 0.5


@dataclass(frozen=True, slots=True)
class LocalServer:
    """Where it is: `url` (`ws://…`) for sessions, `http_url` for `/ping` and `/invocations`.

    Behind an emulated SageMaker endpoint also `endpoint_url`, and the authority it is signed by.
    """

    url: str
    http_url: str
    endpoint_url: str = ""
    ca_path: str = ""


def require_container() -> None:
    """Raise `CommandFailed` unless the container package is installed."""
    if find_spec("kokoro_container") is None:
        raise CommandFailed(
            "the speech engine is not installed here; with Python 3.11 or 3.12 run"
            " pip install -e '.[local]' -e ./container, or name a server with --url"
        )


def refuse_missing_torch(engine: str) -> None:
    """Raise `UsageError` if the torch engine is asked for and its packages are not here."""
    if engine == "torch" and not has_torch():
        raise UsageError(
            "the torch engine is not installed here; in an environment of its own (make test-torch"
            " makes .venv-torch) pip install -e './container[torch]', or use --engine onnx"
        )


def has_torch() -> bool:
    """Whether the torch engine's packages are installed."""
    return find_spec("torch") is not None and find_spec("kokoro") is not None


@asynccontextmanager
async def local_server(
    engine: str, progress: ProgressLine, *, debug: bool = False, sagemaker: bool = False
) -> AsyncIterator[LocalServer]:
    """A server in a child process, ready to speak; it ends with the block.

    Args:
        engine: as `--engine` has it.
        progress: shows what starting it is at.
        debug: let its log through.
        sagemaker: with an emulated SageMaker endpoint in front of it.

    Raises:
        CommandFailed: it could not start; the message is its own.
        UsageError: an engine that is not there.
    """
    refuse_missing_torch(engine)
    require_container()
    command = [sys.executable, "-m", "kokoro_sagemaker_agents.cli.child_server", engine]
    child = await asyncio.create_subprocess_exec(
        *command,
        *(["--debug"] if debug else []),
        *(["--sagemaker"] if sagemaker else []),
        stdin=PIPE,
        stdout=PIPE,
        start_new_session=True,  # Ctrl-C is ours alone: the child ends when its input does
    )
    try:
        server = await _ready(child, progress)
        progress.clear()
        yield server
    finally:
        await _stop(child)


async def _ready(child: Process, progress: ProgressLine) -> LocalServer:
    """Where it is, once it can speak."""
    stage = "starting the speech server"
    answer = asyncio.ensure_future(_read(child))
    try:
        async with asyncio.timeout(_START_TIMEOUT_S):
            while True:
                progress.show(stage)
                await asyncio.wait([answer], timeout=_TICK_S)
                if not answer.done():
                    continue
                told = answer.result()
                if "url" in told:
                    return LocalServer(**told)
                if "error" in told:
                    raise CommandFailed(told["error"])
                stage = told["stage"]
                answer = asyncio.ensure_future(_read(child))
    except TimeoutError:
        raise CommandFailed(
            f"the speech server was not ready after {_START_TIMEOUT_S:.0f} s (it was at: {stage});"
            " run kokoro-agents doctor"
        ) from None
    finally:
        answer.cancel()
        progress.clear()


async def _read(child: Process) -> dict[str, str]:
    assert child.stdout is not None
    line = await child.stdout.readline()
    if not line:
        code = await child.wait()
        return {"error": f"the speech server ended with code {code}; run it again with --debug"}
    told: dict[str, str] = json.loads(line)
    return told


async def _stop(child: Process) -> None:
    assert child.stdin is not None
    child.stdin.close()
    try:
        async with asyncio.timeout(_STOP_TIMEOUT_S):
            await child.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()
