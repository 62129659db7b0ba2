"""stepscope xla clusters PATH…: TensorFlow's clusters, and why a node is in none."""

from __future__ import annotations

import argparse
import gzip
import zlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from stepscope.cli.arguments import Parser, add_showing, need_csv
from stepscope.cli.console import Console
from stepscope.errors import NothingFound, UnreadableSource, UsageError
from stepscope.instruments.xla import clusters
from stepscope.instruments.xla.clusters import is_log, read_graph, read_log
from stepscope.library.statements import statement
from stepscope.report import xla_clusters
from stepscope.sources.user_paths import look_up

if TYPE_CHECKING:
    from stepscope.instruments.xla.clusters import Graph

ABOUT = "the clusters that TensorFlow compiles automatically, and why nodes are in none"
EPILOG = """PATH is a log, a dumped graph (mark_for_compilation_annotated*.pbtxt) or a folder of both.
`stepscope xla env --dump DIR --graphs` prints what to set before the program runs."""
_LINES_OF_HEAD = 2000
_MOST_LINES = 5_000_000


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla clusters", ABOUT, "stepscope xla clusters PATH… [options]", EPILOG)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="logs, graphs, or folders of them")
    parser.add_argument("--all", action="store_true", help="graphs without a cluster, too")
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints clusters and the nodes outside."""
    need_csv(options, options.format == "csv")
    if not options.paths:
        raise UsageError("No log and no folder is given", seen="no PATH", todo="stepscope xla clusters DIR")
    from stepscope.cli.query import write_records

    look_up(options.paths)
    logs, graphs = _files(options.paths)
    log_graphs = [graph for path in logs for graph in _log_graphs(path)]
    found = clusters.joined(_file_graphs(graphs, console) if graphs else [], log_graphs)
    if not found:
        raise NothingFound(
            "Nothing here tells of clusters",
            seen=f"no log of the pass and no annotated graph in {', '.join(options.paths)}",
            todo=f"set {xla_clusters.SETTINGS} before the program runs",
            slug="no-clusters",
        )
    shown = [graph for graph in found if graph.clusters or options.all] or found
    rows = clusters.rows(shown)
    columns = clusters.COLUMNS
    write_records(columns, rows, options, console, everything=options.all)
    for line in xla_clusters.sentences(rows, len(found) - len(shown)):
        console.say(line)
    return 0


def _files(paths: list[str]) -> tuple[list[Path], list[Path]]:
    """Logs and annotated graphs. In folders, by name; what is given itself, by its first lines."""
    logs: list[Path] = []
    graphs: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            graphs += sorted(
                file
                for end in ("pbtxt", "pb")
                for file in path.rglob(f"mark_for_compilation_annotated*.{end}")
            )
            logs += sorted(log for end in ("log", "log.gz") for log in path.rglob(f"*.{end}") if _is_log(log))
        else:
            (logs if _is_log(path) else graphs).append(path)
    return logs, graphs


def _lines(path: Path) -> Iterator[str]:
    try:
        file: IO[str]
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8", errors="replace") as file:
            # A line without an end is taken in parts, so that it does not fill the memory.
            yield from islice(iter(lambda: file.readline(1 << 16), ""), _MOST_LINES)
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableSource(
            "A log cannot be read", seen=str(error), todo="give a file that is whole", path=str(path)
        ) from error


def _is_log(path: Path) -> bool:
    return any(is_log(line) for line in islice(_lines(path), _LINES_OF_HEAD))


def _log_graphs(path: Path) -> list[Graph]:
    return read_log(_lines(path), path.name)


def _file_graphs(paths: list[Path], console: Console) -> list[Graph]:
    from stepscope.cli.reading import watched

    found = []
    with watched(paths, console, cache=False) as opened:
        every = opened.query(statement("page_graphs"))
        at = every.columns.index("source_id")
        for row in every.rows():
            number, graph = row[at], row[every.columns.index("graph")]
            name = Path(opened.sources[number].path).name.rpartition(".")[0]
            nodes = opened.query(statement("nodes_of_graph", source_id=number, graph=graph)).rows()
            edges = opened.query(statement("edges_of_graph", source_id=number, graph=graph)).rows()
            if graph == "graph":
                found.append(read_graph(name, nodes, edges))
    return found
