"""Could the vocoder run on windows of a sentence, so that its first audio leaves sooner?

The decoder's AdaIN layers normalise over the whole utterance, so a window has other statistics.
This runs the decoder on a sentence's first second with look-ahead, and compares with the same
second out of the whole: same phonemes, same pitch, same phase of the source. Printed are the level
of each loud 100 ms against the whole (a step at the seam would be that large) and the
signal-to-error ratio.

    .venv/bin/python benchmarks/vocoder_windows.py [--json PATH]
"""

from __future__ import annotations

import argparse
import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
from numpy.typing import NDArray
from onnx import TensorProto, helper

from kokoro_container import weights
from kokoro_container.engines.base import FRAME_SAMPLES
from kokoro_container.engines.graph.edit import GraphEditor
from kokoro_container.text import Phonemizer, to_ids

TEXT = "/encoder/MatMul_1_output_0"
PITCH, NOISE = "/encoder/Reshape_output_0", "/encoder/Reshape_1_output_0"
SENTENCES = [
    "I'm happy to help you today, and I will check the weather for you right now.",
    "The quick brown fox jumps over the lazy dog.",
    "Seven yellow windows, they said, and nobody counted the doors.",
]
WINDOW_FRAMES, AHEAD_FRAMES = 40, 20  # of 25 ms
Floats = NDArray[np.float32]


def session(model: onnx.ModelProto) -> Any:
    return onnxruntime.InferenceSession(
        model.SerializeToString(),
        providers=["CPUExecutionProvider"],
        disabled_optimizers=["NchwcTransformer"],
    )


def whole(path: str) -> Any:
    model = onnx.load(path)
    for name in (TEXT, PITCH, NOISE):
        model.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    return session(model)


def decoder_alone(path: str) -> Any:
    model = onnx.load(path)
    for node in model.graph.node:
        for position, name in enumerate(node.output):
            if name in (TEXT, PITCH, NOISE):
                node.output[position] = f"{name}_unused"
    for name, shape in ((TEXT, [1, 512, "t"]), (PITCH, [1, "u"]), (NOISE, [1, "u"])):
        model.graph.input.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
    del model.graph.output[1:]
    model = GraphEditor(model).finish()
    read = {name for node in model.graph.node for name in node.input}
    kept = [value for value in model.graph.input if value.name in read]
    del model.graph.input[:]
    model.graph.input.extend(kept)
    return session(model)


def compare(full: Floats, window: Floats) -> dict[str, Any]:
    def levels(samples: Floats) -> Floats:
        return np.sqrt((samples.reshape(-1, 2400) ** 2).mean(1) + 1e-9)

    loud = levels(full) > 0.02
    steps = 20 * np.log10(levels(window)[loud] / levels(full)[loud])
    ratio = 10 * np.log10((full**2).sum() / ((full - window) ** 2).sum())
    return {
        "signal_to_error_db": round(float(ratio), 1),
        "level_db": [round(float(step), 1) for step in steps],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", metavar="PATH", help="also write the figures there")
    arguments = parser.parse_args()
    path = weights.prepared_graph().path
    model, decoder, phonemizer = whole(path), decoder_alone(path), Phonemizer()
    with resources.as_file(resources.files("kokoro_container") / "assets") as assets:
        voice = np.load(assets / "kokoro-v1.0-voices-fp16.npz")["af_heart"].astype(np.float32)
    results = []
    for sentence in SENTENCES:
        ids = to_ids(phonemizer(sentence, "en-us").phonemes)
        feeds = {
            "tokens": np.array([[0, *ids, 0]], np.int64),
            "style": voice[len(ids) - 1].reshape(1, 256),
            "speed": np.ones(1, np.float32),
        }
        audio, text, pitch, noise = model.run(["audio", TEXT, PITCH, NOISE], feeds)
        end = WINDOW_FRAMES + AHEAD_FRAMES
        cut = {TEXT: text[:, :, :end], PITCH: pitch[:, : 2 * end], NOISE: noise[:, : 2 * end]}
        window = decoder.run(None, {**cut, "style": feeds["style"]})[0].reshape(-1)
        samples = WINDOW_FRAMES * FRAME_SAMPLES
        results.append({"text": sentence, **compare(audio[:samples], window[:samples])})
        print(f"{results[-1]['signal_to_error_db']:5} dB  {results[-1]['level_db']}  {sentence}")
    worst = max(abs(step) for result in results for step in result["level_db"])
    print(f"largest level difference {worst} dB")
    if arguments.json:
        Path(arguments.json).write_text(json.dumps({"worst_db": worst, "runs": results}), "utf-8")


if __name__ == "__main__":
    main()
