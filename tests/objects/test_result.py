"""Results: rows are neither lost nor changed, whoever reads them and when."""

import builtins
import datetime
import html
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import _core
from stepscope.errors import QueryError, StepscopeError, UsageError
from stepscope.objects import arrow
from stepscope.objects.result import Result
from tests.lake.recordings import chrome
from tests.presenters.browser import Browser
from tests.presenters.hostile import HOSTILE
from tests.tiers import cases


@pytest.fixture
def trace(tmp_path: Path) -> stepscope.Trace:
    with stepscope.open(chrome(tmp_path / "a.json", count=30), cache=False) as opened:
        yield opened


def test_rows_in_every_way(trace: stepscope.Trace) -> None:
    found = trace.query("SELECT name, dur_ps, ts_ps FROM slice ORDER BY ts_ps")
    assert found.columns == ("name", "dur_ps", "ts_ps")
    assert found
    assert found[0].name == "op0"
    assert [row.name for row in found[:3]] == ["op0", "op1", "op2"]
    assert found[-1] == tuple(found.rows()[-1])
    assert len(found) == len(list(found)) == len(found["name"]) == 30
    assert set(found["dur_ps"]) == {2_000_000}
    assert found.rows() == found.rows()
    assert not trace.query("SELECT 1 AS a FROM slice WHERE dur_ps < 0")


def test_a_repr_says_what_there_is(trace: stepscope.Trace, capsys: pytest.CaptureFixture[str]) -> None:
    found = trace.query("SELECT name FROM slice ORDER BY ts_ps")
    assert repr(found).endswith("(the first 20 of 30 rows)")
    assert repr(trace.query("SELECT * FROM range(5000)")).endswith("(the first 20 rows; there are more)")
    assert repr(found).splitlines()[0] == "name"
    found.show(2)
    assert capsys.readouterr().out.splitlines()[2:4] == ["op0", "op1"]
    assert repr(trace.query("SELECT 1 AS a WHERE false")).endswith("(no rows)")
    assert "self_ps (" in repr(trace.analysis("op_types"))


def test_rows_survive_other_questions(trace: stepscope.Trace) -> None:
    """The trace keeps no cache, so the second question decodes again and makes another engine."""
    found = trace.query("SELECT name FROM slice ORDER BY ts_ps")
    assert next(iter(found)).name == "op0"
    assert trace.query("SELECT count(*) FROM track")[0][0] >= 1
    trace.analysis("op_types")
    assert len(found) == 30


def test_rows_in_batches_survive_other_questions(trace: stepscope.Trace) -> None:
    batches = trace.query("SELECT name FROM slice").batches(7)
    first = next(batches)
    trace.query("SELECT * FROM track").rows()
    assert len(first) + sum(map(len, batches)) == 30


def test_a_result_outlives_the_trace_only_when_it_was_read(tmp_path: Path) -> None:
    with stepscope.open(chrome(tmp_path / "a.json")) as trace:
        read = trace.query("SELECT name FROM slice")
        assert len(read) == 20
        unread = trace.query("SELECT name FROM slice")
    assert len(read) == 20
    with pytest.raises(UsageError, match="closed before its rows were read"):
        unread.rows()
    assert "closed" in repr(unread)
    kept = stepscope.open(tmp_path / "a.json").query("SELECT name FROM slice")
    assert len(kept) == 20, "a result keeps its trace alive"


def test_an_analysis_and_its_filters(trace: stepscope.Trace) -> None:
    everything = trace.analysis("op_types")
    assert everything.rows() == trace.query("@op_types").rows() == trace.query(" @op-types; ").rows()
    first = everything[0]
    assert trace.analysis("op_types", op_type=first.op_type).rows() == [tuple(first)]
    assert len(trace.analysis("op_types", slices=lambda n: n >= 0)) == len(everything)
    assert len(trace.analysis("op_types", op_type=[])) == 0
    with pytest.raises(UsageError, match="no column op_typ to") as caught:
        trace.analysis("op_types", op_typ="x")
    assert caught.value.todo == "did you mean op_type?"
    with pytest.raises(QueryError) as refused:
        trace.analysis("op_typs")
    assert "did you mean @op_types?" in refused.value.todo


def test_a_column_that_is_not_there(trace: stepscope.Trace) -> None:
    with pytest.raises(UsageError) as caught:
        trace.query("SELECT name FROM slice")["nme"]
    assert caught.value.todo == "did you mean name?"


# --- data frames ---------------------------------------------------------------------------------

MIXED = (
    "SELECT * FROM (VALUES (1, 9223372036854775807, 1.5, 'x', true), (NULL, NULL, NULL, NULL, NULL))"
    " AS t(small, big, real, text, flag)"
)


def test_pyarrow(trace: stepscope.Trace) -> None:
    table = trace.query(MIXED).arrow()
    table.validate(full=True)
    assert table.num_rows == 2
    assert table["big"].to_pylist() == [2**63 - 1, None]


def test_pandas_keeps_integers(trace: stepscope.Trace) -> None:
    pandas = pytest.importorskip("pandas")
    frame = trace.query(MIXED).df()
    assert frame["big"].iloc[0] == 2**63 - 1
    assert frame["big"].isna().tolist() == [False, True]
    assert str(frame["flag"].dtype) == "boolean"
    assert isinstance(trace.query("SELECT 1 AS a, 2 AS a").df(), pandas.DataFrame)
    assert len(trace.query("SELECT 1 AS a WHERE false").df()) == 0


def test_polars(trace: stepscope.Trace) -> None:
    polars = pytest.importorskip("polars")
    frame = trace.query(MIXED).pl()
    assert isinstance(frame, polars.DataFrame)
    assert frame["big"].to_list() == [2**63 - 1, None]


def test_what_is_not_installed_is_an_error_in_three_parts(
    trace: stepscope.Trace, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = trace.query("SELECT 1 AS a")
    real = builtins.__import__

    def missing(name: str, *rest: Any) -> Any:
        if name in ("pandas", "polars", "pyarrow"):
            raise ImportError(f"No module named {name!r}")
        return real(name, *rest)

    monkeypatch.setattr("importlib.import_module", missing)
    for make, name in ((found.df, "pandas"), (found.pl, "polars"), (found.arrow, "pyarrow")):
        with pytest.raises(StepscopeError) as caught:
            make()
        assert caught.value.slug == "not-installed"
        assert f"pip install {name}" in caught.value.todo


class Stream:
    def __init__(self, *what: Any) -> None:
        self.what = what

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return arrow.stream(*self.what)


VALUES = {
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "UBIGINT": st.integers(0, 2**64 - 1),
    "HUGEINT": st.integers(-(2**127), 2**127 - 1),
    "DOUBLE": st.floats(allow_nan=False),
    "BOOLEAN": st.booleans(),
    "VARCHAR": st.text(st.characters(exclude_categories=("Cs",)), max_size=20),
    "BLOB": st.binary(max_size=20),
    "DATE": st.dates(),
    "TIMESTAMP": st.datetimes(),
    "DECIMAL(18,3)": st.decimals(-(10**14), 10**14, places=3),
}


@settings(max_examples=cases(30, 150), deadline=None)
@given(st.data())
def test_arrow_changes_no_value(data: st.DataObject) -> None:
    types = data.draw(st.lists(st.sampled_from(sorted(VALUES)), max_size=5))
    length = data.draw(st.integers(0, 12)) if types else 0
    columns = [
        data.draw(st.lists(st.none() | VALUES[type], min_size=length, max_size=length)) for type in types
    ]
    names = [f"c{i}" for i in range(len(types))]
    table = pyarrow.table(Stream(names, types, columns, length))
    table.validate(full=True)
    assert table.column_names == names
    for name, column in zip(names, columns, strict=True):
        assert table[name].to_pylist() == column


def test_values_without_a_type_of_their_own_are_json() -> None:
    values = [[1, 2], {"a": datetime.date(2020, 1, 1)}, None, datetime.timedelta(1), Decimal("NaN"), "x"]
    shown = pyarrow.table(Stream(["a"], ["ANY"], [values], len(values)))["a"].to_pylist()
    assert shown[:3] == ["[1, 2]", '{"a": "2020-01-01"}', None]
    assert all(isinstance(one, str) for one in shown[3:])


def test_a_lone_surrogate_does_not_stop_a_table() -> None:
    assert pyarrow.table(Stream(["a\udcff"], ["VARCHAR"], [["\ud800"]], 1)).num_rows == 1


def test_buffers_that_do_not_fit_are_an_error() -> None:
    for buffers in ([None, b"12345678"], [None], [None, b"1" * 8, b""]):
        with pytest.raises(ValueError, match=r"\w"):
            _core.arrow_stream([("a", "l", buffers)], 5)
    for kind in ("nonsense", "d:38"):
        with pytest.raises(ValueError, match=r"\w"):
            _core.arrow_stream([("a", kind, [None, b""])], 0)
    capsule = _core.arrow_stream([], 3)
    assert "arrow_array_stream" in repr(capsule)


# --- names that try to be something else ------------------------------------------------------------


def test_hostile_names_are_text(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "name": name, "ts": 10 * i, "dur": 5, "pid": 1, "tid": 1, "cat": name}
        for i, name in enumerate(HOSTILE)
    ]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    with stepscope.open(path, cache=False) as trace:
        shown: list[Any] = [
            trace.query("SELECT name, category FROM slice"),
            trace.query("""SELECT 1 AS "<script>alert(1)</script>" """),
            trace.analysis("op_types"),
            trace.summary(),
            trace.findings,
            trace,
        ]
        if trace.answer is not None:
            shown.append(trace.answer)
        for one in shown:
            small = one._repr_html_()
            assert not re.search("<(?!/?(div|b|br|code|span|table|tr|th|td)\\b)", small), (
                "no element of a name"
            )
            assert "\u202e" not in small
            if not hasattr(one, "page"):
                continue
            frame = one.page()._repr_html_()
            assert frame.startswith('<iframe srcdoc="')
            assert frame.count('"') == 8, "nothing leaves the attribute"
            assert "<script" not in frame.lower(), "the frame's page is escaped as a whole"
            text = repr(one)
            assert "\x1b" not in text
            assert "\u202e" not in text
            text.encode()


def test_every_string_in_the_frame_is_data_and_shown_as_text(trace: stepscope.Trace, tmp_path: Path) -> None:
    frame = trace.query("SELECT '<b id=planted>' AS planted").page()._repr_html_()
    page = html.unescape(frame.partition('srcdoc="')[2].partition('"')[0])
    assert "<b id" not in page
    assert "\\u003cb id=planted>" in page
    path = tmp_path / "frame.html"
    path.write_text(page, encoding="utf-8")
    with Browser() as browser:
        browser.open(path)
        assert browser.complaints() == []
        assert browser.value("document.getElementById('planted')") is None
        assert browser.value("document.querySelector('td').textContent") == "<b id=planted>"


def test_a_table_in_html_says_what_it_leaves_out(trace: stepscope.Trace) -> None:
    frame = trace.query("SELECT range AS n FROM range(1000)")
    assert "the first 200" in frame.page()._repr_html_()
    assert "the first 10" in frame._repr_html_()
    rows = Result(None, table=trace.summary().report.sections[0].table)
    assert "row" in rows.page()._repr_html_()
    assert "row" in rows._repr_html_()
