"""tfprof's trees for Python: against the protos that TensorFlow returned for the same questions."""

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.cli import main
from stepscope.errors import UnreadableSource, UsageError
from stepscope.instruments.tfprof import tree
from tests import corpus
from tests.later import proto

GOLDENS = [path for path in corpus.files("tfprof/golden/*.json") if path.with_suffix(".pb").exists()]
NAMES = {
    "exec_micros": "micros",
    "accelerator_exec_micros": "accelerator_micros",
    "cpu_exec_micros": "cpu_micros",
    "requested_bytes": "requested_bytes",
    "peak_bytes": "peak_bytes",
    "residual_bytes": "residual_bytes",
    "output_bytes": "output_bytes",
    "parameters": "params",
    "float_ops": "float_ops",
}
GRAPH = corpus.SAMPLES / "graph" / "small.pb"
SERVERS = corpus.SAMPLES / "run_metadata" / "two_servers.pb"


def theirs(node: Any, command: str, level: int = 0) -> list[tuple[Any, ...]]:
    """A returned proto as lines."""
    line = (
        level,
        node.name,
        *(getattr(node, name) for name in NAMES),
        *(getattr(node, f"total_{name}") for name in NAMES),
    )
    # The op view is a list: each type is below the one before.
    below = level if command == "op" and level else level + 1
    return [line] + [one for child in node.children for one in theirs(child, command, below)]


def ours(root: tree.ViewNode) -> list[tuple[Any, ...]]:
    return [
        (
            node.level,
            node.name,
            *(getattr(node.own, name) for name in NAMES.values()),
            *(getattr(node.total, name) for name in NAMES.values()),
        )
        for node in root.walk()
    ]


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_trees_are_what_tensorflow_returned(path: Path) -> None:
    from google.protobuf.message import DecodeError

    tfprof_output_pb2 = proto("core.profiler.tfprof_output_pb2")
    golden = json.loads(path.read_text())
    command, inputs, options = golden["cmd"], golden["inputs"], dict(golden["options"])
    if command not in ("scope", "graph", "op", "code") or golden["status"] != "ok":
        pytest.skip(f"{command}: {golden['status']}")
    is_tree = command in ("scope", "graph")
    kind = tfprof_output_pb2.GraphNodeProto if is_tree else tfprof_output_pb2.MultiGraphNodeProto
    try:
        wanted = kind.FromString(path.with_suffix(".pb").read_bytes())
    except DecodeError:
        pytest.skip("what TensorFlow returned is nested too deep for protobuf")
    if not wanted.children:
        pytest.skip("TensorFlow returned no more than a root for it")
    profile = stepscope.tfprof(
        graph=corpus.path(inputs["graph"]) if inputs["graph"] else None,
        run_metadata=[corpus.path(inputs["run_meta"])] if inputs["run_meta"] else [],
        op_log=corpus.path(inputs["op_log"]) if inputs["op_log"] else None,
    )
    options.pop("output", None)
    if options.get("order_by") not in (None, *tree.orders()):
        del options["order_by"]
    options["select"] = [word for word in options.get("select", []) if word in tree.columns()] or ["params"]
    for name in ("account_type_regexes", "start_name_regexes", "show_name_regexes"):
        options.setdefault(name, [])
    options.setdefault("max_depth", 0)
    found = getattr(profile, command)(**options)
    assert ours(found) == theirs(wanted, command)


def test_a_graph_by_itself() -> None:
    root = stepscope.tfprof(graph=GRAPH).scope(select=["params", "op_types"])
    assert root.name == "_TFProfRoot"
    lines = list(root.walk())
    assert len(lines) == 1 + sum(len(node.children) for node in lines)
    for node in lines:
        assert node.total.params == node.own.params + sum(child.total.params for child in node.children)
        assert all(child.level == node.level + 1 for child in node.children)
    assert root.find(lines[-1].name) is lines[-1]
    with pytest.raises(KeyError):
        root.find("no such node")
    text = str(root)
    assert len(text.splitlines()) == len(lines)
    html = root._repr_html_()
    assert html.count("<details") == html.count("</details>") == len(lines)
    assert [row["name"] for row in root.rows()] == [node.name for node in lines]


def test_names_are_escaped_for_notebooks() -> None:
    figures = tree.Figures(*[0] * 11)
    assert "<script>" not in tree.ViewNode("<script>", True, figures, figures)._repr_html_()


def test_deep_graphs_need_no_recursion(tmp_path: Path) -> None:
    graph = tmp_path / "deep.pbtxt"
    graph.write_text(
        'node { name: "n0" op: "NoOp" }\n'
        + "\n".join(f'node {{ name: "n{i}" op: "Neg" input: "n{i - 1}" }}' for i in range(1, 5000))
    )
    root = stepscope.tfprof(graph).graph()
    assert sum(1 for _ in root.walk()) == 5001
    assert root._repr_html_().count("</details>") == 5001


def test_whatever_lies_under_a_path() -> None:
    profile = stepscope.tfprof(SERVERS)
    root = profile.op(order_by="micros", select="micros,occurrence")
    times = [node.own.micros for node in root.children]
    assert times == sorted(times, reverse=True)
    assert sum(times) == root.total.micros > 0
    assert any(device.startswith("/job:worker") for node in root.children for device in node.devices)


@pytest.mark.repeats("reads recordings that do not ship")
def test_parameter_servers() -> None:
    folder = corpus.path("tf1/dist_ps")
    balance = tree.servers(stepscope.tfprof(folder))
    assert set(balance) >= {"/job:ps/task:0", "/job:ps/task:1"} or len(balance) >= 2, balance


@pytest.mark.parametrize(
    "options",
    [
        {"max_dept": 3},
        {"order_by": "size"},
        {"select": ["paramz"]},
        {"output": "file:outfile=x"},
        {"max_depth": "x"},
    ],
)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        stepscope.tfprof(graph=GRAPH).scope(**options)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no model"):
        stepscope.tfprof(tmp_path)
    with pytest.raises(UnreadableSource):
        stepscope.tfprof(graph=tmp_path / "none.pb")
    with pytest.raises(UnreadableSource):
        stepscope.tfprof(graph=GRAPH).code()
    with pytest.raises(UnreadableSource):
        stepscope.tfprof(graph=GRAPH).scope(step=3)


def test_a_view_is_a_report_in_every_form(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["tfprof", "scope", str(SERVERS), "-select", "micros,params,occurrence"]
    root = stepscope.tfprof(SERVERS).scope(max_depth=10, select="micros,params,occurrence")
    assert main([*words, "-format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    nodes = told["sections"][0]["tree"]["nodes"]
    lines = list(root.walk())
    assert [(one["depth"], one["name"]) for one in nodes] == [(one.level, one.name) for one in lines]
    assert [one["values"]["total_micros"] for one in nodes] == [one.total.micros * 10**6 for one in lines]
    assert [one["values"]["own_occurrence"] for one in nodes] == [one.own.runs for one in lines]
    for form in ("md", "csv"):
        assert main([*words, "-format", form]) == 0
        assert lines[1].name in capsys.readouterr().out
    assert main([*words, "-format", "table"]) == 0
    assert "Model Analysis Report" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words", [["scope", "-format", "pdf"], ["advise", "-format", "json"], ["-format", "md"]]
)
def test_a_form_needs_a_view(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tfprof", *words, str(SERVERS)]) == 2
    assert "-format" in capsys.readouterr().err
