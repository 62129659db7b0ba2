"""The table of ops that XLA can compile, and graphs held against it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.instruments.xla import supported

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
    rows = supported.against(nodes, KNOWN)
    assert [(row["op"], row["nodes"], row["why"], row["types"]) for row in rows] == [
        ("EagerPyFunc", 2, "no_kernel", None),
        ("Add", 1, "type", "T=string"),
    ]
    assert rows[1]["allowed"] == "T={float32,int32}"


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
    python.write_text("#!/bin/sh\necho no module >&2\nexit 1\n")
    python.chmod(0o755)
    assert main(["xla", "ops-supported", "--python", str(python)]) == 2
    assert "could not be asked" in capsys.readouterr().err
