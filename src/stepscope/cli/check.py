"""stepscope check --baseline PATH… --candidate PATH…: whether a change made a program slower."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from stepscope import strict_json
from stepscope.cli.arguments import Parser, a_path, add_reading, add_showing, count, whole
from stepscope.cli.console import Console
from stepscope.errors import OutputError, UsageError

if TYPE_CHECKING:
    from stepscope.report import Report
    from stepscope.report.gating import Budget, RecordedRun
    from stepscope.session.trace import OpenTrace

ABOUT = "whether a change made a program slower, for CI"
USAGE = """stepscope check --baseline PATH… --candidate PATH… [options]
       stepscope check --record N [options] -- CMD_A… -- CMD_B…
       stepscope check --history PATH… [options]"""
EPILOG = """A recording is a run: give a PATH for each, or a folder or lake with several. Times are compared
when each side has at least 4 recordings. Exit codes: 0 no regression, 1 a regression, 2 no verdict."""
OUTPUTS = (".xml", ".md", ".json", ".html")


class _CheckParser(Parser):
    """Takes two commands after --, which argparse cannot."""

    def split(self, words: list[str]) -> tuple[list[str], list[str]]:
        """The options, and what comes after them, each command behind a --."""
        at = words.index("--") if "--" in words else len(words)
        return words[:at], words[at:]

    def complete(self, options: argparse.Namespace, apart: list[str]) -> None:
        """Adds the commands as `commands`."""
        super().complete(options, apart)
        options.commands = []
        for word in apart:
            if word == "--":
                options.commands.append([])
            else:
                options.commands[-1].append(word)


def parser() -> Parser:
    """The options of the verb."""
    parser = _CheckParser("check", ABOUT, USAGE, EPILOG)
    path = {"nargs": "+", "metavar": "PATH", "default": [], "action": "extend", "type": a_path}
    parser.add_argument("--baseline", help="recordings of the program before the change", **path)  # type: ignore[arg-type]
    parser.add_argument("--candidate", help="recordings of the program after it", **path)  # type: ignore[arg-type]
    parser.add_argument("--history", help="recordings over time: when did a figure change?", **path)  # type: ignore[arg-type]
    parser.add_argument(
        "--record",
        type=count,
        metavar="N",
        help="record both programs N times, in turns; they follow after --",
    )
    parser.add_argument(
        "--last", type=count, metavar="N", help="only the last N recordings of the baseline, by time"
    )
    parser.add_argument(
        "--budget", metavar="FILE", type=a_path, help="limits, as .toml or .json (stepscope docs budget)"
    )
    parser.add_argument(
        "--counts", action="store_true", help="compare only what has no noise; one recording each is enough"
    )
    parser.add_argument(
        "--into",
        metavar="DIR",
        type=a_path,
        help="with --record, folder to write (stepscope-check-DATE-TIME)",
    )
    parser.add_argument("--warmup", type=whole, metavar="N", help="with --record, settled steps to skip (3)")
    parser.add_argument("--steps", type=count, metavar="N", help="with --record, steps to record (100)")
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=a_path,
        action="append",
        default=[],
        help=f"also write {', '.join(OUTPUTS[:-1])} or {OUTPUTS[-1]}; .xml is JUnit; may be repeated",
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    add_reading(parser, None, part=False)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the comparison. Returns 0 without a regression, 1 with one, 2 if it cannot be decided."""
    _check_words(options)
    for name in options.output:
        _check_output(Path(name), options.force)
    from stepscope.report import gate_history, gating

    budget = _budget(options.budget)
    if options.record:
        from stepscope.cli.alternation import record

        options.baseline, options.candidate = record(options, console)
    past = None
    if options.history:
        past = _read(options.history, options, console)
        if not options.candidate:
            report = gate_history.history_report(past, budget)
            _show(report, options, console)
            return {"unknown": 2, "changes": 0, "no_changes": 0}[report.document["verdict"]]
    baseline = _read(options.baseline, options, console) if options.baseline else []
    candidate = _read(options.candidate, options, console)
    if options.last:
        baseline = baseline[-options.last :]
    report = gating.check(baseline, candidate, budget, options.counts, past)
    _show(report, options, console)
    return {"no_regression": 0, "regression": 1, "unknown": 2}[report.document["verdict"]]


def _check_words(options: argparse.Namespace) -> None:
    """UsageError for options that do not go together."""
    if options.lake is not None:
        _refuse("--lake beside sides", "a lake is given as the PATH of --baseline, --candidate or --history")
    if options.record:
        _check_recording(options)
        return
    if options.commands:
        _refuse("commands without --record", "say how often to record them: --record 8")
    if options.into or options.warmup is not None or options.steps:
        _refuse("--into, --warmup or --steps without --record", "these are for recording")
    if options.history and not options.candidate and not options.baseline:
        return
    if not options.candidate:
        _refuse("no --candidate", "stepscope check --baseline PATH… --candidate PATH…")
    if not options.baseline and options.budget is None:
        _refuse("no --baseline", "give one, or a --budget with limits of its own")


def _check_recording(options: argparse.Namespace) -> None:
    """UsageError where --record is given what it does not take."""
    if options.baseline or options.candidate:
        _refuse("--record with recordings", "record anew, or compare what is recorded")
    if len(options.commands) != 2 or not all(options.commands):
        _refuse(
            f"{len([command for command in options.commands if command])} commands",
            "stepscope check --record 8 -- python old.py -- python new.py",
        )


def _refuse(seen: str, todo: str) -> NoReturn:
    raise UsageError("These options make no comparison", seen=seen, todo=todo)


def _check_output(name: Path, force: bool) -> None:
    if name.suffix.lower() not in OUTPUTS:
        from stepscope import presenters

        raise presenters.unknown_kind(name.name, OUTPUTS, "give -o a name that ends in {}")
    if name.exists() and not force:
        raise OutputError(
            f"{name} is there already",
            seen="a file of that name",
            todo="add --force to replace it",
            path=str(name),
        )


def _budget(name: str | None) -> Budget:
    """The budget of a file; the usual one without. UsageError for what cannot be read as one."""
    from stepscope.report import gating

    if name is None:
        return gating.budget_of(None)
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        seen = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            "The budget cannot be read",
            seen=seen,
            todo="give a .toml or .json file",
            slug="budget",
            path=name,
        ) from error
    try:
        return gating.budget_of(_parsed(path, text))
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix.lower() == ".json" else "TOML"
        raise UsageError(
            f"The budget is not {kind}",
            seen=str(error)[:200],
            todo="mend it; stepscope docs budget has an example",
            slug="budget",
            path=name,
        ) from error


def _parsed(path: Path, text: str) -> object:
    if path.suffix.lower() == ".json":
        return strict_json.parse(text.encode())
    import sys

    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def _read(paths: Sequence[str], options: argparse.Namespace, console: Console) -> list[RecordedRun]:
    """The recordings of a side by time. Errors of gate_recordings.read()."""
    from stepscope.cli.reading import opened
    from stepscope.report import gate_recordings

    @contextmanager
    def one_path(path: str) -> Iterator[OpenTrace]:
        options.paths = [path]
        with opened(options, console, last=False) as (trace, bar):
            yield trace
            bar.stop()

    return gate_recordings.read(paths, one_path, console.say)


def _show(report: Report, options: argparse.Namespace, console: Console) -> None:
    from stepscope.cli.report_output import show
    from stepscope.exporters.staging import staged
    from stepscope.presenters import file_presenters, junit

    for name in options.output:
        ending = Path(name).suffix.lower()
        render = junit.render if ending == ".xml" else file_presenters()[ending].render
        with staged(Path(name), force=options.force) as part:
            part.write_text(render(report), encoding="utf-8", errors="backslashreplace", newline="\n")
        console.say(f"wrote {name}")
    show(report, options, console)
