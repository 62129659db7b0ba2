"""Measures the layout of graphs against dagre and elkjs.

    npm ci --ignore-scripts --prefix benchmarks/layouts
    python benchmarks/layouts.py [--limit SECONDS]

The same boxes and edges for all: levels of compiled programs of the corpus as `stepscope graph` folds them,
and flat graphs of growing size, long like training steps, with 1.42 edges a node. Seconds of the processor
for the layout alone, the libraries' in a process of its own that has laid out nothing before. Beside it,
how many other edges an edge crosses when all are straight. What does not end within the limit is said to,
and larger graphs are not tried.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from tests.formats.test_hlo import unpacked  # noqa: E402  the tests' corpus, found beside this folder

import kept  # noqa: E402
from stepscope import _core  # noqa: E402
from stepscope.instruments.graphs.hierarchy import GraphScope  # noqa: E402
from stepscope.instruments.graphs.level import level  # noqa: E402
from stepscope.report.graph import dumped, dumped_graphs  # noqa: E402

LIBRARIES = ("dagre", "elkjs")
FLAT = (100, 300, 1_000, 3_000, 10_000, 100_000)
Graph = tuple[str, list[float], list[tuple[int, int]]]


def scopes(scope: GraphScope, depth: int) -> Iterator[str]:
    """Paths of the scopes down to a depth."""
    for one in scope.children.values():
        if one.children and depth:
            yield one.path
            yield from scopes(one, depth - 1)


def levels() -> Iterator[Graph]:
    """Levels of the largest programs of two dumps."""
    for name in ("jax_resnet", "jax_transformer"):
        largest = dumped_graphs([str(unpacked(f"{name}/dump"))])[0]
        graph = dumped(largest)
        for title, told in (
            ("closed", level(graph, [])),
            ("first scopes open", level(graph, list(scopes(graph.root, 1)))),
            ("two scopes deep", level(graph, list(scopes(graph.root, 2)))),
            ("flat", level(graph, [], flat=True)),
        ):
            edges = [(one.producer, one.consumer) for one in told.edges if one.producer != one.consumer]
            yield f"{name}, {title}", [box.width for box in told.boxes], edges


def flat(nodes: int) -> Graph:
    """A graph of so many nodes in which each follows one of the two before it."""
    drawn = random.Random(nodes)
    edges = {(max(0, at - drawn.randint(1, 2)), at) for at in range(1, nodes)}
    while len(edges) < 1.42 * nodes - 1:
        at = drawn.randrange(2, nodes)
        edges.add((max(0, at - drawn.randint(2, 200)), at))
    return f"{nodes:,} nodes", [drawn.uniform(64, 260) for _ in range(nodes)], sorted(edges)


Laid = tuple[float, list[tuple[float, float]]]
"""Seconds of the processor, and the middle of each box."""


def ours(widths: list[float], edges: list[tuple[int, int]]) -> Laid:
    """Ours, the fastest of three."""
    taken = []
    for _ in range(3):
        started = time.process_time()
        layers, lefts = _core.layered_layout(widths, edges)
        taken.append(time.process_time() - started)
    middles = [left + width / 2 for left, width in zip(lefts, widths, strict=True)]
    return min(taken), list(zip(middles, map(float, layers), strict=True))


def crossings(edges: list[tuple[int, int]], places: list[tuple[float, float]]) -> float:
    """How many others an edge crosses, were all drawn as straight lines; of the first thousand at random."""
    drawn = random.Random(1).sample(edges, min(len(edges), 1_000))
    ends = np.array([[*places[a], *places[b]] for a, b in drawn])
    x, y, u, v = ends.T

    def side(px: Any, py: Any) -> Any:
        """On which side of each line each point lies."""
        return np.sign((u - x)[:, None] * (py - y[:, None]) - (v - y)[:, None] * (px - x[:, None]))

    apart = side(x, y) * side(u, v) < 0
    return float((apart & apart.T).sum() / len(drawn))


def theirs(library: str, widths: list[float], edges: list[tuple[int, int]], limit: int) -> Laid | str:
    """The same of a library, or how it ended."""
    done = subprocess.run(
        ["node", "--stack-size=60000", "lay.mjs", library],
        cwd=HERE / "layouts",
        input=json.dumps({"widths": widths, "edges": edges}),
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1)),
    )
    if done.returncode < 0:
        return f"did not end in {limit} s of the processor"
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "Error" in line]
        return (said or ["no word"])[0][:200]
    told = json.loads(done.stdout)
    return told["seconds"], told["places"]


def main() -> None:
    """Measures, prints and writes down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, default=60, help="seconds for one layout (60)")
    options = parser.parse_args()
    if not (HERE / "layouts" / "node_modules").exists():
        parser.error("the libraries are missing: npm ci --ignore-scripts --prefix benchmarks/layouts")
    rows: list[dict[str, Any]] = []
    ended = dict.fromkeys(LIBRARIES, True)
    for name, widths, edges in (*levels(), *map(flat, FLAT)):
        own, places = ours(widths, edges)
        row: dict[str, Any] = {
            "graph": name,
            "boxes": len(widths),
            "edges": len(edges),
            "seconds": round(own, 5),
        }
        row["crossings"] = round(crossings(edges, places), 2)
        for library in LIBRARIES:
            if not ended[library]:
                row[library] = "not tried"
                continue
            laid = theirs(library, widths, edges, options.limit)
            if isinstance(laid, str):
                row[library] = laid
                ended[library] = name.startswith("jax")
                continue
            row[library] = round(laid[0], 3)
            row[f"{library}_ratio"] = round(laid[0] / own)
            row[f"{library}_crossings"] = round(crossings(edges, laid[1]), 2)
        rows.append(row)
        print(json.dumps(row), flush=True)
    told = {"machine": kept.machine(), "limit_seconds": options.limit, "rows": rows}
    kept.write("layouts", told)


if __name__ == "__main__":
    main()
