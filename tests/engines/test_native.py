"""DuckDB's native module without its package: the same answers, and the package where it is not known."""

import functools
import json
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

from stepscope import _core
from tests.tiers import some

SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "tf_data" / "map_py_function.xplane.pb"
STREAMED = "from stepscope.engines.duckdb import tables; tables._MOST_COPIED = 0"
"""Few rows are copied. These tests are about how many are read."""
ASK = """
import json, sys
{before}
import stepscope
{streamed}
with stepscope.open({path!r}, cache=False) as trace:
    rows = [trace.query(sql).rows() for sql in {statements!r}]
{after}
print(json.dumps([rows, "duckdb" in sys.modules]))
"""
STATEMENTS = (
    "SELECT name, count(*), sum(dur_ps) FROM slice GROUP BY name ORDER BY name",
    "SELECT count(*) FROM slice WHERE name LIKE 'Iterator%' AND dur_ps > 1000 AND id IN (1, 5, 8)"
    " AND (op_name IS NULL OR depth BETWEEN 1 AND 3)",
    "SELECT s.name, t.name FROM slice AS s JOIN track AS t ON s.track_id = t.id WHERE t.name = 'python'"
    " ORDER BY s.id LIMIT 5",
)


@functools.cache
def ask(before: str = "", after: str = "") -> tuple[list, bool]:
    """The rows of each statement, and whether the package was imported, in a process of its own."""
    code = ASK.format(before=before, after=after, streamed=STREAMED, path=str(SAMPLE), statements=STATEMENTS)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    rows, packaged = json.loads(done.stdout)
    return rows, packaged


def test_the_same_answers_without_the_package():
    alone, packaged = ask()
    assert packaged != duckdb.__version__.startswith("2.0.")
    assert all(alone)
    assert ask("import duckdb") == (alone, True)


def test_the_package_may_come_later():
    assert ask(after="import duckdb; duckdb.sql('SELECT 1')")[0] == ask()[0]


@pytest.mark.repeats("as where the package comes later")
@pytest.mark.parametrize("version", some(("2.1.0", "3.0.0-dev"), ("2.1.0",), "another that is not known"))
def test_an_unknown_release_gets_the_package(version):
    assert ask(f"import _duckdb; _duckdb.__version__ = {version!r}")[1]


@pytest.mark.parametrize(
    ("before", "later"),
    [
        pytest.param("", "import duckdb", marks=pytest.mark.repeats("the package comes first beside it")),
        ("import duckdb", ""),
        pytest.param("", "", marks=pytest.mark.repeats("as before the package comes later")),
        pytest.param("import duckdb", "import duckdb", marks=pytest.mark.repeats("imported already")),
    ],
)
def test_joins_are_planned_by_the_number_of_rows(before, later):
    if not duckdb.__version__.startswith("2.0."):
        pytest.skip("how DuckDB asks for the number of rows is known of 2.0")
    code = f"""
{before}
import stepscope
from stepscope.engines.duckdb import DuckDB
{STREAMED}
DuckDB().close()
{later}
with stepscope.open({str(SAMPLE)!r}, cache=False) as trace:
    (rows,), = trace.query("SELECT count(*) FROM slice").rows()
    (_, plan), = trace.query("EXPLAIN SELECT id FROM slice").rows()
    assert f"~{{rows:,}} rows" in plan, plan
    {later and "assert duckdb.sql('SELECT 42').fetchall() == [(42,)]"}
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("before", some(("", "import duckdb"), ("",), "the package comes first elsewhere"))
def test_rows_are_given_as_arrow_without_the_package(before):
    sql = STATEMENTS[0]
    code = f"""
import sys
{before}
from stepscope import _core
from stepscope.session.trace import open
with open({str(SAMPLE)!r}, cache=False) as trace:
    stream = trace.stream({sql!r})
    capsule = stream.__arrow_c_stream__()
    packaged = "duckdb" in sys.modules
    import pyarrow as pa
    given = pa.RecordBatchReader._import_from_c_capsule(capsule).read_all()
    rows = [tuple(row.values()) for row in given.to_pylist()]
    assert rows == trace.query({sql!r}).rows(), rows
print(packaged)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    known = duckdb.__version__.startswith("2.0.")
    assert done.stdout.split() == [str(bool(before) or not known)], done.stderr


@pytest.mark.parametrize("before", some(("", "import duckdb"), ("",), "the package comes first elsewhere"))
def test_a_scan_reads_the_columns_of_its_statement_alone(before):
    """Of all that other statements have attached: args are text, made of bytes for each slice."""
    if not duckdb.__version__.startswith("2.0."):
        pytest.skip("how DuckDB asks for columns is known of 2.0")
    code = f"""
{before}
import stepscope
from stepscope import _core
from stepscope.engines.duckdb import native
{STREAMED}
asked = []
narrow = native._narrowed
native._narrowed = lambda stream, columns: asked.append([stream.columns[at] for at in columns]) or narrow(
    stream, columns)
with stepscope.open({str(SAMPLE)!r}, cache=False) as trace:
    whole = trace.query("SELECT * FROM slice ORDER BY id").df()
    asked.clear()
    few = trace.query("SELECT name, dur_ps, ts_ps FROM slice ORDER BY id").df()
    assert [sorted(columns) for columns in asked] == [["dur_ps", "id", "name", "ts_ps"]], asked
    assert few.equals(whole[["name", "dur_ps", "ts_ps"]])
    assert trace.query("SELECT count(*) FROM slice").rows() == [(len(whole),)]
    assert trace.query("SELECT 1 FROM slice").rows() == [(1,)] * len(whole)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_stream_gives_the_columns_asked_for_in_their_order():
    store = _core.build()
    store.replace("few", {"a": [1, 2], "b": ["x", None], "c": [0.5, 1.5]})
    stream = store.stream("few", columns=["c", "a", "b"])
    assert stream.columns == ["c", "a", "b"]
    assert pa.table(stream).to_pydict() == {"c": [0.5, 1.5], "a": [1, 2], "b": ["x", None]}
    assert pa.table(stream.narrowed([2, 0])).to_pydict() == {"b": ["x", None], "c": [0.5, 1.5]}
    assert stream.narrowed([1]).rows == 2
    with pytest.raises(ValueError, match="no such column"):
        stream.narrowed([3])
