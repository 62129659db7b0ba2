"""Compiled programs as graphs: every instruction is a node, every operand an edge, layers are scopes."""

from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

from stepscope import _core
from stepscope.cli import main
from stepscope.errors import UnreadableSource
from stepscope.formats.xla import hlo_files
from stepscope.instruments import graphs
from tests.corpus import SAMPLES

DUMP = SAMPLES / "xla_dump"
PROGRAM = DUMP / "module_0002.jit_train_step.cpu_after_optimizations.hlo.pb"


def text(*layers: str) -> bytes:
    """A program that calls a fusion in each of some layers, named as JAX names ops."""
    fusions = "".join(
        f"""
fused_{n} {{
  p.{n} = f32[8]{{0}} parameter(0)
  ROOT m.{n} = f32[8]{{0}} multiply(p.{n}, p.{n}), metadata={{op_name="jit(f)/{layer}/mul"}}
}}
"""
        for n, layer in enumerate(layers)
    )
    lines = ""
    for n, layer in enumerate(layers):
        root, operand = "ROOT " if n + 1 == len(layers) else "", f"fusion.{n - 1}" if n else "x"
        lines += f"  {root}fusion.{n} = f32[8]{{0}} fusion({operand}), kind=kLoop, calls=fused_{n},"
        lines += f' metadata={{op_name="jit(f)/{layer}/mul"}}\n'
    entry = f"ENTRY main {{\n  x = f32[8]{{0}} parameter(0)\n{lines}}}\n"
    return f"HloModule jit_f, is_scheduled=true\n{fusions}\n{entry}".encode()


def read(program: bytes) -> graphs.Hierarchy:
    return graphs.programs.graph(_core.hlo_module(program))


def test_every_instruction_is_a_node_and_every_operand_an_edge() -> None:
    program = _core.hlo_module(PROGRAM.read_bytes())
    rows = program["instruction_rows"]
    found = graphs.programs.graph(program)
    named = {path.rsplit("/", 1)[-1]: path for path in found.nodes}
    assert sorted(named) == sorted(row["name"] for row in rows)
    assert found.dangling == 0
    edges = set(found.edges)
    for row in rows:
        assert found.nodes[named[row["name"]]].op_type == row["opcode"]
        assert found.nodes[named[row["name"]]].own_bytes == row["shape_bytes"]
        for operand in row["operands"]:
            assert (named[rows[operand]["name"]], named[row["name"]]) in edges
    operands = sum(len(set(row["operands"])) for row in rows)
    # The others lead into computations that are called, and out of them.
    called = [row for row in rows if row["called"]]
    assert (
        operands < len(edges) <= operands + sum(len(r["called"]) * (1 + len(r["operands"])) for r in called)
    )


def test_a_fusion_holds_its_instructions_and_lies_in_its_layer() -> None:
    found = read(text("jvp(layer_0)/attn", "transpose(jvp(layer_0))/attn"))
    assert set(found.nodes) == {
        "(arguments)/x",
        "layer_0/attn/fusion.0",
        "layer_0/attn/fusion.0/p.0",
        "layer_0/attn/fusion.0/m.0",
        "layer_0/attn (backward)/fusion.1",
        "layer_0/attn (backward)/fusion.1/p.1",
        "layer_0/attn (backward)/fusion.1/m.1",
    }
    inner = ["layer_0/attn/fusion.0/p.0", "layer_0/attn/fusion.0/m.0", "layer_0/attn/fusion.0"]
    assert [b for a, b in found.edges if a == "(arguments)/x"] == [inner[2], inner[0]]
    assert set(pairwise(inner)) <= set(found.edges)
    assert found.way("(arguments)/x", "layer_0/attn (backward)/fusion.1/m.1")[-1].endswith("m.1")


def test_layers_are_alike_whatever_the_numbers_of_their_instructions() -> None:
    found = read(text(*(f"jvp(layer_{n})" for n in range(5))))
    groups = graphs.alike(found.root, fold=True)
    assert sorted(len(group) for group in groups) == [1, 5]


def test_what_nothing_calls_and_what_calls_itself() -> None:
    program = b"""HloModule m

alone {
  ROOT c = f32[] constant(1)
}

again {
  p = f32[] parameter(0)
  ROOT r = f32[] call(p), to_apply=again
}

ENTRY main {
  x = f32[] parameter(0)
  ROOT y = f32[] call(x), to_apply=again
}
"""
    assert set(read(program).nodes) == {"(arguments)/x", "y", "y/p", "y/r", "alone/c"}


def test_a_program_without_an_entry_is_still_a_graph() -> None:
    cut = text("a")[: text("a").index(b"ENTRY")]
    assert set(read(cut).nodes) == {"fused_0/p.0", "fused_0/m.0"}


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", str(DUMP), "--list", "--format", "csv"]) == 0
    listed = capsys.readouterr().out.split()
    assert listed == [
        "run_id,graph,nodes,file",
        "xla_dump,jit_train_step.0,143,module_0000.jit_train_step.cpu_after_optimizations.hlo.pb",
        "xla_dump,jit_train_step.2,143,module_0002.jit_train_step.cpu_after_optimizations.hlo.pb",
    ]
    assert main(["graph", str(DUMP), "--graph", "jit_train_step.2", "--depth", "3"]) == 0
    assert "143 nodes" in capsys.readouterr().out
    drawing = tmp_path / "g.svg"
    assert main(["graph", str(DUMP), "-o", str(drawing)]) == 0
    assert len(list(ElementTree.parse(drawing).iter())) > 40
    assert main(["graph", str(DUMP), "--graph", "other"]) == 2


def test_a_program_that_is_gone(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="no longer be read"):
        hlo_files.known_module(str(tmp_path / "module_0000.f.hlo.pb"))
