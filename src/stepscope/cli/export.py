"""stepscope export PATH… -o FILE: recordings merged and handed on in another form."""

from __future__ import annotations

import argparse

from stepscope import units
from stepscope.cli.arguments import Parser, add_output, add_paths, add_reading, add_showing, need_paths
from stepscope.cli.console import Console
from stepscope.errors import UsageError

ABOUT = "several recordings in one Chrome trace; or as NDJSON, CSV, Parquet, DuckDB"
EPILOG = """FILE's ending says what is written: .json and .json.gz (Chrome trace; opens in Perfetto and
chrome://tracing), .ndjson, .csv, .parquet, .duckdb. A FILE that ends in / takes one Parquet file a table.
In a merged trace the rows, arrows and objects of one source are never tied to those of another."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("export", ABOUT, "stepscope export PATH… -o FILE [options]", EPILOG)
    add_paths(parser)
    add_output(parser, "what to write; - for stdout, with --to")
    parser.add_argument("--table", metavar="NAME", help="this table instead of all that the form can hold")
    parser.add_argument("--to", metavar="FORM", help="form to write, when FILE's ending does not say")
    add_reading(parser)
    add_showing(parser, ())
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Writes the file and says what is in it."""
    need_paths(options, "export")
    if options.output is None:
        raise UsageError(
            "Nothing says where the export goes", seen="no -o", todo="-o merged.json writes one Chrome trace"
        )
    from stepscope import exporters
    from stepscope.cli.reading import opened

    with opened(options, console) as (trace, bar):
        written = exporters.write(
            trace, options.output, table=options.table, force=options.force, format=options.to
        )
        bar.stop()
    if options.output != "-":
        total = sum(written.rows.values())
        console.say(f"wrote {units.count(total, 'row')} to {written.path}")
    for note in written.notes:
        console.say(f"  {note}")
    return 0
