"""Output once a recorded program has ended: the answer, a report of it, the page.

The program's exit code is the command's, so nothing here raises: what cannot be shown is said.
"""

import argparse
import importlib.util
from collections.abc import Callable
from pathlib import Path

from stepscope.capture.writable import probe
from stepscope.cli.console import Console
from stepscope.cli.failure import tell, tell_unexpected
from stepscope.errors import OutputError, StepscopeError, UsageError

REPORTS = (".html", ".md", ".json", ".csv")
"""Files that -o may name besides a folder."""


def check(options: argparse.Namespace) -> None:
    """Hours of a program are not spent for a report that cannot be written, nor for want of a package."""
    if options.report is not None:
        path = Path(options.report)
        if path.exists():
            raise OutputError(
                f"{path} is there already",
                seen="a file",
                todo="choose another -o, or remove it; the program was not started",
                path=str(path),
            )
        try:
            probe(path.absolute().parent)
        except OSError as error:
            raise OutputError(
                f"{path} cannot be written",
                seen=error.strerror or str(error),
                todo="choose another -o; the program was not started",
                path=str(path),
            ) from error
    needed = ("starlette", "uvicorn") if options.open and options.report is None else ()
    if not all(map(importlib.util.find_spec, needed)):
        raise UsageError(
            "The page needs two more packages.",
            seen="--open without starlette and uvicorn",
            todo="pip install 'stepscope[serve]', or add -o FILE.html; the program was not started",
            slug="no-server",
        )


def show(out: str, options: argparse.Namespace, console: Console) -> None:
    """Shows what was recorded to the folder `out` as the options of `record` ask for."""
    if options.summary and options.format == "table":
        _done(lambda: _answer(out, options, console), console)
    if options.report is not None:
        _done(lambda: _report(out, options, console), console)
    if options.open:
        _done(lambda: _open(out, options, console), console)


def _done(what: Callable[[], object], console: Console) -> None:
    try:
        what()
        console.out.flush()
    except KeyboardInterrupt:
        console.say("stopped")
    except BrokenPipeError:
        from stepscope.cli import discard

        discard(console.out)
    except StepscopeError as error:
        tell(error, console)
    except OSError as error:
        from stepscope.cli import refused

        tell(refused(error, console), console)
    except Exception as error:  # noqa: BLE001  stepscope may have been replaced while the program ran
        tell_unexpected(error, console)


def _answer(out: str, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli import summary

    summary.run(summary.parser().parse_args(["--color", options.color, "--", out]), console)


def _report(out: str, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli import report

    report.run(report.parser().parse_args(["-o", options.report, "--", out]), console)


def _open(out: str, options: argparse.Namespace, console: Console) -> None:
    if options.report is not None:
        import webbrowser

        if not webbrowser.open(Path(options.report).absolute().as_uri()):
            console.say(f"stepscope: no browser was found; open {options.report} yourself")
        return
    from stepscope.cli import serve

    serve.run(serve.parser("open").parse_args(["--", out]), console)
