"""NDJSON: one event a line, flat, so that a warehouse loads it and finds the types by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.escapes import escaped_json
from stepscope.exporters import EVENTS
from stepscope.exporters.lines import write_lines

if TYPE_CHECKING:
    from stepscope.exporters import Written
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".ndjson", ".jsonl")
TEXT = True
SHOWN = escaped_json
DEFAULT = EVENTS


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes the flat events, or one table."""
    return write_lines(trace, out, table, "ndjson")
