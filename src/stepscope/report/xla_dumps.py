"""What was compiled into a dump folder: modules by stage and pass, or files."""

from collections.abc import Sequence
from typing import Any

from stepscope import units
from stepscope.formats.xla import dump_files, dumps
from stepscope.formats.xla.dumps import read
from stepscope.report.listing import Listing, Row, brief

__all__ = ["files", "read", "stages"]

_FOR_PEOPLE = (
    "module", "id", "stage", "pass", "instructions", "fusions", "flops", "run_flops", "bytes", "temp_bytes",
    "allocated_bytes", "changed", "problem",
)  # fmt: skip
_LONGEST = 44
_MOST_SPLIT = 3


def files(found: dumps.Dumps, module: str | None) -> Listing:
    """Every file with its place in the chain. module: of which modules; all where none is named."""
    return Listing(dump_files.FILE_COLUMNS, _module_rows(found.files, module), readable=_readable)


def stages(found: dumps.Dumps, module: str | None) -> Listing:
    """The stages and passes of modules, and what is left out. module: as in files."""
    rows = _module_rows(found.rows, module)
    sentences = ["; ".join(_remarks(found)), *_split(rows)]
    return Listing(dumps.COLUMNS, rows, sentences, _FOR_PEOPLE, _readable)


def _module_rows(rows: Sequence[Row], module: str | None) -> Sequence[Row]:
    return [row for row in rows if module is None or module in (row["module"] or "")]


def _readable(row: Row) -> Row:
    return {**row, **{name: brief(row[name], _LONGEST) for name in ("module", "stage")}}


def _remarks(found: dumps.Dumps) -> list[str]:
    """What was compiled, and what is left out."""
    modules = {(row["folder"], row["id"], row["module"]) for row in found.rows}
    functions = {row["function"] for row in found.rows}
    remarks = [f"{units.count(len(modules), 'module')} of {units.count(len(functions), 'function')}"]
    if found.folded:
        remarks.append(
            f"{units.count(found.folded, 'pass dump')} without a change left out (--all shows them)"
        )
    if found.damaged:
        remarks.append(f"{units.count(found.damaged, 'file')} could not be read (column problem)")
    if others := sum(row["place"] not in ("before", "pass", "after") for row in found.files):
        remarks.append(f"{units.count(others, 'other file')} (--files lists them)")
    return remarks


def _split(rows: Sequence[Row]) -> list[str]:
    """From where on the figures of a program for several devices are of one of them."""
    parts: dict[Any, Row] = {}
    for row in rows:
        if row["per_device"]:
            parts.setdefault((row["folder"], row["id"], row["module"]), row)
    if len(parts) > _MOST_SPLIT:
        return [
            f"{len(parts):,} modules are split over several devices: where per_device is true, their"
            " figures are of one of them (--format csv)"
        ]
    return [
        f"{row['module']} is split over {row['partitions']} devices: from"
        f" {row['pass'] or row['stage']} on, its figures are of one of them"
        for row in map(_readable, parts.values())
    ]
