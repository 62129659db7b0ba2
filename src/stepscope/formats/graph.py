"""Graphs: GraphDef, MetaGraphDef, SavedModel, binary or text, and DOT. They hold nodes and edges, no time."""

import codecs
import json

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import Pieces, _dot
from stepscope.sources.other_tools import other_tool
from stepscope.sources.source import Traits
from stepscope.store_rows import note

NAME = "graph"
TRAITS = Traits(kind="graph", endings=(".pbtxt", ".txt", ".dot", ".pb"))
_HEAD_BYTES = 4096
_MOST_DOT_BYTES = 256 << 20
"""Of a file of DOT, which is held whole."""


def sniff(head: bytes, name: str) -> bool:
    """Fields of a graph, or their names as text, or the beginning of DOT, unless a profiler drew it."""
    return _core.sniff(NAME, head, name) or (is_dot(head) and other_tool(head) is None)


def is_dot(head: bytes) -> bool:
    """Whether a graph is one of DOT, which holds no message of TensorFlow. A byte order mark says nothing."""
    return _dot.is_dot(head[:_HEAD_BYTES].removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace"))


def build(pieces: Pieces) -> Store:
    """The native core reads all that the file holds, but DOT."""
    if not is_dot(pieces.head(_HEAD_BYTES)):
        return pieces.decode(NAME)
    data = pieces.read(_MOST_DOT_BYTES)
    dot = _dot.parse(data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace"))
    return _store(pieces, data, dot)


def _store(pieces: Pieces, data: bytes, dot: _dot.Dot) -> Store:
    store = pieces.build()
    names = _names(dot)
    nodes = list(dot.nodes.values())
    store.replace(
        "node",
        {
            "id": list(range(len(nodes))),
            "graph": ["graph"] * len(nodes),
            "name": [names[node.id] for node in nodes],
            "op_type": [_dot.op_of(node) for node in nodes],
            "device": [""] * len(nodes),
            "args_json": [json.dumps(facts) if (facts := _dot.facts_of(node)) else None for node in nodes],
        },
    )
    store.replace(
        "edge",
        {
            "id": list(range(len(dot.edges))),
            "graph": ["graph"] * len(dot.edges),
            "producer": [names[edge.producer] for edge in dot.edges],
            "producer_slot": [-1 if edge.control else 0 for edge in dot.edges],
            "consumer": [names[edge.consumer] for edge in dot.edges],
            "consumer_slot": [-1 if edge.control else edge.slot for edge in dot.edges],
        },
    )
    notes = []
    if dot.cut is not None:
        notes.append(note("damaged-tail", "lost", f"DOT was read as far as {dot.cut}", 1))
    store.update_facts(
        {
            "events_seen": len(nodes) + len(notes),
            "events_stored": len(nodes),
            "events_lost": len(notes),
            "bytes_in": len(data),
            "content_hash": _core.hash_bytes(data),
            "producer": "unknown",
            "notes": notes,
        }
    )
    return store


def _names(dot: _dot.Dot) -> dict[str, str]:
    """Names by ids: paths of scopes and titles, with numbers where several are the same."""
    found: dict[str, str] = {}
    used: dict[str, int] = {}
    for node in dot.nodes.values():
        name = node.scope.path() + _dot.title(node)
        used[name] = used.get(name, 0) + 1
        found[node.id] = name if used[name] == 1 else f"{name} ({used[name]})"
    return found
