"""Which TensorFlow message the first bytes of a file are: RunMetadata, StepStats, a graph, an event.

Protocol buffers carry no name, so the bytes are held against the beginnings of messages: fields that
fit count for a message, fields that contradict it count ten times against it. The core makes the same
choice again, with all its tables, when it decodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TypeAlias, Union

Shape: TypeAlias = Mapping[int, Union["Shape", str, None]]
"""Fields by number: n number, t text, f 4 bytes, d 8 bytes, b bytes, None anything (which proves
nothing), or a message."""

_LIMIT = 400
"""Fields that are looked at; a file has shown what it is long before."""

_TENSOR_SHAPE: Shape = {2: {1: "n", 2: "t"}, 3: "n"}
_NODE_DEF: Shape = {
    1: "t", 2: "t", 3: "t", 4: "t", 5: {1: "t", 2: None}, 6: {1: "t", 2: "t"}, 7: None,
}  # fmt: skip
_ARG: Shape = {1: "t", 2: "t", 3: "n", 4: "t", 5: "t", 6: "t", 7: None, 16: "n", 17: None}
_OP_DEF: Shape = {
    1: "t", 2: _ARG, 3: _ARG, 4: None, 5: "t", 6: "t", 8: None, 16: "n", 17: "n", 18: "n", 19: "n",
    20: "t", 21: "n",
}  # fmt: skip
_FUNCTION: Shape = {
    1: _OP_DEF, 3: _NODE_DEF, 4: {1: "t", 2: "t"}, 5: None, 6: {1: "t", 2: "t"}, 7: None, 8: None,
}  # fmt: skip
_VERSIONS: Shape = {1: "n", 2: "n", 3: None}
_GRAPH_DEF: Shape = {1: _NODE_DEF, 2: {1: _FUNCTION, 2: None, 3: None}, 3: "n", 4: _VERSIONS, 5: None}
_META_INFO: Shape = {
    1: "t", 2: {1: _OP_DEF}, 3: None, 4: "t", 5: "t", 6: "t", 7: "n", 8: {1: "t", 2: "t"},
}  # fmt: skip
_META_GRAPH: Shape = {
    1: _META_INFO, 2: _GRAPH_DEF, 3: {1: "t", 2: "t", 3: "t", 4: "n", 5: "n", 6: "f", 7: "n"},
    4: {1: "t", 2: None}, 5: {1: "t", 2: None}, 6: None, 7: None,
}  # fmt: skip
_SAVED_MODEL: Shape = {1: "n", 2: _META_GRAPH}

_ALLOCATION: Shape = {1: "n", 2: "n", 3: "t", 4: "n", 5: "n", 6: "n"}
_TENSOR: Shape = {1: "n", 2: _TENSOR_SHAPE, 4: _ALLOCATION}
_NODE_STATS: Shape = {
    1: "t", 2: "n", 3: "n", 4: "n", 5: "n", 6: {1: "t", 2: "n", 3: "n", 4: "n", 5: "n", 6: {1: "n", 2: "n"}},
    7: {1: "n", 3: _TENSOR}, 8: "t", 9: "n", 10: "n", 11: _ALLOCATION, 12: None, 13: "n", 14: "n",
    15: "n", 16: "n", 17: "n",
}  # fmt: skip
_STEP_STATS: Shape = {1: {1: "t", 2: _NODE_STATS, 3: {1: "n", 2: "t"}}}
_COST_NODE: Shape = {
    1: "t", 2: "t", 3: "n", 4: {1: "n", 2: "n"}, 5: {1: "n", 2: "n", 3: _TENSOR_SHAPE, 4: "n"}, 6: "n",
    7: "n", 8: None, 9: "n", 10: "n", 11: "n", 12: "n", 14: "n", 15: "n", 16: "n", 17: "n",
}  # fmt: skip
_COST_GRAPH: Shape = {1: _COST_NODE, 2: {1: "f", 2: "t"}}
_FUNCTION_GRAPHS: Shape = {1: _GRAPH_DEF, 2: _GRAPH_DEF, 3: _GRAPH_DEF}
_RUN_METADATA: Shape = {
    1: _STEP_STATS, 2: _COST_GRAPH, 3: _GRAPH_DEF, 4: _FUNCTION_GRAPHS, 5: {1: "t", 2: "n"},
}  # fmt: skip

_EVENT: Shape = {
    1: "d", 2: "n", 3: "t", 4: "b", 5: None, 6: None, 7: None, 8: {1: "t", 2: "b"}, 9: "b", 10: {1: "t"},
}  # fmt: skip

_SHAPES: tuple[tuple[str, Shape], ...] = (
    ("run_metadata", _RUN_METADATA),
    ("run_metadata", _STEP_STATS),
    ("graph", _GRAPH_DEF),
    ("graph", _META_GRAPH),
    ("graph", _SAVED_MODEL),
)

_FIRST_NAME = re.compile(rb"\s*(?:#[^\n]*\n\s*)*([A-Za-z_][A-Za-z0-9_]*)\s*[:{<]")
_TEXT_NAMES = {
    **dict.fromkeys(
        (b"step_stats", b"cost_graph", b"partition_graphs", b"function_graphs", b"dev_stats"), "run_metadata"
    ),
    **dict.fromkeys(
        (b"node", b"library", b"versions", b"meta_info_def", b"graph_def", b"saved_model_schema_version"),
        "graph",
    ),
}
# Other messages have fields called `node` or `library` as well; these are in no graph's absence.
_GRAPH_WORDS = re.compile(rb"\bop\s*:|\bproducer\s*:|\bsignature\s*[:{<]|\bmeta_graph|\bstripped_op_list")


@lru_cache(maxsize=4)
def kind(head: bytes) -> str | None:
    """run_metadata or graph, as text or binary; None when the head is neither."""
    if found := _FIRST_NAME.match(head):
        name = _TEXT_NAMES.get(found[1])
        if name == "run_metadata" or (name == "graph" and _GRAPH_WORDS.search(head)):
            return name
    best, points = None, 4
    for name, shape in _SHAPES:
        fits = score(head, shape)
        if fits > points:
            best, points = name, fits
    return best


def is_event(data: bytes) -> bool:
    """True when the data of a record, possibly cut, begins like an Event."""
    return data[:1] in (b"\x09", b"\x1a") and score(data, _EVENT) > 0


def score(head: bytes, shape: Shape) -> int:
    """How well bytes, possibly cut short, fit a message; below 1 they do not."""
    return _score(memoryview(head), shape, [_LIMIT], 0)


def _score(data: memoryview, shape: Shape, left: list[int], depth: int) -> int:
    points = 0
    for number, wire, body, cut in fields(data):
        left[0] -= 1
        if left[0] < 0:
            break
        what = shape.get(number, "unknown")
        if what is None:
            continue
        if wire == 2 and isinstance(what, Mapping):
            points += 1 + (_score(body, what, left, depth + 1) if depth < 8 else 0)
        elif wire == 2 and what == "t":
            points += 2 if _is_text(bytes(body), cut) else -10
        else:
            points += 1 if {0: "n", 1: "d", 2: "b", 5: "f"}.get(wire) == what else -10
    return points


def _is_text(body: bytes, cut: bool) -> bool:
    if any(byte < 0x20 for byte in body[:200]):
        return False
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return cut and error.start > len(body) - 4
    return True


def fields(data: memoryview) -> Iterator[tuple[int, int, memoryview, bool]]:
    """Number, wire type, bytes and whether these are cut, of each field; a contradiction is field 0."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag is None:
            return
        number, wire = tag >> 3, tag & 7
        end, cut = at, False
        if wire == 0:
            value, end = varint(data, at)
            if value is None:
                return
        elif wire == 2:
            length, at = varint(data, at)
            if length is None:
                return
            end, cut = min(at + length, len(data)), at + length > len(data)
        elif wire in (1, 5):
            end = at + (8 if wire == 1 else 4)
        else:
            yield 0, wire, data[:0], False
            return
        yield number, wire, data[at:end], cut
        at = end


def varint(data: memoryview, at: int) -> tuple[int | None, int]:
    """The number at `at`, unsigned, and where it ends; None when it is cut or too long."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            return None, at
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    return None, at
