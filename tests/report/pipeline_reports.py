"""Reports of input pipelines, one for each thing that can be said."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from stepscope.instruments.pipeline.ceiling import Ceiling
from stepscope.instruments.pipeline.chain import Ending, Removed
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.diagnoses import SourcePipelines
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.footprint import Footprint
from stepscope.instruments.pipeline.host import Machine, Threads
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import Prediction
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.places import Code, UserStage
from stepscope.instruments.pipeline.verdict import diagnose
from stepscope.report import pipeline
from stepscope.report.parts import Report
from tests.instruments.pipelines import MS, sequential

_BOUND = diagnose(*(lambda drawn, times: (drawn.calls(), times))(*sequential()))
"""Ten steps of 10 ms, of which a map takes 8."""
_WAITS = _BOUND.waits
assert _WAITS is not None
assert _BOUND.bottleneck is not None
_MAP = _BOUND.bottleneck
_BATCH = next(load for load in _BOUND.ranked if load.stage.short == "BatchV2")
_FREE = diagnose(*(lambda drawn, times: (drawn.calls(), times))(*sequential(work=0.2, program=9.8)))


def _load(load: Load, **facts: object) -> Load:
    """A copy with other facts: a load is compared by identity."""
    made = object.__new__(Load)
    made.__dict__.update({**load.__dict__, **facts})
    return made


def _with(**facts: object) -> Diagnosis:
    return replace(_BOUND, **facts)  # type: ignore[arg-type]


def _ranked(*loads: Load) -> Diagnosis:
    return _with(ranked=loads, loads=loads, bottleneck=loads[0])


def _unseen(*loads: Load) -> Diagnosis:
    """No stage limits, and of the functions of some nothing was recorded."""
    rest = [load for load in _BOUND.loads if load not in loads]
    return _with(loads=(*(_load(load, unseen=True) for load in loads), *rest), bottleneck=None)


def _waits(**facts: object) -> Diagnosis:
    return _with(waits=replace(_WAITS, **facts))  # type: ignore[type-var]


_SLOWER = _load(_BATCH, work_ps=9 * MS)
_QUEUED = _load(_BATCH, queue_ps=30 * MS)
_QUEUED_ITSELF = _load(_MAP, queue_ps=30 * MS)
_QUEUED_AHEAD = _load(_MAP, queue_ps=30 * MS, total_ps=2 * MS)
_ON_DEVICE = _load(
    _BATCH,
    stage=replace(_BATCH.stage, fed_by=_MAP.stage, pipeline=1, branch_name="Iterator::Root::Generator"),
)
_AHEAD = [_load(one, stage=replace(one.stage, ahead=True, lane="thread:1")) for one in (_MAP, _BATCH)]
_HALF = [_load(_MAP, stage=replace(_MAP.stage, ahead=True, lane="thread:1", taken=True)),
         _load(_BATCH, stage=replace(_BATCH.stage, lane="program", taken=True))]  # fmt: skip
_IDLE = Machine(2, 0.4, 0.5, None)
_BURSTS = [
    _load(
        one, per_step=8.0, width=2,
        stage=replace(one.stage, ahead=one is _MAP, lane="f" if one is _MAP else "program", taken=True),
    )
    for one in (_MAP, _BATCH)
]  # fmt: skip
_CALLED = UserStage(0, 1, "map", "MapDataset", "a.py", 9, "d.map(f)", '{"map_func": "f (other.py:3)"}')
_LAMBDA = '{"map_func": "make.<locals>.<lambda> (a.py:8)"}'
_WRITTEN = UserStage(0, 2, "batch", "BatchDataset", "a.py", 12, "d.batch(8)")
_NOWHERE = replace(_WRITTEN, file=None, transformation="with_options")


def _told(*loads: Load, **args: str) -> tuple[Load, ...]:
    """Loads of a recording that says how many cores or threads tf.data may use."""
    return tuple(_load(one, stage=replace(one.stage, args={**one.stage.args, **args})) for one in loads)


_CORES = _told(_MAP, _BATCH, cpu_budget="1")
_POOL = _told(_MAP, _BATCH, threadpool_size="4")
PIPELINES: dict[str, Diagnosis] = {
    "one stage limits": _BOUND,
    "the program limits": _FREE,
    "the program limits, cores are shared": replace(_FREE, contends=_MAP),
    "no stage limits, much waiting": _with(verdict="not_input_bound", bottleneck=None),
    "in part, no stage limits": _with(verdict="partly_input_bound", bottleneck=None),
    "no stages": _with(bottleneck=None, loads=()),
    "no stage at work": _with(bottleneck=None, loads=(_load(_MAP, work_ps=0),)),
    "cores are not told": _with(tells_cores=False),
    "cores are told": _with(ranked=_CORES, loads=_CORES, bottleneck=_CORES[0], tells_cores=True),
    "a pool is told": _with(loads=_POOL, ranked=_POOL, bottleneck=_POOL[0]),
    "cores are hardly used": replace(_FREE, tells_cores=True),
    "no call for a batch": _with(verdict="unknown", confidence="low", waits=None, bottleneck=None),
    "no call for a batch, read in part": _with(
        verdict="unknown", waits=None, bottleneck=None, share_seen=0.25
    ),
    "read in part": _with(share_seen=0.25),
    "ops run during the wait": _with(wait_share=0.95),
    "no steps": _waits(shares=[], has_steps=False),
    "one step": _waits(shares=[0.8]),
    "slow at the start": _waits(ratio_all=0.99),
    "time between marks": _waits(between=True),
    "the profiler costs": _with(step_ps=7 * MS),
    "two stages need as much": _with(beside=_load(_BATCH, work_ps=7 * MS)),
    "another needs more": _ranked(_MAP, _SLOWER),
    "devices hand over": replace(_ranked(_MAP, _ON_DEVICE), ends=Ending("tensorflow", _BATCH.stage)),
    "queued": _ranked(_MAP, _QUEUED),
    "the one that limits is queued": _ranked(_QUEUED_ITSELF, _BATCH),
    "functions that work ahead are queued": _ranked(_QUEUED_AHEAD, _BATCH),
    "two models": _with(
        bottleneck=_load(_MAP, model_work_ps=2 * MS, trace_work_ps=8 * MS, work_from="model")
    ),
    "Python": _with(bottleneck=_load(_MAP, python=True)),
    "single ops of a function": _with(bottleneck=_load(_MAP, between_ops_ps=5 * MS)),
    "a function that was not recorded": _unseen(_MAP),
    "two functions that were not recorded": _unseen(_MAP, _BATCH),
    "prefetched": _with(ends=Ending("user", _BATCH.stage)),
    "prefetched by TensorFlow": _with(ends=Ending("tensorflow", _BATCH.stage)),
    "prefetched early": _with(ends=Ending("none", _BATCH.stage, _MAP.stage)),
    "its end is unknown": _with(ends=None),
    "in part ahead": _ranked(*_HALF),
    "ahead by a few elements": _ranked(*_BURSTS),
    "not prefetched, hardly waited for": _FREE,
    "what was taken out": _with(removed=(Removed(1, None), Removed(2, _WRITTEN), Removed(3, _NOWHERE))),
    "written by functions": _with(places={_MAP.stage: [_CALLED], _BATCH.stage: [_WRITTEN]}),
    "written by a lambda": _with(places={_MAP.stage: [replace(_CALLED, arguments=_LAMBDA)]}),
    "written with another": _with(places={_MAP.stage: [_CALLED, _WRITTEN, replace(_WRITTEN, file="b.py")]}),
    "a record of the machine": _with(machine=_IDLE),
    "a full machine": _with(machine=replace(_IDLE, busy=1.0, process_cores=1.0, cores=1)),
    "others on the machine": _with(machine=Machine(4, 1.0, 1.0, 1.5, Threads(1.5, 0.5))),
    "no stage limits, stages work ahead": _with(
        verdict="partly_input_bound", bottleneck=None, loads=tuple(_AHEAD)
    ),
    "runs that were traced in full": _waits(mean_ps=12 * MS),
    "runs that were traced in full show too little": _with(bottleneck=None, unseen=1 * MS),
    "threads that ran ops at once": _with(tells_cores=False, least_threads=2),
    "a ceiling": _with(ceiling=Ceiling(3 * MS, "cpu", ())),
    "a ceiling of the program": _with(ceiling=Ceiling(3 * MS, "program", ())),
}
ODD: dict[str, Oddity] = {
    "lost": Oddity("lost", 1, "the recorder dropped 12 events"),
    "a shared id": Oddity("shared_ids", 1),
    "shared ids": Oddity("shared_ids", 1200),
    "a circle": Oddity("circle", 1),
    "circles": Oddity("circle", 2),
    "one that never returned": Oddity("never_returned", 1),
    "some that never returned": Oddity("never_returned", 3),
}
_THEN = Prediction(4 * MS, 3 * MS, 5 * MS, "cpu")
_AT = "map (transformation 1)"
_CHANGE = PredictedChange("parallelise_map", _AT, {"stage": _AT, "way": "sequential"}, _THEN, True)


def _change(name: str, **facts: object) -> PredictedChange:
    return replace(_CHANGE, name=name, facts={"stage": _AT, **facts})


def _cache(elements: int | None, size: float | None, free: int | None) -> PredictedChange:
    return replace(_change("cache_here"), cache=Footprint(elements, size, free))


CHANGES: dict[str, PredictedChange] = {
    "parallel": _CHANGE,
    "parallel, of TensorFlow 1": _change(
        "parallelise_map", way="sequential", autotune="tf.data.experimental.AUTOTUNE"
    ),
    "parallel already": _change("parallelise_map", way="parallel_already"),
    "more at once": _change("raise_parallelism", width=2),
    "more cores": _change("more_cores", cores=2),
    "many elements at once": _change("vectorise", way="alone", elements=32.0),
    "batches first": _change("vectorise", way="fused", elements=32.0),
    "a larger pool": _change("larger_threadpool", threads=8),
    "threads of ops": _change("intra_op_parallelism", way="by_default"),
    "threads of ops, of TensorFlow 1": replace(
        _change("intra_op_parallelism", way="by_options", threading="experimental_threading"), unknown="ops"
    ),
    "parallel, cores unknown": replace(_CHANGE, unknown="cores"),
    "batches in parallel": _change("parallelise_batch"),
    "branches": _change("parallelise_reading", way="interleave"),
    "branches of a flat_map": _change("parallelise_reading", way="flat_map"),
    "files": _change("parallelise_reading", way="files"),
    "a list of files": _change("list_files_once"),
    "no Python": _change("drop_python"),
    "a smaller shuffle": _change("smaller_shuffle", way="elements"),
    "a smaller shuffle of names": _change("smaller_shuffle", way="names"),
    "any order": replace(_change("any_order"), unknown="order"),
    "copies": _change("outer_parallelism", copies=4, code="tf.data.Dataset.range(4).interleave(…)"),
    "a filter first": _change("move_filter", filter="filter (transformation 2)", kept=0.25),
    "half the work": _change("halve_work"),
    "prefetch": replace(_change("prefetch", way="at_the_end"), batch_bytes=3 * 2**20),
    "prefetch more": _change("prefetch", way="ahead_already"),
    "prefetch for uneven steps": _change("prefetch", way="uneven"),
    "prefetch for uneven steps, autotuned": _change("prefetch", way="uneven_by_autotune"),
    "other hosts": replace(_change("tf_data_service"), unknown="other_hosts"),
    "a cache": _cache(1, 4096.0, 2**30),
    "a cache that is too large": _cache(10**6, 4096.0, 2**20),
    "a cache, memory unknown": _cache(100, 4096.0, None),
    "a cache of no end": _cache(-1, 4096.0, 2**30),
    "a cache of unknown size": _cache(100, None, None),
    "a cache of unknown number": _cache(None, 4096.0, None),
    "a change of a line": replace(
        _CHANGE, code=Code("data.py", 7, "ds.map(f)", "ds.map(f, num_parallel_calls=…)")
    ),
    "a gain nobody can tell": replace(_CHANGE, unknown="many_at_once"),
    "an unknown number of files": replace(_CHANGE, unknown="files"),
    "one file": replace(_change("parallelise_reading", way="files"), unknown="one_file"),
    "an unknown number of branches": replace(_CHANGE, unknown="one_branch"),
    "a function that was not recorded": replace(_CHANGE, unknown="function"),
    "a small gain": replace(_CHANGE, helps=False, why_not="gains_little"),
    "a change that does not work": replace(_CHANGE, helps=False, why_not="does_not_work"),
}
LIMITS = {"program": "program", "threads": "threads", "a stage": "Iterator::Root::BatchV2::Map"}


def _found(one: Diagnosis) -> SourcePipelines:
    return SourcePipelines(0, "r", "h", "trace.pb", [], one)


def reports() -> Iterator[tuple[str, Report]]:
    """Each report by the name of what it is about."""
    yield "pipeline: nothing", pipeline.build(())
    yield "pipeline: nothing, but lost", pipeline.build((), [ODD["lost"]])
    for name, framework in (("tf_profiler", "tensorflow"), ("kineto", "pytorch"), ("viztracer", None)):
        yield f"pipeline: nothing in {name}", Report("", (pipeline.todo([framework]),), ())
    for framework in ("jax", "tensorflow"):
        text = pipeline.todo([framework, None], captured=True)
        yield f"pipeline: nothing in recorded {framework}", Report("", (text,), ())
    yield "pipeline: two", pipeline.build([_found(_BOUND), _found(_FREE)])
    for name, one in PIPELINES.items():
        yield f"pipeline: {name}", pipeline.build([_found(replace(one, changes=()))])
    for name, odd in ODD.items():
        yield f"pipeline: {name}", pipeline.build([_found(_with(odd=(odd,), changes=()))])
    for name, change in CHANGES.items():
        yield f"change: {name}", _changes([change])
    for name, limit in LIMITS.items():
        yield (
            f"change: then {name}",
            _changes([replace(_CHANGE, prediction=replace(_THEN, limits_next=limit))]),
        )
    helpless = replace(_CHANGE, helps=False, why_not="gains_little")
    yield "change: one helps, one does not", _changes([_CHANGE, helpless])


def _changes(changes: Sequence[PredictedChange]) -> Report:
    return pipeline.build([_found(_with(changes=tuple(changes)))])
