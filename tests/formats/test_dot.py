"""DOT: what XLA dumps, what others write, and what is none."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stepscope.cli import main
from stepscope.formats import _dot, graph
from tests.corpus import SAMPLES
from tests.tiers import cases

XLA = (SAMPLES / "graph" / "xla_fusion.dot").read_text()


def found(text: str) -> tuple[dict[str, str], list[tuple[str, str, int]]]:
    """Names with their types, and edges with slots, -1 for control."""
    dot = _dot.parse(text)
    names = graph._names(dot)
    edges = [(names[one.producer], names[one.consumer], -1 if one.control else one.slot) for one in dot.edges]
    return {names[one.id]: _dot.op_of(one) for one in dot.nodes.values()}, edges


def test_a_dump_of_xla() -> None:
    nodes, edges = found(XLA)
    assert nodes == {
        "Parameter 0": "parameter",
        "fusion/add.0": "add",
        "fusion/multiply.0": "multiply",
        "fusion/Parameter 0": "parameter",
        "ROOT": "ROOT",
    }
    assert edges == [
        ("fusion/multiply.0", "fusion/add.0", 1),
        ("fusion/Parameter 0", "fusion/multiply.0", 0),
        ("Parameter 0", "fusion/Parameter 0", 0),
        ("fusion/add.0", "ROOT", 0),
    ]
    assert _dot.parse(XLA).cut is None
    facts = [_dot.facts_of(one) for one in _dot.parse(XLA).nodes.values()]
    assert facts[1] == {"op_name": "w/Initializer/random_uniform", "op_type": "Add"}


@pytest.mark.parametrize(
    ("text", "nodes", "edges"),
    [
        ("digraph { a -> b -> c }", "a b c", "a-b b-c"),
        ("strict graph G { a -- b; a -- b; c }", "a b c", "a-b a-b"),
        ('digraph "x" { a:port:n -> {b c} -> d }', "a b c d", "a-b a-c b-d c-d"),
        ("digraph { node [shape=box label=no]; edge [label=no] a [label=yes]; a -> b }", "yes b", "yes-b"),
        (
            'digraph { rankdir=TB; 1 [label="{in|<p> out}"]; 2 [label="in"]; 1 -> 2 }',
            "in in~(2)",
            "in-in~(2)",
        ),
        ('digraph { /* a -> z */ a [label="x\\ny"] // b\n# c\n a -> a }', "x", "x-x"),
        ("digraph { subgraph s { label=<deep <i>er</i>>; a } b -> a }", "deep~er/a b", "b-deep~er/a"),
        ("digraph { a [label=<1 &lt; 2>]; }", "1~<~2", ""),
    ],
)
def test_the_language(text: str, nodes: str, edges: str) -> None:
    names, joined = found(text)
    assert [name.replace(" ", "~") for name in names] == nodes.split()
    assert [f"{a}-{b}".replace(" ", "~") for a, b, _ in joined] == edges.split()
    assert _dot.parse(text).cut is None


@pytest.mark.parametrize(
    ("head", "is_one"),
    [
        ("digraph{", True),
        ("// a graph\n# of a graph\n/* and * more */ Strict DiGraph a_b\n{ <", True),
        ('graph "a { b" {', True),
        ("graph", False),
        ("graph a b {", False),
        ("graph_def {", False),
        ("strict {", False),
        ("// graph {", False),
        ('{"graph": {', False),
        ("/* graph {", False),
        ("//" * 2000, False),
        ("#" * 4000, False),
    ],
)
def test_how_a_graph_begins(head: str, is_one: bool) -> None:
    assert _dot.is_dot(head) is is_one


def test_control_edges_and_opcodes() -> None:
    text = """digraph G { 1 [label=<<b>Conv2D.1</b><br/>convolution<br/>window={size=3x3}<br/>f32[8]>];
    2 [label=<<b>fusion.7</b><br/>f32[8]>]; 1 -> 2 [style="dotted" color="gray" label="ctrl"]; }"""
    assert found(text) == ({"Conv2D.1": "convolution", "fusion.7": "fusion"}, [("Conv2D.1", "fusion.7", -1)])


def test_what_is_read_of_a_damaged_graph(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "cut.dot"
    path.write_text(XLA[: XLA.index("subgraph") + 40])
    assert main(["query", str(path), "SELECT name FROM node", "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines() == ["name", "Parameter 0"]
    assert main([str(path)]) == 0
    assert "DOT was read as far as" in capsys.readouterr().out


def test_a_byte_order_mark_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = "SELECT name, op_type FROM node ORDER BY id"
    told = []
    for name, mark in (("with.dot", "\ufeff"), ("without.dot", "")):
        (tmp_path / name).write_text(mark + XLA, encoding="utf-8")
        assert main(["query", str(tmp_path / name), asked, "--format", "csv"]) == 0
        told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert told[0].count("\n") == 6


def test_a_drawing_is_no_model_of_tfprof(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It has no NodeDef, though it is a graph, and hides none that lies beside it."""
    drawing = tmp_path / "a.dot"
    drawing.write_text(XLA)
    count = "SELECT count(*) AS n FROM tfprof_node"
    assert main(["query", str(drawing), count, "--format", "csv"]) == 0
    assert capsys.readouterr().out.split() == ["n", "0"]
    assert main(["tfprof", "scope", str(drawing)]) == 2
    assert "There is no model to look at" in capsys.readouterr().err
    (tmp_path / "b.pb").write_bytes((SAMPLES / "graph" / "small.pb").read_bytes())
    assert main(["tfprof", "scope", str(tmp_path)]) == 0
    said = capsys.readouterr()
    assert "graph: " in said.err
    assert "b.pb" in said.err
    assert "_TFProfRoot" in said.out


def test_drawings_in_a_dump_folder_are_its_modules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    module = "module_0002.jit_train_step.cpu_after_optimizations"
    (tmp_path / f"{module}.hlo.pb").write_bytes((SAMPLES / "xla_dump" / f"{module}.hlo.pb").read_bytes())
    drawing = tmp_path / f"{module}.dot"
    drawing.write_text(XLA)
    assert main(["graph", str(tmp_path), "--list", "--format", "csv"]) == 0
    assert ".dot" not in capsys.readouterr().out
    assert main(["graph", str(drawing)]) == 0
    assert "5 nodes and 4 edges" in capsys.readouterr().out


@settings(max_examples=cases(40, 200), deadline=None)
@given(
    st.lists(st.sampled_from([*'{}[];,=:"<>-\\/#* \n', "a", "b", "->", "subgraph ", "label", "<b>"])).map(
        "".join
    )
)
@example("}")
@example("a [label=<")
@example("{" * 5000 + "a")
@example("{" * 90 + "a")
def test_any_text_ends_in_a_graph(text: str) -> None:
    dot = _dot.parse(f"digraph {{{text}")
    names = graph._names(dot)
    assert all(one.producer in names and one.consumer in names for one in dot.edges)
