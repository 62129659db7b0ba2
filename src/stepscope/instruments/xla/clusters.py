"""Clusters of TensorFlow's auto-clustering, and why nodes are in none, from logs and annotated graphs.

A log has a block for each graph that the pass looked at. What it tells depends on what was asked for:
--tf_xla_clustering_debug gives clusters and counts; TF_CPP_VMODULE names the nodes that cannot be compiled
(compilability_check_util=5) and the edges that were not contracted (mark_for_compilation_pass=4).
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepscope import strict_json

COLUMNS = ("kind", "graph", "name", "op", "nodes", "ops", "inputs", "outputs", "why", "evidence")
"""kind: cluster, or node (outside all clusters). why: uncompilable, graph_end, cycle, too_small (inferred),
or untold."""

_SEEN = re.compile(r"Device type for (.+): \S+\s*$")
_UNCOMPILABLE = re.compile(r"Found uncompilable node (\S+) \(op (\S+?)\)(?:: (.*))?$")
_CYCLE = re.compile(r"Could not contract (.+?) -> (.+?) because (.*)$")
_ASSIGNED = re.compile(r"Assigning node (\S+) to cluster (\S+)")
_BUILT = re.compile(r"Built (\d+) clusters?, size (\d+) / (\d+)")
_CLUSTER = re.compile(r"\]\s+(\S+) (\d+) / (\d+) \(")
_OPS = re.compile(r"\]\s+(\S+): (\d+) instances?")
_EDGES = re.compile(r"\]\s+(\d+) (incoming|outgoing) edges?")
_EDGE = re.compile(r"\]\s+\S+ (\S+) # (\d+)\s*$")
ARGUMENTS = ("_Arg", "_Retval", "_DeviceArg", "_DeviceRetval")
_NUMBERS = re.compile(r"(sorted_nodes|compilation_candidates_)\.size\(\) = (\d+)")
_DUMPED = re.compile(r"(mark_for_compilation_annotated[\w.-]*)\.pb(?:txt)?")
_LONGEST = 4096

Row = dict[str, Any]


@dataclass
class Cluster:
    """A cluster: nodes, how many of each op, and edges that cross its border; None if unknown."""

    nodes: int = 0
    ops: Counter[str] = field(default_factory=Counter)
    inputs: int | None = None
    outputs: int | None = None


@dataclass
class Graph:
    """A graph that the pass looked at, as far as the log says. seen: all nodes in order, with ops where they
    are known. outside: how many nodes of each op are in no cluster."""

    name: str
    seen: dict[str, str | None] = field(default_factory=dict)
    assigned: dict[str, str] = field(default_factory=dict)
    uncompilable: dict[str, str] = field(default_factory=dict)
    cycles: list[tuple[str, str, str]] = field(default_factory=list)
    clusters: dict[str, Cluster] = field(default_factory=dict)
    outside: Counter[str] = field(default_factory=Counter)
    numbers: dict[str, int] = field(default_factory=dict)
    size: int | None = None


def is_log(head: str) -> bool:
    """Whether text is a log of the pass."""
    return "mark_for_compilation_pass" in head or "compilability_check_util" in head


def read_log(lines: Iterable[str], name: str) -> list[Graph]:
    """The graphs of a log, in its order."""
    reader = _LogReader(name)
    for line in lines:
        reader.read(line[:_LONGEST].rstrip("\n"))
    return [graph for graph in reader.graphs if graph.seen or graph.size is not None]


class _LogReader:
    """Reads a log line by line; earlier lines tell which part of a graph's block a line belongs to."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.graphs = [Graph(f"{name}#1")]
        self.cluster: Cluster | None = None
        self.part = self.side = ""

    def read(self, line: str) -> None:
        """Adds a line. Lines about nodes also come from other source files of TensorFlow; those about
        clusters come from the pass only."""
        if number := _NUMBERS.search(line):
            self._number(number[1], int(number[2]))
        elif self._node(line):
            return
        elif "mark_for_compilation_pass" in line:
            self._summary(line)
        elif dumped := _DUMPED.search(line):
            self.graphs[-1].name = dumped[1]

    def _number(self, name: str, value: int) -> None:
        """Adds a number; the first one begins a block."""
        graph = self.graphs[-1]
        if name == "sorted_nodes" and (graph.numbers or graph.size is not None):
            graph = Graph(f"{self.name}#{len(self.graphs) + 1}")
            self.graphs.append(graph)
            self.cluster, self.part = None, ""
        graph.numbers[name] = value

    def _node(self, line: str) -> bool:
        """Reads a line about a node or an edge; False for other lines."""
        graph = self.graphs[-1]
        if found := _UNCOMPILABLE.search(line):
            graph.seen[found[1]] = found[2]
            graph.uncompilable[found[1]] = found[3] or "no reason given"
        elif found := _CYCLE.search(line):
            graph.cycles.append((found[1], found[2], found[3]))
        elif found := _ASSIGNED.search(line):
            graph.assigned[found[1]] = found[2]
        return found is not None

    def _summary(self, line: str) -> None:
        """Adds a line of the pass: a node that it saw, or a part of its summary."""
        graph = self.graphs[-1]
        if seen := _SEEN.search(line):
            graph.seen.setdefault(seen[1], None)
        elif built := _BUILT.search(line):
            graph.size, self.part = int(built[3]), "built"
        elif "Unclustered nodes:" in line:
            self.part = "outside"
        elif "Inter-Cluster edges" in line:
            self.part = "edges"
        elif self.part == "edges":
            self._edge(line)
        else:
            self._cluster(line)

    def _edge(self, line: str) -> None:
        if "** Cluster " in line:
            self.cluster = self.graphs[-1].clusters.get(line.rpartition(" ")[2])
        else:
            self.side = _border(self.cluster or Cluster(), self.side, line)

    def _cluster(self, line: str) -> None:
        """Adds a cluster, or the count of an op type inside it or outside all clusters."""
        graph = self.graphs[-1]
        if self.part == "built" and (found := _CLUSTER.search(line)):
            self.cluster = graph.clusters[found[1]] = Cluster(int(found[2]))
        elif found := _OPS.search(line):
            if self.part == "built" and self.cluster is not None:
                self.cluster.ops[found[1]] += int(found[2])
            elif self.part == "outside":
                graph.outside[found[1]] += int(found[2])


def _border(cluster: Cluster, side: str, line: str) -> str:
    """Reads a line about edges between clusters: the side of the following lines, or a node with its number
    of edges. Edges from the graph's source or sink carry no data and do not count."""
    if edges := _EDGES.search(line):
        side = "inputs" if edges[2] == "incoming" else "outputs"
        setattr(cluster, side, 0)
    elif side and (edges := _EDGE.search(line)) and edges[1] not in ("_SOURCE", "_SINK"):
        setattr(cluster, side, (getattr(cluster, side) or 0) + int(edges[2]))
    return side


def read_graph(name: str, nodes: Sequence[Sequence[Any]], edges: Sequence[Sequence[Any]]) -> Graph:
    """An annotated graph: rows of nodes (name, op, device, attributes as JSON) and edges (producer, consumer,
    is it a control edge). Its names begin with the cluster, or with `unclustered`."""
    graph = Graph(name, size=len(nodes))
    bare: dict[str, str] = {}
    for node, op, _, attributes in nodes:
        cluster = strict_json.members(attributes).get("_XlaCluster")
        bare[node] = plain = bare_name(node, cluster)
        graph.seen[plain] = op
        if cluster:
            graph.assigned[plain] = str(cluster)
            made = graph.clusters.setdefault(str(cluster), Cluster())
            made.nodes += 1
            made.ops[op] += 1
        else:
            graph.outside[op] += 1
    for made in graph.clusters.values():
        made.inputs = made.outputs = 0
    for producer, consumer, _ in edges:
        of = [graph.assigned.get(bare.get(end, end)) for end in (producer, consumer)]
        if of[0] != of[1]:
            if of[0] is not None:
                graph.clusters[of[0]].outputs = (graph.clusters[of[0]].outputs or 0) + 1
            if of[1] is not None:
                graph.clusters[of[1]].inputs = (graph.clusters[of[1]].inputs or 0) + 1
    return graph


def bare_name(node: str, cluster: object) -> str:
    """The name of a node without the prefix of an annotated graph: the cluster, or `unclustered`."""
    return node.removeprefix(f"{cluster or 'unclustered'}/")


def joined(graphs: Sequence[Graph], logs: Sequence[Graph]) -> list[Graph]:
    """Graphs joined with their logs, then the graphs that only logs have. A log names the file of a dumped
    graph; else graphs with the same nodes are the same."""
    log_graphs = {log.name: log for log in logs}
    found = []
    for graph in graphs:
        same = (key for key, log in log_graphs.items() if log.seen.keys() == graph.seen.keys())
        key = graph.name if graph.name in log_graphs else next(same, "")
        log = log_graphs.pop(key, None)
        if log is not None:
            graph.uncompilable, graph.cycles, graph.numbers = log.uncompilable, log.cycles, log.numbers
        found.append(graph)
    return [*found, *log_graphs.values()]


def rows(graphs: Iterable[Graph]) -> list[Row]:
    """Clusters, then nodes outside, of each graph. A log that names no node gives a row for each op."""
    found: list[Row] = []
    for graph in graphs:
        for name, cluster in graph.clusters.items():
            found.append(
                _row("cluster", graph, name, None, cluster.nodes)
                | {"ops": _counts(cluster.ops), "inputs": cluster.inputs, "outputs": cluster.outputs}
            )
        named: Counter[str] = Counter()
        for name, op in graph.seen.items():
            if name in graph.assigned:
                continue
            why, evidence = _why(graph, name, op)
            named[op or ""] += 1
            found.append(_row("node", graph, name, op, 1) | {"why": why, "evidence": evidence})
        if graph.outside and not any(named.values()):
            for op, number in graph.outside.items():
                why, evidence = _why(graph, "", op)
                found.append(_row("node", graph, None, op, number) | {"why": why, "evidence": evidence})
    return found


def _row(kind: str, graph: Graph, name: str | None, op: str | None, nodes: int) -> Row:
    row: Row = dict.fromkeys(COLUMNS)
    return row | {"kind": kind, "graph": graph.name, "name": name, "op": op, "nodes": nodes}


def _counts(ops: Counter[str]) -> str:
    return ", ".join(f"{op} {number}" for op, number in sorted(ops.items(), key=lambda op: (-op[1], op[0])))


def _why(graph: Graph, name: str, op: str | None) -> tuple[str, str | None]:
    """The reason that the log gives for a node, and its words."""
    if op in ARGUMENTS:
        return "graph_end", graph.uncompilable.get(name) or f"its op is {op}"
    if name in ("_SOURCE", "_SINK"):
        return "graph_end", f"it is {name}"
    if name in graph.uncompilable:
        return "uncompilable", graph.uncompilable[name]
    for producer, consumer, reason in graph.cycles:
        if name and any(end.startswith((f"<{name} #", f"<{name} + ")) for end in (producer, consumer)):
            return "cycle", f"{producer} -> {consumer}: {reason}"[:400]
    if name and graph.uncompilable and _all_accounted_for(graph):
        return "too_small", "it can be compiled, and no line says why it was left out: inferred"
    return "untold", None


def _all_accounted_for(graph: Graph) -> bool:
    """Whether each node is a candidate, or has a reason why it cannot be compiled."""
    nodes, candidates = (graph.numbers.get(key) for key in ("sorted_nodes", "compilation_candidates_"))
    if nodes is None or candidates is None:
        return False
    return len(graph.uncompilable) + candidates >= nodes
