"""The whole preparation: the int8 export in, the graph for this CPU out."""

from __future__ import annotations

import hashlib
from pathlib import Path

import onnx
from onnx import TensorProto, helper

from kokoro_container.engines.graph.dequantize import dequantize_convolutions
from kokoro_container.engines.graph.edit import GraphEditor
from kokoro_container.engines.graph.fast_conv import rewrite_long_convolutions
from kokoro_container.engines.graph.simplify import fuse_adain_and_snake, stft_as_convolution
from kokoro_container.engines.graph.upsample import transposed_as_plain_convolutions

# The durations, in frames, after rounding and clipping to at least one: `[1, tokens]` float32.
_FRAMES = "/encoder/Clip_output_0"


def recipe_id() -> str:
    """Names this version of the preparation: a hash over the files that make it up."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def prepare_model(int8_export: bytes) -> bytes:
    """Prepares the export for fast inference on a CPU.

    Args:
        int8_export: the ONNX file of Kokoro-82M v1.0, int8.

    Returns:
        An ONNX file with the inputs `tokens` int64 `[1, n]`, `style` float32 `[1, 256]`, `speed`
        float32 `[1]`, and the outputs `audio` float32 `[samples]` and `frames` float32 `[1, n]`.

    Raises:
        ValueError: these are not the weights the preparation was written for.
    """
    model = onnx.load_model_from_string(int8_export)
    model.graph.output.append(helper.make_tensor_value_info("frames", TensorProto.FLOAT, None))
    graph = GraphEditor(model)
    if _FRAMES not in graph.producer:
        raise ValueError(f"no durations ({_FRAMES}) in the graph: not the export this is made for")
    graph.nodes.append(graph.node("Identity", [_FRAMES], "frames"))
    graph.index()
    dequantize_convolutions(graph)
    fuse_adain_and_snake(graph)
    stft_as_convolution(graph)
    transposed_as_plain_convolutions(graph)
    rewrite_long_convolutions(graph)
    return bytes(graph.finish().SerializeToString())
