"""stepscope graph PATH…: a graph by its scopes, as a tree or as a drawing."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stepscope import units
from stepscope.cli.arguments import Parser, add_output, add_reading, add_showing, need_paths
from stepscope.cli.console import Console
from stepscope.errors import NothingFound, UsageError
from stepscope.presenters.plain import shorten

if TYPE_CHECKING:
    from stepscope.report.graph import GraphScope, Hierarchy
    from stepscope.session.trace import OpenTrace

ABOUT = "a graph by its scopes, with times; -o draws it as .svg, .html, .dot or .json"
EPILOG = """Reads GraphDef and SavedModel files, partition graphs in RunMetadata, folders of `stepscope
record`, and XLA dump folders. Of several graphs, the largest is shown: --graph selects another by its name
or its file's, and --list lists them. Times are those of the run's ops, if it has any. A drawing has the
layout of the page; .html moves, zooms and searches. .explorer.json is the whole graph for Model Explorer,
.pbtxt for Netron and TensorBoard."""
MOST_DEPTH = 32
MOST_HOPS = 1000


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser(
        "graph", ABOUT, "stepscope graph PATH… [--scope S] [--depth N] [-o FILE] [options]", EPILOG
    )
    chosen = parser.add_argument_group("what to show")
    chosen.add_argument("--list", action="store_true", help="list the graphs and exit")
    chosen.add_argument("--graph", metavar="NAME", help="show the graph of this name, or of this file")
    chosen.add_argument("--scope", metavar="S", help="show what is in this scope")
    chosen.add_argument("--depth", metavar="N", type=int, help="open scopes to this depth (1)")
    chosen.add_argument("--no-fold", action="store_true", help="show identical blocks one by one")
    chosen.add_argument("--path", metavar=("FROM", "TO"), nargs=2, help="show a path between two nodes")
    chosen.add_argument("--around", metavar="NODE", help="show only nodes joined to this one")
    chosen.add_argument("--hops", metavar="N", type=int, help="with --around, up to this many edges away (2)")
    chosen.add_argument(
        "--paint",
        choices=("time", "bytes", "cluster", "type", "device"),
        help="what the colours of a drawing show (time, or else type)",
    )
    add_output(parser, "file to write: .svg, .html, .dot, .json, .explorer.json or .pbtxt")
    add_reading(parser, part=False)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints or draws a graph."""
    need_paths(options, "graph")
    ending = _ending(options)
    depth, hops = _depth_and_hops(options, ending)
    from stepscope.cli.report_output import show
    from stepscope.report import graph as report

    every, row, found = _graph_of(options, console)
    if row is None or found is None:
        _list(every, options, console)
        return 0
    name = _title(every, row)
    if options.graph is None and len({row["file"] for row in every}) > 1:
        console.say(f"the largest of {len(every):,} graphs; --list lists them, --graph NAME shows another")
    if options.around is not None:
        _check_node(found, options.around)
        found = found.neighbourhood(options.around, hops)
        name += f" / {hops} around {options.around}"
    if options.path is not None:
        path = _way(found, *options.path)
        show(report.way(name, found, path), options, console)
        return 0
    top = _scope(found, options.scope)
    fold = not options.no_fold
    if ending is None:
        show(report.build(name, found, top, depth, fold=fold), options, console)
        return 0
    _draw(found, top, depth, fold, name, options, console)
    return 0


def _depth_and_hops(options: argparse.Namespace, ending: str | None) -> tuple[int, int]:
    """How deep scopes are opened, and how far from a node. UsageError for what does not go together."""
    depth = 1 if options.depth is None else options.depth
    if not 1 <= depth <= MOST_DEPTH:
        raise UsageError("There is no such depth", seen=f"--depth {depth}", todo=f"give 1 to {MOST_DEPTH}")
    hops = 2 if options.hops is None else options.hops
    if not 0 <= hops <= MOST_HOPS or (options.hops is not None and options.around is None):
        raise UsageError(
            "There is no such distance", seen=f"--hops {hops}", todo=f"--around NODE --hops 0 to {MOST_HOPS}"
        )
    if options.paint is not None and ending not in (".svg", ".html"):
        raise UsageError("Only a drawing has colours", seen="--paint", todo="add -o g.svg or -o g.html")
    return depth, hops


def _graph_of(
    options: argparse.Namespace, console: Console
) -> tuple[list[dict[str, Any]], dict[str, Any] | None, Hierarchy | None]:
    """All graphs, and the one that is meant; none where --list asks for all."""
    from stepscope.cli.reading import opened
    from stepscope.report import graph as report

    found = None
    try:
        with opened(options, console) as (trace, bar):
            every = _stored(trace)
            if options.list or (options.graph is not None and not _named(every, options.graph)):
                every += _compiled([path for path in options.paths if Path(path).is_dir()])
            row = None if options.list else _chosen(every, options.graph)
            if row is not None and "path" not in row:
                found = report.stored(trace, row)
            bar.stop()
    except NothingFound:
        every = _compiled(options.paths)
        if not every:
            raise
        row = None if options.list else _chosen(every, options.graph)
    return every, row, report.dumped(row) if row is not None and "path" in row else found


def _ending(options: argparse.Namespace) -> str | None:
    if options.output is None:
        return None
    if options.list or options.path is not None:
        raise UsageError(
            "Only a graph can be drawn",
            seen=f"-o {options.output} with {'--list' if options.list else '--path'}",
            todo="drop one of them; --format json prints the same for programs",
        )
    name = Path(options.output).name.lower()
    ending = ".explorer.json" if name.endswith(".explorer.json") else Path(name).suffix
    if ending not in (".svg", ".html", ".dot", ".json", ".explorer.json", ".pbtxt"):
        raise UsageError(
            "Nothing says what kind of drawing to write",
            seen=f"a file name that ends in {ending or 'nothing'}",
            todo="give -o a name that ends in .svg, .html, .dot, .json, .explorer.json or .pbtxt",
        )
    return ending


def _compiled(paths: list[str]) -> list[dict[str, Any]]:
    """The programs of dump folders of XLA, and of their files."""
    from stepscope.report.graph import dumped_graphs

    return [row | {"file": row["path"]} for row in dumped_graphs(paths)]


def _stored(trace: OpenTrace) -> list[dict[str, Any]]:
    from stepscope.report.graph import stored_graphs

    found = stored_graphs(trace)
    if not found:
        raise NothingFound(
            "There is no graph in these recordings.",
            seen="no GraphDef, SavedModel or partition graph",
            todo="give a graph file, RunMetadata with partition graphs, or a folder of `stepscope record`",
        )
    return found


def _chosen(every: list[dict[str, Any]], name: str | None) -> dict[str, Any]:
    """The largest graph, of this name or in a file of this name."""
    if name is None:
        return every[0]
    if named := _named(every, name):
        return named[0]
    known = dict.fromkeys(str(row["graph"]) for row in every) | dict.fromkeys(_files(every).values())
    raise _none("graph", name, list(known), "--list lists them")


def _named(every: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    found = [row for row in every if row["graph"] == name]
    return found or [row for row in every if name in (row["file"], *_short(row["file"]))]


def _short(file: str) -> tuple[str, str]:
    """The name of a file, also in an archive, and what comes before its ending."""
    base = Path(file.rpartition("!")[2]).name
    return base, base.partition(".pb")[0]


def _files(every: list[dict[str, Any]]) -> dict[str, str]:
    """Files as they are listed: by their names where these differ, else by their paths."""
    bases: dict[str, set[str]] = {}
    for row in every:
        bases.setdefault(_short(row["file"])[0], set()).add(row["file"])
    return {file: base if len(files) == 1 else file for base, files in bases.items() for file in files}


def _title(every: list[dict[str, Any]], row: dict[str, Any]) -> str:
    """A graph by its run and its name, and by its file where other files have a graph of this name."""
    same = {other["file"] for other in every if other["graph"] == row["graph"]}
    parts = [row["run_id"], *([_files(every)[row["file"]]] if len(same) > 1 else []), row["graph"]]
    return " / ".join(parts)


def _scope(found: Hierarchy, path: str | None) -> GraphScope:
    if path is None:
        return found.root
    from stepscope.report.graph import scopes_open

    scope = found.scope(path.strip("/"))
    if scope is None:
        near = scopes_open(found.root, 3, fold=False)
        raise _none("scope", path, near, "`stepscope graph PATH` lists the scopes")
    return scope


def _way(found: Hierarchy, start: str, end: str) -> list[str]:
    for name in (start, end):
        _check_node(found, name)
    return found.way(start, end)


def _check_node(found: Hierarchy, name: str) -> None:
    if name not in found.nodes:
        raise _none("node", name, list(found.nodes), "names are whole, with their scopes")


def _none(what: str, name: str, known: list[str], todo: str) -> NothingFound:
    import difflib

    near = difflib.get_close_matches(name, known[:20_000], 1)
    hint = f"did you mean {shorten(near[0], 200)}? " if near else ""
    return NothingFound(f"There is no such {what}.", seen=shorten(name, 200), todo=f"{hint}{todo}")


def _list(every: list[dict[str, Any]], options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli.rows_output import write_rows

    columns = ("run_id", "graph", "nodes", "file")
    files = _files(every)
    rows = [(row["run_id"], row["graph"], row["nodes"], files[row["file"]]) for row in every]
    write_rows(columns, rows, console, options.format, spreadsheet=options.spreadsheet)


def _draw(
    found: Hierarchy,
    top: GraphScope,
    depth: int,
    fold: bool,
    name: str,
    options: argparse.Namespace,
    console: Console,
) -> None:
    from stepscope.exporters import drawings, whole_graphs
    from stepscope.exporters.staging import staged
    from stepscope.report import graph as graphs

    out = Path(options.output)
    ending = _ending(options)
    title = f"{name} / {top.path}" if top.path else name
    with staged(out, force=options.force) as part:
        if ending in whole_graphs.FORMS:
            text = whole_graphs.FORMS[ending](found, title)
            wrote = units.count(len(found.nodes), "node")
        else:
            level = graphs.level(found, graphs.scopes_open(top, depth, fold=fold), fold=fold, within=top)
            text = drawings.FORMS[str(ending)](level, title, options.paint)
            wrote = units.count(len(level.boxes), "box", "boxes")
        part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    console.say(f"wrote {options.output}: {wrote}")
