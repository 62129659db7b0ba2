"""Graphs: a list of them, a level of one, a search in it, and the path between two nodes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope.errors import NothingFound
from stepscope.formats.xla import known_modules
from stepscope.instruments.graphs import Hierarchy, programs
from stepscope.instruments.graphs import level as level_of
from stepscope.library.statements import statement
from stepscope.report.graph import dumped, dumped_graphs, stored, stored_graphs
from stepscope.server.catalog import dicts
from stepscope.server.replies import refuse
from stepscope.sources.source import Source
from stepscope.sources.stores import is_store
from stepscope.sources.user_paths import is_lake

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

MOST_OPEN = 2_000
MOST_FOUND = 100
MOST_GRAPHS = 100_000
LEVEL_KEYS = ("graph", "open", "fold", "flat", "given")


def listed(trace: OpenTrace) -> list[dict[str, Any]]:
    """The graphs, the largest first: those of tables, then XLA programs. A program is identified by the path
    of its module in a dump, by its number in a recording, and by its row in a lake."""
    return stored_graphs(trace) + _programs(trace) + _recorded(trace) + _stored(trace)


def _recorded(trace: OpenTrace) -> list[dict[str, Any]]:
    """The programs that XPlanes contain; none for a lake, whose original files may be gone."""
    sources = trace.sources
    return [
        {"graph": f"{row['module']}({row['program_id']})", **row}
        for row in dicts(trace.query(statement("page_programs")))
        if row["source_id"] < len(sources) and isinstance(sources[row["source_id"]], Source)
    ]


def _stored(trace: OpenTrace) -> list[dict[str, Any]]:
    """The programs of a lake, from its tables."""
    if all(isinstance(source, Source) for source in trace.sources):
        return []
    return [
        {"graph": f"{row['module']}({row['program_id']})" if row["program_id"] else row["module"], **row}
        for row in dicts(trace.query(statement("page_stored_programs")))
    ]


def _times(trace: OpenTrace, row: dict[str, Any]) -> dict[str, int]:
    """Self times of a program's instructions by name, on all devices."""
    asked = statement(
        "page_program_times", source_id=row["source_id"], program=row["program_id"], module_name=row["module"]
    )
    return {row["op_name"]: row["sum_self_ps"] for row in dicts(trace.query(asked))}


def _programs(trace: OpenTrace) -> list[dict[str, Any]]:
    """Modules in the given dump folders; a lake has their tables, but not the modules."""
    if not trace.query(statement("programs_seen")).rows()[0][0]:
        return []
    paths = [path for path in trace.given if not is_store(path) and not is_lake(Path(path))]
    return dumped_graphs(paths)  # modules also occur in profiles, which are not dumps


def members(graphs: list[dict[str, Any]]) -> dict[str, Any]:
    """The list of graphs for the page."""
    return {
        "graphs": [{"run_id": row["run_id"], "graph": row["graph"], "nodes": row["nodes"]} for row in graphs]
    }


def read(graphs: list[dict[str, Any]], number: int, trace: OpenTrace) -> Hierarchy:
    """A graph by its index. NothingFound when there are fewer."""
    if number >= len(graphs):
        raise NothingFound(
            "There is no such graph.",
            seen=f"graph {number} of {len(graphs)}",
            todo="ask /api/graphs for them",
        )
    row = graphs[number]
    if "path" in row:
        return dumped(row)
    if "module_id" in row:
        asked = statement("page_stored_instructions", module_id=row["module_id"])
        return programs.stored(dicts(trace.query(asked)), _times(trace, row))
    if "program_id" in row:
        source: Any = trace.sources[row["source_id"]]
        return programs.graph(known_modules.module_in_xplane(source, row["program_id"]), _times(trace, row))
    return stored(trace, row)


def level(found: Hierarchy, given: dict[str, Any]) -> dict[str, Any]:
    """The boxes and edges when these scopes are open. given: {"graph": index, "open": [path, …], "fold": draw
    identical blocks once, "flat": all nodes and no scope, "given": also arguments and constants}. Refused
    with 400 for anything else."""
    opened, fold, flat, arguments = (given[key] for key in LEVEL_KEYS[1:])
    if not isinstance(opened, list) or not all(isinstance(path, str) for path in opened):
        refuse("open", "send a list of paths")
    if len(opened) > MOST_OPEN:
        refuse(f"{len(opened)} paths", f"send at most {MOST_OPEN}")
    if not all(isinstance(flag, bool) for flag in (fold, flat, arguments)):
        refuse("fold, flat or given", "send true or false")
    seen = level_of(found, opened, fold=fold, flat=flat, given=arguments)
    return {
        "boxes": [vars(box) for box in seen.boxes],
        "edges": [[edge.producer, edge.consumer, edge.count] for edge in seen.edges],
        "inside": seen.inside,
        "nodes": len(found.nodes),
        "dangling": found.dangling,
        "left_out": seen.left_out,
        "time_ps": found.root.time_ps,
    }


def search(text: str, found: Hierarchy) -> dict[str, Any]:
    """Nodes whose name or type contains a text."""
    names, total = found.search(text, MOST_FOUND)
    return {"total": total, "nodes": [{"path": name, "op_type": found.nodes[name].op_type} for name in names]}


def way(start: str, end: str, found: Hierarchy) -> dict[str, Any]:
    """A shortest path between two nodes. NothingFound when one of them is missing."""
    for name in (start, end):
        if name not in found.nodes:
            raise NothingFound(
                "There is no such node.", seen=name[:200], todo="search for it: /api/graph/search"
            )
    return {"path": found.way(start, end)}


def asked_number(value: object) -> int:
    """The index of a graph in a request's body."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MOST_GRAPHS:
        refuse("graph", "send a whole number")
    return value
