"""stepscope capture HOST:PORT…: a profile from jobs that run, of all their hosts at the same moment."""

from __future__ import annotations

import argparse
import contextlib
import math
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope import units
from stepscope.cli.arguments import Parser, a_path, add_showing
from stepscope.cli.console import Console
from stepscope.errors import StepscopeError, UsageError
from stepscope.presenters.plain import plain

if TYPE_CHECKING:
    from stepscope.profilers.client import Address
    from stepscope.profilers.recording import HostProfile

ABOUT = "record profiles of running jobs, on all their hosts at the same moment"
EPILOG = """Asks the profiler servers that programs start with tf.profiler.experimental.server.start(PORT)
or jax.profiler.start_server(PORT). A host that does not answer is reported and left out; the exit code is 2
if no host answers. With --lake, profiles go into the lake only, unless -o is given as well.

  stepscope capture worker-0:6009 worker-1:6009 --for 2s
  stepscope capture worker-0:6009 --every 10m --lake history"""

COLUMNS = ("capture", "address", "path", "bytes", "sent_unix_ns", "seconds", "error")
_LENGTH = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_MOST_SECONDS = 3600.0
"""Of one profile: a server holds all of it in memory."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("capture", ABOUT, "stepscope capture HOST:PORT… [options]", EPILOG)
    parser.add_argument("servers", nargs="*", metavar="HOST:PORT", help="profiler servers of the job")
    parser.add_argument(
        "--for",
        dest="seconds",
        metavar="TIME",
        type=_length,
        default=2.0,
        help="time to record, as 500ms or 2s (2s)",
    )
    parser.add_argument(
        "-o", "--out", metavar="DIR", type=a_path, help="folder to add the profiles to (stepscope-DATE-TIME)"
    )
    parser.add_argument("--lake", metavar="DIR", type=a_path, help="ingest the profiles into this lake")
    parser.add_argument(
        "--run", metavar="NAME", help="name of the run in the lake, instead of one made of the hosts"
    )
    parser.add_argument(
        "--every", metavar="TIME", type=_length, help="again and again, such as 10m; Ctrl-C stops it"
    )
    parser.add_argument("--times", metavar="N", type=_count, help="with --every: stop after N captures")
    parser.add_argument(
        "--timeout",
        metavar="TIME",
        type=_length,
        default=30.0,
        help="time for a reply after the recording (30s)",
    )
    parser.add_argument(
        "--python", action="store_true", help="record calls of Python functions; slows the program"
    )
    add_showing(parser, aside=True)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Captures once, or until Ctrl-C. 2 when no host answered in any capture."""
    _check(options)
    from stepscope.profilers import client

    asked = client.addresses(options.servers)
    if not asked:
        raise UsageError(
            "There is no server to ask", seen="no HOST:PORT", todo="stepscope capture HOST:PORT…"
        )
    has_listed = False
    failed: StepscopeError | None = None
    for _ in _moments(options, console):
        found = _once(asked, options, console)
        errors = [profile.error for profile in found if profile.error is not None]
        if len(errors) < len(found):
            has_listed = True
        elif failed is None:
            failed = errors[0]
    if has_listed:
        return 0
    assert failed is not None
    if len(asked) > 1:
        failed = StepscopeError(
            "No profiler server answered with a profile",
            seen=f"{units.count(len(asked), 'server')}; {failed.happened}: {failed.seen}",
            todo=failed.todo,
            slug=failed.slug,
        )
    raise failed


def _check(options: argparse.Namespace) -> None:
    if not 0.001 <= options.seconds <= _MOST_SECONDS:
        raise UsageError(
            "A profile cannot be so short or long",
            seen=f"--for {options.seconds:g} s",
            todo="give a time from 1ms to 1h; profiles of seconds are small enough to read",
        )
    if options.every is None and options.times is not None:
        raise UsageError("Nothing is repeated", seen="--times without --every", todo="add --every TIME")
    if options.every is not None and options.every <= options.seconds:
        raise UsageError(
            "The next capture would begin before this one ends",
            seen=f"--every {options.every:g} s and --for {options.seconds:g} s",
            todo="give --every a longer time, or --for a shorter one",
        )
    if options.run is not None and options.lake is None:
        raise UsageError(
            "There is no lake to name a run in", seen="--run without --lake", todo="add --lake DIR"
        )


def _moments(options: argparse.Namespace, console: Console) -> Iterator[int]:
    """Once, or a number each time that a capture is due. What is overdue is left out, not made up for."""
    begun, tick, done = time.monotonic(), 0, 1
    yield tick
    while options.every is not None and (options.times is None or done < options.times):
        tick += 1
        overdue = math.ceil((time.monotonic() - begun) / options.every) - tick
        if overdue > 0:
            tick += overdue
            missed = units.count(overdue, "capture")
            console.say(f"the last one took longer than {options.every:g} s: {missed} left out")
        time.sleep(max(0.0, begun + tick * options.every - time.monotonic()))
        yield tick
        done += 1


def _once(asked: list[Address], options: argparse.Namespace, console: Console) -> list[HostProfile]:
    """One capture, told on stdout and stderr."""
    from stepscope.cli.rows_output import write_rows
    from stepscope.profilers.messages import Levels
    from stepscope.profilers.recording import capture

    with _folder(options) as folder:
        levels = Levels(python=1 if options.python else 0)
        found = capture(asked, folder, options.seconds, levels=levels, timeout=options.timeout)
        profiles = [profile for profile in found if profile.path is not None]
        ingested = (
            _ingest(profiles, asked, folder, options) if options.lake is not None and profiles else None
        )
    kept = options.lake is None or options.out is not None
    rows = (
        (
            profile.capture,
            profile.address,
            profile.path if kept else None,
            profile.bytes,
            profile.sent_unix_ns,
            profile.seconds,
            _error_of(profile),
        )
        for profile in found
    )
    write_rows(COLUMNS, rows, console, options.format, spreadsheet=options.spreadsheet)
    console.out.flush()
    for profile in found:
        if profile.error is not None and profiles:
            console.say(f"{plain(profile.error.happened)}: {plain(profile.error.seen, 200)}")
            console.say(f"  to do: {profile.error.todo} (stepscope docs {profile.error.slug})")
    if ingested is not None:
        console.say(ingested)
    if profiles:
        console.say(f"next: stepscope {plain(str(options.lake or options.out))}")
    return found


def _error_of(profile: HostProfile) -> str | None:
    """Why a host sent no profile."""
    error = profile.error
    return None if error is None else f"{error.happened}: {error.seen} ({error.slug})"


@contextlib.contextmanager
def _folder(options: argparse.Namespace) -> Iterator[Path]:
    """The folder that profiles are written to; one that goes away where only a lake is wanted."""
    if options.out is None and options.lake is not None:
        with tempfile.TemporaryDirectory(prefix="stepscope-capture-") as folder:
            yield Path(folder)
        return
    if options.out is None:
        options.out = time.strftime("stepscope-%Y%m%d-%H%M%S")
    yield Path(options.out)


def _ingest(
    profiles: list[HostProfile], asked: list[Address], folder: Path, options: argparse.Namespace
) -> str:
    """Adds the profiles to the lake, as a run: a recording of its own in a history. What to say of it."""
    from stepscope.profilers.recording import run_name
    from stepscope.session import trace

    place = folder / "plugins" / "profile" / profiles[0].capture
    run = options.run
    if run is None or options.every is not None:
        run = f"{run or run_name(asked)}-{profiles[0].capture.replace('_', '')}"
    done = trace.ingest([str(place)], options.lake, run=run)
    failed = [source_row for source_row in done if source_row.error is not None]
    stored = sum(source_row.events_stored for source_row in done)
    sentence = f"{units.count(len(done) - len(failed), 'profile')} in {options.lake}"
    sentence += f": {units.count(stored, 'event')} stored"
    return sentence + (f"; {units.count(len(failed), 'profile')} could not be read" if failed else "")


def _length(text: str) -> float:
    match = _LENGTH.fullmatch(text)
    if match is None or not 0 < float(match[1]) * _SECONDS[match[2]] < 1e7:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a length of time: 500ms, 2s, 10m or 1h")
    return float(match[1]) * _SECONDS[match[2]]


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text[:10]) <= 10**6:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 1 on")
    return int(text)
