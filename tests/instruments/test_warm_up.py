"""Where each step is a recording of its own, the first is judged beside the others, however they are read."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median_low

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope.instruments.steps import WARM_UP_OTHERS
from stepscope.instruments.warm_up import FACTOR, judged

NAMES = (
    "id",
    "run_id",
    "host_id",
    "source_id",
    "step",
    "kind",
    "recovered_from",
    "dur_ps",
    "averaged",
    "reason",
)

rows = st.lists(
    st.tuples(
        st.sampled_from(["r", "s"]),
        st.sampled_from(["h", "i"]),
        st.integers(0, 7),
        st.one_of(st.none(), st.integers(0, 6)),
        st.sampled_from(["unknown", "train"]),
        st.sampled_from(["file", "file", "marker", "whole_capture"]),
        st.one_of(st.integers(0, 9), st.integers(30, 60)),
        st.booleans(),
    ),
    max_size=24,
)


def stored(steps: list[tuple]) -> str:
    """A SELECT of the steps."""
    if not steps:
        return stored([("r", "h", 0, 0, "train", "file", 1, True)]) + " WHERE false"
    values = []
    for i, (run, host, source, step, kind, told, dur, averaged) in enumerate(steps):
        number = "NULL" if step is None else step
        facts = f"{number}, '{kind}', '{told}', {dur}, {averaged}, 'as it was'"
        values.append(f"({i}, '{run}', '{host}', {source}, {facts})")
    return f"SELECT * FROM (VALUES {', '.join(values)}) AS v({', '.join(NAMES)})"


def warm(steps: list[tuple]) -> set[int]:
    """The twin: rows that are warm-up."""
    sources = [one[2] for one in steps]
    groups: dict[tuple, list[tuple]] = {}
    for i, (run, host, source, step, kind, told, dur, averaged) in enumerate(steps):
        if sources.count(source) == 1 and averaged and step is not None and told != "whole_capture":
            groups.setdefault((run, host, kind), []).append((step, -dur, i))
    found = set()
    for members in groups.values():
        first, *others = sorted(members)
        if len(others) >= WARM_UP_OTHERS and -first[1] > FACTOR * median_low(-dur for _, dur, _ in others):
            found.add(first[2])
    return found


@given(rows)
@settings(max_examples=150, deadline=None)
def test_as_the_twin_says_and_nothing_else_changes(steps):
    with duckdb.connect() as con:
        got = con.execute(f"SELECT * FROM ({judged(stored(steps))}) ORDER BY id").fetchall()
    expected = warm(steps)
    assert {row[0] for row in got if row[5] == "warm_up"} == expected
    assert len(got) == len(steps)
    for row, (run, host, source, step, kind, told, dur, averaged) in zip(got, steps, strict=True):
        assert row[1:5] == (run, host, source, step)
        assert row[6:8] == (told, dur)
        if row[0] not in expected:
            assert (row[5], *row[8:]) == (kind, averaged, "as it was")


def timeline(folder: Path, step: int, length: int) -> Path:
    """One step as a file of ProfilerHook."""
    meta = {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "/cpu:0 Compute"}}
    op = {"ph": "X", "cat": "Op", "name": "MatMul", "pid": 0, "tid": 0, "ts": 10**9 * step, "dur": length}
    op["args"] = {"name": f"m{step}", "op": "MatMul"}
    path = folder / f"timeline-{step}.json"
    path.write_text(json.dumps({"traceEvents": [meta, op]}))
    return path


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4), (3, 0, 4, 2, 1)])
def test_a_folder_and_a_lake_however_it_grew_say_the_same(tmp_path, order):
    folder = tmp_path / "job"
    folder.mkdir()
    paths = [timeline(folder, step, 900 if step == 0 else 100 + step) for step in range(5)]
    sql = "SELECT step, kind, averaged, reason FROM step ORDER BY step"
    with stepscope.open(folder, cache=False) as trace:
        wanted = trace.query(sql).rows()
    assert [row[:3] for row in wanted] == [(0, "warm_up", False)] + [
        (n, "unknown", True) for n in range(1, 5)
    ]
    assert wanted[0][3] == "the first step, 8.8 times as long as the median of the others"
    for step in order:
        stepscope.ingest([paths[step]], tmp_path / "lake", run="job")
    with stepscope.open(lake=tmp_path / "lake") as trace:
        assert trace.query(sql).rows() == wanted
        counted = trace.query("SELECT count(*), min(dur_ps) FROM step WHERE averaged").rows()
    assert counted == [(4, 101_000_000)]
