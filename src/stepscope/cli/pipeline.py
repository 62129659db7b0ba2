"""stepscope pipeline PATH…: is the input the bottleneck, which stage, and what would help."""

from __future__ import annotations

import argparse
import shlex
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.cli.arguments import CommandParser, Parser, a_path, add_reading, add_showing, need_paths
from stepscope.cli.console import Console
from stepscope.cli.failure import tell_nothing
from stepscope.errors import UsageError

if TYPE_CHECKING:
    from stepscope.report import Report
    from stepscope.report.pipeline import SourcePipelines

ABOUT = "the tf.data pipeline: is it the bottleneck, which stage limits it, what would help"
_EPILOG = """--verify records the program again and compares what a change gained with what was predicted:

  stepscope pipeline --verify -- python train.py            record before the change
  (change one thing)
  stepscope pipeline --verify BEFORE -- python train.py     record after it, and compare

If you have both versions of the program, record them in turns, so that both see the same load:

  stepscope pipeline --verify --before "python old.py" -- python new.py
"""


class _PipelineParser(CommandParser):
    """With --verify, leaves the words behind -- to the program."""

    def split(self, words: list[str]) -> tuple[list[str], list[str]]:
        """The options, and the program's words."""
        return super().split(words) if "--verify" in words else (words, [])


def parser() -> Parser:
    """The options of the verb."""
    usage = (
        "stepscope pipeline PATH… [options]\n       stepscope pipeline --verify [BEFORE] -- python train.py …"
    )
    parser = _PipelineParser("pipeline", ABOUT, usage, _EPILOG)
    parser.add_argument(
        "--verify", action="store_true", help="record the program after --, and compare it with PATH"
    )
    parser.add_argument(
        "--before", metavar="CMD", help="the program before the change; --verify records both in turns"
    )
    parser.add_argument(
        "--turns", metavar="N", type=int, default=2, help="with --before, recordings of each (%(default)s)"
    )
    parser.add_argument("--out", metavar="DIR", type=a_path, help="folder that --verify writes, new or empty")
    add_reading(parser)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints the diagnosis. Exit code 2 when nothing can be said."""
    if options.verify:
        return _verify(options, console)
    if options.out is not None:
        raise UsageError(
            "--out works only with --verify", seen="no --verify", todo="redirect the output: … > FILE"
        )
    if options.before is not None:
        raise UsageError(
            "--before works only with --verify",
            seen="no --verify",
            todo='stepscope pipeline --verify --before "python old.py" -- python new.py',
        )
    need_paths(options, "pipeline")
    from stepscope.cli.reading import opened
    from stepscope.cli.report_output import show
    from stepscope.library.statements import statement
    from stepscope.presenters.plain import plain
    from stepscope.report import pipeline
    from stepscope.report.waiting_answer import odd

    with opened(options, console) as (trace, _):
        found, lost, loading = pipeline.read(trace.query)
        sources = trace.query(statement("sources")).rows()
        frameworks, captured = [row[7] for row in sources], any(row[6] == "capture" for row in sources)
    if found or loading or options.format != "table":
        show(pipeline.build(found, lost, loading), options, console)
    if not found and not loading:
        what = "\n".join((pipeline.NOTHING, *(f"  {plain(odd(oddity))}" for oddity in lost)))
        tell_nothing(what, pipeline.todo(frameworks, captured), console)
        return 2
    return 0


def _found(options: argparse.Namespace, console: Console, path: str) -> SourcePipelines:
    """The pipeline of a capture that waits most; UsageError when there is none."""
    from stepscope.cli.reading import opened
    from stepscope.report import pipeline

    options = argparse.Namespace(**{**vars(options), "paths": [path]})
    with opened(options, console) as (trace, _):
        found = pipeline.read(trace.query).found
    if not found:
        raise UsageError(
            f"There is no input pipeline in {path}",
            seen="no tf.data events",
            todo="record a program that takes its batches from tf.data: stepscope record -- CMD",
            path=path,
        )
    return pipeline.ordered(found)[0]


def _verify(options: argparse.Namespace, console: Console) -> int:
    """Records the program, and compares with a capture from before. 1 when a prediction did not hold."""
    if not options.command or len(options.paths) > 1 or options.lake is not None:
        raise UsageError(
            "--verify needs a program, and at most one capture from before",
            seen=f"{len(options.paths)} paths and {len(options.command)} words behind --",
            todo="stepscope pipeline --verify [BEFORE] -- python train.py …",
        )
    if options.before is not None:
        return _record_in_turns(options, console)
    before = _found(options, console, options.paths[0]) if options.paths else None
    out = options.out or time.strftime(
        "stepscope-after-%Y%m%d-%H%M%S" if before else "stepscope-before-%Y%m%d-%H%M%S"
    )
    code = _record(options.command, out, console)
    after = _found(options, console, out)
    from stepscope.cli.report_output import show
    from stepscope.report import pipeline, verification

    if before is None:
        show(pipeline.build([after]), options, console)
        again = f"stepscope pipeline --verify {out} -- {' '.join(options.command)}"
        console.say(f"recorded to {out}; change one thing, then: {again}")
        return code
    report = verification.compared([before], [after], (options.paths[0], out))
    gained = _show_verified(report, options, console)
    return code or gained


_MOST_TURNS = 20


def _record_in_turns(options: argparse.Namespace, console: Console) -> int:
    """Records two programs in turns, and compares them. 1 when a prediction did not hold."""
    old = shlex.split(options.before)
    if not old or options.paths or not 1 <= options.turns <= _MOST_TURNS:
        raise UsageError(
            f"--before needs a program, no capture from before, and --turns from 1 to {_MOST_TURNS}",
            seen=f"{len(old)} words, {len(options.paths)} paths and {options.turns} turns",
            todo='stepscope pipeline --verify --before "python old.py" -- python new.py',
        )
    from stepscope.report import verification

    out = options.out or time.strftime("stepscope-verify-%Y%m%d-%H%M%S")
    sides: dict[str, list[SourcePipelines]] = {"before": [], "after": []}
    code = 0
    for turn in range(1, options.turns + 1):
        for side, command in (("before", old), ("after", options.command)):
            folder = str(Path(out) / f"{side}-{turn}")
            code = _record(command, folder, console) or code
            sides[side].append(_found(options, console, folder))
    names = (str(Path(out) / "before-1"), str(Path(out) / "after-1"))
    report = verification.compared(sides["before"], sides["after"], names)
    gained = _show_verified(report, options, console)
    return code or gained


def _show_verified(report: Report | None, options: argparse.Namespace, console: Console) -> int:
    """Prints what a change gained. 1 when a prediction did not hold; UsageError without steps to measure."""
    if report is None:
        from stepscope.report.waiting_answer import NO_BATCHES, RECORD_BATCHES

        raise UsageError(
            "The recordings cannot be compared", seen=f"one of them has {NO_BATCHES}", todo=RECORD_BATCHES
        )
    from stepscope.cli.report_output import show

    show(report, options, console)
    return 1 if report.document["as_predicted"] is False else 0


def _record(command: Sequence[str], out: str, console: Console) -> int:
    """Runs the program under the recorder; its exit code. UsageError when nothing was recorded."""
    from stepscope.cli import record

    options = record.parser().parse_args(["--no-summary", "--out", out, "--", *command])
    code = record.run(options, console)
    return code
