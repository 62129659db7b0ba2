"""stepscope version: the versions that a bug report needs: stepscope, its tables, DuckDB, Python."""

import argparse
import platform

from stepscope import __version__
from stepscope.cli.arguments import Parser, add_showing
from stepscope.cli.console import Console

ABOUT = "versions of stepscope, its tables, DuckDB and Python"


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("version", ABOUT, "stepscope version [options]")
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the versions."""
    from stepscope.cli.rows_output import write_rows

    versions = _versions()
    if options.format == "table":
        width = max(map(len, versions))
        console.out.writelines(f"{name:<{width}}  {version}\n" for name, version in versions.items())
    else:
        write_rows(
            ("name", "version"), versions.items(), console, options.format, spreadsheet=options.spreadsheet
        )
    return 0


def _versions() -> dict[str, str]:
    """Names and versions, stepscope's first."""
    import duckdb

    from stepscope import _core
    from stepscope.lake.schema import schema

    return {
        "stepscope": __version__,
        "schema": str(schema().version),
        "decoders": str(_core.DECODER_VERSION),
        "duckdb": duckdb.__version__,
        "python": platform.python_version(),
        "system": platform.platform(),
    }
