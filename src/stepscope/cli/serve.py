"""stepscope serve PATH…: the recordings as a page in a browser on this machine."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import config
from stepscope.cli.arguments import FORMATS, Parser, add_reading, add_spreadsheet, need_csv, need_paths
from stepscope.cli.console import Console
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.session.trace import OpenTrace

ABOUT = "a page in your browser: timeline, ops, input pipeline, memory, SQL"
EPILOG = """The first line on stdout is the URL of the page. It contains a secret: do not share it. The
page is served to this machine only; from another one, forward the port with ssh, as the message says.

To watch a program under `stepscope record --live`, give the folder of its recording or its process id. The
page shows it as `stepscope top` does, and its recording once there is one.

  stepscope record --live -o rec train.py &
  stepscope serve rec"""


def parser(verb: str = "serve") -> Parser:
    """The options of the verb."""
    parser = Parser(verb, ABOUT, f"stepscope {verb} PATH… [options]", EPILOG)
    parser.add_argument(
        "--port", metavar="N", type=_port, help="port to listen on (7391, or any free one); 0: any free one"
    )
    parser.add_argument("--no-open", action="store_true", help="do not open a browser")
    parser.add_argument(
        "--format", choices=FORMATS, default=FORMATS[0], help="how the URL is printed; table: as a line"
    )
    add_spreadsheet(parser, aside=True)
    add_reading(parser, part=False)
    parser.set_defaults(verb=verb)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Serves until Ctrl-C."""
    need_paths(options, options.verb)
    need_csv(options, options.format == "csv")
    _check_packages()
    from stepscope.cli.reading import tell_skipped
    from stepscope.server import run as server
    from stepscope.server.console import Settings
    from stepscope.server.running_jobs import RunningJobs
    from stepscope.server.sibling_files import SiblingFiles
    from stepscope.session import trace

    with contextlib.ExitStack() as kept:
        paths = [kept.enter_context(_standard_input()) if path == "-" else path for path in options.paths]
        cache: trace.Cached = True
        if options.no_cache:
            # The page and its SQL run in two processes, which share what is decoded through a cache.
            cache = kept.enter_context(tempfile.TemporaryDirectory(prefix="stepscope-cache-"))

        jobs = RunningJobs(paths)

        def open_trace() -> OpenTrace:
            jobs.need_something()
            # The page shows the report of everything.
            return trace.open(*jobs.open, cache=cache, lake=options.lake, memory_bytes=config.report_bytes())

        # Before anything is served: a wrong path is an error of the command.
        opened = [] if jobs.waits else [open_trace()]
        for first in opened:
            tell_skipped(first.skipped, console)
        listening = kept.enter_context(server.bind(options.port))
        port = listening.getsockname()[1]

        def announce(url: str) -> None:
            _write_address(url, port, options, console)
            shown = False
            if not options.no_open and server.can_show(os.environ):
                shown = server.show(kept.enter_context(server.handed_over(url)))
            _say_where(port, shown, console)

        def check(path: str) -> None:
            with trace.open(path, cache=cache):  # what is wrong with it is told before all is opened again
                pass

        settings = Settings(jobs.open, cache=cache, lake=options.lake)
        server.serve(
            lambda: opened.pop() if opened else open_trace(),
            settings,
            listening,
            announce,
            lakes=_lakes((options.lake, *paths)),
            beside=SiblingFiles(paths, check),
            jobs=jobs,
        )
    return 0


def _lakes(given: Sequence[str | None]) -> list[Path]:
    """Those of this machine."""
    from stepscope.sources.stores import is_store
    from stepscope.sources.user_paths import is_lake

    return [Path(path) for path in given if path is not None and not is_store(path) and is_lake(Path(path))]


def _check_packages() -> None:
    """UsageError where the packages of the page are missing."""
    try:
        import stepscope.server.run  # noqa: F401
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] not in ("starlette", "uvicorn", "h11", "anyio"):
            raise
        raise UsageError(
            "The page needs two more packages.",
            seen=f"no module {missing.name}",
            todo="pip install 'stepscope[serve]'",
            slug="no-server",
        ) from missing


def _say_where(port: int, shown: bool, console: Console) -> None:
    """How to reach the page where no browser shows it already."""
    if not shown:
        console.say("open this URL in a browser on this machine; from another one, first run there")
        console.say(f"  ssh -N -L {port}:127.0.0.1:{port} {_here()}")
    console.say("Ctrl-C stops it")


def _write_address(url: str, port: int, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli.rows_output import write_rows

    if options.format == "table":
        console.out.write(f"{url}\n")
    else:
        write_rows(("url", "port"), [(url, port)], console, options.format)
    console.out.flush()
    console.data.flush()


def _port(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) <= 5 and int(text) <= 65535):
        raise argparse.ArgumentTypeError(
            f"{text[:20]!r} is not a port: give a number up to 65535, or 0 for any free one"
        )
    return int(text)


@contextlib.contextmanager
def _standard_input() -> Iterator[str]:
    """Standard input as a file: several processes read it."""
    with tempfile.TemporaryDirectory(prefix="stepscope-stdin-") as folder:
        path = Path(folder, "stdin")
        with path.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield str(path)


def _here() -> str:
    """This user and machine, as ssh wants them."""
    import getpass
    import socket

    with contextlib.suppress(OSError, KeyError):
        return f"{getpass.getuser()}@{socket.gethostname()}"
    return socket.gethostname()
