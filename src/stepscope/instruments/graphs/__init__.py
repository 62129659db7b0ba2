"""Graphs by scope: open scopes as their nodes, closed ones as a box, blocks that are alike as one."""

from stepscope.instruments.graphs.hierarchy import Hierarchy, Scope
from stepscope.instruments.graphs.level import Box, Edge, Level, level

__all__ = ["Box", "Edge", "Hierarchy", "Level", "Scope", "level"]
