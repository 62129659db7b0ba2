"""stepscope export PATH… -o FILE: recordings merged and handed on in another form."""

from __future__ import annotations

import argparse
import contextlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.arguments import (
    FORMATS,
    Parser,
    add_output,
    add_reading,
    add_showing,
    add_spreadsheet,
    need_paths,
)
from stepscope.cli.console import Console
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.cli.progress import Bar
    from stepscope.exporters import Written
    from stepscope.sources.find import FoundSources

ABOUT = "merge recordings into one Chrome trace, or write NDJSON, CSV, Parquet, DuckDB or profiles"
EPILOG = """The extension of FILE chooses the format: .json and .json.gz (Chrome trace; opens in Perfetto and
chrome://tracing), .ndjson, .csv, .parquet, .duckdb, .pb.gz (pprof: self time by stack; opens in pprof and
speedscope), .speedscope.json and .collapsed (stacks of Python, or else slices by stack; --table stack_sample
gives pprof those of Python, too). A FILE that ends in / becomes a folder with one Parquet file per table;
.delta and .iceberg are folders of tables for Spark, Trino, DuckDB and others (extras "delta" and "iceberg").
bigquery://PROJECT.DATASET takes a whole lake, see --engine of `stepscope query`, or recordings: these become
a lake in a temporary folder first.
A merged trace never connects rows, arrows and objects of different sources. It shows the dataflow as arrows,
across devices and workers too. With --show-memory, it adds a counter for each allocator, and every block or
tensor as a slice from its allocation to its release. Rows that pack overlapping slices are called lanes.

--style tf-timeline writes one RunMetadata as TensorFlow's Timeline would, event by event, for tools that were
built on it; its lanes are not threads, and its ids are not meant for merging."""
BIGQUERY = "bigquery://"
STYLES = ("stepscope", "tf-timeline")


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("export", ABOUT, "stepscope export PATH… -o FILE [options]", EPILOG)
    add_output(parser, "file to write; - for stdout, with --to")
    parser.add_argument("--table", metavar="NAME", help="export only this table")
    parser.add_argument("--to", metavar="FORM", help="format to write, if the extension of FILE does not say")
    add_spreadsheet(parser)
    style = parser.add_argument_group("Chrome traces")
    style.add_argument(
        "--style", choices=STYLES, default=STYLES[0], help="stepscope (default) or tf-timeline"
    )
    for name, what in (
        ("dataflow", "arrows from producers to consumers (tf-timeline: off by default)"),
        ("memory", "tensors, and a counter for each allocator (off by default)"),
    ):
        style.add_argument(f"--show-{name}", action=argparse.BooleanOptionalAction, help=what)
    style.add_argument(
        "--op-time",
        choices=("schedule", "gpu", "all"),
        help="tf-timeline: show scheduling (default), kernels on a GPU, or both from first to last",
    )
    parser.add_argument(
        "--from",
        dest="files_at",
        metavar="URL",
        help="bigquery: load the lake from this copy of it in Cloud Storage",
    )
    add_reading(parser)
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default=FORMATS[0],
        help="json, csv, md: print what was written to stdout in this form, for scripts",
    )
    add_showing(parser, ())
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Writes the file and says what is in it."""
    need_paths(options, "export")
    if options.output is None:
        raise UsageError(
            "Nothing says where the export goes", seen="no -o", todo="-o merged.json writes one Chrome trace"
        )
    if options.format != "table" and options.output == "-":
        raise UsageError(
            "stdout takes either the export or the report on it",
            seen=f"-o - with --format {options.format}",
            todo="write to a file with -o FILE, or leave --format out",
        )
    _check_style(options)
    if options.output.startswith(BIGQUERY):
        return _export_to_bigquery(options, console)
    if options.files_at is not None:
        raise UsageError(
            "Only an export to BigQuery knows this option",
            seen=f"--from with -o {options.output}",
            todo="write -o bigquery://PROJECT.DATASET, or leave --from out",
        )
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


def _export_to_bigquery(options: argparse.Namespace, console: Console) -> int:
    """Exports a lake to a dataset, or recordings by way of one."""
    parts = options.table or options.run or options.host
    if parts or options.to or options.spreadsheet or options.style != STYLES[0] or options.force:
        raise UsageError(
            "A dataset takes the whole lake",
            seen=f"{options.output} with --table, --run, --host, --to, --style, --spreadsheet or --force",
            todo="leave these out",
        )
    if options.files_at is not None and not options.files_at.startswith("gs://"):
        raise UsageError(
            "BigQuery loads from Cloud Storage",
            seen=f"--from {options.files_at}",
            todo="give the address of the lake's folder there, such as gs://bucket/lake",
        )
    from stepscope.cli.progress import bar
    from stepscope.engines import bigquery as engine
    from stepscope.exporters import bigquery

    dataset = options.output.removeprefix(BIGQUERY)
    client = engine.connect(engine.split(dataset)[0])  # before anything is read: it may need credentials
    with bar(console) as shown, _lake(options, console, shown) as lake:
        written = bigquery.write(lake, dataset, files_at=options.files_at, client=client)
        shown.stop()
    return _tell(written, options, console)


@contextlib.contextmanager
def _lake(options: argparse.Namespace, console: Console, shown: Bar) -> Iterator[Path]:
    """The lake that is named, or a temporary one of the recordings that are."""
    from stepscope.cli.engine_options import the_lake
    from stepscope.cli.ingest import check_half
    from stepscope.cli.reading import tell_skipped
    from stepscope.session import lakes, trace

    if options.lake is not None or any(lakes.is_lake_at(path) for path in options.paths):
        yield the_lake(options, "An export to BigQuery")
        return
    if options.files_at is not None:
        raise UsageError(
            "Only a lake has a copy in Cloud Storage",
            seen=f"--from {options.files_at} with {' '.join(options.paths)}",
            todo="leave --from out, or make a lake first: stepscope ingest PATH --lake DIR",
        )
    with tempfile.TemporaryDirectory(prefix="stepscope-bigquery-") as folder:
        lake = Path(folder) / "lake"
        looked: list[FoundSources] = []
        done = trace.ingest(options.paths, lake, progress=shown.update, looked=looked.append)
        for found in looked:
            tell_skipped(found.skipped, console)
            check_half(done, found)
        yield lake


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
    if options.format == "json":
        members = {"format": 1, "path": written.path, "rows": written.rows, "notes": list(written.notes)}
        console.data.write(json.dumps(members, indent=2) + "\n")
        return 0
    if options.format != "table":
        from stepscope.cli.rows_output import write_rows

        rows = [(name, count, written.path) for name, count in written.rows.items()]
        write_rows(("table", "rows", "path"), rows, console, options.format, spreadsheet=options.spreadsheet)
    if options.output != "-":
        total = sum(written.rows.values())
        console.say(f"wrote {units.count(total, 'row')} to {written.path}")
    for note in written.notes:
        console.say(f"  {note}")
    return 0
