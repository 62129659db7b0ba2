"""stepscope open PATH…: another name of serve."""

from stepscope.cli import serve
from stepscope.cli.arguments import Parser

ABOUT = "the same as serve"

run = serve.run


def parser() -> Parser:
    """The options of the verb."""
    return serve.parser("open")
