"""Counting slices that cross: against a window over partitions, on slices as a decoder nests them."""

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.exporters import crossings
from tests.draw import Tables
from tests.fakes import FakeTrace, drawn_trace
from tests.tiers import cases

TWIN = """
SELECT count(*) FROM (
  SELECT ts_ps, max(ts_ps + dur_ps) OVER (
    PARTITION BY track_id, parent_id ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
  ) AS before_ps FROM slice
) AS sibling WHERE before_ps > ts_ps"""

tracks = st.lists(
    st.lists(
        st.tuples(st.integers(-20, 40), st.one_of(st.integers(0, 40), st.just(2**61))),
        min_size=1,
        max_size=25,
    ),
    min_size=1,
    max_size=3,
)


def nested(told: list[list[tuple[int, int]]], depth: int = 0) -> list[tuple[int, ...]]:
    """(id, track, parent, depth, ts, dur): the innermost slice still open that contains one is its parent."""
    rows: list[tuple[int, ...]] = []
    for track, slices in enumerate(told):
        stack: list[tuple[int, int, int]] = []
        for ts_ps, dur_ps in sorted(slices, key=lambda one: (one[0], -one[1])):
            while stack and (stack[-1][1] <= ts_ps or stack[-1][1] < ts_ps + dur_ps):
                stack.pop()
            parent = stack[-1] if stack else None
            level = parent[2] + 1 if parent else depth
            rows.append((len(rows), track, None if parent is None else parent[0], level, ts_ps, dur_ps))
            stack.append((len(rows) - 1, ts_ps + dur_ps, level))
    return rows


@pytest.fixture(scope="module")
def emptied() -> Iterator[FakeTrace]:
    trace = drawn_trace(Tables())
    trace.connection.execute(
        "CREATE OR REPLACE TABLE slice (id BIGINT, track_id BIGINT, parent_id BIGINT, depth INTEGER,"
        " ts_ps BIGINT, dur_ps BIGINT)"
    )
    yield trace
    trace.close()


@pytest.mark.repeats("a twin counts in many windows")
@given(tracks, st.sampled_from([0, 6, 62]))
@settings(deadline=None, max_examples=cases(20, 60))
def test_as_many_as_a_window_finds(emptied: FakeTrace, told: list[list[tuple[int, int]]], depth: int) -> None:
    emptied.connection.execute("DELETE FROM slice")
    assert crossings.count(emptied) == 0
    emptied.connection.executemany("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?)", nested(told, depth))
    assert crossings.count(emptied) == emptied.query(TWIN).rows()[0][0]
