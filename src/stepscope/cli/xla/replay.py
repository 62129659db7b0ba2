"""stepscope xla replay DUMP: a module, computation or instruction run alone; where a pass changed values."""

import argparse
import contextlib
import shlex
import tempfile
from pathlib import Path

from stepscope.cli.arguments import CommandParser, Parser, a_path, add_showing
from stepscope.cli.console import Console
from stepscope.cli.progress import working
from stepscope.errors import StepscopeError, UsageError
from stepscope.formats.xla import compiles
from stepscope.report import xla_replay
from stepscope.sources.user_paths import look_up
from stepscope.xla_tools.replay import inputs, stages
from stepscope.xla_tools.replay.running import Runner

ABOUT = "run a module, computation or instruction of a dump alone; find the pass that changed values"
EPILOG = """The jax of this Python, or of --python, compiles the program again: fusions and layouts may
differ. When stages are compared, XLA's optional passes are off, so that each stage runs as it is. The exit
code is 1 if results differ by more than the tolerance: the square root of the precision of the type (3.5e-4
for f32). Inputs are random and the same for all stages; --inputs takes a snapshot.

  stepscope xla replay DIR                              the largest module as it ends
  stepscope xla replay DIR --instruction fusion.3 -- 50 one fusion, 50 times
  stepscope xla replay DIR --stage before..after        whether the compiler changed results
  stepscope xla replay DIR --stage passes               and which pass
  stepscope xla replay DIR --against-flags=--xla_cpu_enable_fast_math=true"""
_RUNS = 10
_MOST_RUNS = 100_000


class _ReplayParser(CommandParser):
    """Takes the number behind -- as --runs."""

    def complete(self, options: argparse.Namespace, apart: list[str]) -> None:
        """Adds the number behind --."""
        super().complete(options, apart)
        if apart:
            if len(apart) > 1 or not apart[0].isdigit():
                self.error(f"behind -- stands how often to run: {' '.join(apart)}")
            options.runs = int(apart[0][:12])


def parser() -> Parser:
    """The options of the verb."""
    parser = _ReplayParser("xla replay", ABOUT, "stepscope xla replay DUMP [options] [-- N]", EPILOG)
    parser.add_argument("paths", nargs="*", metavar="DUMP", help="a dump folder, or a file of one")
    what = parser.add_argument_group("what to run")
    what.add_argument("--module", metavar="NAME", help="the module whose name contains NAME")
    what.add_argument("--instruction", metavar="NAME", help="only this instruction or computation")
    what.add_argument(
        "--stage",
        metavar="A[..B]",
        help="a stage (after), two to compare, or passes: each with the one before",
    )
    what.add_argument("--inputs", metavar="FILE", type=a_path, help="a snapshot, or .npz with the arguments")
    what.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the random inputs (0)")
    how = parser.add_argument_group("how")
    how.add_argument("--flags", metavar="LINE", default="", help="flags of XLA, added to XLA_FLAGS")
    how.add_argument("--against-flags", metavar="LINE", help="also run it with these flags, and compare")
    how.add_argument("--optimized", action="store_true", help="all passes, even when stages are compared")
    how.add_argument("--tolerance", metavar="X", type=float, help="relative difference that counts as equal")
    how.add_argument("--runs", metavar="N", type=int, default=_RUNS, help=f"how often to run ({_RUNS})")
    how.add_argument("--timeout", metavar="S", type=float, default=600.0, help="seconds for each stage (600)")
    how.add_argument("--python", metavar="EXE", help="the Python that has jax, not this one")
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Runs, and prints a row for each stage; 1 where results differ."""
    from stepscope.cli.rows_output import write_listing

    _check(options)
    look_up(options.paths)
    given = _flags("--flags", options.flags)
    against = None if options.against_flags is None else _flags("--against-flags", options.against_flags)
    every = compiles.largest(compiles.read(options.paths, options.module))
    asked = stages.requested(every, options.stage, given, against, optimized=options.optimized)
    several = len(asked) > 1
    waiting = contextlib.nullcontext() if several else working("running the program", console)
    with tempfile.TemporaryDirectory(prefix="stepscope-replay-") as folder, waiting:
        runner = Runner(
            Path(folder),
            python=options.python,
            seconds=options.timeout,
            runs=options.runs,
            seed=options.seed,
            inputs=inputs.given_inputs(options.paths[0], options.inputs),
        )
        rows = list(
            stages.rows(
                asked,
                options.instruction,
                runner,
                options.tolerance,
                (lambda title: console.say(f"running {title}")) if several else lambda _: None,
            )
        )
    if all(row["verdict"] == "failed" for row in rows):
        raise StepscopeError(
            "The program could not be run",
            seen=str(rows[-1]["problem"]),
            todo="cut out a part with --instruction, choose another --stage, or give --python another jax",
            slug="replay",
            path=options.paths[0],
        )
    write_listing(xla_replay.build(rows, asked), options, console)
    return 1 if any(row["verdict"] == "differs" for row in rows) else 0


def _check(options: argparse.Namespace) -> None:
    if len(options.paths) != 1:
        raise UsageError(
            "One dump is replayed", seen=f"{len(options.paths)} paths", todo="stepscope xla replay DUMP"
        )
    for option, value, most in (("--runs", options.runs, _MOST_RUNS), ("--timeout", options.timeout, 86_400)):
        if not 0 < value <= most:
            raise UsageError("That is not possible", seen=f"{option} {value:g}", todo=f"give 1 to {most}")
    if not 0 <= options.seed < 1 << 63:
        raise UsageError("A seed is not negative", seen=f"--seed {options.seed}", todo="give 0 or more")
    if options.tolerance is not None and not 0 <= options.tolerance <= 1:
        raise UsageError(
            "A tolerance is a share",
            seen=f"--tolerance {options.tolerance:g}",
            todo="give 0 to 1, such as 1e-3",
        )
    many = options.stage is not None and (options.stage == "passes" or ".." in options.stage)
    if many and options.against_flags is not None:
        raise UsageError(
            "Stages and flags cannot be compared at once",
            seen=f"--stage {options.stage} and --against-flags",
            todo="drop one of them",
        )


def _flags(option: str, line: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(line))
    except ValueError as error:
        raise UsageError(
            "The flags cannot be taken apart", seen=f"{option}: {error}", todo="close all quotes"
        ) from error
    wrong = [word for word in words if not word.startswith("--")]
    if wrong:
        raise UsageError(
            "A flag begins with two dashes",
            seen=f"{option} {line}",
            todo=f"{option}=--xla_NAME=VALUE; `stepscope xla flags` lists them",
        )
    return words
