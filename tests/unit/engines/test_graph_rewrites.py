"""Each rewrite of the graph gives what ONNX Runtime gives for the original operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from kokoro_container.engines.graph.edit import GraphEditor
from kokoro_container.engines.graph.fast_conv import (
    TILE,
    forward_basis,
    inverse_basis,
    kernel_spectrum,
    rewrite_long_convolutions,
)
from kokoro_container.engines.graph.prepare import prepare_model
from kokoro_container.engines.graph.upsample import transposed_as_plain_convolutions

Array = NDArray[np.float32]


def model_of(op_type: str, weight: Array, bias: Array | None, **attributes: Any) -> onnx.ModelProto:
    names = ["x", "w"] + (["b"] if bias is not None else [])
    constants = [numpy_helper.from_array(weight, "w")]
    if bias is not None:
        constants.append(numpy_helper.from_array(bias, "b"))
    channels = weight.shape[1 if op_type == "Conv" else 0]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, ["y"], **attributes)],
        "one_operator",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, channels, "time"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        constants,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def run(model: onnx.ModelProto, x: Array) -> Array:
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    result: Array = session.run(None, {"x": x})[0]
    return result


def operators(model: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in model.graph.node]


@pytest.mark.parametrize("taps", [7, 11])
@pytest.mark.parametrize("dilation", [1, 3, 5])
@pytest.mark.parametrize("time", [1, 21, 22, 111, 640])
@pytest.mark.parametrize("with_bias", [True, False])
def test_a_long_convolution_gives_the_same_samples(
    taps: int, dilation: int, time: int, with_bias: bool
) -> None:
    random = np.random.default_rng(taps * 100 + dilation)
    weight = (random.standard_normal((64, 72, taps)) / np.sqrt(72 * taps)).astype(np.float32)
    bias = random.standard_normal(64).astype(np.float32) if with_bias else None
    same = dilation * (taps - 1) // 2
    model = model_of("Conv", weight, bias, pads=[same, same], dilations=[dilation])
    x = random.standard_normal((1, 72, time)).astype(np.float32)
    expected = run(model, x)
    editor = GraphEditor(model)
    rewrite_long_convolutions(editor)
    rewritten = editor.finish()
    assert "MatMul" in operators(rewritten)
    actual = run(rewritten, x)
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, atol=2e-5)


@pytest.mark.parametrize(
    "attributes",
    [
        {"pads": [3, 3], "strides": [2]},
        {"pads": [0, 6]},
        {"pads": [3, 3], "group": 2},
    ],
)
def test_other_convolutions_are_left_alone(attributes: dict[str, Any]) -> None:
    weight = np.ones((64, 64 // attributes.get("group", 1), 7), dtype=np.float32)
    editor = GraphEditor(model_of("Conv", weight, None, **attributes))
    rewrite_long_convolutions(editor)
    assert operators(editor.finish()) == ["Conv"]


def test_tiles_convolve_exactly() -> None:
    random = np.random.default_rng(5)
    tile, kernel = random.standard_normal(TILE), random.standard_normal((1, 1, 11))
    products = kernel_spectrum(kernel, TILE)[:, 0, 0] * (forward_basis(TILE) @ tile)
    samples = products @ inverse_basis(TILE, TILE - 10)
    np.testing.assert_allclose(samples, np.correlate(tile, kernel[0, 0], "valid"), atol=1e-12)


@pytest.mark.parametrize(
    ("stride", "taps", "padding"), [(10, 20, 5), (6, 12, 3), (5, 20, 0), (4, 4, 0), (2, 6, 2)]
)
@pytest.mark.parametrize("time", [1, 2, 37])
@pytest.mark.parametrize("with_bias", [True, False])
def test_a_transposed_convolution_gives_the_same_samples(
    stride: int, taps: int, padding: int, time: int, with_bias: bool
) -> None:
    random = np.random.default_rng(stride)
    weight = random.standard_normal((6, 3, taps)).astype(np.float32)
    bias = random.standard_normal(3).astype(np.float32) if with_bias else None
    pads = [padding, padding]
    model = model_of("ConvTranspose", weight, bias, strides=[stride], pads=pads)
    x = random.standard_normal((1, 6, time)).astype(np.float32)
    expected = run(model, x)
    editor = GraphEditor(model)
    transposed_as_plain_convolutions(editor)
    rewritten = editor.finish()
    assert "ConvTranspose" not in operators(rewritten)
    np.testing.assert_allclose(run(rewritten, x), expected, atol=1e-5)


def test_a_foreign_model_is_refused_by_name() -> None:
    weight = np.ones((2, 2, 1), dtype=np.float32)
    with pytest.raises(ValueError, match="no durations"):
        prepare_model(model_of("Conv", weight, None).SerializeToString())
