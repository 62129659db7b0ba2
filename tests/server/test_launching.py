"""Rows that a page reads whole: ops of devices by what launched them, and blocks of memory."""

import pytest

from stepscope.library import statements
from stepscope.server import analyses
from stepscope.session import trace
from tests.corpus import SAMPLES


@pytest.mark.parametrize("name", ["gpu/torch_svd.json.gz", "tf_data/map_py_function.xplane.pb"])
def test_what_launched_ops_adds_up_to_them(name: str) -> None:
    with trace.open(SAMPLES / name, cache=False) as opened:
        ops = [row for row in analyses.ops(opened)["rows"] if row["place"] == "device"]
        launching = analyses.launching(opened)["rows"]
    for key in ("slices", "total_ps", "self_ps"):
        assert sum(row[key] for row in launching) == sum(row[key] for row in ops), key
    assert {row["place"] for row in launching} <= {"device"}
    of_svd = [row["launcher"] for row in launching if "gesvdbj_batch_32x16" in row["op"]]
    assert set(of_svd) == ({"aten::_linalg_svd"} if "torch" in name else set())


def test_blocks_keep_their_columns() -> None:
    with trace.open(SAMPLES / "run_metadata", cache=False) as opened:
        rows = analyses.buffers(opened)["rows"]
    assert rows
    named = next(one for one in statements.reads() if one.name == "page_buffers")
    assert all(list(row) == [column.name for column in named.columns] for row in rows)
    assert {type(row["source_id"]) for row in rows} == {str}
