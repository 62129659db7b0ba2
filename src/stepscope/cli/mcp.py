"""stepscope mcp DIR…: answers for agents, over the Model Context Protocol."""

import argparse

from stepscope.cli.arguments import FORMATS, Parser, a_path
from stepscope.cli.console import Console
from stepscope.errors import UsageError

ABOUT = "answers for agents: a server of the Model Context Protocol"
EPILOG = """Speaks the Model Context Protocol on standard input and output, so a client starts it. Six tools,
all read-only: open, findings, analysis, query, compare, describe. Only paths under DIR can be opened.

  {"command": "stepscope", "args": ["mcp", "/data/profiles"]}"""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("mcp", ABOUT, "stepscope mcp DIR…", EPILOG)
    parser.add_argument(
        "--format", choices=FORMATS, default="json", help="only json: the protocol has no other form"
    )
    parser.add_argument("roots", nargs="*", metavar="DIR", type=a_path, help="folders that may be opened")
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Serves until standard input ends."""
    if not options.roots:
        raise UsageError(
            "Nothing says which folders may be opened",
            seen="no DIR",
            todo="stepscope mcp DIR…, with the folders that recordings are in",
        )
    if options.format != "json":
        raise UsageError(
            "The Model Context Protocol has one form",
            seen=f"--format {options.format}",
            todo="leave it out: clients speak JSON; for a table, run stepscope query or stepscope PATH",
        )
    try:
        from stepscope.agents import server
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0].startswith("stepscope"):
            raise
        raise UsageError(
            "Answering agents needs one more package.",
            seen=f"no module {missing.name}",
            todo="pip install 'stepscope[mcp]'",
            slug="no-mcp",
        ) from missing
    server.serve(options.roots)
    return 0
