"""Clusters of TensorFlow, against counts that the pass itself printed."""

import gzip
import json
import tarfile
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.instruments.xla import clusters
from tests import corpus

DUMPS = corpus.ROOT / "xla_dumps"
needs_dumps = pytest.mark.skipif(not DUMPS.is_dir(), reason="no corpus beside the clone")

LOG = Path(__file__).with_name("clustering.txt").read_text(encoding="utf-8")


def reasons(graph: clusters.Graph) -> dict[str, str]:
    return {row["name"]: row["why"] for row in clusters.rows([graph]) if row["kind"] == "node"}


def test_each_node_outside_has_its_reason() -> None:
    (graph,) = clusters.read_log(LOG.splitlines(), "log")
    assert reasons(graph) == {"x": "graph_end", "b": "cycle", "c": "too_small", "py": "uncompilable"}


def test_edges_are_those_that_data_crosses() -> None:
    (graph,) = clusters.read_log(LOG.splitlines(), "log")
    assert (graph.clusters["cluster_0"].inputs, graph.clusters["cluster_0"].outputs) == (2, 1)
    (bare,) = clusters.read_log(LOG.partition("*** Inter")[0].splitlines(), "log")
    assert (bare.clusters["cluster_0"].inputs, bare.clusters["cluster_0"].outputs) == (None, None)


def test_what_the_log_does_not_tell_is_untold() -> None:
    lines = [line for line in LOG.splitlines() if "compilability" not in line and "contract <" not in line]
    (graph,) = clusters.read_log(lines, "log")
    assert set(reasons(graph).values()) == {"untold"}
    bare = [line for line in lines if "Device type" not in line and "Assigning" not in line]
    (graph,) = clusters.read_log(bare, "log")
    assert [(row["op"], row["nodes"]) for row in clusters.rows([graph]) if row["kind"] == "node"] == [
        ("Add", 2)
    ]


@pytest.mark.repeats("reads recordings that do not ship")
@needs_dumps
@pytest.mark.parametrize(("name", "inside", "outside"), [("resnet", 271, 18), ("transformer", 29, 11)])
def test_log_and_graph_agree_with_what_the_pass_counted(
    name: str, inside: int, outside: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with gzip.open(DUMPS / f"tf_{name}_auto.clustering.log.gz", "rt") as file:
        logs = clusters.read_log(file, "log")
    log = max(logs, key=lambda one: one.size or 0)
    with tarfile.open(DUMPS / f"tf_{name}_auto.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    capsys.readouterr()
    assert main(["xla", "clusters", str(tmp_path), "--format", "json"]) == 0
    said = json.loads(capsys.readouterr().out)
    rows = said["rows"] if isinstance(said, dict) else said
    rows = [row if isinstance(row, dict) else dict(zip(said["columns"], row, strict=True)) for row in rows]
    of_graph = {row["name"]: row for row in rows if row["kind"] == "cluster" and row["graph"] == log.name}
    assert {key: one.nodes for key, one in log.clusters.items()} == {
        key: row["nodes"] for key, row in of_graph.items()
    }
    assert sum(row["nodes"] for row in of_graph.values()) == inside
    # The pass counts the graph's source and sink, which no file has.
    seen = [row for row in rows if row["kind"] == "node" and row["graph"] == log.name]
    assert len(seen) in (outside, outside - 2)
    for key, one in log.clusters.items():
        assert of_graph[key]["ops"] == clusters._counts(one.ops)


@pytest.mark.repeats("reads recordings that do not ship")
@needs_dumps
def test_the_reasons_of_a_log_reach_its_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with tarfile.open(DUMPS / "tf_transformer_auto.tar.xz") as archive:
        archive.extractall(tmp_path, filter="data")
    log = DUMPS / "tf_transformer_auto.reasons.log.gz"
    assert main(["xla", "clusters", str(tmp_path), str(log), "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert "29 nodes in 2 clusters, 9 outside\n" in shown.err
    assert "8 outside: an argument or a result of the graph\n1 outside: cannot be compiled\n" in shown.err
    assert "No registered 'EagerPyFunc'" in shown.out or "EagerPyFunc" in shown.out


def test_files_that_tell_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_bytes(b"\x00\xff" * 100)
    assert main(["xla", "clusters", str(tmp_path)]) == 2
    assert "Nothing here tells of clusters" in capsys.readouterr().err
    (tmp_path / "b.log.gz").write_bytes(b"\x1f\x8b\x08\x00damaged")
    assert main(["xla", "clusters", str(tmp_path / "b.log.gz")]) == 2
