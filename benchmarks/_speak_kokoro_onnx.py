"""The peer's side of cpu_engine.py; runs in the peer's environment.

Arguments: the int8 ONNX file, the voice pack (npz), threads.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

import numpy as np
import onnxruntime
from _worker import serve
from kokoro_onnx import Kokoro


def main() -> None:
    model, voices, threads = sys.argv[1:4]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    kokoro = Kokoro.from_session(session, voices)
    pack = np.load(voices)

    async def speak(phonemes: str, voice: np.ndarray[Any, Any]) -> dict[str, Any]:
        started, first_s, samples = time.perf_counter(), None, 0
        async for audio, _rate in kokoro.create_stream(phonemes, voice, is_phonemes=True):
            if first_s is None:
                first_s = time.perf_counter() - started
            samples += audio.size
        total_s = time.perf_counter() - started
        return {"first_audio_s": first_s, "total_s": total_s, "audio_s": samples / 24_000}

    def answer(request: dict[str, Any]) -> dict[str, Any]:
        voice = pack[request["voice"]].astype(np.float32)[:, None, :]
        return asyncio.run(speak(request["phonemes"], voice))

    serve(answer)


main()
