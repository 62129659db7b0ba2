"""Reports of memory, one for each thing that can be said."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stepscope.code_lines import CodeLine
from stepscope.instruments.memory.allocators import AllocatorMemory, Compared
from stepscope.instruments.memory.blocks import AllocatorBlocks, MemoryBlock, Spans
from stepscope.instruments.memory.by_step import Windows
from stepscope.instruments.memory.moves import Pool
from stepscope.instruments.memory.peak import Peak, peak
from stepscope.instruments.memory.whatif import MemoryWhatIf
from stepscope.report import memory
from stepscope.report.parts import Report
from tests.fakes import FakeTrace
from tests.report import made_recordings

US = 10**6
MIB = 2**20
_W = MemoryBlock(
    4 * MIB, 0, None, "dense/w", "VarHandleOp", kind="parameter", slot=0, dtype="float32", shape=(1024, 1024)
)
_X = MemoryBlock(
    2 * MIB,
    5 * US,
    9 * US,
    "dense/relu",
    "Relu",
    kind="activation",
    slot=0,
    dtype="float32",
    shape=(8, 65536),
)


def _memory(*blocks: MemoryBlock, base: int = 0, **facts: object) -> AllocatorMemory:
    held = AllocatorBlocks("bfc", "GPU:0", list(blocks), base)
    top = peak(blocks, base)
    made = AllocatorMemory(
        0, "r", "h", "trace.pb", "bfc", "GPU:0", held, top, True, True, (), None, None, None
    )
    return replace(made, **facts)  # type: ignore[arg-type]


_ONE = _memory(_X)
_LATE = replace(_X, last_use_ps=6 * US)


def _held(one: AllocatorMemory, **facts: object) -> AllocatorMemory:
    return replace(one, held=replace(one.held, **facts))  # type: ignore[arg-type]


def _compared(
    compared: int, within: int, late_ps: int | None, later: Sequence[MemoryBlock] = ()
) -> AllocatorMemory:
    return replace(_ONE, compared=Compared(compared, compared, within, late_ps, tuple(later), 0))


def _kinds() -> AllocatorMemory:
    kinds = ("parameter", "input", "activation", "gradient", "buffer", "executable", "autograd detail",
             "output", "temporary", "persistent", "unknown")  # fmt: skip
    return _memory(*(MemoryBlock((12 - i) * MIB, 0, None, kind=kind) for i, kind in enumerate(kinds)))


MEMORY: dict[str, AllocatorMemory] = {
    "one block": _ONE,
    "of each kind": _kinds(),
    "from the graph alone": replace(_ONE, recorded=False),
    "sizes by category": _held(_kinds(), way="sizes"),
    "a profile of one moment": _held(_kinds(), way="stacks"),
    "a snapshot without history": _held(_kinds(), way="held"),
    "variables of the program": _held(
        _memory(replace(_X, op_name="kept", code=CodeLine("train.py", 12, "main"))), way="variables"
    ),
    "a timeline's tensors": _held(_ONE, way="timeline", spans=Spans(40, 30, 3, 7)),
    "a timeline's, one of each": _held(_ONE, way="timeline", spans=Spans(3, 1, 1, 1)),
    "a timeline's, all read": _held(_ONE, way="timeline", spans=Spans(2, 2, 0)),
    "cut": replace(_ONE, complete=False),
    "in its order, without times": replace(
        _memory(replace(_X, born_ps=US), replace(_X, born_ps=2 * US, freed_ps=3 * US)), timed=False
    ),
    "held before": _memory(_X, base=3 * MIB),
    "one total that does not fit": _held(_ONE, totals=9, contradictions=1),
    "totals that do not fit": _held(_ONE, totals=9000, contradictions=1200),
    "rounded up": _memory(replace(_X, requested_bytes=_X.bytes - 1000)),
    "in pieces": _held(_ONE, pools=[Pool(5 * US, 0.25), Pool(8 * US, 0.5)]),
    "in pieces, unknown at the peak": _held(_ONE, pools=[Pool(8 * US, 0.5)]),
    "one never freed": _memory(_W, never_freed=(_W,)),
    "two never freed": _memory(_W, _W, never_freed=(_W, _W)),
    "never freed, of a call": _memory(
        _CALLED := replace(
            _W, op_name="/usr/torch/functional.py(373): einsum", code=CodeLine("/me/model.py", 7, "call")
        ),
        never_freed=(_CALLED,),
    ),
    "lines are known": _memory(replace(_X, code=CodeLine("model.py", 7, "call"))),
    "one was freed late": _compared(1, 0, 3 * US, (_LATE,)),
    "most were freed in time": _compared(4000, 3900, None),
    "beside the graph": replace(_ONE, graph_peak=Peak(MIB, 0, ()), timeline_bytes=5 * MIB),
}
CHANGES: dict[str, MemoryWhatIf] = {
    "some ops run again": MemoryWhatIf("recompute", MIB, MIB, 1, 3 * US, meant=True),
    "cheap ops run again": MemoryWhatIf("recompute", MIB, MIB, 2, 3 * US),
    "some in half precision": MemoryWhatIf("half_precision", MIB, MIB, 1, None, meant=True),
    "all in half precision": MemoryWhatIf("half_precision", MIB, MIB, 9, None),
    "half the batch": MemoryWhatIf("half_batch", MIB, MIB, 9, None, batch=64),
    "a change without effect": MemoryWhatIf("half_batch", 2 * MIB, 0, 9, None, batch=64),
}
STEPS: dict[str, tuple[int, ...]] = {
    "both steps alike": (200, 200),
    "all steps alike": (200, 200, 200),
    "all but one alike": (200, 100, 100),
    "all about alike": (200, 199, 200),
    "one of two higher": (100, 300),
    "most alike": (100, 200, 200, 200),
    "one higher": (100, 400, 200, 120),
}
"""MiB that each step holds."""


def _steps(sizes: Sequence[int]) -> tuple[AllocatorMemory, Windows]:
    blocks = [MemoryBlock(size * MIB, 10 * i, 10 * i + 5, f"op{i}") for i, size in enumerate(sizes)]
    return _memory(*blocks), {0: [(i, 10 * i, 10 * i + 5) for i in range(len(sizes))]}


def reports() -> Iterator[tuple[str, Report]]:
    """Each report by the name of what it is about."""
    yield "memory: nothing", memory.build(())
    yield "memory: what to do", Report("", (memory.TODO,), ())
    yield "memory: two allocators", memory.build([(_ONE, ()), (_kinds(), ())])
    for name, one in MEMORY.items():
        yield f"memory: {name}", memory.build([(one, ())])
    for name, change in CHANGES.items():
        yield f"memory: {name}", memory.build([(_ONE, (change,))])
    for name, sizes in STEPS.items():
        one, steps = _steps(sizes)
        yield f"memory: {name}", memory.build([(one, ())], steps)
    one, steps = _steps((200, 200))
    steps = {0: [*steps[0], (2, 100, 105)]}
    yield "memory: a step without allocations", memory.build([(one, ())], steps)
    four = [replace(_ONE, device=f"GPU:{number}") for number in range(5)]
    yield "memory: headline of five", Report("", tuple(memory.headline(four)), ())
    yield (
        "memory: headline of a profile",
        Report("", tuple(memory.headline([_held(_kinds(), way="stacks")])), ()),
    )
    ran_out = FakeTrace(made_recordings.memory_that_ran_out().connect()).query
    yield "memory: headline where memory ran out", Report("", tuple(memory.failures(ran_out)), ())
    nowhere = replace(_held(_ONE, way="stacks"), device="")
    yield "memory: headline of a profile without devices", Report("", tuple(memory.headline([nowhere])), ())
