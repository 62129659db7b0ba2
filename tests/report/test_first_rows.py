"""Analyses of which a summary asks the first rows only."""

import pytest

from stepscope import library
from stepscope.report import summary_sections
from stepscope.report.parts import ask
from tests.fakes import FakeTrace
from tests.report import recordings
from tests.report.recordings import connection


@pytest.mark.repeats("each analysis with three limits")
@pytest.mark.parametrize("most", [1, 3, 1000])
def test_they_are_the_first_ones_of_all(most: int) -> None:
    """In the order of the analysis, for each place where a place is asked for, and all are counted."""
    _, make = next(recordings.whole())
    make().fill(connection())
    trace = FakeTrace(connection())
    seen = 0
    for name, wanted in summary_sections._FIRST.items():
        entry = library.entry(name)
        whole = ask(trace, [entry], ())[name]  # type: ignore[arg-type]
        first = ask(trace, [entry], (), {name: wanted._replace(most=most)})[name]  # type: ignore[arg-type]
        assert (first.columns, first.total) == (whole.columns, whole.total)
        of = [[column.name for column in whole.columns].index(column) for column in wanted.each]
        groups = dict.fromkeys(tuple(row[at] for at in of) for row in whole.rows)
        assert list(first.rows) == [
            row
            for group in groups
            for row in [row for row in whole.rows if tuple(row[at] for at in of) == group][:most]
        ]
        seen += len(first.rows)
    assert seen
