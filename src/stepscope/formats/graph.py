"""Graphs: GraphDef, MetaGraphDef, SavedModel, binary or text. They hold no time, only nodes and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.formats import _protobuf

if TYPE_CHECKING:
    from stepscope._core import Store

NAME = "graph"
DECODER = "graph"


def sniff(head: bytes, name: str) -> bool:
    """Fields of a graph, or their names as text."""
    return _protobuf.kind(head) == NAME


def finish(store: Store, path: str) -> None:
    """Nothing is left to do: the core tells all that the file tells."""
