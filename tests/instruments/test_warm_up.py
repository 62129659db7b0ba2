"""Where each step is a recording of its own, the first is judged beside the others, however they are read."""

import json
import math
import re
from pathlib import Path
from statistics import median_low

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import library
from stepscope.instruments.step_kinds import WARM_UP_OTHERS
from tests.asked import ask
from tests.draw import Tables
from tests.formats.pprof_reference import wire
from tests.tiers import cases

FACTOR = 2
"""What the view step says in words: more than twice the median."""

OTHER_CLOCK = "a file that times ops alone, while other steps of the run are timed as a whole"
REASON = r"the first step, (\d+\.\d) times as long as the median of the others"

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


def origin_ns(source: int) -> int | None:
    """When a source began, where it says so."""
    return None if source % 3 == 0 else 1_700_000_000 * 10**9 + source * 5 % 7


def stored(steps: list[tuple]) -> Tables:
    """The steps as rows of step_stored, and when their sources began."""
    tables = Tables()
    for source in {step[2] for step in steps}:
        tables.add("capture", source_id=source, origin_unix_ns=origin_ns(source))
    for run, host, source, step, kind, told, dur, averaged in steps:
        whose = {"run_id": run, "host_id": host, "source_id": source, "name": "as named"}
        facts = {"kind": kind, "recovered_from": told, "averaged": averaged, "reason": "as it was"}
        tables.add("step_stored", **whose, step=step, ts_ps=5, dur_ps=dur, **facts)
    return tables


def seen(steps: list[tuple]) -> list[tuple]:
    """The twin of their kinds: a run of a session is called train where its host has others, too."""
    beside: dict[tuple, set[str]] = {}
    for run, host, _, _, kind, told, *_ in steps:
        if told == "file":
            beside.setdefault((run, host), set()).add(kind)
    return [
        (*one[:4], "unknown", *one[5:])
        if one[4:6] == ("train", "file") and beside[one[:2]] == {"train"}
        else one
        for one in steps
    ]


def warm(steps: list[tuple]) -> set[int]:
    """The twin: rows that are warm-up."""
    sources = [one[2] for one in steps]
    groups: dict[tuple, list[tuple]] = {}
    for i, (run, host, source, step, kind, told, dur, averaged) in enumerate(steps):
        if sources.count(source) == 1 and averaged and step is not None and told != "whole_capture":
            began = origin_ns(source)
            order = (step, math.inf if began is None else began, -dur)
            groups.setdefault((run, host, kind), []).append((order, dur, i))
    found = set()
    for members in groups.values():
        (order, longest, i), *others = sorted(members)
        is_first = order[1] < math.inf or all(step > order[0] for (step, *_), _, _ in others)
        if len(others) < WARM_UP_OTHERS or not is_first:
            continue
        if longest > FACTOR * median_low(dur for _, dur, _ in others):
            found.add(i)
    return found


@given(rows)
@settings(max_examples=cases(25, 300), deadline=None)
def test_as_the_twin_says_and_nothing_else_changes(steps):
    got = stored(steps).shared().execute("FROM step ORDER BY id").fetchall()
    steps = seen(steps)
    expected = warm(steps)
    assert {row[0] for row in got if row[6] == "warm_up"} == expected
    assert len(got) == len(steps)
    lengths = [one[6] for one in steps]
    timed = {one[:2] for one in steps if one[7] and one[5] not in ("file", "whole_capture")}
    for row, (run, host, source, step, kind, told, dur, averaged) in zip(got, steps, strict=True):
        assert row[1:6] == (run, host, source, step, "as named")
        assert row[7:10] == (told, 5, dur)
        if row[0] not in expected and averaged and told == "file" and (run, host) in timed:
            assert (row[6], row[10]) == (kind, False)
            assert row[11] == OTHER_CLOCK
        elif row[0] not in expected:
            assert (row[6], *row[10:]) == (kind, averaged, "as it was")
        else:
            assert row[10] is False
            times = float(re.fullmatch(REASON, row[11])[1])
            assert any(abs(times - dur / max(other, 1)) <= 0.0501 for other in lengths)


def test_the_view_asks_for_as_many_others_as_decoding_does():
    assert f"o.number >= {WARM_UP_OTHERS}" in library.sql("step")


def timeline(folder: Path, step: int, length: int) -> Path:
    """One step as a file of ProfilerHook."""
    meta = {"name": "process_name", "ph": "M", "pid": 0, "args": {"name": "/cpu:0 Compute"}}
    op = {"ph": "X", "cat": "Op", "name": "MatMul", "pid": 0, "tid": 0, "ts": 10**9 * step, "dur": length}
    op["args"] = {"name": f"m{step}", "op": "MatMul"}
    path = folder / f"timeline-{step}.json"
    path.write_text(json.dumps({"traceEvents": [meta, op]}))
    return path


@pytest.mark.parametrize(
    "order",
    [
        ((3,), (0, 4), (2, 1)),
        pytest.param(((3,), (0,), (4,), (2,), (1,)), marks=pytest.mark.repeats("more ingests")),
        pytest.param(((0,), (1,), (2,), (3,), (4,)), marks=pytest.mark.repeats("the order that is easier")),
    ],
)
def test_a_folder_and_a_lake_however_it_grew_say_the_same(tmp_path, order):
    folder = tmp_path / "job"
    folder.mkdir()
    paths = [timeline(folder, step, 900 if step == 0 else 100 + step) for step in range(5)]
    sql = "SELECT step, kind, averaged, reason FROM step ORDER BY step"
    wanted = ask(folder, sql)
    assert [row[:3] for row in wanted] == [(0, "warm_up", False)] + [
        (n, "unknown", True) for n in range(1, 5)
    ]
    assert wanted[0][3] == "the first step, 8.8 times as long as the median of the others"
    for steps in order:
        stepscope.ingest([paths[step] for step in steps], tmp_path / "lake", run="job")
    with stepscope.open(lake=tmp_path / "lake") as trace:
        assert trace.query(sql).rows() == wanted
        counted = trace.query("SELECT count(*), min(dur_ps) FROM step WHERE averaged").rows()
    assert counted == [(4, 101_000_000)]


def test_a_mean_is_of_one_clock():
    """Files of single runs know when their ops ran; the recorder knows how long a step took."""
    whole = [("r", "h", 1, number, "train", "recorder", 300, True) for number in range(5)]
    files = [("r", "h", 2 + number, number, "train", "file", 80, True) for number in range(3)]
    others = [("r", "other", 9 + number, number, "train", "file", 80, True) for number in range(3)]
    connection = stored([*whole, *files, *others]).shared()
    counted = (
        "SELECT host_id, count(*), avg(dur_ps) FROM step WHERE averaged GROUP BY host_id ORDER BY host_id"
    )
    assert connection.execute(counted).fetchall() == [("h", 5, 300), ("other", 3, 80)]
    left_out = connection.execute("SELECT DISTINCT reason FROM step WHERE NOT averaged").fetchall()
    assert left_out == [(OTHER_CLOCK,)]


def test_the_first_of_files_without_numbers_is_the_one_that_began_first(tmp_path):
    """RunMetadata says when its ops began; the names of these files say nothing of steps."""
    begin = 1_700_000_000_000_000
    for place, micros in enumerate((30, 31, 90, 32, 33)):
        op = wire(1, b"a") + wire(2, begin + 1000 * place) + wire(5, micros)
        device = wire(1, b"/device:CPU:0") + wire(2, op)
        (tmp_path / f"r{9 - place}.pb").write_bytes(wire(1, wire(1, device)))
    with stepscope.open(tmp_path, cache=False) as trace:
        assert set(trace.query("SELECT kind FROM step").rows()) == {("unknown",)}
        (tmp_path / "r8.pb").unlink()
        (tmp_path / "r9.pb").unlink()
        op = wire(1, b"a") + wire(2, begin + 9000) + wire(5, 34)
        (tmp_path / "r0.pb").write_bytes(wire(1, wire(1, wire(1, b"/device:CPU:0") + wire(2, op))))
    found = ask(tmp_path, "SELECT dur_ps FROM step WHERE kind = 'warm_up'")
    assert found == [(90_000_000,)]
