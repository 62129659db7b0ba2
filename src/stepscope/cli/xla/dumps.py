"""stepscope xla dumps DIR…: modules by stage and pass, with size, cost and memory."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.cli.arguments import Parser, add_showing, need_dumps
from stepscope.cli.console import Console
from stepscope.cli.progress import working
from stepscope.formats.xla import dump_files, dumps
from stepscope.sources.user_paths import look_up

ABOUT = "modules of a dump folder by stage and pass, with size, cost and memory"
EPILOG = """flops, transcendentals and bytes are XLA's own counts: the body of a loop counts once, a custom
call as -1. run_flops and the like count what runs, with loops as often as they are known to repeat.
Make a dump with XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=.*"."""

_SHOWN = (
    "module", "id", "stage", "pass", "instructions", "fusions", "flops", "run_flops", "bytes", "temp_bytes",
    "allocated_bytes", "changed", "problem",
)  # fmt: skip
"""Columns of a table for people; the forms for machines have all."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla dumps", ABOUT, "stepscope xla dumps DIR… [options]", EPILOG)
    parser.add_argument("paths", nargs="*", metavar="DIR", help="dump folders, or files of one")
    parser.add_argument("--module", metavar="NAME", help="only modules whose name contains NAME")
    parser.add_argument("--all", action="store_true", help="also passes that changed nothing")
    parser.add_argument("--files", action="store_true", help="every file, with its place in the chain")
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the rows, and says on stderr what was left out."""
    need_dumps(options, "xla dumps")
    from stepscope.cli.query import is_for_people, write_records

    look_up(options.paths)
    with working("reading the dump", console):
        found = dumps.read(options.paths, fold=not options.all)
    rows = found.files if options.files else found.rows
    if options.module is not None:
        rows = [row for row in rows if options.module in (row["module"] or "")]
    columns = _columns(rows, options)
    if is_for_people(options):
        rows = [{**row, "stage": _short(row["stage"]), "module": _short(row["module"])} for row in rows]
    write_records(columns, rows, options, console, everything=options.all)
    if options.files:
        return 0
    console.say("; ".join(_remarks(found)))
    for line in _split(rows):
        console.say(line)
    return 0


def _columns(rows: Sequence[Mapping[str, Any]], options: argparse.Namespace) -> tuple[str, ...]:
    """All columns, or those that say something where people read them."""
    if options.files:
        return dump_files.FILE_COLUMNS
    from stepscope.cli.query import informative, is_for_people

    return informative(_SHOWN, rows) if is_for_people(options) else dumps.COLUMNS


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


def _split(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """From where on the figures of a program for several devices are of one of them."""
    parts: dict[Any, Mapping[str, Any]] = {}
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
        for row in parts.values()
    ]


_LONGEST = 44
_MOST_SPLIT = 3


def _short(name: str | None) -> str | None:
    """A name of TensorFlow, of which the middle says nothing, cut for a table."""
    if name is None or len(name) <= _LONGEST:
        return name
    return f"{name[: _LONGEST - 9]}…{name[-8:]}"
