"""Our CPU engine beside kokoro-onnx: same weights, same phonemes, same voice, same threads.

Both sides run in processes of their own and take turns sentence by sentence, so that a change in
the machine's speed meets both. Two figures, each the median over the pairs:

* throughput: how much faster we get the same sentences spoken (their time / ours);
* first audio of a 12-word sentence with a comma after its fifth word (our time / theirs). They
  speak a sentence whole; we open it at the comma.

    .venv/bin/python benchmarks/cpu_engine.py [--rounds 3] [--threads N] [--json PATH]
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.resources
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from _peers import peer_python
from _worker import Worker

from kokoro_container import weights
from kokoro_container.engines.onnx import usable_cores

HERE = Path(__file__).resolve().parent
PEER = "0.6.1"
VOICE = "af_heart"
SENTENCES = [
    "I checked the weather for tomorrow, and it looks like rain until noon.",
    "The quick brown fox jumps over the lazy dog.",
    "Your order will arrive between nine and eleven in the morning.",
    "If you would rather pick it up yourself, the shop on Main Street is open until six.",
    "Is there anything else that I can do for you today?",
]
OPENING = "Before we start the meeting, please read the notes from last week."  # 5 + 7 words


def measure(rounds: int, threads: int) -> dict[str, Any]:
    pack = importlib.resources.files("kokoro_container") / "assets/kokoro-v1.0-voices-fp16.npz"
    python = peer_python("kokoro-onnx", f"kokoro-onnx=={PEER}", "onnxruntime", "numpy")
    with tempfile.TemporaryDirectory() as folder:
        export = Path(folder) / weights.INT8_FILE
        export.write_bytes(weights.read_int8_export()[1])
        ours = Worker(sys.executable, HERE / "_speak_ours.py", str(pack), str(threads))
        peer = Worker(python, HERE / "_speak_kokoro_onnx.py", str(export), str(pack), str(threads))
        with ours, peer:
            return _take_turns(ours, peer, rounds)


def _take_turns(ours: Worker, peer: Worker, rounds: int) -> dict[str, Any]:
    texts = [*SENTENCES, OPENING]
    phonemes = {t: ours.ask(text=t, only_phonemes=True)["phonemes"] for t in texts}

    def pair(text: str, opening: bool) -> tuple[dict[str, Any], dict[str, Any]]:
        return (
            ours.ask(text=text, voice=VOICE, opening=opening),
            peer.ask(phonemes=phonemes[text], voice=VOICE),
        )

    for text in (SENTENCES[0], OPENING):  # warm both up
        pair(text, True)
    runs = []
    for _ in range(rounds):
        pairs = [pair(text, False) for text in SENTENCES]
        openings = [pair(OPENING, True) for _ in range(3)]
        runs.append(
            {
                "throughput_ratio": sum(p["total_s"] for _, p in pairs)
                / sum(o["total_s"] for o, _ in pairs),
                "first_audio_ratio": statistics.median(
                    o["first_audio_s"] / p["first_audio_s"] for o, p in openings
                ),
                "our_rtf": sum(o["total_s"] for o, _ in pairs)
                / sum(o["audio_s"] for o, _ in pairs),
                "our_s": sum(o["total_s"] for o, _ in pairs),
                "peer_s": sum(p["total_s"] for _, p in pairs),
                "our_first_audio_s": statistics.median(o["first_audio_s"] for o, _ in openings),
                "peer_first_audio_s": statistics.median(p["first_audio_s"] for _, p in openings),
            }
        )
    return {
        "throughput_ratio": statistics.median(run["throughput_ratio"] for run in runs),
        "first_audio_ratio": statistics.median(run["first_audio_ratio"] for run in runs),
        "runs": runs,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="paired runs (default 3)")
    parser.add_argument("--threads", type=int, default=usable_cores(), help="for both sides")
    parser.add_argument("--json", metavar="PATH", help="also write the figures there")
    arguments = parser.parse_args()
    result = measure(arguments.rounds, arguments.threads)
    result["onnxruntime"] = importlib.metadata.version("onnxruntime")
    result["peer"] = f"kokoro-onnx {PEER}"
    result["threads"], result["cores"] = arguments.threads, os.cpu_count()
    print(f"kokoro-onnx {PEER} and ours, {arguments.threads} threads, voice {VOICE}\n")
    print("run   five sentences, s            first audio, s           real-time factor")
    print("      ours   peer   peer/ours      ours   peer   ours/peer  ours")
    for number, run in enumerate(result["runs"], 1):
        sentences = f"{run['our_s']:5.2f}  {run['peer_s']:5.2f}   {run['throughput_ratio']:5.2f}"
        first = f"{run['our_first_audio_s']:5.2f}  {run['peer_first_audio_s']:5.2f}"
        ratio, rtf = run["first_audio_ratio"], run["our_rtf"]
        print(f"{number:3}  {sentences}          {first}   {ratio:5.2f}      {rtf:5.2f}")
    print(
        f"\nmedian: throughput {result['throughput_ratio']:.2f} times theirs,"
        f" first audio after {result['first_audio_ratio']:.2f} of their time"
    )
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(result, indent=2), "utf-8")


if __name__ == "__main__":
    main()
