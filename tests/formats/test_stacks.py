"""stacks.ndjson of a capture folder: frames, stacks and samples; what does not fit is lost and counted."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.formats._stacks import MOST_DEPTH, StackRows
from stepscope.session import trace
from tests.asked import ask
from tests.formats.capture_folder import STARTED_NS, line, stacks, write

MS = 10**9


def read(*lines: dict[str, Any], untraced_steps: Sequence[tuple[int, int]] = ()) -> StackRows:
    """The lines as read, with Unix time as the clock."""
    return StackRows(untraced_steps).read(lines, lambda ns: None if ns is None else ns * 1000)


SAMPLES = """SELECT s.thread_name, s.is_main, s.ts_ps, s.weight_ps, s.cpu_ps, f.function, p.line
FROM stack_sample AS s JOIN stack AS k ON k.id = s.stack_id JOIN frame AS f ON f.id = k.frame_id
LEFT JOIN frame AS p ON p.id = k.place_id ORDER BY s.is_main DESC, s.ts_ps"""


def test_looks_become_samples_that_leave_no_gaps(tmp_path: Path) -> None:
    folder = write(tmp_path / "c", xplane=False)
    rows = ask(folder, SAMPLES)
    assert rows[:4] == [
        ("MainThread", True, 0, 10 * MS, None, "load", 4),
        ("MainThread", True, 10 * MS, 10 * MS, 10 * MS, "load", 4),
        ("MainThread", True, 20 * MS, 10 * MS, 10 * MS, "load", 4),
        ("MainThread", True, 30 * MS, 10 * MS, 10 * MS, "<module>", 9),
    ]
    assert rows[4] == (None, False, 0, 10 * MS, None, "Thread.wait", None)
    assert ask(folder, "SELECT function, file, line, module, code FROM frame ORDER BY id")[1] == (
        "load", "train.py", 4, "__main__", "program",
    )  # fmt: skip
    assert ask(folder, "SELECT parent_id, frame_id, depth, place_id FROM stack ORDER BY id") == [
        (None, 0, 0, 0), (0, 1, 1, 1), (None, 2, 0, None),
    ]  # fmt: skip
    assert ask(folder, "SELECT effect, events FROM source_note WHERE slug = 'stacks-capped'") == [("info", 2)]


@pytest.mark.repeats("lake/test_lake.py compares them for every table")
def test_a_lake_and_the_cache_hold_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE", str(tmp_path / "cache"))
    folder = write(tmp_path / "c")
    trace.ingest([folder], tmp_path / "lake", run="c")
    fresh = ask(folder, SAMPLES)
    assert fresh
    assert ask(tmp_path / "lake", SAMPLES) == ask(folder, SAMPLES, cache=True) == fresh
    assert ask(folder, SAMPLES, cache=True) == fresh


def test_what_kept_the_recorder_waiting_is_the_stack_it_then_saw() -> None:
    told = [
        {"frame": 1, "function": "f"}, {"frame": 2, "function": "sort"},
        {"stack": 1, "frame": 1}, {"stack": 2, "frame": 2}, {"thread": 1, "name": "x"}, {"begin_unix_ns": 0},
        {"unix_ns": 10, "on": [[1, 1]]},
        {"unix_ns": 100, "late_ns": 80, "on": [[1, 2]]},  # wanted at 20
        {"unix_ns": 110, "on": [[1, 1]]}, {"end_unix_ns": 115},
        {"begin_unix_ns": 1000}, {"unix_ns": 1010, "on": [[1, 1]]},
    ]  # fmt: skip
    found = read(*told)
    assert [(one["ts_ps"], one["weight_ps"], one["stack_id"]) for one in found.samples] == [
        (0, 15_000, 0), (15_000, 90_000, 1), (105_000, 10_000, 0), (1_000_000, 10_000, 0),
    ]  # fmt: skip
    assert found.odd == 0


def test_looks_at_steps_that_no_profiler_recorded_are_added_up_by_stack() -> None:
    """They are no samples: what is asked about samples is about recorded steps. A look between steps, or
    after the last, is of none of them."""
    found = read(
        {"frame": 1, "function": "f"}, {"stack": 1, "frame": 1}, {"stack": 2, "in": 1, "frame": 1},
        {"thread": 1, "name": "x", "main": True}, {"thread": 2, "name": "y", "main": False},
        {"begin_unix_ns": 0}, {"unix_ns": 10, "on": [[1, 1]]}, {"end_unix_ns": 20},
        {"begin_unix_ns": 100, "untraced": True},
        {"unix_ns": 110, "on": [[1, 1, 3], [2, 1]]}, {"unix_ns": 130, "on": [[1, 1, 9, 4], [2, 1]]},
        {"unix_ns": 150, "on": [[1, 2]]}, {"unix_ns": 163, "on": [[1, 2]]},
        {"unix_ns": 170, "on": [[1, 2]]}, {"unix_ns": 900, "on": [[1, 2]]}, {"end_unix_ns": 990},
        {"begin_unix_ns": 2000}, {"unix_ns": 2010, "on": [[1, 1]]},
        untraced_steps=[(105, 125), (120, 161), (165, 185)],
    )  # fmt: skip
    assert [(one["ts_ps"], one["weight_ps"]) for one in found.samples] == [(0, 20_000), (2_000_000, 10_000)]
    assert list(found.untraced.values()) == [
        {"stack_id": 0, "looks": 2, "weight_ps": 35_000, "active_ps": 6_000},
        {"stack_id": 1, "looks": 2, "weight_ps": 35_000, "active_ps": None},
    ]
    assert found.odd == 0


def test_what_is_done_after_the_last_step_is_no_part_of_one(tmp_path: Path) -> None:
    """The recorder, which looks for a number of times, saw the program end: three times in load()."""
    looks = stacks().replace(line(begin_unix_ns=STARTED_NS), line(begin_unix_ns=STARTED_NS, untraced=True))
    steps = b"".join(
        line(step=step, begin_unix_ns=STARTED_NS + begin, end_unix_ns=STARTED_NS + end, recorded=recorded)
        for step, begin, end, recorded in ((0, -9, 0, True), (1, 0, 8 * 10**6, False))
    )
    folder = write(tmp_path / "c", xplane=False, **{"stacks.ndjson": looks, "steps.ndjson": steps})
    asked = "SELECT f.function, u.looks, u.weight_ps FROM untraced_stack AS u"
    asked += " JOIN stack AS k ON k.id = u.stack_id JOIN frame AS f ON f.id = k.frame_id"
    assert ask(folder, asked) == [("load", 1, 8 * MS)]


def test_time_without_a_core_is_what_the_clock_of_waits_went_on() -> None:
    told = [
        {"frame": 1, "function": "f"}, {"stack": 1, "frame": 1}, {"thread": 1, "name": "x"},
        {"begin_unix_ns": 0}, {"unix_ns": 10, "on": [[1, 1, 5, 100]]},
        {"unix_ns": 30, "on": [[1, 1, 8, 107]]},
        {"unix_ns": 50, "on": [[1, 1, 28, 900]]},  # more than there was: it is between the looks
        {"unix_ns": 70, "on": [[1, 1, 30]]}, {"unix_ns": 90, "on": [[1, 1, 30, None]]}, {"end_unix_ns": 100},
    ]  # fmt: skip
    found = read(*told)
    assert [(one["weight_ps"], one["cpu_ps"], one["queued_ps"]) for one in found.samples] == [
        (20_000, None, None), (20_000, 3_000, 7_000), (20_000, 20_000, 0), (20_000, 2_000, None),
        (20_000, 0, None),
    ]  # fmt: skip
    assert found.odd == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"frame": 0, "function": "again"},
        {"frame": 5, "function": 3},
        {"stack": 0, "frame": 0},
        {"stack": 5, "frame": 9},
        {"stack": 5, "in": 5, "frame": 0},
        {"stack": 5, "in": True, "frame": None},
        {"thread": "x"},
        {"unix_ns": "now", "on": []},
        {"unix_ns": STARTED_NS, "on": 3},
        {"unix_ns": STARTED_NS, "on": [[7, 0]]},
        {"unix_ns": STARTED_NS, "on": [[0, 7]]},
        {"unix_ns": STARTED_NS, "on": [[0]]},
        {"unix_ns": 2**62, "on": []},
        {"dropped": -1},
        {},
    ],
    ids=json.dumps,
)
def test_a_line_that_fits_nothing_is_lost_and_told(tmp_path: Path, bad: dict[str, Any]) -> None:
    folder = write(tmp_path / "c", xplane=False, **{"stacks.ndjson": stacks() + line(**bad)})
    seen, stored, lost = ask(folder, "SELECT events_seen, events_stored, events_lost FROM source")[0]
    assert (seen, lost) == (stored + 1, 1)  # type: ignore[operator]
    assert ask(folder, "SELECT detail FROM source_note WHERE slug = 'damaged-piece'") == [
        ("stacks.ndjson: 1 of its lines could not be used",)
    ]
    assert len(ask(folder, SAMPLES)) == 8


def test_a_stack_is_only_so_deep() -> None:
    told: list[dict[str, Any]] = [{"frame": 0, "function": "f"}, {"stack": 0, "frame": 0}]
    told += [{"stack": i, "in": i - 1, "frame": 0} for i in range(1, MOST_DEPTH + 10)]
    found = read(*told)
    assert len(found.stacks) == MOST_DEPTH + 1
    assert found.odd == 9


_NUMBERS = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**63 - 1), st.none(), st.text(max_size=2))
_LINES = st.dictionaries(
    st.sampled_from(["frame", "function", "stack", "in", "thread", "name", "unix_ns", "late_ns", "line",
                     "begin_unix_ns", "end_unix_ns", "dropped", "on", "main", "code"]),
    st.one_of(_NUMBERS, st.lists(st.lists(_NUMBERS, max_size=5), max_size=3)), max_size=5,
)  # fmt: skip


@given(st.lists(_LINES, max_size=20))
def test_whatever_the_lines_are_the_tables_fit_together(lines: list[dict[str, Any]]) -> None:
    found = read(*lines)
    for number, stack in enumerate(found.stacks):
        assert stack["parent_id"] is None or stack["parent_id"] < number
        assert 0 <= stack["frame_id"] < len(found.frames)
    for sample in found.samples:
        assert 0 <= sample["stack_id"] < len(found.stacks)
        assert sample["weight_ps"] >= 0
    assert 0 <= found.odd <= len(lines)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 100)), min_size=1, max_size=20))
def test_samples_of_a_thread_add_up_to_the_time_between_begin_and_end(looks: list[tuple[int, int]]) -> None:
    told: list[dict[str, Any]] = [{"frame": 0, "function": "f"}, {"stack": 0, "frame": 0}, {"thread": 0}]
    told.append({"begin_unix_ns": 0})
    at = 0
    for step, late in looks:
        at += step
        told.append({"unix_ns": at, "late_ns": late, "on": [[0, 0]]})
    told.append({"end_unix_ns": at + 7})
    samples = read(*told).samples
    assert sum(one["weight_ps"] for one in samples) == (at + 7) * 1000
    ends = [one["ts_ps"] + one["weight_ps"] for one in samples]
    assert [one["ts_ps"] for one in samples] == [0, *ends[:-1]]
