"""Our side of cpu_engine.py: G2P outside the clock, then the pieces through the engine."""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from _worker import serve

from kokoro_container import weights
from kokoro_container.engines.onnx import OnnxEngine
from kokoro_container.pieces import split
from kokoro_container.text import Phonemizer


def main() -> None:
    voices, threads = sys.argv[1:3]
    engine = OnnxEngine(weights.prepared_graph().path, int(threads))
    phonemizer = Phonemizer()
    pack = np.load(voices)

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        spoken = phonemizer(request["text"], "en-us")
        if request.get("only_phonemes"):
            return {"phonemes": spoken.phonemes}
        voice = pack[request["voice"]].astype(np.float32)
        started, first_s, samples = time.perf_counter(), None, 0
        for piece in split(spoken, opening=request["opening"]):
            audio = engine.synthesize(piece.phonemes, voice[len(piece.phonemes) - 1], 1.0)
            if first_s is None:
                first_s = time.perf_counter() - started
            samples += audio.samples.size
        total_s = time.perf_counter() - started
        return {"first_audio_s": first_s, "total_s": total_s, "audio_s": samples / 24_000}

    serve(answer)


main()
