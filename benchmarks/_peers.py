"""Environments for the peers we are measured against, each made on first use beside `.venv`."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def peer_python(name: str, *requirements: str) -> str:
    """Returns the Python of the peer's own environment, made with these requirements if need be.

    A requirement that is only a name gets the version that is installed here, so that both sides
    run the same one.
    """
    folder = ROOT / f".venv-bench-{name}"
    python = folder / "bin" / "python"
    wanted = [r if "=" in r else f"{r}=={importlib.metadata.version(r)}" for r in requirements]
    stamp = folder / "requirements.txt"
    if not stamp.is_file() or stamp.read_text("utf-8") != "\n".join(wanted):
        print(f"making the environment of {name} (once) …", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        install = [str(python), "-m", "pip", "install", "-q", *wanted]
        done = subprocess.run(install, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"pip could not install {', '.join(wanted)}:\n{done.stderr}")
        stamp.write_text("\n".join(wanted), "utf-8")
    return str(python)
