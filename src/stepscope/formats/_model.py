"""ModelProto: what tf.data's own model of a running iterator holds, `tensorflow.data.model.ModelProto`."""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from stepscope import protobuf
from stepscope.formats._fields import finite
from stepscope.protobuf import DamagedMessage, whole

CLASSES = (
    "UNKNOWN", "INTERLEAVE_MANY", "ASYNC_INTERLEAVE_MANY", "KNOWN_RATIO", "ASYNC_KNOWN_RATIO",
    "UNKNOWN_RATIO", "ASYNC_UNKNOWN_RATIO",
)  # fmt: skip
_MOST_NODES = 200_000
_MOST_DEPTH = 1000
_FITS = 2**63 - 1
_NS = 1000
"""Picoseconds in a nanosecond."""


@dataclass
class Parameter:
    """A parameter that autotune may turn: parallelism, buffer_size."""

    name: str = ""
    value: float = 0.0
    low: float = 0.0
    high: float = 0.0
    tunable: bool = False


@dataclass
class IteratorNode:
    """A stage as tf.data runs it; processing_ns is its own time, without its inputs, over all threads."""

    id: int = 0
    name: str = ""
    autotune: bool = False
    buffered_bytes: int = 0
    buffered_elements: int = 0
    bytes_consumed: int = 0
    bytes_produced: int = 0
    num_elements: int = 0
    processing_ns: int = 0
    parameters: list[Parameter] = field(default_factory=list)
    inputs: list[int] = field(default_factory=list)
    node_class: str = CLASSES[0]
    ratio: float = 0.0
    memory_ratio: float = 0.0


@dataclass
class IteratorModel:
    """The whole model; gaps_us is the consumer's time between its last calls."""

    nodes: dict[int, IteratorNode] = field(default_factory=dict)
    output: int = 0
    cpu_budget: int | None = None
    ram_budget_bytes: int | None = None
    gaps_us: list[int] = field(default_factory=list)
    dataset_name: str = ""

    def walk(self) -> Iterator[tuple[IteratorNode, int | None, str]]:
        """Each node that the root reaches, once: with its consumer's id and its long name, as iterators are
        named in a trace: Iterator::Root::Prefetch. Consumers come first."""
        seen = {self.output}
        todo: list[tuple[int, int | None, str, int]] = [(self.output, None, "Iterator", 0)]
        for at, above, name, depth in todo:
            node = self.nodes.get(at)
            if node is None:
                continue
            long = f"{name}::{node.name}"
            yield node, above, long
            for below in node.inputs:
                if below not in seen and depth < _MOST_DEPTH:
                    seen.add(below)
                    todo.append((below, at, long, depth + 1))


def read(data: bytes) -> IteratorModel:
    """Reads the message. Damaged when it is another one, or cut."""
    model = IteratorModel()
    for number, wire, body in whole(data):
        if number == 1 and wire == 2:
            _add_nodes(model, body)
        elif number == 2:
            model.output = _int(body, wire)
        elif number == 5 and wire == 2:
            _add_budgets(model, body)
        elif number == 6:
            model.gaps_us += _ints(body, wire)
        elif number == 7 and wire == 2:
            model.dataset_name = protobuf.text(body)
    if model.output not in model.nodes:
        raise DamagedMessage("no root among its nodes")
    return model


def _add_nodes(model: IteratorModel, entry: memoryview) -> None:
    for number, wire, value in whole(entry):
        if number == 2 and wire == 2:
            node = _node(value)
            model.nodes[node.id] = node
            if len(model.nodes) > _MOST_NODES:
                raise DamagedMessage(f"more than {_MOST_NODES:,} nodes")


def _add_budgets(model: IteratorModel, parameters: memoryview) -> None:
    for number, wire, value in whole(parameters):
        if number == 2:
            model.cpu_budget = _int(value, wire)
        elif number == 3:
            model.ram_budget_bytes = _int(value, wire)


def _node(data: memoryview) -> IteratorNode:
    node = IteratorNode()
    numbers = {
        4: "buffered_bytes",
        5: "buffered_elements",
        6: "bytes_consumed",
        7: "bytes_produced",
        8: "num_elements",
        9: "processing_ns",
    }
    for number, wire, body in whole(data):
        if number == 1:
            node.id = _int(body, wire)
        elif number == 2 and wire == 2:
            node.name = protobuf.text(body)
        elif number == 3:
            node.autotune = bool(_int(body, wire))
        elif number in numbers:
            setattr(node, numbers[number], _int(body, wire))
        elif number == 11 and wire == 2:
            node.parameters.append(_parameter(body))
        elif number == 14:
            node.inputs += _ints(body, wire)
        elif number == 15:
            kind = _int(body, wire)
            node.node_class = CLASSES[kind] if 0 <= kind < len(CLASSES) else f"{kind}"
        elif number == 16:
            node.ratio = _double(body, wire)
        elif number == 17:
            node.memory_ratio = _double(body, wire)
    return node


def _parameter(data: memoryview) -> Parameter:
    parameter = Parameter()
    for number, wire, body in whole(data):
        if number == 1 and wire == 2:
            parameter.name = protobuf.text(body)
        elif number == 2:
            parameter.value = _double(body, wire)
        elif number == 4:
            parameter.low = _double(body, wire)
        elif number == 5:
            parameter.high = _double(body, wire)
        elif number == 6:
            parameter.tunable = bool(_int(body, wire))
    return parameter


def _int(body: memoryview, wire: int) -> int:
    """A signed number of 64 bits."""
    if wire != 0:
        raise DamagedMessage("a number is missing")
    return protobuf.signed(body)


def _ints(body: memoryview, wire: int) -> list[int]:
    if wire == 0:
        return [_int(body, wire)]
    if wire != 2 or (len(body) and body[-1] >= 0x80):
        raise DamagedMessage("numbers are cut")
    return list(protobuf.numbers(body))


def _double(body: memoryview, wire: int) -> float:
    if wire != 1:
        raise DamagedMessage("a number is missing")
    value: float = struct.unpack("<d", body)[0]
    return value


def rows(
    model: IteratorModel, iterator: int, sample: int, ts_ps: int | None, elements: int | None
) -> list[dict[str, Any]]:
    """Rows of the table iterator_model, without ids: a node each."""
    found = []
    gaps = model.gaps_us
    for node, above, name in model.walk():
        parallelism = next(
            (parameter for parameter in node.parameters if parameter.name == "parallelism"), None
        )
        buffer = next((parameter for parameter in node.parameters if parameter.name == "buffer_size"), None)
        found.append(
            {
                "iterator": iterator,
                "sample": sample,
                "ts_ps": ts_ps,
                "elements": elements,
                "node": node.id,
                "consumer_node": above,
                "inputs_json": json.dumps(node.inputs),
                "name": name,
                "node_class": node.node_class,
                "ratio": finite(node.ratio),
                "num_elements": node.num_elements,
                "bytes_produced": node.bytes_produced,
                "bytes_consumed": node.bytes_consumed,
                "buffered_elements": node.buffered_elements,
                "buffered_bytes": node.buffered_bytes,
                "processing_ps": max(min(node.processing_ns * _NS, _FITS), 0),
                "parallelism": None if parallelism is None else finite(parallelism.value),
                "parallelism_min": None if parallelism is None else finite(parallelism.low),
                "parallelism_max": None if parallelism is None else finite(parallelism.high),
                "autotuned": bool(parallelism is not None and parallelism.tunable),
                "buffer_size": None if buffer is None else finite(buffer.value),
                "gaps": len(gaps) if above is None else None,
                "gap_ps": min(sum(gaps) // len(gaps) * 1000 * _NS, _FITS) if gaps and above is None else None,
                "cpu_budget": model.cpu_budget,
                "ram_budget_bytes": model.ram_budget_bytes,
            }
        )
    return found
