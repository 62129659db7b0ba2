"""Graphs over the API, and requests that make no sense."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from stepscope.formats.xla import hlo_files
from stepscope.session import trace
from tests.asked import ask
from tests.corpus import SAMPLES
from tests.server.asking import Served
from tests.tiers import some

GRAPH = SAMPLES / "graph" / "small.pb"


@pytest.fixture(scope="module")
def graph() -> Iterator[Served]:
    with closing(Served(str(GRAPH))) as found:
        yield found


def test_the_graphs_and_their_nodes_are_sqls(graph: Served) -> None:
    with trace.open(GRAPH, cache=False) as opened:
        wanted = opened.query("SELECT graph, COUNT(*) FROM node GROUP BY graph").rows()
        edges = opened.query("SELECT producer, consumer FROM edge WHERE graph = 'graph'").rows()
    told = graph.get("/api/graphs").json["graphs"]
    assert sorted((one["graph"], one["nodes"]) for one in told) == sorted(wanted)
    number = next(i for i, one in enumerate(told) if one["graph"] == "graph")
    level = graph.post(
        "/api/graph", {"graph": number, "open": [], "fold": True, "flat": False, "given": True}
    ).json
    assert sum(box["nodes"] for box in level["boxes"]) == level["nodes"] == told[number]["nodes"]
    assert sum(count for _, _, count in level["edges"]) + level["inside"] + level["dangling"] == len(edges)


def test_flat_is_every_node(graph: Served) -> None:
    level = graph.post("/api/graph", {"graph": 0, "open": [], "fold": True, "flat": True, "given": True}).json
    assert len(level["boxes"]) == level["nodes"]
    assert {box["nodes"] for box in level["boxes"]} == {1}
    assert sum(count for _, _, count in level["edges"]) > 0 == level["inside"]


def test_outputs_are_sqls() -> None:
    steps = SAMPLES / "run_metadata" / "two_servers.pb"
    with closing(Served(str(steps))) as page, trace.open(steps, cache=False) as opened:
        for number, one in enumerate(page.get("/api/graphs").json["graphs"]):
            level = page.post(
                "/api/graph", {"graph": number, "open": [], "fold": False, "flat": False, "given": True}
            ).json
            largest = opened.query(
                "SELECT SUM(b) FROM (SELECT MAX(requested_bytes) AS b FROM tensor WHERE op_name IN"
                f" (SELECT name FROM node WHERE graph = '{one['graph']}') GROUP BY op_name, slot) AS t"
            )
            assert sum(box["output_bytes"] for box in level["boxes"]) == (largest.rows()[0][0] or 0)


def test_a_node_is_found_and_a_way_too(graph: Served) -> None:
    producer, consumer = ask(GRAPH, "SELECT producer, consumer FROM edge ORDER BY id LIMIT 1")[0]
    found = graph.get(f"/api/graph/search?graph=0&q={producer}").json
    assert producer in [one["path"] for one in found["nodes"]]
    assert graph.get(f"/api/graph/way?graph=0&from={producer}&to={consumer}").json["path"] == [
        producer,
        consumer,
    ]


@pytest.mark.parametrize("odd", [
    {"graph": 99, "open": [], "fold": True, "flat": False, "given": True},
    {"graph": -1, "open": [], "fold": True, "flat": False, "given": True},
    {"graph": "0", "open": [], "fold": True, "flat": False, "given": True},
    {"graph": True, "open": [], "fold": True, "flat": False, "given": True},
    {"graph": 0, "open": "a", "fold": True, "flat": False, "given": True},
    {"graph": 0, "open": [1], "fold": True, "flat": False, "given": True},
    {"graph": 0, "open": ["a"] * 3000, "fold": True, "flat": False, "given": True},
    {"graph": 0, "open": [], "fold": 1, "flat": False, "given": True},
    {"graph": 0, "open": [], "fold": True, "flat": None, "given": True},
    {"graph": 0, "open": []},
], ids=lambda odd: str(odd)[:50])  # fmt: skip
def test_what_makes_no_sense_is_refused(graph: Served, odd: dict[str, Any]) -> None:
    answer = graph.post("/api/graph", odd)
    assert 400 <= answer.status < 500
    assert answer.slug


def test_a_way_to_nowhere_is_refused(graph: Served) -> None:
    assert graph.get("/api/graph/way?graph=0&from=nothing&to=nowhere").slug


def test_programs_of_a_dump_are_graphs() -> None:
    """Those that `stepscope graph` lists, each with its level; their files stay unknown to the page."""
    dump = str(SAMPLES / "xla_dump")
    page = Served(dump)
    try:
        listed = json.loads(page.get("/api/graphs").body)["graphs"]
        wanted = hlo_files.graphs([dump])
        assert [(one["graph"], one["nodes"]) for one in listed] == [
            (one["graph"], one["nodes"]) for one in wanted
        ]
        assert dump not in page.get("/api/graphs").body.decode()
        for number, one in enumerate(listed):
            asked = {"graph": number, "open": [], "fold": False, "flat": False, "given": True}
            level = json.loads(page.post("/api/graph", asked).body)
            assert sum(box["nodes"] for box in level["boxes"]) == one["nodes"]
    finally:
        page.close()


@pytest.mark.parametrize(
    "name", some(["jax.xplane.pb.gz", "tf_xla.xplane.pb.gz"], ("jax.xplane.pb.gz",), "another framework")
)
def test_programs_of_a_recording_are_graphs_with_times(name: str) -> None:
    path = str(SAMPLES / "xplane" / name)
    page = Served(path)
    try:
        listed = json.loads(page.get("/api/graphs").body)["graphs"]
        rows = ask(path, "SELECT module, program_id, instructions FROM hlo_module")
        wanted = {f"{module}({number})": count for module, number, count in rows}
        programs_of = {one["graph"]: one for one in listed if one["graph"] in wanted}
        assert {graph: one["nodes"] for graph, one in programs_of.items()} == wanted
        times = []
        for number, one in enumerate(listed):
            asked = {"graph": number, "open": [], "fold": False, "flat": False, "given": True}
            level = json.loads(page.post("/api/graph", asked).body)
            assert sum(box["nodes"] for box in level["boxes"]) == one["nodes"]
            times.append(level["time_ps"])
        assert max(times) > 0
    finally:
        page.close()


@pytest.mark.parametrize(
    "name",
    some(
        ["xplane/tf_xla.xplane.pb.gz", "xplane/jax.xplane.pb.gz", "xla_dump"],
        ("xplane/tf_xla.xplane.pb.gz",),
        "another way to the same programs",
    ),
)
def test_programs_of_a_lake_are_those_of_what_was_ingested(name: str, tmp_path: Path) -> None:
    """The same boxes, times and sizes; edges lack those from operands of a call to its parameters."""
    path, lake = str(SAMPLES / name), str(tmp_path / "lake")
    assert main(["ingest", path, "--lake", lake]) == 0

    def levels(given: str) -> dict[int, tuple[set[Any], set[Any]]]:
        found = {}
        with closing(Served(given)) as page:
            for number, one in enumerate(page.get("/api/graphs").json["graphs"]):
                asked = {"graph": number, "open": [], "fold": False, "flat": True, "given": True}
                level = page.post("/api/graph", asked).json
                paths = [box["path"] for box in level["boxes"]]
                boxes = {
                    (box["path"], box["op_type"], box["time_ps"], box["output_bytes"])
                    for box in level["boxes"]
                }
                edges = {(paths[a], paths[b]) for a, b, _ in level["edges"]}
                found[one["nodes"]] = boxes, edges
        return found

    from_lake, from_file = levels(lake), levels(path)
    assert from_lake.keys() == from_file.keys()
    for nodes, (boxes, edges) in from_lake.items():
        assert boxes == from_file[nodes][0]
        assert edges <= from_file[nodes][1]
        opcodes = {path: op_type for path, op_type, _, _ in boxes}
        assert {opcodes[b] for _, b in from_file[nodes][1] - edges} <= {"parameter"}
