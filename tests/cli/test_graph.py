"""`stepscope graph`: what it prints and draws is what the graph holds, and mistakes end in a sentence."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stepscope.cli import main
from stepscope.instruments.graphs import Hierarchy
from stepscope.session import trace
from tests.asked import ask
from tests.corpus import SAMPLES
from tests.formats.capture_folder import data
from tests.presenters.hostile import HOSTILE
from tests.presenters.scripts import SCRIPTS

STEPS = SAMPLES / "run_metadata" / "two_servers.pb"
SVG = "{http://www.w3.org/2000/svg}"


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["graph", *words]) == 0
    return capsys.readouterr().out


def graph_def(path: Path, edges: dict[str, list[str]]) -> str:
    """A GraphDef of nodes of type Op with these inputs."""
    nodes = [
        data(1, name.encode("utf-8", "replace")) + data(2, b"Op")
        + b"".join(data(3, one.encode("utf-8", "replace")) for one in inputs)
        for name, inputs in edges.items()
    ]  # fmt: skip
    path.write_bytes(b"".join(data(1, one) for one in nodes))
    return str(path)


def layers(path: Path, count: int) -> str:
    edges: dict[str, list[str]] = {"x": []}
    last = "x"
    for n in range(count):
        edges[f"layer_{n}/MatMul"] = [last]
        edges[f"layer_{n}/Relu"] = [f"layer_{n}/MatMul"]
        last = f"layer_{n}/Relu"
    return graph_def(path, edges)


def test_the_lines_hold_every_node_and_their_times(capsys: pytest.CaptureFixture[str]) -> None:
    told = json.loads(printed(capsys, str(STEPS), "--format", "json"))
    lines = told["sections"][0]["tree"]["nodes"]
    with trace.open(STEPS, cache=False) as opened:
        sql = "SELECT COUNT(*) AS n FROM node GROUP BY graph ORDER BY n DESC LIMIT 1"
        assert sum(line["values"]["nodes"] for line in lines) == opened.query(sql).rows()[0][0]
        asked = (
            "SELECT SUM(CASE WHEN op_self_ps IS NULL THEN self_ps ELSE op_self_ps END) FROM rollup_op"
            " WHERE is_op AND op_name IN (SELECT name FROM node WHERE graph = 'partition/1')"
        )
        assert sum(line["values"]["time_ps"] or 0 for line in lines) == opened.query(asked).rows()[0][0]
    deeper = json.loads(printed(capsys, str(STEPS), "--depth", "2", "--format", "json"))
    assert len(deeper["sections"][0]["tree"]["nodes"]) > len(lines)
    within = printed(capsys, str(STEPS), "--scope", "gradients")
    assert "9 nodes in this scope" in within
    assert "layer1" in within


def test_alike_blocks_are_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = layers(tmp_path / "g.pb", 12)
    assert "and 11 blocks like it" in printed(capsys, path)
    assert printed(capsys, path, "--no-fold").count("layer_") == 12


@pytest.mark.parametrize(
    "words", [[], ["--depth", "4"], ["--no-fold", "--depth", "2"], ["--scope", "gradients"]]
)
def test_drawings_hold_the_same(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {ending: tmp_path / f"g{ending}" for ending in (".json", ".svg", ".dot")}
    for file in files.values():
        assert printed(capsys, str(STEPS), *words, "-o", str(file)) == ""
    told = json.loads(files[".json"].read_text())
    with trace.open(STEPS, cache=False) as opened:
        scope = "gradients/%" if "--scope" in words else "%"
        sql = f"SELECT COUNT(*) FROM node WHERE graph = 'partition/1' AND name LIKE '{scope}'"
        assert sum(box["nodes"] for box in told["boxes"]) == opened.query(sql).rows()[0][0]
        edges = opened.query("SELECT COUNT(*) FROM edge WHERE graph = 'partition/1'").rows()[0][0]
    drawn = sum(count for _, _, count in told["edges"])
    assert drawn + told["edges_inside"] + told["edges_outside"] == edges
    root = ElementTree.fromstring(files[".svg"].read_bytes())
    groups = root.findall(f"{SVG}g")
    assert [one.find(f"{SVG}title").text.split(" · ")[0] for one in groups] == [  # type: ignore[union-attr]
        box["path"] for box in told["boxes"]
    ]
    assert len(root.findall(f"{SVG}path")) == len(told["edges"])
    dot = files[".dot"].read_text()
    assert len(re.findall(r"^  n\d+ \[", dot, re.M)) == len(told["boxes"])
    assert len(re.findall(r"^  n\d+ -> n\d+", dot, re.M)) == len(told["edges"])


def test_a_way_and_the_list(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = layers(tmp_path / "g.pb", 3)
    told = json.loads(printed(capsys, path, "--path", "x", "layer_1/MatMul", "--format", "json"))
    rows = told["sections"][0]["table"]["rows"]
    assert [row["name"] for row in rows] == ["x", "layer_0/MatMul", "layer_0/Relu", "layer_1/MatMul"]
    graphs = ask(STEPS, "SELECT graph, COUNT(*) FROM node GROUP BY graph")
    listed = printed(capsys, str(STEPS), "--list", "--format", "csv").splitlines()[1:]
    assert sorted(line.split(",")[1] for line in listed) == sorted(name for name, _ in graphs)
    other = printed(capsys, str(STEPS), "--graph", "partition/0")
    assert f"{dict(graphs)['partition/0']} nodes" in other


def test_one_of_many_files_is_chosen_by_its_name(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    small, large = layers(tmp_path / "before.pb", 2), layers(tmp_path / "after.pb", 3)
    assert main(["graph", str(tmp_path), "--list", "--format", "csv"]) == 0
    rows = [line.split(",") for line in capsys.readouterr().out.splitlines()[1:]]
    assert [row[3] for row in rows] == ["after.pb", "before.pb"]
    assert main(["graph", str(tmp_path)]) == 0
    shown = capsys.readouterr()
    assert "after.pb / graph" in shown.out
    assert "the largest of 2 graphs" in shown.err
    for name in ("before", "before.pb", small):
        assert f"before.pb / graph\n{rows[1][2]} nodes" in printed(capsys, str(tmp_path), "--graph", name)
    assert f"{rows[0][2]} nodes" in printed(capsys, large)
    assert main(["graph", str(tmp_path), "--graph", "befor"]) == 2
    assert "did you mean before.pb" in capsys.readouterr().err


def test_hostile_names_are_text_in_every_form(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [name for name in dict.fromkeys((*SCRIPTS, *HOSTILE)) if name.strip() and len(name) < 10_000]
    path = graph_def(tmp_path / "g.pb", dict.fromkeys(names, names[:1]))
    printed(capsys, path, "--depth", "3")
    for ending in (".svg", ".dot", ".json"):
        printed(capsys, path, "--no-fold", "-o", str(tmp_path / f"g{ending}"))
    root = ElementTree.fromstring((tmp_path / "g.svg").read_bytes())
    tags = {one.tag.removeprefix(SVG) for one in root.iter()}
    assert tags == {"svg", "title", "style", "path", "g", "rect", "text"}
    assert not [name for one in root.iter() for name in one.attrib if name.startswith("on") or name == "href"]
    for line in (tmp_path / "g.dot").read_text(encoding="utf-8").splitlines()[2:-1]:
        bare = re.sub(r'"(\\.|[^"\\])*"', "", line)
        assert re.fullmatch(
            r"  n\d+( -> n\d+)?( \[(label=\d*,?)?( tooltip=)?(, style=rounded)?\])?;", bare
        ), line
    assert json.loads((tmp_path / "g.json").read_text())["boxes"]


@pytest.mark.parametrize(("words", "said"), [
    ([str(STEPS), "--scope", "gradient"], "did you mean gradients"),
    ([str(STEPS), "--graph", "partition/9"], "did you mean partition/"),
    ([str(STEPS), "--path", "layer1/Relu", "layer1/MatMull"], "did you mean layer1/MatMul"),
    ([str(STEPS), "--depth", "0"], "There is no such depth"),
    ([str(STEPS), "-o", "g.png"], ".svg, .html, .dot"),
    ([str(STEPS), "--list", "-o", "g.svg"], "Only a graph can be drawn"),
    ([str(SAMPLES / "chrome" / "phases.json")], "There is no graph"),
    ([], "There is no path to read"),
], ids=lambda one: " ".join(one)[-30:] if isinstance(one, list) else "")  # fmt: skip
def test_mistakes_end_in_a_sentence(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", *words]) == 2
    told = capsys.readouterr()
    assert said in told.err
    assert told.out == ""
    assert not Path("g.svg").exists()


def test_a_file_is_not_replaced_unasked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "g.svg"
    out.write_text("mine")
    assert main(["graph", str(STEPS), "-o", str(out)]) == 2
    assert out.read_text() == "mine"
    assert main(["graph", str(STEPS), "-o", str(out), "--force"]) == 0
    assert out.read_text().startswith("<svg")


def test_whole_graphs_for_other_viewers(tmp_path: Path) -> None:
    """Model Explorer's collection, and a GraphDef as text."""
    told = tmp_path / "g.explorer.json"
    assert main(["graph", "tests/samples/xla_dump", "-o", str(told)]) == 0
    (graph,) = json.loads(told.read_text())["graphs"]
    ids = [node["id"] for node in graph["nodes"]]
    assert len(ids) == len(set(ids)) > 20
    edges = [(edge["sourceNodeId"], node["id"]) for node in graph["nodes"] for edge in node["incomingEdges"]]
    assert {source for source, _ in edges} <= set(ids)
    text = tmp_path / "g.pbtxt"
    assert main(["graph", "tests/samples/xla_dump", "-o", str(text)]) == 0
    # What stepscope reads itself is the same graph again.
    again = tmp_path / "again.explorer.json"
    assert main(["graph", str(text), "--no-cache", "-o", str(again)]) == 0
    (second,) = json.loads(again.read_text())["graphs"]
    assert {node["id"] for node in second["nodes"]} == set(ids)
    read = [(edge["sourceNodeId"], node["id"]) for node in second["nodes"] for edge in node["incomingEdges"]]
    assert sorted(read) == sorted(edges)


@pytest.mark.repeats("it imports TensorFlow; stepscope reads the same text above")
def test_tensorflow_reads_a_graph_as_it_was_written(tmp_path: Path) -> None:
    format_of_text = pytest.importorskip("google.protobuf.text_format")
    graph_pb2 = pytest.importorskip("tensorflow.core.framework.graph_pb2")
    text, told = tmp_path / "g.pbtxt", tmp_path / "g.explorer.json"
    for out in (text, told):
        assert main(["graph", "tests/samples/xla_dump", "-o", str(out)]) == 0
    (graph,) = json.loads(told.read_text())["graphs"]
    edges = [(edge["sourceNodeId"], node["id"]) for node in graph["nodes"] for edge in node["incomingEdges"]]
    read = format_of_text.Parse(text.read_text(), graph_pb2.GraphDef())
    assert [node.name for node in read.node] == [node["id"] for node in graph["nodes"]]
    assert sorted((source, node.name) for node in read.node for source in node.input) == sorted(edges)


def test_a_page_holds_the_drawing(tmp_path: Path) -> None:
    out, plain = tmp_path / "g.html", tmp_path / "g.svg"
    words = ["graph", "tests/samples/xla_dump", "--paint", "bytes"]
    assert main([*words, "-o", str(out)]) == 0
    assert main([*words, "-o", str(plain)]) == 0
    page = out.read_text()
    assert plain.read_text() in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")
    edges = json.loads(page.partition('id="edges">')[2].partition("</script>")[0])
    assert len(edges) == page.count("<path ")
    assert max(max(edge) for edge in edges) < page.count("<g ")


def test_the_neighbourhood_of_a_node(capsys: pytest.CaptureFixture[str]) -> None:
    nodes = [("a", "A", ""), ("s/b", "B", ""), ("s/c", "C", ""), ("d", "D", ""), ("e", "E", "")]
    found = Hierarchy(nodes, [("a", "s/b"), ("s/b", "s/c"), ("s/c", "d"), ("d", "a")])
    assert set(found.neighbourhood("s/b", 1).nodes) == {"a", "s/b", "s/c"}
    assert set(found.neighbourhood("s/b", 2).nodes) == {"a", "s/b", "s/c", "d"}
    assert set(found.neighbourhood("e", 9).nodes) == {"e"}
    assert found.neighbourhood("s/b", 1).edges == [("a", "s/b"), ("s/b", "s/c")]
    assert main(["graph", "tests/samples/xla_dump", "--around", "nothing"]) == 2
    assert main(["graph", "tests/samples/xla_dump", "--hops", "2"]) == 2
    assert main(["graph", "tests/samples/xla_dump", "--paint", "time"]) == 2
    assert "to do:" in capsys.readouterr().err
