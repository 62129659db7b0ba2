"""stepscope memory PATH…: the peak, who holds it, how long tensors live, what would make it lower."""

import argparse
import re
from collections.abc import Callable
from dataclasses import replace

from stepscope.cli.arguments import Parser, add_reading, add_showing, full_command, need_paths
from stepscope.cli.console import Console
from stepscope.cli.failure import tell_nothing
from stepscope.errors import UsageError

ABOUT = "the memory peak, what holds it, and what would lower it"
EPILOG = """Reads the variables that held arrays (`stepscope record`), what allocators recorded (RunMetadata,
XPlane, PyTorch's profile_memory), PyTorch's memory timelines and pprof memory profiles (JAX's
device_memory_profile). Without any of these, it reads the buffers of compiled programs from XPlanes and XLA
dump folders. Tensor lifetimes are derived from partition graphs. Source lines come from the program itself,
from an op log (in the folder of `stepscope record`, or a tfprof_log beside the recording), from PyTorch's
stacks and from XLA's programs. Every block is a row of the table buffer:

  stepscope query PATH "SELECT op_name, bytes FROM buffer WHERE at_peak ORDER BY bytes DESC"

REGEX matches anywhere in the name of an op."""


def parser() -> Parser:
    """The options of the verb."""
    parser = Parser("memory", ABOUT, "stepscope memory PATH… [options]", EPILOG)
    asked = parser.add_argument_group("what if")
    asked.add_argument(
        "--recompute", metavar="REGEX", help="what if outputs of these ops were recomputed for later readers"
    )
    asked.add_argument("--half", metavar="REGEX", help="what if tensors of these ops had half precision")
    asked.add_argument(
        "--batch", metavar="N", type=int, help="what if the batch of N were halved (N: detected)"
    )
    parser.add_argument("--all", action="store_true", help="every allocator and section, not one page")
    add_reading(parser)
    add_showing(parser)
    return parser


def run(options: argparse.Namespace, console: Console) -> int:
    """Prints what is known. Exit code 2 when nothing is."""
    need_paths(options, "memory")
    recompute, halve = _search("--recompute", options.recompute), _search("--half", options.half)
    if options.batch is not None and options.batch < 2:
        raise UsageError(
            "A batch of one cannot be halved", seen=f"--batch {options.batch}", todo="leave it out"
        )
    from stepscope.cli.reading import opened
    from stepscope.cli.report_output import show
    from stepscope.library.statements import statement
    from stepscope.report import memory, memory_answer

    page = options.format == "table" and not options.all
    with opened(options, console) as (trace, bar):
        report = memory_answer.build(
            trace,
            page=page,
            all=options.all,
            counting=bar.counting,
            recompute=recompute,
            halve=halve,
            batch=options.batch,
        )
        blocks = bool(report.document.get("allocators"))
        unread = trace.query(statement("unread_op_logs")).rows() if blocks else []
        bar.stop()
    if page and blocks:
        report = replace(report, next_commands=(full_command("memory", options),))
    if report.sections or not page:
        show(report, options, console)
    for (detail,) in unread:
        console.say(f"lines of the program: {detail} (op-log-unread)")
    if not report.sections:
        tell_nothing(memory.NOTHING, memory.TODO, console)
        return 2
    return 0


def _search(option: str, pattern: str | None) -> Callable[[str], bool] | None:
    if pattern is None:
        return None
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise UsageError(
            f"{option} takes a regular expression",
            seen=f"{pattern!r}: {error}",
            todo="write special characters with a backslash before them",
        ) from error
    return lambda name: compiled.search(name) is not None
