"""What the JSON of a verb has promised to programs: keys beside those that every report has.

A key goes away or changes its meaning only when the version of the form is raised. Times are integer
picoseconds, sizes bytes, shares 0 to 1.
"""

from collections.abc import Sequence
from typing import Any

from stepscope.instruments.memory.allocators import AllocatorMemory
from stepscope.instruments.memory.blocks import MemoryBlock
from stepscope.instruments.memory.peak import code_of, holders, op_of, scope_of
from stepscope.instruments.memory.pools import fragmentation, rounded_up
from stepscope.instruments.memory.whatif import MemoryWhatIf
from stepscope.instruments.pipeline.changes import PredictedChange
from stepscope.instruments.pipeline.diagnoses import SourcePipelines
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.verify import Verification
from stepscope.instruments.pipeline.waits import Waits
from stepscope.report import pipeline_changes
from stepscope.report.pipeline_questions import Question, sentences

_POINTS = 2000
"""Points of the curve; all of it is in the table buffer."""


def pipelines(found: Sequence[tuple[SourcePipelines, Sequence[Question]]]) -> dict[str, Any]:
    """Pipelines with what speaks for their verdicts: the first one as the document, the others below it."""
    first, *others = (_pipeline(source_pipelines, asked) for source_pipelines, asked in found)
    return {**first, "others": others}


def no_pipeline(evidence: Sequence[str], waits: float | None = None) -> dict[str, Any]:
    """The same where there is none of tf.data. waits: what waiting for a DataLoader takes of the steps."""
    return {
        "verdict": "unknown",
        "confidence": "low",
        "wait_ratio": waits,
        "bottleneck": None,
        "changes": [],
        "evidence": list(evidence),
        "questions": [],
        "stages": [],
        "others": [],
    }


def memory(asked: Sequence[tuple[AllocatorMemory, Sequence[MemoryWhatIf], Sequence[str]]]) -> dict[str, Any]:
    """Allocators, with the effect of changes on their peaks and all other facts."""
    return {"allocators": [_allocator(*answer) for answer in asked]}


def verification(result: Verification, edits: Sequence[str], before: str, after: str) -> dict[str, Any]:
    """A prediction and what was measured."""
    change = result.change
    return {
        "before": before,
        "after": after,
        "edits": list(edits),
        "before_step_ps": result.before_ps,
        "after_step_ps": result.after_ps,
        **_taken(result, "untraced", "turns"),
        "others_before": None if result.neighbours is None else result.neighbours.before,
        "others_after": None if result.neighbours is None else result.neighbours.after,
        **_taken(result, "disturbed", "helped", "as_predicted"),
        "change": None if change is None else change.name,
        **_predicted(change),
    }


def _taken(source: object | None, *names: str) -> dict[str, Any]:
    """Attributes as keys of the same names; nulls where there is no source."""
    return {name: None if source is None else getattr(source, name) for name in names}


def _predicted(change: PredictedChange | None) -> dict[str, int | None]:
    """What a change is predicted to do to the step, in picoseconds; nulls where that is not known."""
    prediction = None if change is None or change.unknown else change.prediction
    return {
        "predicted_step_ps": None if prediction is None else prediction.step_ps,
        "low": None if prediction is None else prediction.low_ps,
        "high": None if prediction is None else prediction.high_ps,
    }


def _pipeline(source_pipelines: SourcePipelines, asked: Sequence[Question]) -> dict[str, Any]:
    diagnosis, waits = source_pipelines.diagnosis, source_pipelines.diagnosis.waits
    worst = diagnosis.bottleneck
    return {
        **_taken(source_pipelines, "path", "run_id", "host_id"),
        **_taken(diagnosis, "verdict", "confidence"),
        **_waits(waits, diagnosis.step_ps),
        "bottleneck": None if worst is None else _stage(worst, diagnosis),
        "beside": None if diagnosis.beside is None else diagnosis.beside.stage.branch_name,
        "changes": [_change(change, diagnosis) for change in diagnosis.changes],
        "evidence": sentences(asked),
        "questions": [{"question": question.title, "answer": list(question.answer)} for question in asked],
        "prefetch": None if diagnosis.ends is None else diagnosis.ends.prefetch,
        "removed": [removed.position for removed in diagnosis.removed],
        "cores": diagnosis.cores,
        "cores_told": diagnosis.tells_cores,
        "share_seen": diagnosis.share_seen,
        "stages": [_stage(load, diagnosis) for load in diagnosis.loads],
        "ceiling": _ceiling(diagnosis),
        "machine": _machine(diagnosis),
        "model": _model(diagnosis),
    }


def _waits(waits: Waits | None, step_ps: int | None) -> dict[str, Any]:
    return {
        "wait_ratio": None if waits is None else waits.ratio,
        "wait_ratio_with_first_steps": None if waits is None else waits.ratio_all,
        "step_ps": step_ps,
        "traced_step_ps": None if waits is None else waits.step_ps,
        "wait_ps": None if waits is None else waits.wait_ps,
        "wait_shares": [] if waits is None else waits.shares,
        "steps_found": waits is not None and waits.has_steps,
    }


def _change(change: PredictedChange, diagnosis: Diagnosis) -> dict[str, Any]:
    return {
        "name": change.name,
        "stage": change.stage,
        "what": pipeline_changes.what(change),
        "helps": None if change.unknown else change.helps,
        "unknown": pipeline_changes.unknown(change) or None,
        "gain_ps": _gain(change, diagnosis),
        **_predicted(change),
        "limits_next": None if change.unknown else change.prediction.limits_next,
        "code": None if change.code is None else _taken(change.code, "file", "line", "before", "after"),
    }


def _ceiling(diagnosis: Diagnosis) -> dict[str, Any] | None:
    if diagnosis.ceiling is None:
        return None
    return {
        "step_ps": diagnosis.ceiling.step_ps,
        "limits": diagnosis.ceiling.limits,
        "cores": [{"stage": stage, "cores": cores} for stage, cores in diagnosis.ceiling.cores],
    }


def _machine(diagnosis: Diagnosis) -> dict[str, Any] | None:
    if diagnosis.machine is None:
        return None
    return {
        **_taken(diagnosis.machine, "cores", "busy"),
        "busiest_core": diagnosis.machine.busiest,
        **_taken(diagnosis.machine, "process_cores", "full"),
    }


def _model(diagnosis: Diagnosis) -> dict[str, Any] | None:
    if diagnosis.accounts is None:
        return None
    return {
        "batches": diagnosis.accounts.batches,
        "consumer_gap_ps": diagnosis.accounts.gap_ps,
        "cpu_budget": diagnosis.accounts.cores,
        "ram_budget_bytes": diagnosis.accounts.ram_bytes,
    }


def _gain(change: PredictedChange, diagnosis: Diagnosis) -> int | None:
    """By how much a step becomes shorter, in picoseconds; null where that is not known."""
    if change.unknown or diagnosis.step_ps is None:
        return None
    return diagnosis.step_ps - change.prediction.step_ps


def _stage(load: Load, diagnosis: Diagnosis) -> dict[str, Any]:
    stage, account = load.stage, load.account
    places = diagnosis.places.get(stage, ())
    return {
        "stage": stage.branch_name,
        **_taken(stage, "name", "branch_name", "user_stage"),
        "user_position": stage.position,
        **_taken(stage, "pipeline", "number"),
        "consumer": None if stage.above is None else stage.above.number,
        "fed_by": None if stage.fed_by is None else stage.fed_by.number,
        "works_ahead": stage.ahead,
        **_taken(load, "calls", "total_ps", "work_ps", "service_ps", "in_waits_ps", "queue_ps", "width"),
        "parallelism": stage.parallelism,
        "threads": load.threads,
        "runs_python": load.python,
        **_taken(load, "cpu_ps", "trace_work_ps", "model_work_ps", "work_from"),
        **_taken(account, "batch_bytes"),
        "elements_per_batch": None if account is None else account.visits,
        "buffer_fill": None if account is None else account.buffered,
        "code": [_taken(place, "transformation", "file", "line", "text") for place in places],
    }


def _allocator(
    allocator_memory: AllocatorMemory, changes: Sequence[MemoryWhatIf], evidence: Sequence[str]
) -> dict[str, Any]:
    points = allocator_memory.curve
    thin = max(len(points) // _POINTS, 1)
    found = allocator_memory.compared
    pieces = fragmentation(allocator_memory.held.pools, allocator_memory.peak.ts_ps)
    return {
        **_taken(
            allocator_memory, "path", "run_id", "host_id", "allocator", "device", "recorded", "complete"
        ),
        "peak_bytes": allocator_memory.peak.bytes,
        "peak_ps": allocator_memory.peak.ts_ps,
        "held_before_bytes": allocator_memory.held.base_bytes
        + sum(b.bytes for b in allocator_memory.held.blocks if b.born_ps is None),
        "contradictions": allocator_memory.held.contradictions,
        "rounded_up_bytes": rounded_up(allocator_memory.peak.blocks),
        "fragmentation": None if pieces is None else vars(pieces),
        "at_peak": {
            "by_op": [vars(row) for row in holders(allocator_memory.peak.blocks, op_of)],
            "by_scope": [vars(row) for row in holders(allocator_memory.peak.blocks, scope_of(2))],
            "by_code": [vars(row) for row in holders(allocator_memory.peak.blocks, code_of)],
            "by_kind": [vars(row) for row in holders(allocator_memory.peak.blocks, lambda block: block.kind)],
            "tensors": [_block(block) for block in allocator_memory.peak.blocks],
        },
        "never_freed": [_block(block) for block in allocator_memory.never_freed],
        "lifetimes": None
        if found is None
        else {
            **_taken(found, "buffers", "compared"),
            "within_100_us": found.within,
            "median_late_ps": found.median_late_ps,
            "freed_before_last_use": found.earlier,
            "held_longer": [_block(block) for block in found.later],
        },
        "graph_peak_bytes": None
        if allocator_memory.graph_peak is None
        else allocator_memory.graph_peak.bytes,
        "timeline_peak_bytes": allocator_memory.timeline_bytes,
        "changes": [_whatif(change) for change in changes],
        "curve": [{"ts_ps": ts, "bytes": held} for ts, held in points[::thin]],
        "curve_is_thinned": thin > 1,
        "evidence": list(evidence),
    }


def whatif_words(memory_what_if: MemoryWhatIf) -> tuple[str, str]:
    """A change of what holds memory, and what to know of its figures."""
    if memory_what_if.kind == "recompute":
        return (
            "recompute these ops" if memory_what_if.meant else "recompute cheap ops for their later readers",
            "an upper bound: the inputs of what is recomputed must be available again as well",
        )
    if memory_what_if.kind == "half_precision":
        return (
            f"{'these' if memory_what_if.meant else 'all'} tensors in half precision",
            "variables, and values that must stay exact (sums, losses), usually keep full precision",
        )
    size = memory_what_if.batch or 0
    return (
        f"half the batch ({size} to {size // 2})",
        f"assuming that a tensor whose first dimension is {size} holds a batch",
    )


def _whatif(memory_what_if: MemoryWhatIf) -> dict[str, Any]:
    what, note = whatif_words(memory_what_if)
    return {
        "change": what,
        **_taken(memory_what_if, "peak_bytes", "saved_bytes", "blocks", "cost_ps"),
        "note": note,
    }


def _block(block: MemoryBlock) -> dict[str, Any]:
    return {
        "op": block.op_name,
        **_taken(block, "op_type", "slot", "dtype", "shape", "kind"),
        "code": None if block.code is None else vars(block.code),
        **_taken(block, "bytes", "born_ps", "freed_ps", "last_use_ps"),
    }
