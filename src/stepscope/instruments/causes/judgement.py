"""The judgement of a host: what limits its steps, and what is known of that.

Everything that says what to do about a recording follows it: the headline, the weight of findings, and what
is said of the input pipeline. So they cannot contradict each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.gain import Correction, Sums
from stepscope.instruments.laws.violation import Broken
from stepscope.instruments.step_breakdown.labels import LABELS, Label

Confidence = Literal["high", "medium", "low"]
Weakness = Literal["few-steps", "few-samples", "busy-machine"]
LoaderWork = Literal["unpickling", "workers"]
"""What the program itself does while it gets a batch from the workers of a loader, besides waiting."""
Stored = Literal["checkpoint", "summary", "model"]
"""What is written in the loop of steps, or read: a model."""
CauseName = Label | Literal["none"]

LISTED_FROM = 0.05
"""Parts that hold more than this of a step are listed as causes."""


@dataclass(frozen=True)
class Retrace:
    """A function that was traced or compiled again and again, and what was new about the calls."""

    function: str
    called: CodeLine | None
    change: str
    """As in compilation.change."""
    argument: str | None
    was: str | None
    became: str | None
    times: int
    """Calls that traced or compiled because of such a change."""
    steps: int
    """Steps in which they lie."""


@dataclass(frozen=True)
class Allocating:
    """Calls that allocate or free memory, of a device or of the host for its copies."""

    name: str
    """Of the call that takes longest."""
    calls: int
    took_ps: int
    """Over all threads and the whole recording."""
    all_ps: int
    """The same of all such calls, whatever their names."""
    of_code_ps: int = 0
    """The same of those among them that unload code, and free no memory."""
    on_host_ps: int = 0
    """The same of those that allocate, free or pin memory of the host."""


@dataclass(frozen=True)
class GapLaunches:
    """Launching while an accelerator has nothing to do."""

    op: str | None
    """The op whose launch takes most of that time; None where many do together."""
    took_ps: int
    """In a mean step."""
    called: bool = False
    """Whether it is a call of a runtime, which tracers of these draw by its own name, and no op."""


@dataclass(frozen=True)
class LabelShare:
    """What one label takes of a mean step."""

    label: Label
    ps_per_step: int
    share: float


@dataclass(frozen=True)
class Rival:
    """What takes about as much of a mean step as the cause."""

    label: Label
    share: float
    place: CodeLine | None = None
    what: str | None = None
    """The type of op, or the stage."""


@dataclass(frozen=True)
class Weighed:
    """What labels take of the steps that are judged, and so what limits them."""

    parts: tuple[LabelShare, ...]
    """All labels that took any time, the longest first."""
    cause: CauseName
    """As far as labels alone tell: never `compute`, which is said of one type of op."""
    steps: int
    """How many were judged."""
    mean_ps: int
    whole_capture: bool
    """No steps were found; the whole recording stands for one."""
    elsewhere: bool = field(default=False, kw_only=True)
    """The steps are untraced ones of the loop whose pipeline was traced."""

    def share_of(self, label: str) -> float:
        """The part of a mean step that counts to a label."""
        return next((part.share for part in self.parts if part.label == label), 0.0)

    def ps_per_step_of(self, label: str) -> int:
        """What counts to a label in a mean step."""
        return next((part.ps_per_step for part in self.parts if part.label == label), 0)


class SampleCounts(NamedTuple):
    """The samples by which a line was chosen. A sample that sees two things counts in part to each."""

    number: float = 0.0
    """Of what is asked about."""
    at_line: float = 0.0
    """Those of them that speak for the line."""
    next_best: float = 0.0
    """Those that speak for the line that has most of the others."""


@dataclass(frozen=True)
class FilterYield:
    """What a filter behind a stage keeps."""

    part: float
    """Of the elements that the stage makes."""
    line: int | None = None
    """Of the filter, where the stage's own file has it."""


class BufferFill(NamedTuple):
    """What a shuffle behind a stage draws to fill its buffer."""

    drawn: float
    """Elements for each that it hands on."""
    line: int | None = None
    """Of the shuffle, where the stage's own file has it."""


class Recomputed(NamedTuple):
    """What ops compute again because it was not kept for gradients."""

    by: Literal["torch.utils.checkpoint", "jax.checkpoint", "tf.recompute_grad"]
    """What did not keep it."""
    share: float
    """Of a mean step."""


class SharedLine(NamedTuple):
    """A line of the program, and what it takes of a mean step by the label of the cause."""

    line: CodeLine
    share: float


class WholeTable(NamedTuple):
    """A table that is updated as a whole for the few rows that a step looks up."""

    rows: int
    columns: int
    used_rows: int
    """The most rows that a step looks up."""
    share: float
    """What ops on all rows take of the time of all ops."""


class GarbageCollection(NamedTuple):
    """Runs of Python's garbage collection within steps."""

    share: float
    """Of a mean step."""
    collections: int
    whole: int
    """Those that went through all objects."""
    steps: int


@dataclass(frozen=True)
class UnfilledCache:
    """A cache behind a stage that no pass over the data fills, so that none reads from it."""

    line: int | None
    taken: int
    """Elements that a pass draws."""
    elements: int
    """All there are."""


@dataclass(frozen=True)
class Competing:
    """Other work of the program, which has cores while its steps wait for some."""

    who: Literal["input", "children"]
    """The input pipeline, or processes that the program started."""
    number: float
    """Threads of the pipeline that compute or wait for a core, or cores of the processes, on average."""
    place: CodeLine | None = None
    """The line of the program that the pipeline runs, else the one that wrote its stage."""


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
    samples: SampleCounts | None = None
    """Those that tell `place`."""
    before_ps: int | None = None
    """Where the cause is unknown and no step is known, what of it passes before the first op."""
    awaited_ps: int | None = None
    """Where the cause is unknown, what of a mean step passes in calls that wait for a device."""
    sampled_call: tuple[str, float] | None = None
    """Where the cause is unknown: the function in which most samples of the processor lie, and their part of
    all."""
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


@dataclass(frozen=True)
class Judgement(Explanation, Weighed):
    """What limits the steps of a host, as far as ops, stacks and captures tell as well."""

    run_id: str
    host_id: str
    share: float
    """Of a mean step, what the cause takes; of compute for `none`."""
    ps_per_step: int
    confidence: Confidence
    left_ps: int
    """How long a step would be without the cause; where ops are, without the type of op or the layer that
    stands out."""
    low_ps: int
    high_ps: int
    corrected: tuple[Correction, ...] = ()
    """Why that is less than what the parts of the steps leave."""
    untraced_ps: int | None = None
    """How long a typical step is that no profiler records, where the recorder timed some that do the same."""
    median_ps: int | None = None
    """The middle one of the recorded steps: what a typical step without a profiler is compared with."""
    typical_ps: int | None = None
    """The step that `left_ps` is left of, where steps tell: by the same steps and the same statistic, which
    need not be the mean."""
    besides_ps: int = 0
    """What goes with the cause of other labels' time in a mean step."""
    compiling: int | None = None
    """Steps that traced or compiled something."""
    weak: tuple[Weakness, ...] = ()
    """What it was decided by that is few."""
    contention: Contention | None = None
    competing: Competing | None = None
    serves: bool = False
    """Whether its steps are batches of an inference server."""
    on_device: bool = False
    """Whether what executes does so on a device."""
    of_ops: bool = True
    """Whether the recorder knows ops. Where it does not, whatever it drew stands for one."""
    rival: Rival | None = None
    fed_unseen: bool = False
    """Whether batches come from processes that were not recorded, and may be what limits the steps without
    the cause."""
    broken: tuple[Broken, ...] = ()
    """Laws that do not hold of what it was decided by."""

    @property
    def causes(self) -> tuple[LabelShare, ...]:
        """The parts that hold more than LISTED_FROM of a step."""
        return tuple(part for part in self.parts if part.share > LISTED_FROM)

    @property
    def queues(self) -> bool:
        """Whether launching is the cause and most of it waits for cores that other programs have."""
        found = self.contention
        return self.cause == "dispatch" and found is not None and found.launching < _LAUNCHES

    @property
    def waits_for_cores(self) -> bool:
        """Whether ops that processors run waited for cores at least as long as they had some, or for cores
        that other work of the program's is known to have had."""
        busy = self.contention is not None and self.contention.busy
        return not self.on_device and (busy or self.competing is not None)


_LAUNCHES = 0.5
"""Launching that takes a smaller part of its time than this mostly waits for cores."""


def parts_of(steps: Sequence[tuple[int, Sums]]) -> tuple[LabelShare, ...]:
    """What labels take of a mean step, the longest first. steps: duration and parts of each."""
    whole = sum(dur_ps for dur_ps, _ in steps)
    if not whole:
        return ()
    sums: dict[str, int] = {}
    for _, parts in steps:
        for label, ps in parts.items():
            sums[label] = sums.get(label, 0) + ps
    totals = [(label, sums[label]) for label in LABELS if sums.get(label)]
    found = [LabelShare(label, total // len(steps), total / whole) for label, total in totals]
    return tuple(sorted(found, key=lambda part: (-part.share, LABELS.index(part.label))))
