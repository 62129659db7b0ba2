"""stepscope xla dumps DIR…: modules by stage and pass, with size, cost and memory."""

import argparse

from stepscope.cli.arguments import Parser, add_showing, need_dumps
from stepscope.cli.console import Console
from stepscope.cli.progress import working
from stepscope.report import xla_dumps
from stepscope.sources.user_paths import look_up

ABOUT = "modules of a dump folder by stage and pass, with size, cost and memory"
EPILOG = """flops, transcendentals and bytes are XLA's own counts: the body of a loop counts once, a custom
call as -1. run_flops and the like count what runs, with loops as often as they are known to repeat.
Make a dump with XLA_FLAGS="--xla_dump_to=DIR --xla_dump_hlo_as_proto --xla_dump_hlo_pass_re=.*"."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("xla dumps", ABOUT, "stepscope xla dumps DIR… [options]", EPILOG)
    parser.add_argument("paths", nargs="*", metavar="DIR", help="dump folders, or files of one")
    parser.add_argument("--module", metavar="NAME", help="only modules whose name contains NAME")
    parser.add_argument("--all", action="store_true", help="also passes that changed nothing")
    parser.add_argument("--files", action="store_true", help="every file, with its place in the chain")
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the rows, and says on stderr what was left out."""
    need_dumps(options, "xla dumps")
    from stepscope.cli.rows_output import write_listing

    look_up(options.paths)
    with working("reading the dump", console):
        found = xla_dumps.read(options.paths, fold=not options.all)
    build = xla_dumps.files if options.files else xla_dumps.stages
    write_listing(build(found, options.module), options, console)
    return 0
