"""One axis of time: by the time of day where it is known, one source after the other where it is not."""

from __future__ import annotations

import pytest

from stepscope.exporters.clocks import lay_out
from tests.draw import UNIT_PS, Tables
from tests.fakes import drawn_trace

SECOND_NS = 10**9
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


def shifts(tables: Tables) -> dict[int, tuple[bool, int]]:
    rows = drawn_trace(tables).query("SELECT source_id, known, shift_ps FROM _source_shift").rows()
    return {source: (known, shift) for source, known, shift in rows}


@pytest.mark.parametrize(
    "sources",
    [
        [(None, 0, 5)],
        [(None, 7, 5)],
        [(None, 7, 5), (None, 3, 4), (None, 0, 9)],
        [(SECOND_NS, 0, 5), (2 * SECOND_NS, 1, 5)],
        [(2 * SECOND_NS, 0, 5), (SECOND_NS, 1, 5), (None, 4, 6), (None, 0, 2)],
    ],
)
def test_it_is_laid_out_as_exported_files_are(sources: list[tuple[int | None, int, int]]) -> None:
    tables = world(*((origin, start * UNIT_PS, length * UNIT_PS) for origin, start, length in sources))
    layout = lay_out(drawn_trace(tables))
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
