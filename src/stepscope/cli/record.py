"""stepscope train.py, stepscope record CMD…: run a program, record some of its steps, print the answer."""

import argparse
import contextlib
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from shlex import quote

from stepscope import __version__
from stepscope.capture.launch import launch, prepared
from stepscope.capture.plan import PIECES, RecordingPlan
from stepscope.capture.signals import Passing
from stepscope.cli import after_program, program, recording_outcome
from stepscope.cli.after_program import REPORTS
from stepscope.cli.arguments import Parser, a_path, add_showing, count, seconds, whole
from stepscope.cli.console import Console
from stepscope.errors import OutputError, UsageError

ABOUT = "run a program and record some of its steps, without changing it"

EPILOG = """Options go before the program; everything after it belongs to the program. `stepscope train.py`
is short for `stepscope record train.py`; so are `stepscope -m package.train` and `stepscope python
train.py`.

The program keeps its output and its exit code. stderr reports when recording begins and ends, and what was
recorded; the answer is printed when the program ends. With --format json, csv or md, stdout gets one row of
facts instead, and the program's own output goes to stderr."""

_PIECES = (
    ("run-metadata", "run_metadata", "no RunMetadata of TensorFlow 1 sessions"),
    ("model-proto", "model_proto", "no models of tf.data iterators"),
    ("datasets", "datasets", "no source lines of tf.data transformations"),
    ("graph", "graph", "no graph"),
    ("op-log", "op_log", "no op log"),
    ("machine", "machine", "no cores, memory and I/O over time"),
    ("stacks", "stacks", "no stacks of Python"),
    ("memory", "memory", "no variables that hold arrays"),
)


class _RecordParser(Parser):
    """Leaves the words from the program on to the program."""

    def split(self, words: list[str]) -> tuple[list[str], list[str]]:
        """The options, and the program's words."""
        at = self._end(words)
        return words[:at], words[at + 1 :] if words[at : at + 1] == ["--"] else words[at:]

    def complete(self, options: argparse.Namespace, apart: list[str]) -> None:
        """Adds the program's words as `command`, the folder as `out` and a file as `report`."""
        super().complete(options, apart)
        options.command = apart
        given = options.out or []
        reports = [path for path in given if Path(path).suffix.lower() in REPORTS and not Path(path).is_dir()]
        folders = [path for path in given if path not in reports]
        if len(reports) > 1 or len(folders) > 1:
            self.error(f"argument -o/--out: give one folder and one report, not {' and '.join(given)}")
        options.out, options.report = (found[0] if found else None for found in (folders, reports))

    def _end(self, words: Sequence[str]) -> int:
        """Where our options end."""
        takes = {name for action in self._actions if action.nargs != 0 for name in action.option_strings}
        at = 0
        while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--", "-m", "-c"):
            at += 2 if words[at] in takes else 1
        return min(at, len(words))


def parser() -> Parser:
    """The options of the verb."""
    parser = _RecordParser(
        "record",
        ABOUT,
        "stepscope [record] [options] train.py …\n       stepscope record [options] -- CMD …",
        epilog=EPILOG,
    )
    parser.add_argument(
        "-o",
        "--out",
        metavar="OUT",
        type=a_path,
        action="append",
        help="folder to write, new or empty (stepscope-DATE-TIME), or a file for the report: .html, .md, "
        ".json, .csv; may be given twice",
    )
    parser.add_argument(
        "--no-summary", dest="summary", action="store_false", help="do not print the answer at the end"
    )
    parser.add_argument(
        "--open", action="store_true", help="open the page, or the report, in a browser at the end"
    )
    parser.add_argument(
        "--warmup", type=whole, default=3, metavar="N", help="settled steps to skip first (3)"
    )
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--steps", type=count, metavar="N", help="steps to record (at least 10 and a second)")
    length.add_argument("--seconds", type=seconds, metavar="S", help="seconds to record")
    parser.add_argument("--every", type=count, metavar="N", help="record again every N steps")
    parser.add_argument(
        "--live",
        action="store_true",
        help="watch steps to the end of the program, for `stepscope top`; keep slow steps and hangs",
    )
    parser.add_argument(
        "--ring",
        type=count,
        metavar="N",
        help="--live, with the last N steps (100) kept in full around a slow step, a hang, SIGUSR2, the end",
    )
    parser.add_argument(
        "--allocations",
        action="store_true",
        help="PyTorch: keep each allocation with its line, for `stepscope memory`; steps take longer",
    )
    for option, _, about in _PIECES:
        parser.add_argument(f"--no-{option}", action="store_true", help=about)
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Runs the program and returns its exit code; ends by its signal if a signal ended it."""
    if not options.command:
        raise UsageError(
            "There is no program to run",
            seen="nothing after the options",
            todo="stepscope record [options] train.py …",
        )
    out = options.out or time.strftime("stepscope-%Y%m%d-%H%M%S")
    program.check_folder(Path(out))
    after_program.check(options)
    command = program.command_of(options.command, console)
    plan = _plan(options, out)
    with contextlib.ExitStack() as stack:
        state = _enter_notes(stack, plan)
        passing = stack.enter_context(Passing())
        started_unix_ns = time.time_ns()
        talk = contextlib.nullcontext() if options.format == "table" else program.stdout_is_stderr(console)
        with program.errors_of_start(command), talk:
            outcome = launch(command, plan, state, passing, console.say, out)
        # The program has ended. From here on nothing may change how this process ends.
        lines, recording = recording_outcome.summary(outcome, plan, out, state, started_unix_ns)
        for line in lines:
            console.say(line)
        if recording is not None and not (options.summary and options.format == "table"):
            console.say(f"  next:    stepscope {quote(recording)}")
        if options.format != "table":
            recording_outcome.write_facts(outcome, out, options, console)
    # Whoever ends a program by another signal than Ctrl-C wants the machine, and no answer.
    if recording is not None and outcome.signal in (None, signal.SIGINT):
        after_program.show(recording, options, console)
    if outcome.signal is not None:
        program.end_by(outcome.signal)
        return 128 + outcome.signal
    return outcome.code or 0


def _plan(options: argparse.Namespace, out: str) -> RecordingPlan:
    missing = left_out(options)
    return RecordingPlan(
        out,
        warmup=options.warmup,
        steps=options.steps,
        seconds=options.seconds,
        every=options.every,
        live=options.live,
        ring=options.ring,
        allocations=options.allocations,
        pieces=tuple(piece for piece in PIECES if piece not in missing),
        version=__version__,
    )


def _enter_notes(stack: contextlib.ExitStack, plan: RecordingPlan) -> Path:
    """The folder for the recorder's notes, until the stack is left. OutputError where it cannot be made."""
    try:
        return stack.enter_context(prepared(plan))
    except OSError as error:
        raise OutputError(
            "The recorder has no room for its notes",
            seen=error.strerror or str(error),
            todo="free space, or set TMPDIR to a folder that can be written; the program was not started",
            path=error.filename,
        ) from error


def left_out(options: argparse.Namespace) -> set[str]:
    """Pieces of a recording that the options leave out."""
    return {piece for option, piece, _ in _PIECES if getattr(options, "no_" + option.replace("-", "_"))}
