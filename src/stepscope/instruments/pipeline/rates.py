"""The rate of each stage: its work per step, on how many threads.

The work of a stage is the time in which it, and no stage before it, is at work:

- of a stage that runs in its consumer's thread, its calls without the calls of its inputs. A function that
  it hands to a thread pool counts with the time executors ran it, where that is less: the rest is waiting
  for a thread that other stages keep busy.
- of a stage that works ahead, the time executors ran its function, over all threads. Its calls are waiting.
  Where only ops of the function were recorded, and no executor, what its consumer waits while neither these
  nor its input is at work counts as well, as of all its threads.

Stages that share a thread add up; threads run side by side. A `lane` is what runs one after the other: the
stages in the thread of one consumer that works ahead, or the function of one such stage on its threads.
The slowest lane limits the pipeline (M. Kuchnik et al., Plumber, MLSys 2022, with cores taken from the
trace: rate = parallelism / work per step).
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from stepscope.instruments.intervals import Interval, difference, intersection, length, shared, union
from stepscope.instruments.pipeline.accounting import Account, Accounts
from stepscope.instruments.pipeline.calls import EXECUTE, StageCall
from stepscope.instruments.pipeline.cores import cores_of, pool_of, tells_cores
from stepscope.instruments.pipeline.stages import THREAD, PipelineStage
from stepscope.instruments.pipeline.waits import Waits


@dataclass(eq=False)
class Load:
    """The load of a stage. Times are of the whole recording, except those per step."""

    stage: PipelineStage
    width: int
    """Threads that share its work."""
    calls: int
    total_ps: int
    """Time of its calls, with everything below them."""
    own_ps: int
    """Time of its calls without those of its inputs: waiting, for a stage that works ahead."""
    function_ps: int
    """Time in which executors ran its function, over all threads."""
    queue_ps: int
    """Time in which its function waited for a thread."""
    busy_ps: int
    """Time in which it worked on at least one thread."""
    threads: int
    """Threads that its calls and its function ran on."""
    work_ps: int
    """Its work per step, over all threads."""
    cpu_ps: int
    """The part of its work that needs a core: without handover between the pieces of its function."""
    pool_ps: int
    """Time per step in which its function occupies a thread of the pool."""
    in_waits_ps: int
    """Its work, divided by its threads, while the program waited."""
    python: bool
    """It runs a py_function."""
    between_ops_ps: int = 0
    """Time per step in its calls in which neither its input nor an op of its function is at work, where the
    recording has such ops without their executors. Its work contains it."""
    unseen: bool = False
    """It runs a function on threads of its own, and the recording has nothing of what that does."""
    per_step: float = 0.0
    """Elements that it makes for a step, with the calls at the end of a dataset."""
    between_kernels_ps: int | None = None
    """The part of its work per step that executors spend between kernels; None where the trace does not show
    it."""
    trace_work_ps: int = 0
    """Its work per step from the events of the trace."""
    account: Account | None = None
    """The account of tf.data's own model, where one was captured."""
    model_work_ps: int | None = None
    """Its work per step from that model."""

    @property
    def work_from(self) -> str:
        """trace or model: the source of work_ps."""
        return "trace" if self.work_ps == self.trace_work_ps else "model"

    @property
    def service_ps(self) -> int:
        """Time it needs for a step."""
        return self.work_ps // self.width


@dataclass
class _Seen:
    """A stage in the trace, call by call."""

    own: list[Interval] = field(default_factory=list)
    """Its calls without those of its inputs."""
    called: list[Interval] = field(default_factory=list)
    """Calls of its function, until they returned."""
    ran: list[Interval] = field(default_factory=list)
    """Pieces of its function that executors ran."""
    pieces: defaultdict[str | None, list[Interval]] = field(default_factory=lambda: defaultdict(list))
    """The same pieces, by call of the function."""
    threads: set[int] = field(default_factory=set)
    between_ps: int = 0
    """Time that executors spent between kernels."""
    asked: list[Interval] = field(default_factory=list)
    """For a stage that works ahead: its calls, in which its consumer waits."""
    fetching: list[Interval] = field(default_factory=list)
    """For a stage that works ahead: when its threads took from its input."""
    single_ops: bool = False
    """What ran of its function are ops, without the executors that ran them."""
    python: bool = False

    def between_ops(self) -> list[Interval]:
        """When it was waited for, and neither its input nor an op of its function was at work."""
        if not self.single_ops:
            return []
        return difference(union(self.asked), union([*self.fetching, *self.ran]))

    def add(self, call: StageCall, ahead: bool) -> None:
        """Adds a call. ahead: the stage works ahead."""
        whole = (call.ts_ps, call.end_ps)
        if call.kind == "next":
            self.own += () if ahead else call.own
            self.asked += [whole] if ahead else ()
            self.threads.add(-1 if call.is_lane else call.track_id)
        elif call.kind in ("ahead", "make"):
            self.own += call.own
            self.fetching += [whole] if call.kind == "ahead" else ()
        elif call.kind == "function":
            self.called += call.own
        elif call.kind == "execute":
            self.ran.append(whole)
            self.pieces[call.iterator].append(whole)
            self.single_ops = self.single_ops or call.name != EXECUTE
            self.between_ps += min(call.self_ps or 0, call.end_ps - call.ts_ps)
            self.threads.add(call.track_id)
        elif call.kind == "python":
            self.python = True


def measure(
    calls: Sequence[StageCall],
    stages: Sequence[PipelineStage],
    of: dict[str, PipelineStage],
    waits: Waits | None,
) -> list[Load]:
    """The load of each stage, in their order."""
    cores = pool_of(stages) or cores_of(stages)
    seen = _seen_by_stage(calls, stages, of)
    full = _full([piece for stage in seen.values() for piece in stage.ran], cores)
    # A stage that works ahead occupies threads also between two pieces of a function.
    spans = [span for stage in stages if stage.ahead for span in _spans(seen[stage].pieces)]
    claimed = union([*full, *_full(spans, cores)])
    tells_threads = tells_cores(stages) or pool_of(stages) is not None
    side_by_side: dict[PipelineStage, int] = {}
    for stage in stages:
        side_by_side[stage] = _outer(stage, cores, None if tells_threads else stages, side_by_side)
    return [
        _load(
            stage,
            seen[stage],
            (_width(stage, cores) if tells_threads else _width_by_threads(stage, seen[stage]))
            * side_by_side[stage],
            full if stage.ahead else claimed,
            waits,
        )
        for stage in stages
    ]


def _seen_by_stage(
    calls: Sequence[StageCall], stages: Sequence[PipelineStage], of: dict[str, PipelineStage]
) -> dict[PipelineStage, _Seen]:
    """What the trace shows of each stage."""
    seen = {stage: _Seen() for stage in stages}
    for call in calls:
        stage = of.get(call.stage or "")
        # The function of a device's Generator takes what the host's pipeline makes, and waits for it: its
        # only work is handover, which is unknown where calls do not tell what is inside them.
        hands_over = call.kind == "next" and not call.is_unnumbered
        if stage is not None and (stage.fed_by is None or hands_over):
            seen[stage].add(call, stage.ahead)
        if call.is_unnumbered and (taking := of.get(call.consumer or "")) is not None:
            seen[taking].fetching.append((call.ts_ps, call.end_ps))
    return seen


def _load(
    stage: PipelineStage, seen: _Seen, width: int, taken: Sequence[Interval], waits: Waits | None
) -> Load:
    """The load of a stage. taken: when the pool had no free thread for its function."""
    steps = max(len(waits.basis) if waits.has_steps else waits.batches, 1) if waits else 1

    def ps_per_step(intervals: Sequence[Interval]) -> int:
        return (shared(intervals, waits.basis) if waits else length(intervals)) // steps

    ran, worked, between_ops = seen.ran, _worked(stage, seen, taken), seen.between_ops()
    at_work = seen.own + worked
    on_cpu = seen.own + (worked if _copies_unseen(stage) else ran or seen.called)
    # The trace shows how long its threads took together.
    work_ps = ps_per_step(at_work) * (width if _copies_unseen(stage) else 1)
    work_ps += ps_per_step(between_ops) * width
    queued = length(_spans(seen.pieces) if stage.ahead else seen.called) - length(worked)
    between_ps = None
    if seen.between_ps:
        between_ps = ps_per_step(ran) * seen.between_ps // max(length(ran), 1)
    return Load(
        stage=stage,
        width=width,
        calls=len(stage.calls),
        total_ps=sum(call.end_ps - call.ts_ps for call in stage.calls),
        own_ps=sum(length(call.own) for call in stage.calls),
        function_ps=length(ran),
        queue_ps=max(queued, 0) if ran else 0,
        busy_ps=length(union(on_cpu)),
        threads=max(len(seen.threads), 1),
        work_ps=work_ps,
        cpu_ps=ps_per_step(on_cpu),
        pool_ps=ps_per_step(ran),
        in_waits_ps=shared(at_work, waits.intervals) // width + shared(between_ops, waits.intervals)
        if waits
        else 0,
        python=seen.python,
        between_ops_ps=ps_per_step(between_ops),
        unseen=bool(stage.ahead and _RUNS_FUNCTION.match(stage.short)) and not (ran or seen.called),
        per_step=_calls_within(stage, waits) / steps,
        between_kernels_ps=between_ps,
        trace_work_ps=work_ps,
    )


def _worked(stage: PipelineStage, seen: _Seen, taken: Sequence[Interval]) -> list[Interval]:
    """When the function of a stage worked."""
    if _copies_unseen(stage):
        return difference(union(seen.asked), union(seen.fetching))
    worked = _function(seen.pieces, taken) if seen.ran else seen.called
    return worked if stage.ahead else intersection(worked, union(seen.called))


def _copies_unseen(stage: PipelineStage) -> bool:
    """Whether it copies elements on threads of the pool, which no event shows: while it is called and takes
    nothing, it copies on at least one of them."""
    return stage.short.startswith("ParallelBatch")


_RUNS_FUNCTION = re.compile(r"MapAndBatch|Parallel(Map|Filter)")
"""Stages that run a function of the user's on threads of their own. TensorFlow 1 records when such a stage is
called, and for which stage threads run ops is known only where no other runs a function."""


def _calls_within(stage: PipelineStage, waits: Waits | None) -> int:
    """Its calls that end within the steps."""
    if waits is None:
        return len(stage.calls)
    return shared([(call.end_ps - 1, call.end_ps) for call in stage.calls], waits.basis)


_WAITS_TOO = re.compile(r"Root$|Prefetch|(Legacy)?(Parallel)?Interleave|Model$")
"""Stages whose time in the model includes waiting for their input."""


def add_model(loads: Sequence[Load], accounts: Accounts, batches: float, step_ps: int) -> list[Load]:
    """The loads, corrected by tf.data's model. batches: taken in a step, which took step_ps.

    The model counts for stages that work ahead, whose functions a trace shows in pieces. A parallel batch
    copies where the model does not measure. There, and for the other stages, of which the model counts
    kernels and leaves out the executors' time between them, the larger of both counts: neither counts work
    that is not there. The model covers other steps as well, which may be slower: values that its threads
    cannot do in a step are dropped.
    """
    found = []
    for load in loads:
        account = accounts.stages.get(load.stage)
        if account is None or load.stage.fed_by is not None or _WAITS_TOO.match(load.stage.short):
            found.append(replace(load, account=account))
            continue
        model_ps = round(account.work_ps * batches)
        in_full = load.stage.ahead and not _copies_unseen(load.stage)
        work = model_ps if in_full else max(model_ps, load.trace_work_ps)
        work = min(work, max(load.width * step_ps, load.trace_work_ps))
        width = load.width
        if load.stage.ahead and account.parallelism is not None and load.stage.parallelism is None:
            width = max(min(round(account.parallelism), load.width), 1)
        found.append(
            replace(load, account=account, model_work_ps=model_ps, work_ps=work, width=width, unseen=False)
        )
    return found


def _function(pieces: Mapping[str | None, Sequence[Interval]], full: Sequence[Interval]) -> list[Interval]:
    """When a function worked: from the first piece of each call to the last. In between it hands over from
    piece to piece; while no thread is free for that, it waits."""
    found: list[Interval] = []
    for some in pieces.values():
        if len(some) == 1:
            found += some
        else:
            span = (min(begin for begin, _ in some), max(end for _, end in some))
            found += union([*some, *difference([span], full)])
    return found


def _spans(pieces: Mapping[str | None, Sequence[Interval]]) -> list[Interval]:
    """Each call of a function from its first piece to its last."""
    return [(min(begin for begin, _ in some), max(end for _, end in some)) for some in pieces.values()]


def _full(pieces: Sequence[Interval], threads: int) -> list[Interval]:
    """When at least this many pieces ran at once: the pool had no free thread."""
    turns = sorted([(begin, 1) for begin, _ in pieces] + [(end, -1) for _, end in pieces])
    found: list[Interval] = []
    running = since = 0
    for at, turn in turns:
        if running < threads <= running + turn:
            since = at
        elif running >= threads > running + turn:
            found.append((since, at))
        running += turn
    return union(found)


def _width(stage: PipelineStage, cores: int) -> int:
    """Threads of its own function: one per core, until autotune has decided."""
    if not stage.ahead or stage.short.startswith("Prefetch"):
        return 1
    width = stage.parallelism
    # py_functions wait as well as work, but the pool has no more threads than that.
    return min(width, cores) if width is not None else cores


def _width_by_threads(stage: PipelineStage, seen: _Seen) -> int:
    """The same where nothing tells how many threads there are: as many as ran at once."""
    if not stage.ahead or stage.short.startswith("Prefetch"):
        return 1
    at_once = max(_concurrency(seen.ran), 1)
    return min(stage.parallelism or at_once, at_once)


def _outer(
    stage: PipelineStage, cores: int, untold: Sequence[PipelineStage] | None, outer: dict[PipelineStage, int]
) -> int:
    """Threads that run it in parallel, because a parallel interleave further down has several inputs. untold:
    all stages, where nothing tells how many threads there are; then those that ran at once count."""
    above = stage.above
    if above is None:
        return 1
    count = outer[above]
    if above.short.startswith(("ParallelInterleave", "LegacyParallelInterleave")):
        if untold is None:
            count = max(count, min(above.parallelism or cores, cores))
        else:
            inner = [other for other in untold if other.nested_in is above or other is stage]
            spans = ([(call.ts_ps, call.end_ps) for call in other.calls] for other in inner)
            count = max(map(_concurrency, spans))
    return count


def executors_at_once(calls: Iterable[StageCall]) -> int:
    """On how many threads functions ran at once, at most."""
    return _concurrency([(call.ts_ps, call.end_ps) for call in calls if call.name == EXECUTE])


def _concurrency(intervals: Sequence[Interval]) -> int:
    """How many of them ran at once at most."""
    turns = sorted([(begin, 1) for begin, _ in intervals] + [(end, -1) for _, end in intervals])
    return max(accumulate(turn for _, turn in turns), default=1)


def even_ps(loads: Sequence[Load], waited: Waits) -> int:
    """A step when the buffer before the program is large enough: the longer one of the program's work and the
    pipeline thread's work for a step, waiting for cores included.

    A buffer of one batch evens nothing out: where both vary, the program waits in some steps and the pipeline
    in others. The step itself where a trace does not show how long a batch takes. No buffer makes a stage
    faster: of a function that is not recorded, only what it needs for a step is known.
    """
    lasting = [
        load.total_ps / load.calls * max(load.per_step, round(load.per_step))
        for load in loads
        if load.stage.consumer_lane.startswith(THREAD) and load.calls
    ]
    if not lasting or not any(load.stage.short.startswith("Prefetch") for load in loads):
        return waited.step_ps
    needed = max(load.service_ps for load in loads)
    return min(round(max(waited.step_ps - waited.wait_ps, needed, *lasting)), waited.step_ps)
