"""What each stage can deliver: its work per step, on how many threads, and so its rate.

The work of a stage is the time in which it, and no stage before it, is at work:

- of a stage that runs in its consumer's thread, its calls without the calls of its inputs. A function that
  it hands to a thread pool counts with the time executors ran it, where that is less: the rest is waiting
  for a thread that other stages keep busy.
- of a stage that works ahead, the time executors ran its function, over all threads. Its calls are waiting.

Stages that share a thread add up; threads run side by side. A `lane` is what runs one after the other: the
stages in the thread of one consumer that works ahead, or the function of one such stage on its threads.
The slowest lane limits the pipeline (M. Kuchnik et al., Plumber, MLSys 2022, with cores taken from the
trace: rate = parallelism / work per step).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from stepscope.instruments.pipeline.calls import Call, Interval
from stepscope.instruments.pipeline.spans import length, shared, union
from stepscope.instruments.pipeline.stages import PROGRAM, Stage
from stepscope.instruments.pipeline.waits import Waits


@dataclass(eq=False)
class Load:
    """What a stage does. Times are of the whole recording but for those called per step."""

    stage: Stage
    width: int
    """Threads that share its work."""
    calls: int
    total_ps: int
    """Its calls, with everything below them."""
    own_ps: int
    """Its calls without the calls of its inputs: waiting, for a stage that works ahead."""
    function_ps: int
    """Executors running its function, over all threads."""
    queue_ps: int
    """Its function waiting for a thread."""
    busy_ps: int
    """When it was at work on at least one thread."""
    threads: int
    """Threads its calls and its function ran on."""
    work_ps: int
    """Its work per step, over all threads."""
    in_waits_ps: int
    """Its work, divided by its threads, while the program waited."""
    python: bool
    """It runs a py_function."""

    @property
    def service_ps(self) -> int:
        """Time it needs for a step."""
        return self.work_ps // self.width


def cores_of(stages: Sequence[Stage]) -> int:
    """Threads of tf.data's pool, which are as many as there are cores unless options say otherwise."""
    told = [stage.args.get(key) for stage in stages for key in ("threadpool_size", "cpu_budget")]
    return max((int(str(value)) for value in told if str(value).isdigit()), default=0) or 1


def measure(
    calls: Sequence[Call], stages: Sequence[Stage], of: dict[str, Stage], waits: Waits | None
) -> list[Load]:
    """The load of each stage, in their order."""
    cores = cores_of(stages)
    own: defaultdict[Stage, list[Interval]] = defaultdict(list)
    called: defaultdict[Stage, list[Interval]] = defaultdict(list)
    ran: defaultdict[Stage, list[Interval]] = defaultdict(list)
    threads: defaultdict[Stage, set[int]] = defaultdict(set)
    python: set[Stage] = set()
    for call in calls:
        stage = of.get(call.stage or "")
        if stage is None:
            continue
        if call.kind == "next":
            own[stage] += () if stage.ahead else call.own
            threads[stage].add(call.track_id)
        elif call.kind in ("ahead", "make"):
            own[stage] += call.own
        elif call.kind == "function":
            called[stage] += call.own
        elif call.kind == "execute":
            ran[stage].append((call.ts_ps, call.end_ps))
            threads[stage].add(call.track_id)
        elif call.kind == "python":
            python.add(stage)
    number = max(len(waits.basis) if waits.has_steps else waits.batches, 1) if waits else 1
    loads = []
    side_by_side: dict[Stage, int] = {}
    for stage in stages:
        width = _width(stage, cores)
        outer = side_by_side[stage] = _outer(stage, cores, side_by_side)

        def work(within: Sequence[Interval] | None, stage: Stage = stage) -> int:
            parts = (own[stage], called[stage], ran[stage])
            amounts = [length(p) if within is None else shared(p, within) for p in parts]
            if not ran[stage]:
                return amounts[0] + amounts[1]
            # Called where it does not work ahead, its thread waits until the function is done.
            return amounts[0] + (amounts[2] if stage.ahead else min(amounts[1], amounts[2]))

        waiting = length(called[stage]) - length(ran[stage]) if ran[stage] and not stage.ahead else 0
        loads.append(
            Load(
                stage=stage,
                width=width * outer,
                calls=len(stage.calls),
                total_ps=sum(call.end_ps - call.ts_ps for call in stage.calls),
                own_ps=sum(length(call.own) for call in stage.calls),
                function_ps=length(ran[stage]),
                queue_ps=max(waiting, 0),
                busy_ps=length(union([*own[stage], *(ran[stage] or called[stage])])),
                threads=max(len(threads[stage]), 1),
                work_ps=work(waits.basis if waits else None) // number,
                in_waits_ps=work(waits.intervals) // (width * outer) if waits else 0,
                python=stage in python,
            )
        )
    return loads


def _width(stage: Stage, cores: int) -> int:
    """Threads that its own function has: until autotune has decided, as many as there are cores."""
    if not stage.ahead or stage.short.startswith("Prefetch"):
        return 1
    told = stage.parallelism
    # py_functions wait as well as work, but the pool has no more threads than that.
    return min(told, cores) if told is not None else cores


def _outer(stage: Stage, cores: int, outer: dict[Stage, int]) -> int:
    """Threads that run it side by side, because a parallel interleave further down has several inputs."""
    above = stage.above
    if above is None:
        return 1
    count = outer[above]
    if above.short.startswith(("ParallelInterleave", "LegacyParallelInterleave")):
        count = max(count, min(above.parallelism or cores, cores))
    return count


def slowest(loads: Sequence[Load]) -> list[Load]:
    """The stages, those that hold the pipeline up most first.

    Lanes are ranked by the time they were at work while the program waited, and their stages by their part
    in that. Stages of pipelines that feed others (a device's) only hand over, so they rank by their work too.
    """
    lanes: Counter[str] = Counter()
    for load in loads:
        lanes[load.stage.lane] += load.in_waits_ps
    first = max(lanes, key=lambda lane: (lanes[lane], lane), default=PROGRAM)
    return sorted(loads, key=lambda load: (load.stage.lane != first, -load.in_waits_ps, load.stage.number))
