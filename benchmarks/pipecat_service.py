"""Our Pipecat service beside Pipecat's own for SageMaker (Deepgram), in front of the same endpoint.

Each service in a pipeline and a process of its own → emulator of SageMaker (TLS, HTTP/2) → one
container that speaks both vocabularies at the same pace (`_pipecat_far.py`). In turns: time to the
first audio frame of a reply that is written at 50 tokens a second, old audio after a barge-in while
the container still sends what it had made, turns heard after the connection was broken, and CPU of
the pipeline's process for each second of audio.

    .venv/bin/python benchmarks/pipecat_service.py [--rounds 10] [--json PATH]

Needs Python 3.12 and the extras `[pipecat,sagemaker,emulator]`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from _peers import peer_python
from _worker import Worker

HERE = Path(__file__).resolve().parent
SIDES = ("ours", "deepgram")


@contextmanager
def far_side() -> Any:
    process = subprocess.Popen(
        [sys.executable, str(HERE / "_pipecat_far.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.stdin.close()
        process.wait(20)


def measure(rounds: int) -> dict[str, Any]:
    # Pipecat's extra pins another version of the SDK than ours: an environment of its own.
    pythons = {
        "ours": sys.executable,
        "deepgram": peer_python(
            "pipecat-sagemaker", "pipecat-ai[sagemaker,deepgram]==1.14.0", "websockets"
        ),
    }
    found: dict[str, Any] = {side: [] for side in SIDES}
    with far_side() as told, ExitStack() as stack:
        workers = {
            side: stack.enter_context(
                Worker(
                    pythons[side],
                    HERE / "_pipecat_side.py",
                    side,
                    told["endpoint_url"],
                    told["ca"],
                )
            )
            for side in SIDES
        }

        for number in range(rounds):
            for side in SIDES if number % 2 == 0 else SIDES[::-1]:
                once: dict[str, Any] = {}
                for what in ("first_audio", "barge_in", "cpu"):
                    once[what] = workers[side].ask(what=what)
                if number == 0:  # what it does takes long, and does not vary
                    once["after_drop"] = workers[side].ask(
                        what="after_drop", drop_port=told["drop_port"]
                    )
                found[side].append(once)
        found["pipecat"] = {side: workers[side].ask(what="versions") for side in SIDES}
    return found


def median(found: list[dict[str, Any]], what: str, figure: str) -> float | None:
    values = [once[what][figure] for once in found if once[what][figure] is not None]
    return statistics.median(values) if values else None


FIGURES = (
    ("first_audio", "first_audio_s", "first token to first audio, s"),
    ("barge_in", "stale_pieces", "old pieces (100 ms) after a barge-in"),
    ("barge_in", "silence_s", "barge-in to silence, s"),
    ("barge_in", "next_turn_audio_s", "audio of the turn after it, s"),
    ("cpu", "cpu_s_per_audio_s", "CPU for a second of audio, s"),
)


def report(found: dict[str, Any]) -> dict[str, Any]:
    """Prints the table and returns all figures."""
    figures: dict[str, Any] = {}
    print(f"{'':<40}{'ours':>10}{'Deepgram':>10}{'ratio':>8}")
    for what, figure, title in FIGURES:
        both = [median(found[side], what, figure) for side in SIDES]
        shown = ["-" if value is None else f"{value:.3f}" for value in both]
        ratio = both[0] / both[1] if both[0] is not None and both[1] else None
        print(f"{title:<40}{shown[0]:>10}{shown[1]:>10}{'' if ratio is None else f'{ratio:8.2f}'}")
        figures[figure] = dict(zip(SIDES, both, strict=True)) | {"ratio": ratio}
    dropped = {side: found[side][0]["after_drop"] for side in SIDES}
    for figure, title in (
        ("turns_heard_of_3", "turns heard after a broken connection, of 3"),
        ("first_audio_s", "and first audio of the first of them, s"),
    ):
        shown = [str(dropped[side][figure])[:6] for side in SIDES]
        print(f"{title:<40}{shown[0]:>10}{shown[1]:>10}")
    return {
        **figures,
        "after_drop": dropped,
        "rounds": {side: found[side] for side in SIDES},
        "versions": {"python": platform.python_version(), **found["pipecat"]},
        "machine": platform.machine(),
        "cores": os.cpu_count(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    found = report(measure(args.rounds))
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
