"""The command line as a user has it: a process, its output, its exit code."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

Cli = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture(scope="session")
def cli() -> Cli:
    """Runs `kokoro-agents` with arguments and, if given, standard input."""

    def run(*arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "kokoro_sagemaker_agents.cli.main", *arguments],
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},  # ours must not depend on it
        )

    return run
