"""stepscope train.py, stepscope record CMD…: run a program, record some of its steps, print the answer."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from stepscope import __version__
from stepscope.capture.folder import MOVED
from stepscope.capture.launch import complete, launch, prepared, why_not
from stepscope.capture.plan import PIECES, RecordingPlan
from stepscope.capture.signals import Passing
from stepscope.capture.writable import probe_new
from stepscope.cli import after_program
from stepscope.cli.after_program import REPORTS
from stepscope.cli.arguments import Parser, a_path, add_showing, count, need_csv, seconds, whole
from stepscope.cli.console import Console
from stepscope.errors import OutputError, UsageError
from stepscope.presenters.plain import plain

if TYPE_CHECKING:
    from stepscope.capture.launch import ProgramEnd

ABOUT = "run a program and record some of its steps, without editing it"

EPILOG = """The options stand before the program; what follows it is the program's. `stepscope train.py` is
short for `stepscope record train.py`; so are `stepscope -m package.train` and `stepscope python train.py`.

The program keeps its output and its exit code. stderr says when recording begins and ends, and what was
recorded; the answer is printed when the program has ended. With --format json, csv or md, stdout gets a row
of facts instead, and what the program prints there goes to stderr."""

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
_ASIDE = ("profiled_ns", "machine_ns", "stacks_ns")
"""Costs that are not standing still."""


class _RecordParser(Parser):
    """Leaves the words from the program on to the program."""

    def parse_args(  # type: ignore[override]  # one form of the three is enough for a verb
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """The options, with the program's words as `command`, the folder as `out` and a file as `report`."""
        words = list(args or ())
        at = self._end(words)
        options = super().parse_args(words[:at], namespace)
        options.command = words[at + 1 :] if words[at : at + 1] == ["--"] else words[at:]
        given = options.out or []
        reports = [one for one in given if Path(one).suffix.lower() in REPORTS and not Path(one).is_dir()]
        folders = [one for one in given if one not in reports]
        if len(reports) > 1 or len(folders) > 1:
            self.error(f"argument -o/--out: give one folder and one report, not {' and '.join(given)}")
        options.out, options.report = (found[0] if found else None for found in (folders, reports))
        return options

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
    need_csv(options, options.format == "csv")
    if not options.command:
        raise UsageError(
            "There is no program to run",
            seen="nothing after the options",
            todo="stepscope record [options] train.py …",
        )
    out = options.out or time.strftime("stepscope-%Y%m%d-%H%M%S")
    _check_empty(Path(out))
    _check_writable(Path(out))
    after_program.check(options)
    command = _command(options.command, console)
    plan = _plan(options, out)
    with contextlib.ExitStack() as stack:
        state = _enter_notes(stack, plan)
        passing = stack.enter_context(Passing())
        started_unix_ns = time.time_ns()
        talk = contextlib.nullcontext() if options.format == "table" else _stdout_is_stderr(console)
        with _errors_of_start(command), talk:
            outcome = launch(command, plan, state, passing, console.say, out)
        # The program has ended. From here on nothing may change how this process ends.
        lines, recording = _summary(outcome, plan, out, state, started_unix_ns)
        for line in lines:
            console.say(line)
        if recording is not None and not (options.summary and options.format == "table"):
            console.say(f"  next:    stepscope {quote(recording)}")
        if options.format != "table":
            _write_facts(outcome, out, options, console)
    # Whoever ends a program by another signal than Ctrl-C wants the machine, and no answer.
    if recording is not None and outcome.signal in (None, signal.SIGINT):
        after_program.show(recording, options, console)
    if outcome.signal is not None:
        _end_by(outcome.signal)
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


@contextlib.contextmanager
def _errors_of_start(command: Sequence[str]) -> Iterator[None]:
    """UsageError where a program cannot be started."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{command[0]} cannot be started",
            seen=getattr(error, "strerror", None) or str(error),
            todo="give the command as you would type it without stepscope",
        ) from error


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


def _summary(
    outcome: ProgramEnd, plan: RecordingPlan, out: str, state: Path, started_unix_ns: int
) -> tuple[list[str], str | None]:
    """What was recorded, or why that cannot be said; and where the recording is, if there is one."""
    try:
        complete(outcome, state, started_unix_ns)
        return _told(outcome, plan, out), _place(outcome, out) if outcome.recorded else None
    except Exception as error:  # noqa: BLE001  the exit code is the program's, whatever is wrong with our files
        seen = f"{type(error).__name__}: {error}"
        return [
            "stepscope: the recording cannot be completed",
            f"  seen:  {plain(seen, 300)}",
            f"  to do: read what is in {out}, if it is there: stepscope {out}",
        ], None


FACTS = (
    "out",
    "steps",
    "recordings",
    "name",
    "problems",
    "stood_still_ns",
    "profiled_ns",
    "exit_code",
    "signal",
)
"""What --format writes of a recording. Without a recording there are no steps, and no times."""


def _write_facts(outcome: ProgramEnd, out: str, options: argparse.Namespace, console: Console) -> None:
    """What was recorded as one row."""
    from stepscope.cli.query import write_rows

    facts = outcome.facts or {}
    recorded, sessions = facts.get("recorded", {}), facts.get("sessions") or [{}]
    cost = facts.get("cost", {})
    row = (
        _place(outcome, out) if outcome.recorded else None,
        recorded.get("steps", 0),
        recorded.get("sessions", 0),
        sessions[0].get("name"),
        "; ".join(f"{one['what']}: {one['seen']}" for one in facts.get("problems", ())) or None,
        _stood_still_ns(cost) if facts else None,
        cost.get("profiled_ns", 0) if facts else None,
        outcome.code,
        outcome.signal,
    )
    try:
        write_rows(FACTS, [row], console, options.format, spreadsheet=options.spreadsheet)
        console.out.flush()
    except OSError as error:  # the exit code stays the one of the program
        console.say(f"stepscope: standard output could not be written: {error.strerror}")


@contextlib.contextmanager
def _stdout_is_stderr(console: Console) -> Iterator[None]:
    """Lets programs that are started within write to stderr what they write to stdout."""
    console.out.flush()
    kept = os.dup(1)
    try:
        os.dup2(2, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _told(outcome: ProgramEnd, plan: RecordingPlan, out: str) -> list[str]:
    if not outcome.recorded or outcome.facts is None:
        return ["stepscope: nothing was recorded", *(f"  {line}" for line in why_not(outcome, plan))]
    facts = outcome.facts
    out = _place(outcome, out)
    lines = [f"stepscope: recorded {_what(facts)} to {out}"]
    problems = [fact for fact in facts["problems"] if fact["what"] != MOVED]
    for fact in facts["problems"]:
        if fact["what"] == MOVED:
            lines.append(f"  moved:   {fact['seen']}; copy the recording from {out}")
    if (before := facts.get("given_up")) is not None:
        lines.append(
            f"  dropped: {before['steps']} steps of {before['name']}, an earlier loop that only set up"
        )
    lines.append(f"  kept:    {_kept(facts['files'])}")
    lines.append(f"  cost:    {_cost(facts['cost'])}")
    for problem in problems:
        lines.append(f"  missing: {problem['what']}: {problem['seen']}")
    return lines


def _place(outcome: ProgramEnd, out: str) -> str:
    """Where the recording is: in the folder asked for, unless that could not be written any more."""
    return out if outcome.asked is None else str(outcome.out)


def _what(facts: dict[str, Any]) -> str:
    steps, sessions = facts["recorded"]["steps"], facts["recorded"]["sessions"]
    name = facts["sessions"][0]["name"] if facts["sessions"] else "the program"
    text = f"{steps} step{'s' * (steps != 1)} of {name}"
    return text + (f" in {sessions} recordings" if sessions > 1 else "")


def _kept(files: list[dict[str, Any]]) -> str:
    counts = Counter(file["kind"] for file in files)
    return ", ".join(f"{many} x {kind}" if many > 1 else kind for kind, many in counts.items())


def _cost(cost: dict[str, int]) -> str:
    profiled = cost.get("profiled_ns", 0)
    return f"{_stood_still_ns(cost) / 1e9:.2f} s standing still, {profiled / 1e9:.2f} s under the profiler"


def _stood_still_ns(cost: dict[str, int]) -> int:
    """What ran beside the steps cost them no time; capture.json has it."""
    return sum(ns for name, ns in cost.items() if name not in _ASIDE)


def _check_empty(out: Path) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(
            f"{out} is there already",
            seen="a folder that is not empty" if out.is_dir() else "a file",
            todo="choose another --out; recordings are never mixed or replaced",
            path=str(out),
        )


def _check_writable(out: Path) -> None:
    """Hours of a program are not spent for a recording that cannot be kept."""
    try:
        probe_new(out.absolute())
    except OSError as error:
        raise OutputError(
            f"{out} cannot be written",
            seen=error.strerror or str(error),
            todo="choose another --out; the program was not started",
            path=error.filename if isinstance(error.filename, str) else str(out),
        ) from error


def _command(words: Sequence[str], console: Console) -> list[str]:
    """The command, with Python before what only Python can run: a script that is no command, -m and -c."""
    script = words[0].endswith(".py") and Path(words[0]).is_file() and shutil.which(words[0]) is None
    if not script and words[0] not in ("-m", "-c"):
        return list(words)
    python = _python()
    console.say(f"stepscope: runs {words[0]} with {python}")
    return [python, *words]


def _python() -> str:
    """The Python that would be typed: that of the active environment, or ours when our command was typed with
    a folder, as .venv/bin/stepscope, because its environment is not active."""
    found = shutil.which("stepscope")
    ours = found is None or not Path(sys.argv[0]).exists() or not Path(found).samefile(sys.argv[0])
    typed = () if ours else map(shutil.which, ("python", "python3"))
    return next(filter(None, typed), sys.executable)


def _end_by(number: int) -> None:
    """Ends this process by the signal that ended the program, so that the shell sees what it would have."""
    import resource

    with contextlib.suppress(OSError, ValueError):  # without the limit there is one core file more
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):  # not for SIGKILL, nor outside of the main thread
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
