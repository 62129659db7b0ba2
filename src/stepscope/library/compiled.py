"""Findings on dump folders of XLA: what they are called, what they mean and what to do.

Other findings are questions in SQL, which a folder without tables cannot be asked; instruments find these.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from stepscope.units import Unit


class Definition(NamedTuple):
    """What is said of a finding. value: unit, heading and description of its figure."""

    slug: str
    severity: Literal["high", "medium", "low", "info"]
    title: str
    value: tuple[Unit, str, str]
    action: str
    reasoning: str
    formula: str


KINDS: Mapping[str, Definition] = {
    "recompiled": Definition(
        "compiled-for-other-shapes",
        "medium",
        "A function is compiled again for other shapes",
        ("int", "Shapes", "different inputs that the function was compiled for"),
        "Pad inputs to one shape, or bucket them.",
        "A program is compiled for fixed shapes. Another shape means another compile, and a step waits.",
        "modules of one function whose parameters differ; low for functions with less than a hundredth of"
        " the heaviest one's work",
    ),
    "retyped": Definition(
        "compiled-for-other-types",
        "medium",
        "A function is compiled again for other types",
        ("int", "Inputs", "different inputs that the function was compiled for"),
        "Pass arguments of one type and number, or make the others static.",
        "A program is compiled for fixed types. Another type means another compile, and a step waits.",
        "modules of one function of at least 8 instructions whose parameters differ in type, number or"
        " dimensions only; low for functions with less than a hundredth of the heaviest one's work",
    ),
    "mixed": Definition(
        "folder-of-several-processes",
        "low",
        "Several processes dumped into one folder",
        ("int", "Programs", "of one number"),
        "Give each process a folder of its own: --xla_dump_to=DIR/$RANK.",
        "Each process numbers its modules from 0, so that files of one name and number replace each other.",
        "modules of different names that have one number in one folder",
    ),
    "doubles": Definition(
        "doubles-not-asked-for",
        "medium",
        "64-bit floats are computed, though no parameter is one",
        ("bytes", "Size", "of the values that it makes"),
        "Give constants and NumPy arrays a type (np.float32), or turn jax_enable_x64 off.",
        "64-bit floats take twice the memory. Accelerators compute them many times slower, if at all.",
        "instructions that make f64 or c128 from anything else, in programs without such a parameter",
    ),
    "donors": Definition(
        "donated-buffers-not-used",
        "medium",
        "Donated buffers are not used",
        ("bytes", "Size", "of the parameter on each device"),
        "Return a value of the same shape, type and sharding, or do not donate the argument.",
        "A donated argument gives its memory to a result. Where no result takes it, the program holds both,"
        " and the array is lost to the caller all the same.",
        "arguments that JAX refuses, as its warning in a log beside the dump says, and parameters that are"
        " still donors of a program after optimization, these from 64 KiB or a hundredth of its memory on",
    ),
    "spills": Definition(
        "fusions-spill-registers",
        "medium",
        "Fusions spill registers",
        ("bytes", "Spilled", "bytes that each thread stores and loads again"),
        "Split the fusion (jax.lax.optimization_barrier), or compute less at once.",
        "A kernel that needs more registers than there are keeps values in memory, which is far slower. Only"
        " the program's log tells, and while XLA tunes a fusion, also of candidates that it drops.",
        "kernels that ptxas or AMD's backend warn of in a log beside the dump; the last line of each counts",
    ),
    "layout_copies": Definition(
        "copies-between-layouts",
        "medium",
        "Copies and transposes take much of the memory traffic",
        ("bytes", "Moved", "bytes that it reads and writes in a run"),
        "Keep one layout through the model, transpose weights once, or let XLA choose the layout of outputs.",
        "A copy into another layout computes nothing, and reads and writes every element.",
        "bytes of copies whose layouts differ, of transposes, and of fusions of nothing else, as often as"
        " they run; reported from 1 MiB and a tenth of the program's bytes on",
    ),
    "copies": Definition(
        "many-copies",
        "low",
        "Many instructions copy or transpose",
        ("int", "Copies", "copies and transposes in the program"),
        "Keep one layout through the model, or transpose weights once.",
        "Each of them is one more thing to start, however little it moves.",
        "copies and transposes >= 10, and more than a tenth of the instructions",
    ),
    "host_calls": Definition(
        "host-calls-in-program",
        "medium",
        "The program calls the host while it runs",
        ("float", "Calls", "calls in a run; loops of unknown length count once"),
        "Compute it in the program, or call back less often (outside of loops, every hundredth step).",
        "The program waits for the host, its Python and the copies to and from it. Results and debug prints "
        "cost the same.",
        "custom calls of Python or host callbacks, and infeeds and outfeeds",
    ),
    "exposed_collectives": Definition(
        "collectives-not-hidden",
        "medium",
        "Collectives run while nothing else does",
        ("bytes", "Size", "of what a run communicates, as the shape of its result"),
        "Turn the latency-hiding scheduler on, or split the work so that there is some to do meanwhile.",
        "Between the start of such a collective and its end the schedule has no instruction with work, so"
        " the device waits for the network.",
        "scheduled programs: starts and ends without work in between; on GPUs and TPUs also collectives that"
        " are one instruction",
    ),
    "constants": Definition(
        "large-constants",
        "medium",
        "Large constants are part of the program",
        ("bytes", "Size", "of the constant"),
        "Pass arrays as arguments instead of closing over them.",
        "A constant stays in memory as long as its program, once for each compile, and slows compiles down.",
        "constants of a program >= 1 MiB and >= a tenth of its memory; instructions from 64 KiB on",
    ),
    "dominating_loop": Definition(
        "loop-dominates",
        "info",
        "A loop does most of the work",
        ("bytes", "Moved", "bytes that all its trips move in a run"),
        "Look for what to save inside its body first: stepscope xla cost lists it by line.",
        "Trips run one after the other, and a trip often has too little work to fill a device.",
        "flops or bytes of a while of the entry, with all its trips, >= half of the program's, in programs"
        " that do at least a tenth of what the heaviest does",
    ),
    "loops": Definition(
        "loops-counted-once",
        "info",
        "XLA's cost counts loops once",
        ("float", "Flops", "of a run, with all trips"),
        "Use run_flops and run_bytes of stepscope xla dumps for rates.",
        "cost_analysis() counts the body of a loop once, however often it runs.",
        "flops with all known trips > 2 x the flops that XLA counts",
    ),
    "open_loops": Definition(
        "loops-of-unknown-length",
        "info",
        "Nobody knows how often some loops run",
        ("int", "Loops", "without a known trip count"),
        "Measure them: stepscope xla ops counts the trips of a recorded run.",
        "The condition depends on data, so the files say nothing about it. The cost counts such a loop once.",
        "loops without known_trip_count that do not count from one constant to another",
    ),
    "custom_calls": Definition(
        "custom-calls-without-cost",
        "info",
        "Nobody knows what custom calls cost",
        ("float", "Calls", "calls in a run; loops of unknown length count once"),
        "Measure them: stepscope xla ops has their time in a recorded run.",
        "No dump says what a custom call computes. XLA counts it as -1; flops and bytes leave it out.",
        "instructions custom-call of programs that run",
    ),
    "gaps": Definition(
        "fragmented-temporaries",
        "low",
        "Temporary memory is reserved that is never needed at once",
        ("bytes", "Unused", "of the temporaries"),
        "stepscope memory shows who holds the rest; smaller or equally sized buffers pack better.",
        "Buffers that live at different times share an allocation, with gaps of alignment and fragmentation.",
        "temporaries - least heap > 1 MiB and > a tenth of the temporaries",
    ),
    "unfinished": Definition(
        "compile-not-dumped-to-its-end",
        "info",
        "Compiles were not dumped to their end",
        ("int", "Pass", "number of the last pass that is there"),
        "Look at the end of the program's log: it was ended, or the compile failed.",
        "Nothing can be said about what would have run.",
        "modules without a dump after optimization in folders where others have one",
    ),
}
SLUGS = tuple(one.slug for one in KINDS.values())
"""What these findings are called, for --fail-on."""
