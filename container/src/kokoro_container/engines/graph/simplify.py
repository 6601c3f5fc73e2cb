"""Fewer, wider operators where the export is literal: AdaIN, Snake, the source's STFT.

AdaIN is exported as ten elementwise operators per use (72 uses) and Snake as five. Each becomes the
fewest passes over memory that ONNX Runtime has kernels for. With z = α·AdaIN(x), Snake is
(z + sin² z)/α: α goes into AdaIN's scale and shift, 1/α into the convolution that follows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kokoro_container.engines.graph.dequantize import float_matrix
from kokoro_container.engines.graph.edit import Array, GraphEditor


@dataclass
class _AdaIN:
    source: str  # x [1, C, T]
    output: str
    last: Any  # the node that makes `output`
    style: str  # the style vector the projection reads
    weight: Array  # [style, 2C]: scale columns, then shift columns
    bias: Array  # [2C]
    epsilon: float

    @property
    def channels(self) -> int:
        return self.bias.size // 2


def fuse_adain_and_snake(graph: GraphEditor) -> None:
    """Replaces AdaIN by InstanceNormalization, Snake by Sin, Mul, Add; one Gemm per style."""
    norms = [norm for node in graph.nodes for norm in _match_adain(graph, node)]
    replacements: dict[int, list[Any]] = {}
    for norm in norms:
        norm.bias[: norm.channels] += 1.0  # AdaIN multiplies by 1 + gamma
        _fold_snake(graph, norm, replacements)
    for style in dict.fromkeys(norm.style for norm in norms):
        group = [norm for norm in norms if norm.style == style]
        _emit_group(graph, style, group, replacements)
    graph.replace(replacements)


def _match_adain(graph: GraphEditor, mean: Any) -> list[_AdaIN]:
    """Recognises AdaIN by its first node: the mean that only a Sub reads.

    Blocks that normalise the same tensor share the normalisation, so one mean can serve several.
    """
    if mean.op_type != "ReduceMean":
        return []
    readers = graph.consumers.get(mean.output[0], [])
    if [node.op_type for node in readers] != ["Sub"] or mean.input[0] != readers[0].input[0]:
        return []
    centred = readers[0].output[0]
    squares = [node for node in graph.consumers[centred] if node.op_type == "Mul"]
    if not squares or list(squares[0].input) != [centred, centred]:
        return []
    variance = graph.only_consumer(squares[0].output[0], "ReduceMean")
    if graph.consumers[variance.output[0]][0].op_type != "Add":
        return []  # two small ones run transposed, on [1, T, C]: left as they are
    shifted = graph.only_consumer(variance.output[0], "Add")
    root = graph.only_consumer(shifted.output[0], "Sqrt")
    normalized = graph.only_consumer(root.output[0], "Div").output[0]
    epsilon = next(graph.constants[i] for i in shifted.input if i in graph.constants)
    return [
        _projection(graph, mean.input[0], normalized, scaled, float(epsilon))
        for scaled in graph.consumers[normalized]
    ]


def _projection(
    graph: GraphEditor, source: str, normalized: str, scaled: Any, epsilon: float
) -> _AdaIN:
    """Follows one use of a normalisation to the style projection behind its scale and shift."""
    last = graph.only_consumer(scaled.output[0], "Add")
    one_plus = graph.producer[next(i for i in scaled.input if i != normalized)]
    split = graph.producer[next(i for i in one_plus.input if i not in graph.constants)]
    gamma, beta = split.output
    if one_plus.op_type != "Add" or gamma not in one_plus.input or beta not in last.input:
        raise ValueError(f"{scaled.name}: an AdaIN of another form than expected")
    projected = graph.producer[graph.producer[split.input[0]].input[0]]  # below the Unsqueeze
    bias = next(graph.constants[i] for i in projected.input if i in graph.constants)
    product = graph.producer[next(i for i in projected.input if i not in graph.constants)]
    cast = next(graph.producer[i] for i in product.input if graph.producer[i].op_type == "Cast")
    style, weight, _ = float_matrix(graph, graph.producer[cast.input[0]])
    return _AdaIN(
        source=source,
        output=last.output[0],
        last=last,
        style=style,
        weight=weight.copy(),
        bias=bias.astype(np.float32).copy(),
        epsilon=epsilon,
    )


def _fold_snake(graph: GraphEditor, norm: _AdaIN, replacements: dict[int, list[Any]]) -> None:
    """If Snake follows `norm`, folds α into it and 1/α into the convolution behind."""
    readers = graph.consumers[norm.output]
    if sorted(node.op_type for node in readers) != ["Add", "Mul"]:
        return
    product = next(node for node in readers if node.op_type == "Mul")
    total = next(node for node in readers if node.op_type == "Add")
    alpha = next(graph.constants[i] for i in product.input if i in graph.constants).reshape(-1)
    graph.only_consumer(product.output[0], "Sin")
    conv = graph.only_consumer(total.output[0], "Conv")
    both = np.concatenate([alpha, alpha])
    norm.weight *= both
    norm.bias *= both
    scaled = graph.constants[conv.input[1]] / alpha.reshape(1, -1, 1)
    conv.input[1] = graph.constant(conv.input[1], scaled.astype(np.float32))
    sine, square = graph.value(norm.output), graph.value(norm.output)
    replacements[id(total)] = [
        graph.node("Sin", [norm.output], sine),
        graph.node("Mul", [sine, sine], square),
        graph.node("Add", [norm.output, square], total.output[0]),
    ]


def _emit_group(
    graph: GraphEditor, style: str, group: list[_AdaIN], replacements: dict[int, list[Any]]
) -> None:
    """One Gemm and one Split make the scales and shifts of every AdaIN that reads `style`."""
    weight = graph.constant(f"{style}_adain_w", np.concatenate([n.weight for n in group], axis=1))
    bias = graph.constant(f"{style}_adain_b", np.concatenate([n.bias for n in group]))
    sizes = [norm.channels for norm in group for _ in range(2)]
    product, flat = graph.value(f"{style}_gemm"), graph.value(f"{style}_flat")
    parts = [graph.value(f"{style}_part") for _ in sizes]
    split = graph.node("Split", [flat, graph.constant("adain_sizes", sizes)], parts[0], axis=0)
    split.output.extend(parts[1:])
    shared = [
        graph.node("Gemm", [style, weight, bias], product),
        graph.node("Reshape", [product, graph.constant("adain_flat", [-1])], flat),
        split,
    ]
    for position, norm in enumerate(group):
        scale, shift = parts[2 * position : 2 * position + 2]
        replacements[id(norm.last)] = [
            graph.node(
                "InstanceNormalization",
                [norm.source, scale, shift],
                norm.output,
                epsilon=norm.epsilon,
            )
        ]
    maker = graph.producer[style]  # one Split makes both halves of the style
    replacements.setdefault(id(maker), [maker]).extend(shared)


def stft_as_convolution(graph: GraphEditor) -> None:
    """Replaces the harmonic source's STFT by a strided convolution with a windowed DFT basis.

    The phase that follows is atan2 spelled out. Its branch for a negative real part asks whether
    the imaginary part is above zero; the DC and Nyquist bins of a real signal have exactly zero
    there, for which torch says +pi, so the branch must ask for "not below".
    """
    replacements: dict[int, list[Any]] = {}
    for node in graph.nodes:
        if node.op_type != "STFT":
            continue
        transposed = graph.only_consumer(node.output[0], "Transpose")
        parts = {
            int(graph.constants[gather.input[1]]): gather
            for gather in graph.consumers[transposed.output[0]]
        }
        replacements[id(node)] = _spectrum(graph, node, parts[0].output[0], parts[1].output[0])
        replacements[id(parts[0])] = replacements[id(parts[1])] = []
        for reader in graph.consumers[parts[1].output[0]]:
            if reader.op_type == "Greater":
                replacements[id(reader)] = [
                    graph.node("GreaterOrEqual", list(reader.input), reader.output[0])
                ]
    graph.replace(replacements)


def _spectrum(graph: GraphEditor, stft: Any, real: str, imaginary: str) -> list[Any]:
    """Nodes from samples `[1, n]` to the named real and imaginary parts `[1, bins, frames]`."""
    hop = int(graph.constants[stft.input[1]])
    window = graph.constants[stft.input[2]].astype(np.float64)
    size, bins = window.size, window.size // 2 + 1
    angles = 2 * np.pi * np.outer(np.arange(bins), np.arange(size)) / size
    sine = -np.sin(angles) * window
    sine[[0, -1]] = 0.0
    basis = np.concatenate([np.cos(angles) * window, sine])
    kernel = graph.constant("stft_basis", basis.reshape(2 * bins, 1, size).astype(np.float32))
    lifted, spectrum = graph.value("stft_in"), graph.value("stft")
    halves = graph.constant("stft_halves", [bins, bins])
    split = graph.node("Split", [spectrum, halves], real, axis=1)
    split.output.append(imaginary)
    return [
        graph.node("Unsqueeze", [stft.input[0], graph.constant("stft_axis", [1])], lifted),
        graph.node("Conv", [lifted, kernel], spectrum, strides=[hop], kernel_shape=[size]),
        split,
    ]
