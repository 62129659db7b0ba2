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
from collections.abc import Sequence
from dataclasses import replace

from stepscope.instruments.intervals import Interval, difference, intersection, length, shared, union
from stepscope.instruments.pipeline import activity
from stepscope.instruments.pipeline.accounting import Accounts
from stepscope.instruments.pipeline.activity import StageActivity
from stepscope.instruments.pipeline.calls import StageCall
from stepscope.instruments.pipeline.cores import cores_of, pool_of
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.stages import THREAD, PipelineStage
from stepscope.instruments.pipeline.waits import Waits
from stepscope.instruments.pipeline.widths import full_intervals, widths


def measure(
    calls: Sequence[StageCall],
    stages: Sequence[PipelineStage],
    of: dict[str, PipelineStage],
    waits: Waits | None,
) -> list[Load]:
    """The load of each stage, in their order."""
    cores = pool_of(stages) or cores_of(stages)
    seen = activity.activities(calls, stages, of)
    width = widths(stages, {stage: seen[stage].ran for stage in stages}, cores)
    taken = full_intervals([piece for stage in seen.values() for piece in stage.ran], cores)
    # A stage that works ahead occupies threads also between two pieces of a function.
    spans = [span for stage in stages if stage.ahead for span in activity.spans(seen[stage].pieces)]
    claimed = union([*taken, *full_intervals(spans, cores)])
    return [
        _load(stage, seen[stage], width[stage], taken if stage.ahead else claimed, waits) for stage in stages
    ]


def _load(
    stage: PipelineStage, seen: StageActivity, width: int, taken: Sequence[Interval], waits: Waits | None
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
    queued = length(activity.spans(seen.pieces) if stage.ahead else seen.called) - length(worked)
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


def _worked(stage: PipelineStage, seen: StageActivity, taken: Sequence[Interval]) -> list[Interval]:
    """When the function of a stage worked."""
    if _copies_unseen(stage):
        return difference(union(seen.asked), union(seen.fetching))
    worked = activity.working(seen.pieces, taken) if seen.ran else seen.called
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
