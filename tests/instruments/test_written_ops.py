"""Ops as the program wrote them, where a library runs them under a name of its own."""

from __future__ import annotations

import pytest

from stepscope.instruments.causes import ranking
from stepscope.instruments.causes.written_ops import ops_of_libraries
from tests.draw import draw
from tests.report.recordings import queried


@pytest.mark.parametrize(
    ("dots", "written"), [(600, {"ynn_fusion": "reduce_sum"}), (40, {})], ids=["nearly alone", "one of two"]
)
def test_an_op_names_a_type_of_which_it_has_nearly_all(dots: int, written: dict[str, str]) -> None:
    """XLA hands a sum and a product to one library, which calls both the same."""
    tables = draw(f"cpu/t thread : [ynn_fusion:ynn_fusion{'.' * dots}][ynn_fusion.1:ynn_fusion]")
    for name, op in (("ynn_fusion", "jit(f)/reduce_sum"), ("ynn_fusion.1", "jit(f)/jvp()/dot_general")):
        facts = {"opcode": "fusion", "fusion_kind": "kCustom", "shape": "f32[8]{0}"}
        tables.add("hlo_instruction", source_id=0, module_id=0, name=name, op_name=op, **facts)
    assert ops_of_libraries(queried(tables)) == written


@pytest.mark.parametrize(("op", "cause"), [("jvp()/dot_general", "none"), ("sort", "compute")])
def test_a_product_stands_out_no_sooner_where_a_library_runs_it(op: str, cause: str) -> None:
    """It has 44 % of the time of all ops."""
    ops = f"[k.1:k{'.' * 37}][b:A{'.' * 22}][c:B{'.' * 23}]"
    tables = draw(f"step train : [train{'.' * 93}]\ncpu/pool thread : {ops}")
    facts = {"opcode": "fusion", "fusion_kind": "kCustom", "op_name": f"jit(f)/{op}"}
    tables.add("hlo_instruction", source_id=0, module_id=0, name="k.1", **facts)
    assert ranking.judge(queried(tables))[0].cause == cause
