"""Logs and annotated graphs of TensorFlow's clusters: found under paths, read, and joined."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from stepscope.errors import UnreadableSource
from stepscope.instruments.xla.clusters import Graph, is_log, joined, read_graph, read_log
from stepscope.library.statements import statement

if TYPE_CHECKING:
    from stepscope.session.open_trace import OpenTrace

_LINES_OF_HEAD = 2000
_MOST_LINES = 5_000_000


class ClusterFiles(NamedTuple):
    """Paths of logs, and of annotated graphs."""

    logs: list[Path]
    graphs: list[Path]


def find(paths: Sequence[str]) -> ClusterFiles:
    """The files under some paths: in folders by name, and what is given itself by its first lines."""
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
    return ClusterFiles(logs, graphs)


def read(logs: Sequence[Path], dumped: OpenTrace | None) -> list[Graph]:
    """The graphs of logs and dumped files. dumped: the annotated graphs, opened; None without any.
    UnreadableSource for a damaged log."""
    log_graphs = [graph for path in logs for graph in read_log(_lines(path), path.name)]
    return joined([] if dumped is None else _file_graphs(dumped), log_graphs)


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


def _file_graphs(opened: OpenTrace) -> list[Graph]:
    found = []
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
