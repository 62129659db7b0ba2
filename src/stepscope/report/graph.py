"""A graph as a report: its scopes with what they hold, or the way between two of its nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.errors import NothingFound
from stepscope.formats.xla import hlo_files
from stepscope.instruments.graphs import GraphScope as GraphScope
from stepscope.instruments.graphs import Hierarchy as Hierarchy
from stepscope.instruments.graphs import alike, programs
from stepscope.instruments.graphs import level as level
from stepscope.instruments.graphs import scopes_open as scopes_open
from stepscope.library.statements import statement
from stepscope.report.parts import Column, Report, Section, Table, Tree, TreeNode

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

MOST_LINES = 5_000
_COLUMNS = (
    Column("nodes", "int", "Nodes", "nodes in it, itself included"),
    Column("time_ps", "ps", "Time", "own time of its ops, all executions"),
    Column("output_bytes", "bytes", "Outputs", "outputs of its nodes"),
    Column("op_type", "text", "Op type"),
    Column("device", "text", "Device"),
)
_WAY = (
    Column("name", "text", "Node"),
    Column("op_type", "text", "Op type"),
    Column("device", "text", "Device"),
    Column("time_ps", "ps", "Time", "own time, all executions"),
)


def stored_graphs(trace: OpenTrace) -> list[dict[str, Any]]:
    """The graphs of a trace's tables, the largest first: run_id, source_id, graph, nodes and file."""
    result = trace.query(statement("page_graphs"))
    return [dict(zip(result.columns, row, strict=True)) for row in result.rows()]


def dumped_graphs(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The programs of dump folders, the largest first: run_id, graph, nodes and path; none where no folder is
    one."""
    try:
        return hlo_files.graphs(paths) if paths else []
    except (NothingFound, OSError):
        return []


def stored(trace: OpenTrace, row: Mapping[str, Any]) -> Hierarchy:
    """The graph of a row of stored_graphs()."""
    return Hierarchy.read(trace.query, row["run_id"], row["source_id"], row["graph"])


def dumped(row: Mapping[str, Any]) -> Hierarchy:
    """The graph of a row of dumped_graphs(). UnreadableSource when the file is gone or damaged since it was
    found, LimitReached when it is too large."""
    return programs.graph(hlo_files.known_module(row["path"]))


def build(name: str, graph: Hierarchy, top: GraphScope, depth: int, *, fold: bool = True) -> Report:
    """The scopes of a graph, `depth` of them inside of each other. top: begins there. fold: siblings that
    are alike are one line."""
    nodes: list[TreeNode] = []
    lines = 0
    left = [(group, 0) for group in reversed(_groups(top, fold))]
    while left:
        group, around = left.pop()
        lines += 1
        if lines <= MOST_LINES:
            nodes.append(_line(group, around))
        if around + 1 < depth:
            left += [(inner, around + 1) for inner in reversed(_groups(group[0], fold))]
    where = f"{name}, {top.path}" if top.path else name
    edges = units.count(len(graph.edges), "edge")
    headline = f"{units.count(graph.root.nodes, 'node')} and {edges}."
    answer = []
    if top.path:
        answer.append(f"{units.count(top.nodes, 'node')} in this scope.")
    if graph.dangling:
        answer.append(f"{units.count(graph.dangling, 'other edge')} from or to nodes that the graph lacks.")
    if lines > MOST_LINES:
        answer.append(f"{lines - MOST_LINES:,} more lines: choose a scope, or a smaller depth.")
    tree = Tree(_COLUMNS, tuple(nodes))
    return Report(where, (headline,), (Section("graph", "Graph", "", tuple(answer), tree=tree),))


def way(name: str, graph: Hierarchy, path: Sequence[str]) -> Report:
    """The nodes of a path, in the order of the edges."""
    found = [graph.nodes[node] for node in path]
    rows = tuple((scope.path, scope.op_type, scope.device, scope.own_ps) for scope in found)
    headline = (
        f"The shortest path has {units.count(len(rows), 'node')}."
        if rows
        else "No path along the edges leads from one of these nodes to the other."
    )
    return Report(name, (headline,), (Section("way", "Path", table=Table.whole(_WAY, rows)),))


def _groups(scope: GraphScope, fold: bool) -> list[list[GraphScope]]:
    """What is directly in a scope, the slowest and then the largest first."""
    return sorted(
        alike(scope, fold=fold),
        key=lambda group: (
            -sum(graph_scope.time_ps for graph_scope in group),
            -sum(graph_scope.nodes for graph_scope in group),
        ),
    )


def _line(group: Sequence[GraphScope], depth: int) -> TreeNode:
    scope = group[0]
    values = (
        sum(each.nodes for each in group),
        sum(each.time_ps for each in group) or None,
        sum(each.output_bytes for each in group) or None,
        scope.op_type,
        scope.device or None,
    )
    about = f"and {units.count(len(group) - 1, 'block')} like it" if len(group) > 1 else ""
    return TreeNode(depth, scope.name or "(no name)", values, about=about)
