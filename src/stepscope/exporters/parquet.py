"""Parquet: one table in a file (slices, when none is named), or all tables in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.exporters import Written
from stepscope.exporters.lines import rows_of

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

EXTENSIONS = (".parquet",)
TEXT = False
DEFAULT = "slice"


def write(trace: OpenTrace, out: Path, table: str | None) -> Written:
    """Writes one file; or, into a folder (a name that ends with / ), one file per table, and one with the
    steps as they are judged."""
    if out.suffix == ".parquet":
        name = table or DEFAULT
        return Written(str(out), {name: trace.copy(rows_of(trace, name), str(out), "parquet")})
    return Written(str(out), write_folder(trace, out, (table,) if table else (*trace.schema.names, "step")))


def write_folder(trace: OpenTrace, folder: Path, tables: tuple[str, ...]) -> dict[str, int]:
    """One Parquet file per table, in a new folder; the rows of each."""
    folder.mkdir()
    return {
        name: trace.copy(rows_of(trace, name), str(folder / f"{name}.parquet"), "parquet") for name in tables
    }
