"""stepscope xla ops-supported [GRAPH…]: the ops that XLA can compile, and what keeps a graph off it."""

import argparse

from stepscope.cli.arguments import Parser, add_paths, add_showing
from stepscope.cli.console import Console
from stepscope.errors import NothingFound
from stepscope.library.statements import statement
from stepscope.report import xla_supported

ABOUT = "ops that the installed TensorFlow can compile, and what keeps a graph off XLA"
EPILOG = "Types are those of the kernels that TensorFlow has registered; a child process lists them."


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
    from stepscope.cli.rows_output import write_listing

    nodes = None
    if options.paths:
        from stepscope.cli.reading import watched

        with watched(options.paths, console, cache=False) as opened:
            found = opened.query(statement("ops_held_against")).rows()
        nodes = xla_supported.once(found)
        if not nodes:
            raise NothingFound(
                "There is no graph in these files", seen="no node", todo="give a GraphDef or a dumped graph"
            )
    write_listing(xla_supported.build(nodes, options.device, options.python), options, console)
    return 0
