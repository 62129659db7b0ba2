"""The tree of scopes in the names of a graph's nodes, with what each scope holds."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from stepscope import strict_json
from stepscope.library.statements import Query, statement

SEVERAL = "several"
DEEPEST = 32
"""Most scopes around a node; deeper ones stay part of its name. Names are foreign input, and each scope
stores its path, so a name with a million slashes would fill the memory."""


_INLINED = ("StatefulPartitionedCall/", "PartitionedCall/")
"""Prefix of the names of ops in a function that TensorFlow inlined."""


_CALLING = frozenset({"Case", "If", "StatelessCase", "StatelessIf", "StatelessWhile", "While"})
"""Types of nodes that run functions: the names of ops in these begin with the node's name."""


def _node_values(
    names: set[str], values: dict[str, int], calling: frozenset[str] = frozenset()
) -> dict[str, int]:
    """Values of ops by the names that a graph gives them: unchanged or, where that matches more, without the
    name of a call. Never both: outside a call, an op of the same name belongs to another function, such as
    the input's. calling: names of nodes that run functions, such as loops; ops inside count to the node."""
    within: dict[str, int] = {}
    for name, value in values.items():
        inner = name
        while inner.startswith(_INLINED):
            inner = inner.partition("/")[2]
        if inner != name:
            within[inner] = within.get(inner, 0) + value
    inlined = within if len(names & within.keys()) > len(names & values.keys()) else values
    by_node: dict[str, int] = {}
    for name, value in inlined.items():
        at = name if name in names else _innermost_call(name, calling) or name
        by_node[at] = by_node.get(at, 0) + value
    return by_node


def _innermost_call(name: str, calling: frozenset[str]) -> str:
    """The innermost node whose name an op's name begins with; empty where there is none."""
    while name and name not in calling:
        name = name.rpartition("/")[0]
    return name


@dataclass
class GraphScope:
    """A scope or a node. A node is a scope without children; a node whose name is also a scope is both."""

    path: str
    children: dict[str, GraphScope] = field(default_factory=dict)
    op_type: str | None = None
    device: str = ""
    nodes: int = 0
    """Nodes in it, itself included."""
    own_ps: int = 0
    """Time of the node of this name, where there is one."""
    time_ps: int = 0
    """Time of all its nodes."""
    cluster: str = ""
    """XLA cluster of the node of this name."""
    own_bytes: int = 0
    """Bytes of the outputs of the node of this name."""
    output_bytes: int = 0
    """Bytes of the outputs of all its nodes."""
    parts: int = 1
    """Number of parts of its path, and where its name begins."""
    clusters: str = ""
    """XLA cluster of all its nodes that have one; SEVERAL where they differ."""
    shape: bytes = b""
    """A hash that scopes share when they hold the same ops under the same names."""
    first: int = 0
    """Index of its first node, in an order in which the nodes of a scope follow one another."""
    last: int = 0
    """Index after its last node."""

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.split("/", self.parts - 1)[-1]


class Hierarchy:
    """A graph with its scopes. Repeated names count once."""

    def __init__(
        self,
        nodes: Sequence[tuple[str, str, str]],
        edges: Sequence[tuple[str, str]],
        times: dict[str, int] | None = None,
        sizes: dict[str, int] | None = None,
        clusters: dict[str, str] | None = None,
        stem: Callable[[str], str] = str,
    ) -> None:
        """nodes: name, op type, device. edges: producer and consumer. times: picoseconds by name; sizes:
        bytes of outputs by name; clusters: XLA clusters by name. stem: what the last parts of names must
        share in scopes that count as alike."""
        times, sizes, clusters = times or {}, sizes or {}, clusters or {}
        self._stem = stem
        self.root = GraphScope("")
        self.nodes: dict[str, GraphScope] = {}
        for name, op_type, device in nodes:
            graph_scope = self._scope_at(name)
            if graph_scope.op_type is None:
                graph_scope.op_type, graph_scope.device, graph_scope.own_ps = (
                    op_type,
                    device,
                    times.get(name, 0),
                )
                graph_scope.own_bytes, graph_scope.cluster = sizes.get(name, 0), clusters.get(name, "")
                self.nodes[name] = graph_scope
        self.edges = [(a, b) for a, b in edges if a in self.nodes and b in self.nodes and a != b]
        self.dangling = len(edges) - len(self.edges)
        """Edges to or from missing nodes, or from a node to itself."""
        self._add_up(stem)
        self._number()
        place = {name: scope.first for name, scope in self.nodes.items()}
        self.producers = [place[a] for a, _ in self.edges]
        """Indexes of the producing nodes, in the order of the edges."""
        self.consumers = [place[b] for _, b in self.edges]
        """Indexes of the consuming nodes."""
        self._following: dict[str, list[str]] | None = None

    @classmethod
    def read(cls, query: Query, run_id: str, source_id: int, graph: str) -> Hierarchy:
        """A graph of a trace, with the times of its ops where they ran."""
        nodes = query(statement("nodes_of_graph", source_id=source_id, graph=graph)).rows()
        edges = query(statement("edges_of_graph", source_id=source_id, graph=graph)).rows()
        names = {row[0] for row in nodes}
        calling = frozenset(row[0] for row in nodes if row[1] in _CALLING)
        times = _node_values(names, dict(query(statement("time_of_ops", run_id=run_id)).rows()), calling)
        sizes = _node_values(names, dict(query(statement("outputs_of_ops", run_id=run_id)).rows()))
        clusters = {row[0]: _cluster(row[3]) for row in nodes if row[3] is not None}
        return cls(
            [(row[0], row[1], row[2]) for row in nodes], [(a, b) for a, b, _ in edges], times, sizes, clusters
        )

    def _scope_at(self, path: str) -> GraphScope:
        here, so_far = self.root, ""
        for number, part in enumerate(path.split("/", DEEPEST)):
            so_far = f"{so_far}/{part}" if number else part
            found = here.children.get(part)
            if found is None:
                found = here.children[part] = GraphScope(so_far, parts=number + 1)
            here = found
        return here

    def _add_up(self, stem: Callable[[str], str]) -> None:
        for scope in self._upwards():
            scope.nodes += scope.op_type is not None
            scope.time_ps += scope.own_ps
            scope.output_bytes += scope.own_bytes
            clusters = {scope.cluster} if scope.cluster else set()
            digest = hashlib.blake2b((scope.op_type or "").encode(), digest_size=12)
            for child in scope.children.values():
                scope.nodes += child.nodes
                scope.time_ps += child.time_ps
                scope.output_bytes += child.output_bytes
                if child.clusters:
                    clusters.add(child.clusters)
            for name, shape in sorted((stem(name), child.shape) for name, child in scope.children.items()):
                digest.update(f"/{name}=".encode("utf-8", "surrogatepass"))
                digest.update(shape)
            scope.clusters = SEVERAL if len(clusters) > 1 else next(iter(clusters), "")
            scope.shape = digest.digest()

    def _number(self) -> None:
        free = 0
        left = [self.root]
        while left:
            scope = left.pop()
            scope.first, scope.last = free, free + scope.nodes
            free += scope.op_type is not None
            # The rest comes before: indexes within this scope still follow one another.
            left += scope.children.values()

    def _upwards(self) -> Iterator[GraphScope]:
        """All scopes, inner before outer ones; without recursion, for names may be nested deeper than Python
        calls."""
        order: list[GraphScope] = []
        left = [self.root]
        while left:
            scope = left.pop()
            order.append(scope)
            left += scope.children.values()
        return reversed(order)

    def scope(self, path: str) -> GraphScope | None:
        """The scope or node of a path; None when there is none."""
        here = self.root
        for part in path.split("/", DEEPEST):
            found = here.children.get(part)
            if found is None:
                return None
            here = found
        return here

    def search(self, text: str, most: int) -> tuple[list[str], int]:
        """Nodes whose name or type contains a text, ignoring case: the first ones, and how many."""
        wanted = text.lower()
        found = [
            name
            for name, scope in self.nodes.items()
            if wanted in name.lower() or wanted in (scope.op_type or "").lower()
        ]
        return found[:most], len(found)

    def neighbourhood(self, name: str, hops: int) -> Hierarchy:
        """The subgraph of all nodes within a number of edges of a node, in either direction."""
        near = self._nodes_near(name, hops)
        kept = {node: at for node, at in self.nodes.items() if node in near}
        return Hierarchy(
            [(node, at.op_type or "", at.device) for node, at in kept.items()],
            [(a, b) for a, b in self.edges if a in near and b in near],
            {node: at.own_ps for node, at in kept.items()},
            {node: at.own_bytes for node, at in kept.items()},
            {node: at.cluster for node, at in kept.items() if at.cluster},
            self._stem,
        )

    def _nodes_near(self, name: str, hops: int) -> set[str]:
        """The nodes within a number of edges of a node."""
        joined: dict[str, list[str]] = {}
        for a, b in self.edges:
            joined.setdefault(a, []).append(b)
            joined.setdefault(b, []).append(a)
        near, last = {name}, [name]
        for _ in range(hops):
            last = list(
                dict.fromkeys(other for here in last for other in joined.get(here, ()) if other not in near)
            )
            near.update(last)
        return near

    def way(self, start: str, end: str) -> list[str]:
        """A shortest path along the edges, or else against them; empty when there is none."""
        if start not in self.nodes or end not in self.nodes:
            return []
        if self._following is None:
            self._following = {}
            for a, b in self.edges:
                self._following.setdefault(a, []).append(b)
        following = self._following
        return _shortest_path(following, start, end) or _shortest_path(following, end, start)[::-1]


def _shortest_path(following: Mapping[str, Sequence[str]], source: str, target: str) -> list[str]:
    """A shortest path in the direction of the edges; empty when there is none."""
    before: dict[str, str | None] = {source: None}
    left = deque([source])
    while left:
        here = left.popleft()
        if here == target:
            break
        for after in following.get(here, ()):
            if after not in before:
                before[after] = here
                left.append(after)
    if target not in before:
        return []
    found: list[str] = []
    at: str | None = target
    while at is not None:
        found.append(at)
        at = before[at]
    return found[::-1]


def _cluster(args_json: str) -> str:
    """The XLA cluster that attributes name; "" for none."""
    found = strict_json.members(args_json).get("_XlaCluster")
    return found if isinstance(found, str) else ""
