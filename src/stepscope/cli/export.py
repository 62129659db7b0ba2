"""stepscope export PATH… -o FILE: recordings merged and handed on in another form."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.arguments import (
    Parser,
    add_output,
    add_paths,
    add_reading,
    add_showing,
    add_spreadsheet,
    need_paths,
)
from stepscope.cli.console import Console
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.exporters import Written

ABOUT = "several recordings in one Chrome trace; or as NDJSON, CSV, Parquet, DuckDB, pprof"
EPILOG = """FILE's ending says what is written: .json and .json.gz (Chrome trace; opens in Perfetto and
chrome://tracing), .ndjson, .csv, .parquet, .duckdb, .pb.gz (pprof: self time by stack; opens in pprof and
speedscope). A FILE that ends in / takes one Parquet file a table.
In a merged trace the rows, arrows and objects of one source are never tied to those of another. It holds the
dataflow as arrows, over devices and workers as well, and with --show-memory a counter for each allocator, and
every block or tensor as a slice from its birth to its death. Rows that pack what overlaps are called lanes.

--style tf-timeline writes one RunMetadata as TensorFlow's Timeline would, event by event, for tools that were
built on it; lanes are no threads there, and its ids are not made for merging."""
STYLES = ("stepscope", "tf-timeline")


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("export", ABOUT, "stepscope export PATH… -o FILE [options]", EPILOG)
    add_paths(parser)
    add_output(parser, "what to write; - for stdout, with --to")
    parser.add_argument("--table", metavar="NAME", help="this table instead of all that the form can hold")
    parser.add_argument("--to", metavar="FORM", help="form to write, when FILE's ending does not say")
    add_spreadsheet(parser)
    style = parser.add_argument_group("Chrome traces")
    style.add_argument(
        "--style", choices=STYLES, default=STYLES[0], help="stepscope (default) or tf-timeline"
    )
    for name, what in (
        ("dataflow", "arrows from producers to consumers; tf-timeline: only if asked for"),
        ("memory", "tensors, and a counter for each allocator; only if asked for"),
    ):
        style.add_argument(
            f"--show-{name}",
            action=argparse.BooleanOptionalAction,
            help=what,
        )
    style.add_argument(
        "--op-time",
        choices=("schedule", "gpu", "all"),
        help="tf-timeline: show scheduling (default), kernels on a GPU, or both from first to last",
    )
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
    _check_style(options)
    from stepscope import exporters
    from stepscope.cli.reading import opened
    from stepscope.exporters import tf_timeline

    with opened(options, console) as (trace, bar):
        if options.style == "tf-timeline":
            written = tf_timeline.write(
                trace,
                options.output,
                dataflow=options.show_dataflow is True,
                memory=options.show_memory is True,
                op_time=options.op_time or "schedule",
                force=options.force,
            )
            bar.stop()
            return _tell(written, options, console)
        written = exporters.write(
            trace,
            options.output,
            table=options.table,
            force=options.force,
            format=options.to,
            leave_out=_left_out(options),
            spreadsheet=options.spreadsheet,
        )
        bar.stop()
    return _tell(written, options, console)


def _left_out(options: argparse.Namespace) -> frozenset[str] | None:
    """What the file shall not show; None when nothing is said of it."""
    if options.show_dataflow is None and options.show_memory is None:
        return None
    left = {"dataflow": options.show_dataflow is False, "memory": options.show_memory is not True}
    return frozenset(name for name, out in left.items() if out)


def _check_style(options: argparse.Namespace) -> None:
    """UsageError for options of one style with the other."""
    if options.style == "tf-timeline":
        if options.table or options.to or options.spreadsheet:
            raise UsageError(
                "A Timeline is one kind of file",
                seen="--style tf-timeline with --table, --to or --spreadsheet",
                todo="leave these out",
            )
    elif options.op_time:
        raise UsageError(
            "Only one style knows this option",
            seen="--op-time",
            todo="add --style tf-timeline; stepscope's own shows the executor's rows and those of streams",
        )


def _tell(written: Written, options: argparse.Namespace, console: Console) -> int:
    if options.output != "-":
        total = sum(written.rows.values())
        console.say(f"wrote {units.count(total, 'row')} to {written.path}")
    for note in written.notes:
        console.say(f"  {note}")
    return 0
