"""Integer convolutions and style projections back to fp32.

ONNX's dynamic quantiser turns `Conv` into DynamicQuantizeLinear → ConvInteger → Add(quantised
bias) → Cast → Mul(scale). This pass recognises the chain and puts the float node in its place,
with the weights dequantised by their per-channel scales.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from kokoro_container.engines.graph.edit import Array, GraphEditor

_BIAS_PATH = {"Reshape", "Cast", "Floor", "Round", "Div"}


def dequantize_convolutions(graph: GraphEditor) -> None:
    """Replaces every ConvInteger chain of `graph` by a float `Conv`."""
    replacements: dict[int, list[Any]] = {}
    for node in graph.nodes:
        if node.op_type != "ConvInteger":
            continue
        integer, bias = node.output[0], []
        if graph.consumers[integer][0].op_type == "Add":
            add = graph.only_consumer(integer, "Add")
            bias = [_float_bias(graph, next(i for i in add.input if i != integer))]
            integer = add.output[0]
        cast = graph.only_consumer(integer, "Cast")
        scale = graph.only_consumer(cast.output[0], "Mul")
        weight = graph.constant(node.input[1], _float_weight(graph, node, cast.output[0], scale))
        conv = graph.node("Conv", [_float_source(graph, node), weight, *bias], scale.output[0])
        conv.attribute.extend(node.attribute)
        replacements[id(scale)] = [conv]
    graph.replace(replacements)


def float_matrix(graph: GraphEditor, node: Any) -> tuple[str, Array, str]:
    """Undoes one MatMulInteger.

    Returns:
        The float input's name, the float32 weight `[in, out]`, the name of the float result.
    """
    cast = graph.only_consumer(node.output[0], "Cast")
    scale = graph.only_consumer(cast.output[0], "Mul")
    weight = _float_weight(graph, node, cast.output[0], scale)
    return _float_source(graph, node), weight, scale.output[0]


def _float_source(graph: GraphEditor, node: Any) -> str:
    quantizer = graph.producer[node.input[0]]
    if quantizer.op_type != "DynamicQuantizeLinear":
        raise ValueError(f"{node.name}: input comes from {quantizer.op_type}, not a quantiser")
    return str(quantizer.input[0])


def _float_weight(graph: GraphEditor, node: Any, cast_output: str, scale: Any) -> Array:
    weight = graph.constants[node.input[1]].astype(np.float32)
    zero_point = graph.constants[node.input[3]].astype(np.float32)
    product = graph.producer[next(name for name in scale.input if name != cast_output)]
    scales = [graph.constants[name] for name in product.input if name in graph.constants]
    if len(scales) != 1:
        raise ValueError(f"{node.name}: {len(scales)} weight scales found, expected one")
    if node.op_type == "ConvInteger":  # one scale per output channel comes first
        shape = (-1,) + (1,) * (weight.ndim - 1)
        return np.asarray(
            (weight - zero_point.reshape(shape)) * scales[0].reshape(shape), dtype=np.float32
        )
    return np.asarray((weight - zero_point) * scales[0], dtype=np.float32)


def _float_bias(graph: GraphEditor, quantized: str) -> str:
    """Follows a quantised bias back to the float vector it was made from."""
    waiting = [quantized]
    while waiting:
        name = waiting.pop()
        array = graph.constants.get(name)
        if array is not None:
            if array.dtype == np.float32 and array.ndim == 1 and name.endswith(".bias"):
                return name
        elif graph.producer[name].op_type in _BIAS_PATH:
            waiting.extend(graph.producer[name].input)
    raise ValueError(f"no float bias behind {quantized!r}: not the export this was written for")
