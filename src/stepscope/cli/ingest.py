"""stepscope ingest SRC… --lake DIR: builds or extends a lake of many runs."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.arguments import Parser, a_path, add_paths, add_showing
from stepscope.cli.console import Console
from stepscope.cli.reading import tell_skipped
from stepscope.cli.rows_output import write_rows
from stepscope.errors import UnreadableSource, UsageError
from stepscope.presenters.plain import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from stepscope.lake.rows import SourceRow
    from stepscope.sources.find import FoundSources

ABOUT = "build or extend a lake of many runs, hosts and steps"
EPILOG = """A lake is a folder of Parquet files that query, summary, report and export read like any other
path. A run is named after its folder, plus digits that identify the whole path. --run, --host and path
parts such as run=NAME/host=NAME are used unchanged. Ingesting a path or a copy of it again changes nothing,
unless you name its run or host. Sources that cannot be read are listed with their errors; the exit code is
2 if half of them or more cannot."""

COLUMNS = ("run", "host", "source", "format", "bytes", "seen", "stored", "lost", "error")
RUNNERS = ("local", "spark")
_UNREADABLE = frozenset({"no-access", "damaged-archive", "unreadable-source"})
"""Why a file is skipped that was to be read."""
_NAMED = 3
"""How many files that are not recordings are named on stderr."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("ingest", ABOUT, "stepscope ingest PATH… --lake DIR [options]", EPILOG)
    add_paths(parser)
    parser.add_argument("--lake", metavar="DIR", type=a_path, help="the lake; created if it does not exist")
    parser.add_argument("--run", metavar="NAME", help="name of the run, instead of its folder")
    parser.add_argument("--host", metavar="NAME", help="name of the host, instead of the detected one")
    parser.add_argument(
        "--runner", choices=RUNNERS, default=RUNNERS[0], help="what ingests: this machine, or a Spark cluster"
    )
    parser.add_argument(
        "--remote", metavar="ADDRESS", help="spark: sc://HOST:PORT, or local; by default SPARK_REMOTE"
    )
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Ingests and says what was read, stored and lost."""
    _check(options)
    from stepscope.cli.progress import bar
    from stepscope.session import on_spark, trace

    looked: list[FoundSources] = []
    with bar(console) as shown:
        done = trace.ingest(
            options.paths,
            options.lake,
            run=options.run,
            host=options.host,
            progress=shown.update,
            looked=looked.append,
            runner=on_spark.runner(options.remote) if options.runner == "spark" else None,
        )
    (found,) = looked
    columns, rows = _table(done, found, options.format)
    write_rows(columns, rows, console, options.format, spreadsheet=options.spreadsheet)
    console.out.flush()
    tell_skipped(found.skipped, console)
    _tell_others(found, console)
    failed = sum(source_row.error is not None for source_row in done)
    stored = sum(source_row.events_stored for source_row in done)
    lost = sum(source_row.events_lost for source_row in done)
    read = f"{units.count(len(done) - failed, 'source')} in {options.lake}"
    unread = f"; {units.count(failed, 'source')} could not be read" if failed else ""
    console.say(f"{read}: {units.count(stored, 'event')} stored, {lost:,} lost{unread}")
    check_half(done, found)
    return 0


def _check(options: argparse.Namespace) -> None:
    if options.lake is None:
        raise UsageError(
            "Nothing says where the lake is", seen="no --lake", todo="--lake DIR makes or extends one"
        )
    if not options.paths:
        raise UsageError("There is no path to read", seen="no PATH", todo="stepscope ingest PATH… --lake DIR")
    if options.remote is not None and options.runner != "spark":
        raise UsageError(
            "Only Spark has an address", seen="--remote", todo="add --runner spark, or leave --remote out"
        )


def _table(
    done: Sequence[SourceRow], found: FoundSources, format_: str
) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """Columns and rows of what was ingested."""
    rows: list[tuple[object, ...]] = [
        (
            d.run_id,
            d.host_id,
            d.path,
            d.format,
            d.bytes,
            d.events_seen,
            d.events_stored,
            d.events_lost,
            d.error,
        )
        for d in done
    ]
    columns: tuple[str, ...] = COLUMNS
    if format_ != "table":
        # What was left out has a row as well, and why in a column of its own: it is not an error.
        columns = (*columns, "skipped")
        left = {skipped.path: skipped.detail for skipped in (*found.others, *found.skipped)}
        rows = [(*row, None) for row in rows]
        rows += [(None, None, path, *[None] * 6, why) for path, why in sorted(left.items())]
    elif not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return columns, rows


def check_half(done: Sequence[SourceRow], found: FoundSources) -> None:
    """UnreadableSource when half of the sources, or more, gave the lake nothing: scripts must notice."""
    bad = [(source_row.path, source_row.error) for source_row in done if source_row.error is not None]
    bad += [
        (source_row.path, "no event could be read")
        for source_row in done
        if source_row.error is None and source_row.events_lost and not source_row.events_stored
    ]
    bad += [(skipped.path, skipped.detail) for skipped in found.skipped if skipped.slug in _UNREADABLE]
    total = len(done) + sum(skipped.slug in _UNREADABLE for skipped in found.skipped)
    if not bad or 2 * len(bad) < total:
        return
    path, seen = bad[0]
    everything = len(bad) == total
    raise UnreadableSource(
        "No source could be read." if everything else "Half of the sources, or more, could not be read.",
        seen=f"{len(bad):,} of {total:,}; of the first: {seen}",
        todo="copy these files again, and run the same command: what the lake has is not read twice",
        path=path,
    )


def _tell_others(found: FoundSources, console: Console) -> None:
    """Says which files are not recordings, by kind and with the first names."""
    named = {skipped.path for skipped in found.skipped}
    others = [other for other in found.others if other.path not in named]
    number = sum(count for _, count in found.seen) - (len(found.others) - len(others))
    if not number:
        return
    kinds = ", ".join(f"{count:,} x {kind}" for kind, count in found.seen)
    first = ", ".join(plain(other.path) for other in others[:_NAMED])
    more = ", …" if number > _NAMED else ""
    console.say(
        f"no recordings: {units.count(number, 'file')} ({kinds}){': ' + first + more if first else ''}"
    )
