"""Graphs by scope: open scopes show their nodes, closed ones are boxes, identical blocks are drawn once."""

from stepscope.instruments.graphs import programs
from stepscope.instruments.graphs.hierarchy import GraphScope, Hierarchy
from stepscope.instruments.graphs.level import BoxEdge, GraphBox, Level, alike, level, scopes_open

__all__ = [
    "BoxEdge",
    "GraphBox",
    "GraphScope",
    "Hierarchy",
    "Level",
    "alike",
    "level",
    "programs",
    "scopes_open",
]
