"""Do our runtime extras install beside what voice agents on SageMaker have installed already?

For each neighbour a fresh environment with all extras but `dev` and `deploy`, the container and the
neighbour, as pip resolves them without `constraints.txt`; then `pip check` and a round trip through
the emulator, by both transports. Minutes, and 2 GB for each.

    .venv/bin/python scripts/install_matrix.py [NAME …] [--keep]
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEIGHBOURS = {
    "alone": [],
    "pipecat": ["pipecat-ai[sagemaker,aws]"],
    "deepgram": ["deepgram-sagemaker"],
    # aioboto3, which the deployment brings, holds aiobotocore at 2.25.
    "aiobotocore-2": ["aiobotocore==2.25.1"],
}
NOT_TRIED = ("dev", "deploy")


def run(*command: str) -> str:
    """Run it; raises `RuntimeError` with what it printed if it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[:4])} …\n{done.stdout[-2000:]}{done.stderr[-3000:]}")
    return done.stdout.strip()


def extras() -> str:
    """All that are for running, with commas between."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return ",".join(name for name in project["optional-dependencies"] if name not in NOT_TRIED)


def tried(name: str, keep: bool) -> str:
    """Make the environment and speak through it; what it holds, or `RuntimeError`."""
    folder = ROOT / f".venv-bench-install-{name}"
    python = str(folder / "bin" / "python")
    try:
        run(sys.executable, "-m", "venv", "--clear", str(folder))
        ours = ["-e", f".[{extras()}]", "-e", "./container"]
        run(python, "-m", "pip", "install", "-q", *ours, *NEIGHBOURS[name])
        run(python, "-m", "pip", "check")
        return run(python, "scripts/_round_trip.py")
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def main() -> int:
    """Try those that are named, or all; 1 if one failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", choices=[*NEIGHBOURS, []], metavar="NAME")
    parser.add_argument("--keep", action="store_true", help="leave the environments behind")
    args = parser.parse_args()
    failed = 0
    for name in args.names or NEIGHBOURS:
        try:
            print(f"{name:<14} works: {tried(name, args.keep)}", flush=True)
        except RuntimeError as error:
            failed = 1
            print(f"{name:<14} FAILS: {error}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
