"""stepscope xla clusters PATH…: TensorFlow's clusters, and why a node is in none."""

import argparse
from contextlib import nullcontext

from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console
from stepscope.cli.reading import watched
from stepscope.errors import NothingFound, UsageError
from stepscope.report import xla_clusters
from stepscope.session import cluster_files
from stepscope.sources.user_paths import look_up

ABOUT = "the clusters that TensorFlow compiles automatically, and why nodes are in none"
EPILOG = """PATH is a log, a dumped graph (mark_for_compilation_annotated*.pbtxt) or a folder of both.
`stepscope xla env --dump DIR --graphs` prints what to set before the program runs."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla clusters", ABOUT, "stepscope xla clusters PATH… [options]", EPILOG)
    parser.add_argument("paths", nargs="*", metavar="PATH", help="logs, graphs, or folders of them")
    parser.add_argument("--all", action="store_true", help="also graphs without a cluster")
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints clusters and the nodes outside."""
    if not options.paths:
        raise UsageError("No log and no folder is given", seen="no PATH", todo="stepscope xla clusters DIR")
    from stepscope.cli.rows_output import write_listing

    look_up(options.paths)
    logs, dumps = cluster_files.find(options.paths)
    with watched(dumps, console, cache=False) if dumps else nullcontext() as dumped:
        graphs = cluster_files.read(logs, dumped)
    if not graphs:
        raise NothingFound(
            "Nothing here tells of clusters",
            seen=f"no log of the pass and no annotated graph in {', '.join(options.paths)}",
            todo=f"set {xla_clusters.SETTINGS} before the program runs",
            slug="no-clusters",
        )
    write_listing(xla_clusters.build(graphs, options.all), options, console)
    return 0
