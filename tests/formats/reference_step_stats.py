"""RunMetadata and graphs read with TensorFlow's own protobuf classes: what the decoders must agree with."""

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from google.protobuf import text_format

from stepscope import _core
from tests.later import proto

graph_pb2, types_pb2 = proto("core.framework.graph_pb2"), proto("core.framework.types_pb2")
config_pb2, meta_graph_pb2 = proto("core.protobuf.config_pb2"), proto("core.protobuf.meta_graph_pb2")

NODES = tuple[str, str, str, str]
"""Graph, name, op type, device."""


def _nanos(nanos: int, micros: int) -> int:
    return nanos or micros * 1000


@dataclass
class Reading:
    """Rows as multisets, without numbers of rows."""

    nodes_seen: int = 0
    slices: Counter[Any] = field(default_factory=Counter)
    op_runs: Counter[Any] = field(default_factory=Counter)
    tensors: Counter[Any] = field(default_factory=Counter)
    allocations: Counter[Any] = field(default_factory=Counter)
    nodes: Counter[NODES] = field(default_factory=Counter)
    edges: Counter[Any] = field(default_factory=Counter)


def _shape(shape: Any) -> str | None:
    return None if shape.unknown_rank else json.dumps([dim.size for dim in shape.dim], separators=(",", ":"))


def _dtype(number: int) -> str:
    known = types_pb2.DataType.DESCRIPTOR.values_by_number
    return str(known[number].name) if number in known else f"DT_{number}"


def _sum(values: Any) -> int | None:
    values = list(values)
    return sum(values) if values else None


def add_run_metadata(into: Reading, message: Any, prefix: str = "") -> None:
    """Adds all that a RunMetadata holds."""
    for device in message.step_stats.dev_stats:
        for node in device.node_stats:
            into.nodes_seen += 1
            start = _nanos(node.all_start_nanos, node.all_start_micros)
            if not start:
                continue
            end = _nanos(node.all_end_rel_nanos, node.all_end_rel_micros)
            op_end = _nanos(node.op_end_rel_nanos, node.op_end_rel_micros)
            op_start = _nanos(node.op_start_rel_nanos, node.op_start_rel_micros)
            scheduled = _nanos(node.scheduled_nanos, node.scheduled_micros)
            if scheduled > start:  # what was in memory: nothing is scheduled after it began
                scheduled = 0
            key = (device.device, node.node_name, start)
            into.slices[(*key, max(end, 0))] += 1
            stats = node.HasField("memory_stats")
            into.op_runs[
                (
                    *key, scheduled or None, start + op_start, start + op_end if op_end else None,
                    start + max(end, 0),
                    node.timeline_label or None,
                    node.memory_stats.temp_memory_size if stats else None,
                    node.memory_stats.persistent_memory_size if stats else None,
                    _sum(one.total_bytes for one in node.memory), _sum(one.peak_bytes for one in node.memory),
                    _sum(one.live_bytes for one in node.memory),
                    _sum(
                        one.tensor_description.allocation_description.requested_bytes for one in node.output
                    ),
                )
            ] += 1  # fmt: skip
            for output in node.output:
                tensor = output.tensor_description
                given = tensor.allocation_description
                shape = _shape(tensor.shape) if tensor.HasField("shape") else None
                into.tensors[
                    (
                        *key, output.slot, _dtype(tensor.dtype), shape, given.requested_bytes,
                        given.allocated_bytes, given.allocator_name or None, given.ptr,
                    )
                ] += 1  # fmt: skip
            for memory in node.memory:
                for record in memory.allocation_records:
                    row = (*key, memory.allocator_name, record.alloc_micros * 1000, record.alloc_bytes)
                    into.allocations[row] += 1
    for number, graph in enumerate(message.partition_graphs):
        add_graph(into, graph, f"{prefix}partition/{number}")
    for number, graphs in enumerate(message.function_graphs):
        for part, graph in enumerate(graphs.partition_graphs):
            add_graph(into, graph, f"{prefix}function/{number}/partition/{part}")
        if graphs.HasField("pre_optimization_graph"):
            add_graph(into, graphs.pre_optimization_graph, f"{prefix}function/{number}/pre")
        if graphs.HasField("post_optimization_graph"):
            add_graph(into, graphs.post_optimization_graph, f"{prefix}function/{number}/post")
    if message.HasField("cost_graph"):
        _add_cost_graph(into, message.cost_graph, f"{prefix}cost")


def _add_cost_graph(into: Reading, graph: Any, name: str) -> None:
    names = {node.id: node.name for node in graph.node}
    for node in graph.node:
        into.nodes[(name, node.name, "", node.device)] += 1
        for slot, one in enumerate(node.input_info):
            if one.preceding_node in names:
                into.edges[(name, names[one.preceding_node], one.preceding_port, node.name, slot)] += 1
        for slot, number in enumerate(node.control_input, start=len(node.input_info)):
            if number in names:
                into.edges[(name, names[number], -1, node.name, slot)] += 1


def _producer(text: str, function: bool) -> tuple[str, int]:
    if text.startswith("^"):
        return text[1:], -1
    front, colon, slot = text.rpartition(":")
    if not colon or not slot.isdigit():
        return text, 0
    return (front.split(":")[0] if function else front), int(slot)


def _add_nodes(into: Reading, nodes: Any, name: str, function: bool) -> None:
    for node in nodes:
        into.nodes[(name, node.name, node.op, node.device)] += 1
        for slot, text in enumerate(node.input):
            into.edges[(name, *_producer(text, function), node.name, slot)] += 1


def add_graph(into: Reading, graph: Any, name: str) -> None:
    """Adds a GraphDef and the bodies of its functions."""
    _add_nodes(into, graph.node, name, function=False)
    for function in graph.library.function:
        front = name[: -len("graph")] if name.endswith("graph") else f"{name}/"
        inner = f"{front}function/{function.signature.name}"
        for argument in function.signature.input_arg:
            into.nodes[(inner, argument.name, "_Arg", "")] += 1
        _add_nodes(into, function.node_def, inner, function=True)
        for results, control in ((function.ret, False), (function.control_ret, True)):
            for result, value in results.items():
                into.nodes[(inner, result, "_Retval", "")] += 1
                producer, slot = _producer(value, True)
                into.edges[(inner, producer, -1 if control else slot, result, 0)] += 1


def parse(data: bytes, kind: type) -> Any | None:
    """The message, or None when protobuf refuses the bytes."""
    message = kind()
    try:
        message.ParseFromString(data)
    except Exception as error:
        if type(error).__name__ != "DecodeError":
            raise
        return None
    return message


def run_metadata(data: bytes) -> Any:
    """A RunMetadata from binary."""
    return config_pb2.RunMetadata.FromString(data)


def to_text(message: Any, **how: Any) -> bytes:
    """A message in text format."""
    return str(text_format.MessageToString(message, **how)).encode()


GraphDef = graph_pb2.GraphDef
MetaGraphDef = meta_graph_pb2.MetaGraphDef
RunMetadata = config_pb2.RunMetadata
StepStats = type(config_pb2.RunMetadata().step_stats)


def decode(data: bytes, decoder: str) -> Any:
    """A store in memory."""
    return _core.decode(decoder, _core.Input.bytes(data))


def reading(store: Any) -> Reading:
    """The rows of a store, in the form of the reference."""
    found = Reading(nodes_seen=store.facts["events_seen"])
    origin = store.facts["origin_unix_ns"] or 0
    tables = store.tables()

    def rows(table: str) -> list[dict[str, Any]]:
        return store.rows(table) if table in tables else []

    def at(ps: int | None) -> int | None:
        if ps is None:
            return None
        assert ps % 1000 == 0
        return origin + ps // 1000

    devices = {row["id"]: row["name"] for row in rows("device")}
    tracks = {row["id"]: row for row in rows("track")}
    slices = {row["id"]: row for row in rows("slice")}
    keys = {}
    for row in slices.values():
        device = tracks[row["track_id"]]["origin"].split(" thread_id ")[0]
        keys[row["id"]] = (device, row["name"], at(row["ts_ps"]))
        assert device.startswith(devices[tracks[row["track_id"]]["device_id"]])
        found.slices[(*keys[row["id"]], row["dur_ps"] // 1000)] += 1
    runs = {}
    for row in rows("op_run"):
        runs[row["id"]] = keys[row["slice_id"]]
        times = [at(row[name]) for name in ("scheduled_ps", "op_start_ps", "op_end_ps", "end_ps")]
        names = ("temp", "persistent", "requested", "peak", "live", "output")
        figures = [row[f"{name}_bytes"] for name in names]
        assert at(row["start_ps"]) == runs[row["id"]][2]
        found.op_runs[(*runs[row["id"]], *times, row["label"], *figures)] += 1
    for row in rows("tensor"):
        found.tensors[
            (
                *runs[row["op_run_id"]], row["slot"], row["dtype"], row["shape"], row["requested_bytes"] or 0,
                row["allocated_bytes"] or 0, row["allocator"], (row["address"] or 0) % 2**64,
            )
        ] += 1  # fmt: skip
    for row in rows("allocation"):
        assert row["op_run_id"] == row["slice_id"]
        key = (*runs[row["op_run_id"]], row["allocator"], at(row["ts_ps"]), row["delta_bytes"])
        found.allocations[key] += 1
    for row in rows("node"):
        found.nodes[(row["graph"], row["name"], row["op_type"], row["device"])] += 1
    for row in rows("edge"):
        edge = (row["graph"], row["producer"], row["producer_slot"], row["consumer"], row["consumer_slot"])
        found.edges[edge] += 1
    return found


def flagged(store: Any) -> bool:
    """True when the store says that something is not as it was written."""
    return any(note["effect"] in ("lost", "missing", "repaired") for note in store.facts["notes"])


def refused(error: _core.CoreError) -> None:
    """Holds a refusal to be a proper one."""
    assert error.args[0] in ("damaged", "not_this_format")


def outcome(data: bytes, name: str) -> Any:
    """A store, or None when the bytes were refused with a proper error. name: of the format."""
    try:
        store = decode(data, name)
    except _core.CoreError as error:
        refused(error)
        return None
    facts = store.facts
    assert facts["events_seen"] == facts["events_stored"] + facts["events_lost"]
    assert facts["events_stored"] == store.tables()["slice"]
    return store


def rows_of(store: Any) -> dict[str, Any]:
    """All rows of all tables, for comparing two stores."""
    return {table: store.rows(table) for table in store.tables()}
