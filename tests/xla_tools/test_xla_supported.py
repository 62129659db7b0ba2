"""The table of ops that XLA can compile, and graphs held against it."""

import importlib.util
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.xla_tools import supported

needs_tensorflow = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="no TensorFlow here"
)
KNOWN = {"Add": [{"T": ["float32", "int32"]}], "Where": []}


def test_a_graph_is_held_against_the_table() -> None:
    nodes = [
        ("x", "_Arg", {}),
        ("a", "Add", {"T": "DT_FLOAT"}),
        ("b", "Add", {"T": "DT_STRING"}),
        ("c", "Add", {}),
        ("d", "EagerPyFunc", {}),
        ("e", "EagerPyFunc", {}),
    ]
    rows = supported.unsupported(nodes, KNOWN)
    assert [(row["op"], row["nodes"], row["why"], row["types"]) for row in rows] == [
        ("EagerPyFunc", 2, "no_kernel", None),
        ("Add", 1, "type", "T=string"),
    ]
    assert rows[1]["allowed"] == "T={float32,int32}"


def test_a_node_of_several_dumps_is_counted_once() -> None:
    rows = [
        ("a", "AsString", '{"T": "DT_FLOAT"}'),
        ("unclustered/a", "AsString", '{"T": "DT_FLOAT"}'),
        ("cluster_0/b", "Add", '{"T": "DT_FLOAT", "_XlaCluster": "cluster_0"}'),
        ("b", "Add", '{"T": "DT_FLOAT", "_XlaAlreadyClustered": true}'),
        ("b", "Add", '{"T": "DT_INT32"}'),
    ]
    assert [(name, op) for name, op, _ in supported.once(rows)] == [
        ("a", "AsString"),
        ("b", "Add"),
        ("b", "Add"),
    ]


def test_a_device_without_kernels_is_not_recommended(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(supported, "registry", lambda *_: ("9.9", {}))
    assert main(["xla", "ops-supported", "--device", "XLA_GPU_JIT"]) == 2
    assert "give --python of one that has them" in capsys.readouterr().err


@pytest.mark.repeats("asks TensorFlow, which takes seconds to start")
@needs_tensorflow
def test_the_live_registry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["xla", "ops-supported", "--format", "md"]) == 0
    shown = capsys.readouterr().out
    table = dict(line.strip("| ").split(" | ", 1) for line in shown.splitlines() if " | " in line)
    assert len(table) > 400
    assert "float32" in next(types for op, types in table.items() if op.strip() == "MatMul")
    assert "EagerPyFunc" not in table


def test_without_tensorflow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho '{}'\n")  # it has no library, and so cannot be asked
    python.chmod(0o755)
    assert main(["xla", "ops-supported", "--python", str(python)]) == 2
    assert "could not be asked" in capsys.readouterr().err
    python.write_text("#!/bin/sh\necho no module >&2\nexit 1\n")
    assert main(["xla", "ops-supported", "--python", str(python)]) == 2
    assert "not a Python that works" in capsys.readouterr().err
