"""Graphs by scope: open scopes as their nodes, closed ones as a box, blocks that are alike as one."""

from stepscope.instruments.graphs import programs
from stepscope.instruments.graphs.hierarchy import Hierarchy, Scope
from stepscope.instruments.graphs.level import HEIGHT, Box, Edge, Level, alike, level, to_depth

__all__ = ["HEIGHT", "Box", "Edge", "Hierarchy", "Level", "Scope", "alike", "level", "programs", "to_depth"]
