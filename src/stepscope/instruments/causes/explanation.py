"""The explanation of a cause: its line, and the facts that go with it."""

from dataclasses import dataclass
from typing import Literal

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.cause_facts import (
    Allocating,
    BufferFill,
    FilterYield,
    GapLaunches,
    GarbageCollection,
    LoaderWork,
    Recomputed,
    Retrace,
    SampleCounts,
    SharedLine,
    Stored,
    UnfilledCache,
    WholeTable,
)
from stepscope.instruments.causes.label_shares import LabelShare, Weighed


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation:
    """The evidence of a cause in a recording: its line, and what else is known of it."""

    place: CodeLine | None = None
    made_share: float | None = None
    """What the line `place` made of the type of op that takes most, where that is less than half of it."""
    called_from: CodeLine | None = None
    spent_in: CodeLine | None = None
    """The function that takes most of the time of `place`, where that only calls it."""
    run_in: CodeLine | None = None
    """The line that runs a session's graph for most of the time of ops, where several lines run it."""
    recomputed: Recomputed | None = None
    doubles: float | None = None
    """The part of the time of all ops that goes to 64-bit floats; None where others take most of it."""
    plain_products: float | None = None
    """The part of the time of all ops that goes to products of 32-bit floats without tensor cores; None as
    above."""
    table: WholeTable | None = None
    """Where ops on all rows of one take more than the type of op that takes most."""
    gradients_too: bool = False
    """Whether gradients of what `spent_in` computes count to it, of ops."""
    in_python: bool = False
    """Whether place is Python that a loader runs, and no line that only writes a stage."""
    op: str | None = None
    op_type: str | None = None
    written_op: str | None = None
    """The type as the program wrote it, where `op_type` names the library that runs it."""
    launched_by: str | None = None
    """The op that launches the type, where that is a kernel."""
    of_products: bool = False
    """Whether that type is a product of matrices or a convolution, which models consist of."""
    op_share: float | None = None
    """What that type takes of the time of all ops."""
    layer_share: float | None = None
    """What the layer that stands out takes of it; None where none does."""
    layer: str | None = None
    """That layer: a scope, or a line of the program."""
    stage: str | None = None
    spoken: str | None = None
    """The stage as the user wrote it."""
    remade: tuple[int, int] | None = None
    """Iterators that the program made, and the number of steps, if it makes one in most steps."""
    given: CodeLine | None = None
    """The function of the program's that the stage was given."""
    kept: FilterYield | None = None
    """What a filter keeps of what the stage makes, where that is little."""
    fill: BufferFill | None = None
    """What a shuffle draws from the stage, where that is much more than it hands on."""
    awaits: bool = False
    """Whether `place` is the line that waits for the stage, of which no line is known."""
    loader_work: tuple[LoaderWork, float] | None = None
    """What the driving thread does itself for most of the wait for a loader, and for which part of it."""
    unfilled: UnfilledCache | None = None
    calls: int | None = None
    """Launches in a mean step, where launching is the cause."""
    gap_launches: GapLaunches | None = None
    """What is launched while an accelerator is idle, where that takes most of the time."""
    host_op: str | None = None
    """The op that runs on the host while it seems to launch, if that takes most of the time."""
    small_ops: tuple[int, int] | None = None
    """Ops in a mean step and their mean time, in picoseconds, where these are many and small."""
    allocating: Allocating | None = None
    """Calls that make room on the device, where that is the cause."""
    of_session: bool = False
    """They are runs of a session."""
    takes_batches: bool = False
    """And take batches of an input pipeline or of a queue of the graph, which they may wait for."""
    loop_runs: int | None = None
    """How often ops of a loop in the graph run in a mean step, where these are what is launched; `place` made
    the loop."""
    loop_unseen: bool = False
    """Whether these are nodes of the graph, most of them that loop's, too short to be recorded."""
    function: str | None = None
    """Function that was traced or compiled."""
    retrace: Retrace | None = None
    runs_unseen: bool = False
    """Whether calls that compile run ops as well, of which none was recorded."""
    mark: str | None = None
    """What the program called the part of its steps that the cause lies in, where no line is known."""
    others: Weighed | None = None
    """The steps that averages include, where those that compile are judged as well and limit the program."""
    awaits_copies: Literal["host", "device"] | None = None
    """Where copying is the cause and cores wait for it: whether most of it is from or to the memory of the
    host."""
    late_copy: str | None = None
    """Where waiting is the cause and most of it is for the device to begin a copy: the call that waits."""
    together: tuple[LabelShare, ...] = ()
    """What the line takes by other labels as well, where none stands out and all of them do, and what it
    takes by the cause's own, the longest first."""
    lines: tuple[SharedLine, ...] = ()
    """The line of the cause and another one with nearly as much of it; empty where one has most."""
    callbacks: bool = False
    """Whether the cause is what callbacks of Keras do, whatever runs there."""
    other_batches: bool = False
    """Whether the cause is a loop over other batches than those of the steps, whatever runs there."""
    copied_bytes: int | None = None
    """Where copying is the cause, what a mean step copies on a processor, as far as shapes tell."""
    session_bytes: tuple[int, int] | None = None
    """Where copying or launching is the cause, what a mean step feeds to runs of a session, and fetches."""
    samples: SampleCounts | None = None
    """Those that tell `place`."""
    before_ps: int | None = None
    """Where the cause is unknown and no step is known, what of it passes before the first op."""
    awaited_ps: int | None = None
    """Where the cause is unknown, what of a mean step passes in calls that wait for a device."""
    sampled_call: tuple[str, float] | None = None
    """Where the cause is unknown: the function in which most samples of the processor lie, and their part of
    all."""
    ranges: tuple[tuple[str, float], ...] = ()
    """Where the cause is unknown: names of slices that most of it lies in, and their parts of the steps."""
    launches_alone: bool = False
    """Whether the cause is unknown, and of an accelerator only launches were recorded."""
    garbage: GarbageCollection | None = None
    """What collecting garbage takes of the steps; None where it is little."""
    stores: Stored | None = None
    """What is stored, or loaded, where nearly all that waits does so: compressing it is no waiting."""
    meanwhile: CodeLine | None = None
    """What another thread of the program runs while `place` waits for a lock, or for the interpreter."""
    meanwhile_waits: bool = False
    """Whether that thread sleeps there, or waits, and may do so with the lock."""
    sampled: bool = False
    """Whether samples of stacks tell what the program did, where its cause is unknown all the same."""
