"""Transposed convolutions as ordinary ones, one output phase at a time.

ONNX Runtime computes `ConvTranspose` as a matrix product followed by a scatter-add on one thread.
With a kernel of m strides, each of the `stride` interleaved output phases is an m-tap convolution
of the input, so all phases together are `Conv`s with `stride` times the channels and a transpose.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from kokoro_container.engines.graph.edit import GraphEditor


def transposed_as_plain_convolutions(graph: GraphEditor) -> None:
    """Replaces each ungrouped 1-D `ConvTranspose` whose kernel is a whole number of strides."""
    replacements: dict[int, list[Any]] = {}
    for node in graph.nodes:
        if node.op_type != "ConvTranspose":
            continue
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        weight = graph.constants[node.input[1]]  # [in, out / group, k]
        stride, taps = attributes["strides"][0], weight.shape[2]
        before, after = attributes["pads"]
        fits = before == after and 2 * before in (0, taps - stride)
        if attributes.get("group", 1) == 1 and taps % stride == 0 and fits:
            replacements[id(node)] = _by_phase(graph, node, stride, before)
    graph.replace(replacements)


def _by_phase(graph: GraphEditor, node: Any, stride: int, padding: int) -> list[Any]:
    weight = graph.constants[node.input[1]]
    out_channels, taps = weight.shape[1], weight.shape[2] // stride
    # Output sample stride·q + r reads input q + e - j for j < taps, e = (r + padding) // stride.
    shifts = [(r + padding) // stride for r in range(stride)]
    nodes: list[Any] = []
    groups: list[str] = []
    for shift in dict.fromkeys(shifts):
        offsets = [(r + padding) % stride for r in range(stride) if shifts[r] == shift]
        # [in, out, phase, tap] with the last tap on the latest input
        kernel = np.stack([weight[:, :, offset::stride][..., ::-1] for offset in offsets], axis=2)
        kernel = kernel.transpose(1, 2, 0, 3).reshape(-1, weight.shape[0], taps)
        inputs = [node.input[0], graph.constant("phases", np.ascontiguousarray(kernel))]
        if len(node.input) > 2:
            bias = np.repeat(graph.constants[node.input[2]], len(offsets))
            inputs.append(graph.constant("phases_bias", bias))
        pads = [taps - 1 - shift, shift] if padding else [taps - 1, taps - 1]
        flat, apart = graph.value("phases"), graph.value("phases_apart")
        shape = graph.constant("shape", [out_channels, len(offsets), -1])
        nodes.append(graph.node("Conv", inputs, flat, kernel_shape=[taps], pads=pads))
        nodes.append(graph.node("Reshape", [flat, shape], apart))
        groups.append(apart)
    joined, woven = graph.value("phases_joined"), graph.value("phases_woven")
    nodes.append(graph.node("Concat", groups, joined, axis=1))  # [out, stride, time]
    nodes.append(graph.node("Transpose", [joined], woven, perm=[0, 2, 1]))
    final = graph.constant("shape", [1, out_channels, -1])
    nodes.append(graph.node("Reshape", [woven, final], node.output[0]))
    return nodes
