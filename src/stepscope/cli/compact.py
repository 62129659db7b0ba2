"""stepscope compact LAKE: the rows of all sources of a run in one file a table."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.arguments import Parser, a_path, add_showing
from stepscope.cli.console import Console
from stepscope.cli.rows_output import write_rows

if TYPE_CHECKING:
    from stepscope.session.compacting import Compacted

ABOUT = "merge the files of a lake, one per table and run, so that many hosts read fast"
EPILOG = """Compact a run once all its hosts are in the lake. No row is lost: the rows are sorted into
fewer files. Later recordings are added as before, until the run is compacted again. Replaced files stay for
an hour, for readers that have the lake open; the next ingest or compaction then removes them."""

COLUMNS = ("run", "sources", "files_before", "bytes_before", "files", "bytes", "timelines_lost")


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("compact", ABOUT, "stepscope compact LAKE [options]", EPILOG)
    parser.add_argument("lake", metavar="LAKE", type=a_path, help="the lake")
    parser.add_argument("--run", metavar="ID", action="append", help="only this run; may be repeated")
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Compacts, and says what became of each run."""
    from stepscope.cli.progress import bar
    from stepscope.session import trace

    runs = 0

    def say(compacted: Compacted) -> None:
        nonlocal runs
        shown.stop()
        files = f"{units.count(compacted.files_before, 'file')} are now {compacted.files:,}"
        console.say(f"{compacted.run_id}: {units.count(compacted.sources, 'source')}, {files}")
        if compacted.timelines_lost:
            lost = units.count(compacted.timelines_lost, "timeline")
            console.say(
                f"{compacted.run_id}: {lost} damaged and left out: the page draws its slices from the tables"
            )
        runs += 1
        shown.counting("compacting", runs, 0)

    with bar(console) as shown:
        shown.counting("compacting", 0, 0)
        done = trace.compact(options.lake, options.run, on_compacted=say)
    if not done:
        console.say("nothing to compact: no run of the lake has several sources outside its snapshot")
    write_rows(
        COLUMNS,
        [tuple(compacted) for compacted in done],
        console,
        options.format,
        spreadsheet=options.spreadsheet,
    )
    return 0
