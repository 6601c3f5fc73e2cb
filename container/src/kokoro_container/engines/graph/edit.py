"""A small editable view of an ONNX graph: nodes, constants, who makes and who reads a value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

Array = NDArray[Any]


class GraphEditor:
    """Edits one ONNX graph in place; `finish` drops whatever no output needs.

    Attributes:
        model: The model being edited.
        nodes: The nodes in execution order.
        constants: Initialisers by name.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.nodes: list[Any] = list(model.graph.node)
        self.constants: dict[str, Array] = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer
        }
        self._fresh = 0
        self.index()

    def index(self) -> None:
        """Recomputes who makes and who reads each value; call after `replace`."""
        self.producer: dict[str, Any] = {out: node for node in self.nodes for out in node.output}
        self.consumers: dict[str, list[Any]] = {}
        for node in self.nodes:
            for name in node.input:
                self.consumers.setdefault(name, []).append(node)

    def only_consumer(self, value: str, op_type: str) -> Any:
        """Returns the single node that reads `value`, which must be an `op_type`.

        Raises:
            ValueError: There is another number of readers, or one of another kind.
        """
        readers = self.consumers.get(value, [])
        if len(readers) != 1 or readers[0].op_type != op_type:
            kinds = [node.op_type for node in readers]
            raise ValueError(
                f"graph value {value!r} is read by {kinds}, expected one {op_type}: "
                "these are not the weights this preparation was written for"
            )
        return readers[0]

    def constant(self, stem: str, value: Array | Sequence[int]) -> str:
        """Adds a constant (int64 when given a sequence of ints) and returns its name."""
        self._fresh += 1
        name = f"{stem}__c{self._fresh}"
        array = value if isinstance(value, np.ndarray) else np.asarray(value, dtype=np.int64)
        self.constants[name] = array
        return name

    def value(self, stem: str) -> str:
        """Returns a name no other value has."""
        self._fresh += 1
        return f"{stem}__v{self._fresh}"

    def node(
        self, op_type: str, inputs: Sequence[str], output: str, domain: str = "", **attributes: Any
    ) -> Any:
        """Makes a node with one output, named after it."""
        return helper.make_node(
            op_type, list(inputs), [output], name=output, domain=domain, **attributes
        )

    def replace(self, replacements: dict[int, list[Any]]) -> None:
        """Puts new nodes in the place of old ones, keyed by `id(old)`, and drops dead ones."""
        edited: list[Any] = []
        for node in self.nodes:
            edited.extend(replacements.get(id(node), [node]))
        self.nodes = edited
        self.index()
        live = self._live_nodes(output.name for output in self.model.graph.output)
        self.nodes = [node for node in self.nodes if id(node) in live]
        self.index()

    def finish(self) -> onnx.ModelProto:
        """Drops dead nodes and constants, writes the rest back and returns the model."""
        self.replace({})
        used = {name for node in self.nodes for name in node.input}
        graph = self.model.graph
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in self.nodes]
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(copies)
        graph.initializer.extend(
            numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
            for name, array in self.constants.items()
            if name in used
        )
        return self.model

    def _live_nodes(self, outputs: Iterable[str]) -> set[int]:
        live: set[int] = set()
        waiting = list(outputs)
        while waiting:
            node = self.producer.get(waiting.pop())
            if node is not None and id(node) not in live:
                live.add(id(node))
                waiting.extend(node.input)
        return live
