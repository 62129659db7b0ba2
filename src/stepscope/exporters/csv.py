"""CSV with a header line: the flat events, or one table. NULL is an empty field, empty text is ""."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.exporters import EVENTS
from stepscope.exporters.lines import write_lines

if TYPE_CHECKING:
    from stepscope.exporters import Written
    from stepscope.session.trace import Trace

EXTENSIONS = (".csv",)
TEXT = True
DEFAULT = EVENTS


def write(trace: Trace, out: Path, table: str | None) -> Written:
    """Writes the flat events, or one table."""
    return write_lines(trace, out, table, "FORMAT csv, HEADER true")
