"""The finding about tables that are updated whole for a few rows, in programs of PyTorch."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from stepscope.instruments.causes import ranking
from tests.asked import ask
from tests.draw import UNIT_PS, Tables
from tests.instruments.step_drawings import asked
from tests.library.test_findings import Row, found
from tests.report.made_tables import LOOKUP, ON_GPU, STEPS, a_dense_gradient, inputs
from tests.report.recordings import derived

TABLE = (300_000, 64)
SAMPLES = Path(__file__).parents[1] / "samples" / "chrome"
IN_GRAPH = {"Sequence number": 61}


def rows_found(tables: Tables) -> list[Row]:
    """The rows of the finding."""
    return found(tables, ("whole_table_updates",)).get("whole_table_updates", [])


def self_ps(tables: Tables, *names: str) -> int:
    """Self times of ops of these names, of all where there are none."""
    return sum(row["self_ps"] for row in tables.rows["slice"] if not names or row["name"] in names)


def test_a_dense_gradient_is_as_large_as_its_table() -> None:
    tables = a_dense_gradient()
    (row,) = rows_found(tables)
    assert (row["scope"], row["used_rows"], row["rows_ps"]) == ("the table [300000, 64]", 1280, None)
    assert row["impact_ps"] == self_ps(tables, "aten::zero_", "aten::fill_", "aten::addcdiv_")
    assert row["share"] == pytest.approx(row["impact_ps"] / self_ps(tables))


@pytest.mark.parametrize(
    ("rows", "ids"),
    [
        pytest.param(12_799, (64, 20), id="a batch uses more than a tenth of the rows"),
        pytest.param(16_383, (4,), id="a small table"),
        pytest.param(300_000, (2, 2, 2, 2, 2), id="a batch of more dimensions than are counted"),
    ],
)
def test_tables_that_are_small_or_used_are_not_named(rows: int, ids: tuple[int, ...]) -> None:
    assert rows_found(a_dense_gradient(rows, ids)) == []


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"aten::mm": inputs((64, 64), (64, 300_000))}, id="a product with the table, turned"),
        pytest.param({"aten::mm": inputs((64, 64), TABLE, **IN_GRAPH)}, id="a product with the table"),
        pytest.param({"aten::addcdiv_": inputs(TABLE, **IN_GRAPH)}, id="autograd differentiates a sum of it"),
        pytest.param({"aten::embedding_dense_backward": {}}, id="no shapes"),
        pytest.param({"torch::autograd::AccumulateGrad": inputs((64, 8))}, id="no parameter"),
        pytest.param({"aten::zero_": {}}, id="no shape of what is filled"),
    ],
)
def test_where_it_is_not_proved_nothing_is_said(args: Mapping[str, Mapping[str, Any]]) -> None:
    assert rows_found(a_dense_gradient(args=args)) == []


def test_lookups_of_a_step_add_up() -> None:
    """Of a table that is looked up twice, each time for less than a tenth of the rows."""
    twice = LOOKUP.replace("\n\n", "\n")
    width = max(len(line) for line in twice.splitlines())
    again = "\n".join(line.ljust(width) + line.partition(":")[2] for line in twice.strip("\n").splitlines())
    steps = STEPS.replace("]", "." * width + "]")
    assert rows_found(a_dense_gradient(20_000, (64, 20), steps + LOOKUP)) != []
    assert rows_found(a_dense_gradient(20_000, (64, 20), steps + again)) == []


def test_processes_of_a_run_update_the_rows_of_them_all() -> None:
    tables = a_dense_gradient(20_000)
    assert len(rows_found(tables)) == 1
    slices = tables.rows["slice"]
    first = len(slices)
    tables.source(1, producer="kineto")
    tables.add("track", id=1, kind="thread", records="execution", source_id=1, device_id=0)
    for row in slices[:first]:
        parent = None if row["parent_id"] is None else row["parent_id"] + first
        slices.append({**row, "id": row["id"] + first, "parent_id": parent, "source_id": 1, "track_id": 1})
    assert rows_found(tables) == []


@pytest.mark.parametrize(
    ("maker", "sizes"),
    [
        ("aten::_embedding_bag_dense_backward", ((16, 64), (1280,), (1280,), (16,))),
        ("aten::index_select_backward", ((1280, 64), (), (), (1280,))),
        ("IndexBackward0", ((64, 20, 64),)),
    ],
)
def test_other_lookups(maker: str, sizes: tuple[tuple[int, ...], ...]) -> None:
    text = LOOKUP.replace("[aten::embedding_dense_backward............]", f"[{maker.ljust(42, '.')}]")
    (row,) = rows_found(a_dense_gradient(text=STEPS + text, args={maker: inputs(*sizes)}))
    assert row["used_rows"] == 1280


def test_numbers_that_are_indexed_one_by_one_may_be_of_as_many_rows() -> None:
    text = LOOKUP.replace(
        "[aten::embedding_dense_backward............]", f"[{'IndexBackward0'.ljust(42, '.')}]"
    )
    tables = a_dense_gradient(text=STEPS + text, args={"IndexBackward0": inputs((640, 50))})
    assert rows_found(tables) == []
    tables = a_dense_gradient(text=STEPS + text, args={"IndexBackward0": inputs((600, 50))})
    assert rows_found(tables)[0]["used_rows"] == 30_000


def test_of_an_op_on_a_list_the_table_has_its_part_of_the_gradients() -> None:
    lists = LOOKUP.replace("[aten::addcdiv_.........]", "[aten::_foreach_addcdiv_]")
    text = STEPS + lists
    fused = {"aten::_foreach_addcdiv_": inputs((TABLE, (100_000, 64)), ())}
    tables = a_dense_gradient(text=text, args=fused)
    whole = rows_found(tables)[0]["impact_ps"]
    assert whole == self_ps(tables, "aten::zero_", "aten::fill_", "aten::_foreach_addcdiv_")
    text += "cpu/v thread : [torch::autograd::AccumulateGrad]"
    tables = a_dense_gradient(text=text, args=fused)
    tables.rows["slice"][-1]["args_json"] = '{"Input Dims":[[100000,64]]}'
    part = self_ps(tables, "aten::_foreach_addcdiv_") // 4
    assert rows_found(tables)[0]["impact_ps"] == pytest.approx(whole - part, abs=1)


def test_on_a_device_kernels_count() -> None:
    (row,) = rows_found(a_dense_gradient(text=STEPS + LOOKUP + ON_GPU))
    took = [len(name) * UNIT_PS for name in ("[fill_kernel#1...]", "[addcdiv#2....]", "[gemm#3]")]
    assert (row["impact_ps"], row["share"]) == (sum(took[:2]), pytest.approx(sum(took[:2]) / sum(took)))


@pytest.mark.parametrize(("name", "scopes"), [("embedding", ["the table [20000, 64]"]), ("tied", [])])
def test_recorded_programs(name: str, scopes: list[str]) -> None:
    """A table that is looked up, and one that is the last layer as well."""
    told = ask(
        SAMPLES / f"kineto_{name}.json.gz", "SELECT used_rows, table_ps * 2 > all_ps FROM _dense_gradient"
    )
    assert told == [(320, True)] * len(scopes)


def test_the_first_sentence_is_about_the_table_where_its_ops_take_more_than_one_type() -> None:
    tables = derived(a_dense_gradient())
    (row,) = rows_found(a_dense_gradient())
    (judgement,) = ranking.judge(asked(tables))
    assert judgement.cause == "compute"
    assert judgement.table == (300_000, 64, 1280, pytest.approx(row["share"]))
    on_device = a_dense_gradient(text=STEPS + LOOKUP + ON_GPU)
    (row,) = rows_found(on_device)
    (judgement,) = ranking.judge(asked(derived(on_device)), name="compute")
    assert judgement.table == (300_000, 64, 1280, pytest.approx(row["share"]))
    few = a_dense_gradient(text=STEPS + LOOKUP.replace("[aten::mm]", "[aten::mm" + "." * 60 + "]"))
    (judgement,) = ranking.judge(asked(derived(few)))
    assert (judgement.op_type, judgement.table) == ("aten::mm", None)
