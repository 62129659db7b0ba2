"""stepscope xla ops-supported [GRAPH…]: the ops that XLA can compile, and what keeps a graph off it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from stepscope import units
from stepscope.cli.arguments import Parser, add_paths, add_showing
from stepscope.cli.console import Console
from stepscope.errors import NothingFound
from stepscope.library.statements import statement
from stepscope.presenters.plain import shorten
from stepscope.xla_tools import supported

ABOUT = "ops that the installed TensorFlow can compile, and what keeps a graph off XLA"
EPILOG = "Types are those of the kernels that TensorFlow has registered; a child process lists them."


_TODO = {
    "XLA_GPU_JIT": "this TensorFlow was built without GPUs: give --python of one that has them",
    "XLA_CPU_JIT": "this TensorFlow was built without XLA: give --python of one that has it",
}
_TYPES = ("types", "allowed")
_WIDEST = 100
"""Letters of a list of types in a table for people; other forms have it whole."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla ops-supported", ABOUT, "stepscope xla ops-supported [GRAPH…] [options]", EPILOG)
    add_paths(parser, "graphs to hold against the table; without one, the table is printed")
    parser.add_argument("--device", default="XLA_CPU_JIT", help="whose kernels (%(default)s)")
    parser.add_argument("--python", metavar="EXE", help="the Python that has TensorFlow, not this one")
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the table, or the ops of the graphs that XLA lacks."""

    from stepscope.cli.query import write_rows

    nodes = []
    if options.paths:
        from stepscope.cli.reading import watched

        with watched(options.paths, console, cache=False) as opened:
            found = opened.query(statement("ops_held_against")).rows()
        nodes = supported.once(found)
        if not nodes:
            raise NothingFound(
                "There is no graph in these files", seen="no node", todo="give a GraphDef or a dumped graph"
            )
    version, known = supported.registry(options.device, options.python)
    if not known:
        raise NothingFound(
            "TensorFlow has no kernels for this device",
            seen=f"{options.device} in TensorFlow {version}",
            todo=_TODO.get(options.device, "XLA_CPU_JIT and XLA_GPU_JIT are usual"),
        )
    columns: tuple[str, ...]
    if options.paths:
        rows, columns = supported.unsupported(nodes, known), supported.AGAINST
    else:
        rows = [{"op": op, "types": supported.types_of(known[op]) or None} for op in sorted(known)]
        columns = supported.COLUMNS
    cut = options.format == "table"
    cells = ([_cell(row, column, cut) for column in columns] for row in rows)
    write_rows(columns, cells, console, options.format, spreadsheet=options.spreadsheet)
    summary = f"TensorFlow {version}: {units.count(len(known), 'op')} for {options.device}"
    if options.paths:
        off = sum(row["nodes"] for row in rows)
        summary += f"; {off:,} of {units.count(len(nodes), 'node')} cannot be compiled"
    console.say(summary)
    return 0


def _cell(row: Mapping[str, Any], column: str, cut: bool) -> Any:
    return shorten(row[column], _WIDEST) if cut and row[column] and column in _TYPES else row[column]
