"""What is said below the table of timed instructions: how much found its instruction, and what did not, with
the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from stepscope import units
from stepscope.instruments.xla.compile_time import Compiled
from stepscope.instruments.xla.timed import Timed
from stepscope.xla_tools.peaks import Peaks

NOTHING = "No slice of an instruction of XLA is in there"
TODO = (
    "record a program that XLA compiled: stepscope record -- python train.py (JAX, or TensorFlow with"
    " jit_compile=True)"
)

NO_TIMES = "A dump folder alone has no times"
TODO_TIMES = (
    "stepscope xla ops TRACE DUMP, with a recording of the same run; stepscope xla cost DUMP needs none"
)
NO_COMPILE = "No compile of XLA is in there"
TODO_COMPILE = (
    "start the profiler before the first call of the program; a step that compiled before shows none"
)
_MOST = 5

_LOST = {
    "no_program": "the program is not known; give the dump folder of the same run as another PATH",
    "no_instruction": "the program does not have it; is the dump of another compile?",
    "ambiguous": "several programs have an instruction of that name, and the slices name no module",
    "repeats": "the row repeats what other rows hold",
    "launch": "a launch by the host of what ran on a device",
}
_UNTIMED = {
    "no_work": "parameters, constants, tuples and the like",
    "inside_fusion": "inside fusions, not timed there",
    "function": "in functions of reductions and sorts",
    "untold": "of a program that the lake keeps by name only",
    "not_run": "without a slice: not run, or run by the instruction around it",
}


def lost(reason: str) -> str:
    """Why slices found no instruction."""
    return _LOST[reason]


def untimed(why: str) -> str:
    """Why no slice names an instruction."""
    return _UNTIMED[why]


def sentences(timed: Timed, damaged: int) -> list[str]:
    """The lines below the table."""
    found = sum(row["slices"] for row in timed.rows if row["timed"])
    modules = {row["module"] for row in timed.rows}
    said = [
        f"{found:,} of {units.count(timed.seen, 'slice')} found an instruction"
        f" ({units.count(len(modules), 'module')})"
    ]
    said += _reasons(timed)
    untold = Counter[str]()
    for _, _, why, _, number in timed.untimed:
        untold[why] += number
    if untold:
        parts = [f"{number:,} {_UNTIMED[why]}" for why, number in sorted(untold.items())]
        whole = units.count(sum(untold.values()), "instruction")
        said.append(f"{whole} without time: {'; '.join(parts)} (--untimed lists them)")
    unknown = sum(
        row["self_ps"] or 0 for row in timed.rows if row["flops"] is None and row["opcode"] != "while"
    )
    if unknown:
        said.append(f"instructions of unknown cost took {units.show(unknown, 'ps')}")
    said += [
        f"several programs are called {module}, and the recording does not tell them apart:"
        " costs in which they differ are unknown"
        for module in timed.ambiguous
    ]
    if damaged:
        said.append(f"{units.count(damaged, 'program')} could not be read")
    return said


def _reasons(timed: Timed) -> Sequence[str]:
    counts: Counter[str] = Counter()
    for one in timed.lost:
        counts[one.reason] += one.slices
    return [f"{units.count(number, 'slice')}: {_LOST[reason]}" for reason, number in counts.most_common()]


def compiled(modules: Sequence[Compiled]) -> list[str]:
    """The lines below the table of compiles."""
    said = []
    for one in modules[:_MOST]:
        passes, backend = (units.show(time, "ps") for time in (one.passes_ps, one.backend_ps))
        line = f"{one.module}: {units.count(one.compiles, 'compile')}, passes {passes}, backend {backend}"
        if one.kernel_ps:
            line += f"; kernels {units.show(one.kernel_ps, 'ps')} on threads of their own"
        said.append(line)
    if len(modules) > _MOST:
        said.append(f"{units.count(len(modules) - _MOST, 'more module')}")
    return said


def peaks(found: Peaks) -> str:
    """What was measured of this machine."""
    gflops, gbytes = (units.show(number / 1e9, "float") for number in (found.flops, found.bytes))
    return (
        f"measured on this machine ({found.device}, {found.library}, 32-bit floats): {gflops} Gflop/s,"
        f" {gbytes} GB/s"
    )
