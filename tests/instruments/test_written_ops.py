"""Ops as the program wrote them, where a library runs them under a name of its own."""

import pytest

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import ranking
from stepscope.instruments.causes.op_lines import creating_line
from stepscope.instruments.causes.written_ops import ops_of_libraries
from tests.draw import draw
from tests.report.recordings import queried


def test_ops_have_their_parts_of_a_type() -> None:
    """XLA hands a sum and a product to one library, which calls both the same."""
    tables = draw("cpu/t thread : [ynn_fusion:ynn_fusion][ynn_fusion.1:ynn_fusion....................]")
    for name, op in (("ynn_fusion", "jit(f)/reduce_sum"), ("ynn_fusion.1", "jit(f)/jvp()/dot_general")):
        facts = {"opcode": "fusion", "fusion_kind": "kCustom", "shape": "f32[8]{0}"}
        tables.add("hlo_instruction", source_id=0, module_id=0, name=name, op_name=op, **facts)
    assert ops_of_libraries(queried(tables)) == {
        "ynn_fusion": {"reduce_sum": pytest.approx(23 / 68), "dot_general": pytest.approx(45 / 68)}
    }


@pytest.mark.parametrize(
    ("ops", "op"),
    [(("reduce_sum", "dot_general"), None), (("dot_general", "dot_general"), "dot_general")],
    ids=["other ops", "the same op"],
)
def test_a_name_that_two_programs_share_is_for_the_op_that_both_mean(
    ops: tuple[str, str], op: str | None
) -> None:
    """Slices name the instruction and not its program."""
    tables = draw("cpu/t thread : [ynn_fusion:ynn_fusion..][ynn_fusion.1:ynn_fusion]")
    for module, name in enumerate(ops):
        facts = {"opcode": "fusion", "fusion_kind": "kCustom", "op_name": f"jit(f)/{name}"}
        tables.add("hlo_instruction", source_id=0, module_id=module, name="ynn_fusion", **facts)
    query = queried(tables)
    assert ops_of_libraries(query) == ({} if op is None else {"ynn_fusion": {op: 1.0}})
    (found,) = query("SELECT op_type FROM _computing_op WHERE op_name = 'ynn_fusion'").rows()
    assert found == (op or "ynn_fusion",)


@pytest.mark.parametrize(
    ("lines", "line"), [((5, 5), 5), ((5, 7), None)], ids=["of one line", "of two lines"]
)
def test_a_fusion_is_for_what_has_most_of_its_arithmetic(lines: tuple[int, int], line: int | None) -> None:
    """Products of matrices whose sum comes last: XLA calls all of it after the sum."""
    tables = draw("cpu/t thread : [ynn_fusion:ynn_fusion....]")
    ops = (("dot.0", "dot", "dot_general", 4e8, lines[0]), ("dot.1", "dot", "dot_general", 4e8, lines[1]))
    for name, opcode, op, flops, at in (*ops, ("reduce.0", "reduce", "reduce_sum", 2e5, 9)):
        facts = {"computation": "fused", "opcode": opcode, "op_name": f"jit(f)/{op}", "times": 0.0}
        facts |= {"flops": flops, "file": "f.py", "line": at}
        tables.add("hlo_instruction", source_id=0, module_id=0, name=name, **facts)
    facts = {"opcode": "fusion", "fusion_kind": "kCustom", "op_name": "jit(f)/reduce_sum", "times": 1.0}
    facts |= {"calls_json": '["fused"]', "flops": 8.002e8, "file": "f.py", "line": 9}
    tables.add("hlo_instruction", source_id=0, module_id=0, name="ynn_fusion", **facts)
    query = queried(tables)
    assert ops_of_libraries(query) == {"ynn_fusion": {"dot_general": 1.0}}
    (found,) = query("SELECT on_line FROM _written_instruction WHERE name = 'ynn_fusion'").rows()
    assert found == (line,)


def test_what_xla_wrote_anew_in_a_loop_has_the_line_of_the_loop() -> None:
    """`jax.lax.map` over rows, whose products XLA made of something else."""
    tables = draw("cpu/t thread : [dot.6:dot....]")
    for name, opcode, facts in (
        (
            "while.12",
            "while",
            {"computation": "main", "file": "f.py", "line": 9, "calls_json": '["body", "test"]'},
        ),
        ("dot.6", "dot", {"computation": "body"}),
        ("dot.8", "dot", {"computation": "body", "file": "f.py", "line": 6}),
        ("compare.1", "compare", {"computation": "test"}),
        ("dot.9", "dot", {"computation": "main"}),
    ):
        tables.add("hlo_instruction", source_id=0, module_id=0, name=name, opcode=opcode, times=1.0, **facts)
    query = queried(tables)
    rows = query("SELECT name, on_line FROM _written_instruction ORDER BY name NULLS LAST").rows()
    assert rows == [("compare.1", None), ("dot.6", 9), ("dot.8", 6), ("dot.9", None), ("while.12", 9)]
    assert creating_line(query, "r", "dot.6") == CodeLine("f.py", 9, None)


@pytest.mark.parametrize(("op", "cause"), [("jvp()/dot_general", "none"), ("sort", "compute")])
def test_a_product_stands_out_no_sooner_where_a_library_runs_it(op: str, cause: str) -> None:
    """It has 44 % of the time of all ops."""
    ops = f"[k.1:k{'.' * 37}][b:A{'.' * 22}][c:B{'.' * 23}]"
    tables = draw(f"step train : [train{'.' * 93}]\ncpu/pool thread : {ops}")
    facts = {"opcode": "fusion", "fusion_kind": "kCustom", "op_name": f"jit(f)/{op}"}
    tables.add("hlo_instruction", source_id=0, module_id=0, name="k.1", **facts)
    assert ranking.judge(queried(tables))[0].cause == cause


@pytest.mark.parametrize(("lines", "line", "share"), [((5, 7, 7), 7, None), ((5, 7, 9), 9, 41 / 103)])
def test_the_line_with_most_of_a_type_is_named_with_its_part(
    lines: tuple[int, ...], line: int, share: float | None
) -> None:
    tables = draw(
        f"step train : [train{'.' * 95}]\ncpu/pool thread : [a:S{'.' * 26}][b:S{'.' * 26}][c:S{'.' * 36}]"
    )
    for name, at in zip("abc", lines, strict=True):
        facts = {"opcode": "sort", "op_name": "jit(f)/sort", "file": "f.py", "line": at, "function": "f"}
        tables.add("hlo_instruction", source_id=0, module_id=0, name=name, **facts)
    (found,) = ranking.judge(queried(tables))
    assert (found.cause, found.place) == ("compute", CodeLine("f.py", line, "f"))
    assert found.made_share == (None if share is None else pytest.approx(share))
