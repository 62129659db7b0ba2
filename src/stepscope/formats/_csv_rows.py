"""Tables of comma-separated values: the names in their first line, and the rows below by these names."""

import csv
import io
from collections.abc import Iterator, Sequence

from stepscope.formats._profile_events import Events


def names_in(line: str) -> list[str]:
    """The column names in a first line; empty where the line does not begin a table."""
    try:
        return next(csv.reader([line.strip()], strict=True), [])
    except csv.Error:
        return []


def rows_below(names: Sequence[str], text: str, events: Events) -> Iterator[dict[str, str]]:
    """The rows below the first line. Those that are no rows are counted as missed events."""
    rows = csv.reader(io.StringIO(text, newline=""))
    while True:
        try:
            cells = next(rows, None)
        except csv.Error:
            events.miss()
            continue
        if cells is None:
            return
        if cells:
            yield dict(zip(names, cells, strict=False))
