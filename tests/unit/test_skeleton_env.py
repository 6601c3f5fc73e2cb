"""`make env`: done once, not again, and redone after an interruption.

The real script runs on a stand-in for Python, so that no package is installed.
"""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Answers the finder, makes a .venv that holds itself, and for pip does what $PIP_DOES says.
STAND_IN = """#!/bin/sh
case "$1 ${2:-}" in
"-m venv") rm -rf .venv && mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
"-m pip") eval "$PIP_DOES" ;;
"-V "*) echo "Python 3.12.0" ;;
*) echo "3.12 $0" ;;
esac
"""


class Clone:
    """A copy of what `make env` reads, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "clone"
        self.python = folder / "bin/python3.12"
        shutil.copytree(ROOT / "scripts", self.folder / "scripts")
        (self.folder / "container").mkdir()
        for name in ("Makefile", "pyproject.toml", "container/pyproject.toml", "constraints.txt"):
            shutil.copy(ROOT / name, self.folder / name)
        self.add_python(self.python)

    def add_python(self, path: Path) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(STAND_IN)
        path.chmod(0o755)

    def start(self, pip_does: str, python: Path | None = None) -> subprocess.Popen[str]:
        variables = {
            "PATH": f"{self.python.parent}:{os.environ['PATH']}",
            "PYTHON": str(python or ""),
            "PIP_DOES": pip_does,
        }
        return subprocess.Popen(
            ["make", "env"],
            cwd=self.folder,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def make_env(self, pip_does: str = "echo installed", python: Path | None = None) -> str:
        """The output of `make env`, failed or not."""
        output, _ = self.start(pip_does, python).communicate()
        return output

    @property
    def leftover(self) -> Path:
        """A file that survives as long as .venv isn't made anew."""
        return self.folder / ".venv/leftover"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


def test_a_second_run_does_nothing(clone: Clone) -> None:
    first = clone.make_env()
    second = clone.make_env(pip_does="echo must not run; exit 1")

    assert "ready after" in first
    assert second == ".venv: up to date (Python 3.12.0)\n"


def test_changed_requirements_are_installed_over_what_is_there(clone: Clone) -> None:
    clone.make_env()
    clone.leftover.touch()
    with (clone.folder / "constraints.txt").open("a") as constraints:
        constraints.write("another==1.0\n")

    assert "ready after" in clone.make_env()
    assert clone.leftover.exists()
    assert "up to date" in clone.make_env()


def test_another_interpreter_makes_it_anew_and_stays(clone: Clone) -> None:
    clone.make_env()
    clone.leftover.touch()
    other = clone.python.with_name("python3.12-other")
    clone.add_python(other)

    assert f"making it with {other}" in clone.make_env(python=other)
    assert not clone.leftover.exists()
    assert "up to date" in clone.make_env()


def test_a_moved_folder_makes_it_anew(clone: Clone) -> None:
    clone.make_env()
    clone.folder = clone.folder.rename(clone.folder.with_name("moved"))

    assert "making it with" in clone.make_env()


def test_pips_output_is_shown_only_when_it_fails_and_then_it_is_redone(clone: Clone) -> None:
    failed = clone.make_env(pip_does="echo no such version; exit 1")
    clone.leftover.touch()
    redone = clone.make_env(pip_does="echo Collecting everything")

    assert "no such version" in failed
    assert "pip failed" in failed
    assert "ready after" in redone
    assert "Collecting" not in redone
    assert not clone.leftover.exists()
    assert "Collecting everything" in (clone.folder / ".venv/install.log").read_text()


def test_an_interrupted_run_is_redone(clone: Clone, tmp_path: Path) -> None:
    began = tmp_path / "began"
    os.mkfifo(began)
    running = clone.start(f"echo $PPID > '{began}'; exec sleep 60")
    script_pid = int(began.read_text())  # waits until pip runs
    clone.leftover.touch()
    os.kill(script_pid, signal.SIGTERM)
    output, _ = running.communicate()

    assert running.returncode != 0
    assert "interrupted; run make env again" in output
    assert "ready after" in clone.make_env()
    assert not clone.leftover.exists()
