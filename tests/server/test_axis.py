"""One axis of time: by the time of day where it is known, one source after the other where it is not."""

import pytest

from stepscope.exporters.clocks import Layout, lay_out
from stepscope.exporters.source_events import events_by_source
from stepscope.instruments.ranks.table import rows_of
from tests.draw import UNIT_PS, Tables
from tests.fakes import drawn_trace
from tests.instruments.jobs import US, job

OTHERS = pytest.mark.repeats("jobs that differ by their seed")
SECOND_NS = 10**9
FEWER = pytest.mark.repeats("the others have these sources and more")
DAY_NS = 86_400 * SECOND_NS


def world(*sources: tuple[int | None, int, int]) -> Tables:
    """Sources, each with its Unix origin in ns or None, and the start and length of its only slice."""
    tables = Tables()
    for number, (origin, start, length) in enumerate(sources):
        tables.add("source", source_id=number, path=f"{number}.json", format="chrome_trace", complete=True)
        clock = "relative" if origin is None else "unix"
        tables.add("capture", capture_id=number, source_id=number, clock=clock, origin_unix_ns=origin)
        tables.add("track", id=number, source_id=number, kind="thread", records="execution")
        row = {"track_id": number, "name": "a", "ts_ps": start, "dur_ps": length}
        tables.slices(number, [row])
    return tables


def exported_layout(tables: Tables) -> Layout:
    trace = drawn_trace(tables)
    return lay_out(trace, events_by_source(trace))


def shifts(tables: Tables) -> dict[int, tuple[bool, int]]:
    rows = drawn_trace(tables).query("SELECT source_id, known, shift_ps FROM _source_shift").rows()
    return {source: (known, shift) for source, known, shift in rows}


@pytest.mark.parametrize(
    "sources",
    [
        pytest.param([(None, 0, 5)], marks=FEWER),
        pytest.param([(None, 7, 5)], marks=FEWER),
        [(None, 7, 5), (None, 3, 4), (None, 0, 9)],
        pytest.param([(SECOND_NS, 0, 5), (2 * SECOND_NS, 1, 5)], marks=FEWER),
        [(2 * SECOND_NS, 0, 5), (SECOND_NS, 1, 5), (None, 4, 6), (None, 0, 2)],
    ],
)
def test_it_is_laid_out_as_exported_files_are(sources: list[tuple[int | None, int, int]]) -> None:
    tables = world(*((origin, start * UNIT_PS, length * UNIT_PS) for origin, start, length in sources))
    layout = exported_layout(tables)
    wanted = {place.source_id: place.shift_ps - layout.origin_us * UNIT_PS for place in layout.places}
    assert {source: shift for source, (_, shift) in shifts(tables).items()} == wanted


def test_times_before_the_origin_stay_before_it() -> None:
    before = shifts(world((None, -5 * UNIT_PS, UNIT_PS), (None, 0, UNIT_PS)))
    assert before == {0: (False, 0), 1: (False, -4 * UNIT_PS)}


def test_years_apart_or_as_long_as_the_numbers_reach() -> None:
    """Nothing overflows, and what is together stays together."""
    years = shifts(world((SECOND_NS, 0, UNIT_PS), (400 * DAY_NS, 0, UNIT_PS), (500 * DAY_NS, 0, UNIT_PS)))
    assert years[0] == (True, 0)
    assert [known for known, _ in years.values()] == [True, False, False]
    assert years[1][1] == UNIT_PS
    assert years[2][1] == 2 * UNIT_PS
    huge = shifts(world((None, 0, 2**62), (None, 0, 2**62), (None, 0, 2**62), (None, -(2**62), 2**63 - 1)))
    assert huge[0] == (False, 0)
    assert all(-(2**63) <= shift < 2**63 for _, shift in huge.values())
    origins = shifts(world((-(2**63), 0, 1), (2**63 - 1, 0, 1)))
    assert origins[0] == (True, 0)


def ranks(seed: int, *, aligned: bool, known: int | None = None) -> tuple[Tables, dict[int, int]]:
    """A job of four ranks, each with a clock of its own, and the true start of each slice.

    known: the source that knows the time of day.
    """
    made = job(seed, ranks=4)
    tables = Tables()
    for source, rank in made.ranks.items():
        tables.add("source", source_id=source, path=rank.path, format="chrome_trace", complete=True)
        clock, origin = ("unix", SECOND_NS) if source == known else ("relative", None)
        facts = {"clock": clock, "origin_unix_ns": origin, "rank": rank.rank, "ranks": 4}
        tables.add("capture", capture_id=source, source_id=source, **facts)
        tables.add("track", id=source, source_id=source, kind="thread", records="execution")
        own = [part for part in made.parts if part.source_id == source]
        for part in own:
            row = {
                "track_id": source,
                "name": "a",
                "ts_ps": part.begin_ps,
                "dur_ps": part.end_ps - part.begin_ps,
            }
            tables.slices(source, [row | {"id": part.slice_id}])
    if aligned:
        for row in rows_of(made.parts, made.ranks).clock_offset:
            tables.add("clock_offset", **row)
    return tables, made.begins


@pytest.mark.parametrize(
    ("seed", "known"),
    [
        pytest.param(seed, known, marks=() if (seed, known) in ((0, None), (1, 2)) else OTHERS)
        for seed in range(4)
        for known in (None, 2)
    ],
)
def test_collectives_put_ranks_on_one_axis(seed: int, known: int | None) -> None:
    tables, truth = ranks(seed, aligned=True, known=known)
    trace = drawn_trace(tables)
    rows = trace.query("SELECT source_id, placed_by, known, residual_ps, shift_ps FROM _source_shift").rows()
    assert {row[1] for row in rows} == {"collectives"}
    assert all(row[2] == (known is not None) and row[3] < 10 * US for row in rows)
    if known is not None:
        assert [row[4] for row in rows if row[0] == known] == [0]
    drawn = dict(trace.query("SELECT id, ts_ps FROM _timeline_slice").rows())
    off = [drawn[one] - truth[one] for one in drawn]
    # What the clocks drift apart from the middle to either end of 0.35 s comes on top of the error.
    assert max(off) - min(off) < 2 * max(row[3] for row in rows) + 20 * US
    spread = [made - truth[one] for one, made in trace.query("SELECT id, ts_ps FROM slice").rows()]
    assert max(spread) - min(spread) > 50_000 * US


def test_ranks_that_nothing_aligns_begin_together() -> None:
    tables, _ = ranks(5, aligned=False)
    tables.add("source", source_id=9, path="other.json", format="chrome_trace", complete=True)
    tables.add("capture", capture_id=9, source_id=9, clock="relative")
    tables.add("track", id=9, source_id=9, kind="thread", records="execution")
    tables.slices(9, [{"track_id": 9, "name": "a", "ts_ps": 0, "dur_ps": 5}])
    query = "SELECT source_id, placed_by, first_ps, last_ps FROM _source_shift"
    rows = {row[0]: row[1:] for row in drawn_trace(tables).query(query).rows()}
    assert {rows[rank][:2] for rank in range(4)} == {("begin", rows[0][1])}
    assert rows[9][:2] == ("order", max(rows[rank][2] for rank in range(4)))


@pytest.mark.parametrize("known", [pytest.param(None, marks=FEWER), 2])
def test_exported_files_have_ranks_where_the_page_has_them(known: int | None) -> None:
    """By their collectives, with a note that says how exactly; beside each other where none align them."""
    for aligned in (True, False):
        tables, _ = ranks(3, aligned=aligned, known=known if aligned else None)
        layout = exported_layout(tables)
        wanted = {source: shift for source, (_, shift) in shifts(tables).items()}
        moved = {place.source_id: place.shift_ps - layout.origin_us * US for place in layout.places}
        assert moved == wanted
        assert {place.placed_by for place in layout.places} == {"collectives" if aligned else "begin"}
        assert [place.known for place in layout.places] == [aligned and known is not None] * 4
        assert (layout.base_unix_ns is not None) == (aligned and known is not None)
        said = "by the ends of their collectives" if aligned else "begin together"
        assert sum(said in note for note in layout.notes) == 1
        assert not any("follow one another" in note for note in layout.notes)
