"""Clusters and the nodes outside of them: rows, and sentences below the table."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.instruments.xla import clusters
from stepscope.report.listing import Listing

SETTINGS = "TF_CPP_VMODULE=compilability_check_util=5,mark_for_compilation_pass=4"

_WHY = {
    "uncompilable": "cannot be compiled",
    "graph_end": "an argument or a result of the graph",
    "cycle": "joining a cluster would make a cycle",
    "too_small": "probably in a cluster below the minimum size",
    "untold": "not told by this log",
}


def build(graphs: Sequence[clusters.Graph], all: bool) -> Listing:
    """Clusters and nodes. all: also of graphs without a cluster, beside others that have one."""
    shown = [graph for graph in graphs if graph.clusters or all] or graphs
    rows = clusters.rows(shown)
    return Listing(clusters.COLUMNS, rows, sentences(rows, len(graphs) - len(shown)))


def sentences(rows: Sequence[Mapping[str, Any]], left_out: int) -> list[str]:
    """The lines below the table."""
    inner = [row for row in rows if row["kind"] == "cluster"]
    inside = sum(row["nodes"] for row in inner)
    outside: Counter[str] = Counter()
    for row in rows:
        if row["kind"] == "node":
            outside[row["why"]] += row["nodes"]
    parts = [
        f"{units.count(inside, 'node')} in {units.count(len(inner), 'cluster')}, "
        f"{sum(outside.values()):,} outside"
    ]
    parts += [f"{number:,} outside: {_WHY[why]}" for why, number in outside.most_common()]
    if outside["untold"]:
        parts.append(f"to learn more, set {SETTINGS} and run the program again")
    if left_out:
        parts.append(f"{units.count(left_out, 'graph')} without a cluster left out (--all shows them)")
    return parts
