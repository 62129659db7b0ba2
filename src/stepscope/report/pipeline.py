"""The tf.data pipeline as a report: the verdict, what speaks for it, the stages, what a change would gain."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stepscope import units
from stepscope.instruments.pipeline import changes, rates
from stepscope.instruments.pipeline.ceiling import Ceiling
from stepscope.instruments.pipeline.diagnoses import Found
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.rates import Load
from stepscope.instruments.pipeline.stages import PROGRAM, Stage
from stepscope.instruments.pipeline.verdict import Diagnosis
from stepscope.instruments.pipeline.waits import PARTLY_FROM, Waits
from stepscope.library import statements
from stepscope.report import advised, promised
from stepscope.report.parts import Change, Column, Diff, Edit, Node, Report, Section, SourceLine, Tree

NOTHING = (
    "These recordings say nothing about an input pipeline: they hold no tf.data events and no waiting for "
    "a batch."
)
_TODO = {
    "tensorflow": "record with tf.profiler.experimental.start(…) around some steps of the loop, in the "
    "process that makes the batches; since TensorFlow 2, RunMetadata and timelines of a session do not "
    "contain these events",
    "kineto": "run `stepscope PATH`, which says how long steps wait for the DataLoader",
    "other": "run `stepscope PATH`, which says what the recording holds",
}
_TENSORFLOW = {"tf_profiler", "tf_timeline", "step_stats", "stepscope", "jax"}
"""Producers of recordings of programs that may have a tf.data pipeline."""


def todo(producers: Iterable[str]) -> str:
    """What to do where no pipeline was found. producers: what wrote the recordings."""
    made_by = set(producers)
    kind = (
        "tensorflow" if made_by & _TENSORFLOW or not made_by else "kineto" if "kineto" in made_by else "other"
    )
    return _TODO[kind]


_TITLES = {
    "input_bound": "The input is the bottleneck",
    "partly_input_bound": "The input is part of the bottleneck",
    "not_input_bound": "The input is not the bottleneck",
    "unknown": "The recording does not show whether the input is the bottleneck",
}
_STAGES = (
    Column("service_ps", "ps", "Per step", "time that the stage needs for a step on its threads"),
    Column("width", "int", "Threads", "threads that share its work"),
    Column("works_ahead", "bool", "Ahead", "it works on threads of its own, ahead of its consumer"),
)
_GAINS = (
    Column("gain_ps", "ps", "Saves", "time by which a step becomes shorter"),
    Column("predicted_step_ps", "ps", "Step then", "predicted duration of a step"),
    Column("low", "ps", "At least", "the least that a step may take then"),
    Column("high", "ps", "At most", "the most that a step may take then"),
)
_WORKS_MEANWHILE = 0.05
"""Part of a step in which a batch is waited for while ops run, from which on that is said."""
_COSTS = 0.05
"""Part of a step that tracing may cost without being told."""


def build(found: Iterable[Found], missing: Sequence[Oddity] = ()) -> Report:
    """The report of all pipelines, the one that waits most first.

    missing: what of the recordings is lost, reported where there is no pipeline."""
    found = ordered(found)
    if not found:
        said = (NOTHING, *map(odd, missing))
        return Report("Input pipeline", said, document=promised.no_pipeline(said))
    if len(found) > 1:
        title, sections = f"{len(found)} input pipelines", tuple(map(group, found))
    else:
        title, sections = found[0].path, tuple(_parts(found[0], "Why"))
    document = promised.pipelines([(one, evidence(one.diagnosis)) for one in found])
    return Report(title, (verdict(found[0].diagnosis),), sections, document=document)


def ordered(found: Iterable[Found]) -> list[Found]:
    """The pipelines, the one that waits most first."""

    def waits(one: Found) -> float:
        return -1.0 if one.diagnosis.waits is None else one.diagnosis.waits.ratio

    return sorted(found, key=lambda one: (-waits(one), one.source_id))


def group(one: Found) -> Section:
    """A pipeline as a section of a larger report."""
    why, *parts = _parts(one, "Input pipeline")
    return Section(
        "pipeline",
        why.title,
        "Is the input the bottleneck, which stage, and what would help?",
        (verdict(one.diagnosis), *why.answer),
        subject=one.path,
        parts=tuple(parts),
    )


def verdict(diagnosis: Diagnosis) -> str:
    """The answer in a sentence."""
    return f"{_TITLES[diagnosis.verdict]} (confidence {diagnosis.confidence})."


def _parts(one: Found, title: str) -> Iterator[Section]:
    diagnosis = one.diagnosis
    yield Section("why", title, "What speaks for the verdict?", tuple(evidence(diagnosis)))
    if diagnosis.loads:
        question = "How much of a step does each stage need?"
        sql = statements.text("pipeline_tree", source_id=one.source_id)
        yield Section("stages", "Stages", question, sql=sql, tree=_tree(diagnosis))
    gaining = [change for change in diagnosis.changes if change.helps and not change.unknown]
    if gaining:
        now = () if diagnosis.step_ps is None else (f"A step takes {_ps(diagnosis.step_ps)} now.",)
        question = "How long would a step take after a change?"
        yield Section("changes", "What a change would gain", question, now, diff=_diff(gaining, diagnosis))
    others = [change for change in diagnosis.changes if change not in gaining]
    if others:
        title = (
            "Changes that gain nothing, or whose gain is unknown" if gaining else "No change gains anything"
        )
        unknown = any(change.unknown for change in others)
        title = title if gaining or not unknown else "No change is known to gain anything"
        question = "Which changes would leave a step about as long as it is?"
        yield Section("no_gain", title, question, diff=_diff(others, diagnosis))


def _tree(diagnosis: Diagnosis) -> Tree:
    """The stages as data flows back: the program that takes the batches first, each with what feeds it."""
    loads, worst = diagnosis.loads, diagnosis.bottleneck
    nodes = []
    if diagnosis.waits is not None:
        traced_ps = diagnosis.waits.step_ps
        untraced_ps = diagnosis.step_ps or traced_ps
        about = f"{_ps(untraced_ps)} when nothing is traced" if untraced_ps != traced_ps else ""
        nodes.append(Node(0, "program", (traced_ps, None, None), about=about))
    first = len(nodes)
    below: dict[int, list[Load]] = {}
    for load in loads:
        above = load.stage.above or next((o.stage for o in loads if o.stage.fed_by is load.stage), None)
        below.setdefault(-1 if above is None else above.number, []).append(load)
    todo = [(load, first) for load in reversed(below.get(-1, []))]
    while todo:
        load, depth = todo.pop()
        written = next((one for one in diagnosis.places.get(load.stage, ())[:1] if one.file), None)
        nodes.append(
            Node(
                depth,
                _label(load.stage),
                (load.service_ps, load.width, load.stage.ahead),
                None if written is None else SourceLine(written.file or "", written.line or 0),
                "bottleneck" if load is worst else "",
            )
        )
        todo += [(one, depth + 1) for one in reversed(below.get(load.stage.number, []))]
    note = "Numbers in brackets are places in your chain of transformations; the source is 0."
    return Tree(_STAGES, tuple(nodes), note)


def _label(stage: Stage) -> str:
    branch, _, last = stage.branch_name.rpartition("::")
    label = f"{branch.rpartition('::')[2]}::{last}" if branch.endswith("]") else last
    return f"{label} · {stage.told('{} ({})')}" if stage.user_stage else label


def _diff(told: Sequence[changes.Change], diagnosis: Diagnosis) -> Diff:
    return Diff(_GAINS, tuple(_change(one, diagnosis.step_ps or 0) for one in told))


def _change(one: changes.Change, now_ps: int) -> Change:
    nothing = (None,) * len(_GAINS)
    if one.unknown:
        return Change(one.name, advised.what(one), None, nothing, advised.unknown(one))
    if not one.helps:
        return Change(one.name, advised.what(one), False, nothing, advised.why_not(one))
    p = one.prediction
    edit = None
    if one.code is not None:
        edit = Edit(SourceLine(one.code.file, one.code.line), one.code.before, one.code.after)
    values = (now_ps - p.step_ps, p.step_ps, p.low_ps, p.high_ps)
    return Change(
        one.name, advised.what(one), True, values, f"then {spoken_limit(p.limits_next)} limits the step", edit
    )


def spoken_limit(name: str) -> str:
    """What limits a step, as the model names it, in words."""
    return {PROGRAM: "the program itself", "cpu": "the CPU", "threads": "the thread pool"}.get(
        name, name.rpartition("::")[2]
    )


def evidence(diagnosis: Diagnosis) -> list[str]:
    """What speaks for the verdict, sentence by sentence."""
    waited = diagnosis.waits
    if waited is not None:
        return [*_judged(diagnosis, waited), *map(odd, diagnosis.odd)]
    said = ["No call that fetches a batch was recorded, so it is unknown whether the program waits."]
    said += map(odd, diagnosis.odd)
    if diagnosis.share_seen < 1:
        share = units.show(diagnosis.share_seen, "ratio")
        said.append(f"Only the first {share} of the pipeline's events were read: record fewer steps.")
    return [*said, "Record while the loop runs, in the process that fetches the batches."]


def odd(one: Oddity) -> str:
    """What is odd about the recording, as a sentence."""
    count = one.number
    if one.kind == "lost":
        return f"A part of the recording is missing ({one.detail}), perhaps with the slowest batches."
    if one.kind == "shared_ids":
        return (
            f"{units.count(count, 'iterator id')} {units.agree(count, 'belongs', 'belong')} to several "
            "stages, so stages may hold each other's times. Record again."
        )
    if one.kind == "circle":
        return (
            f"By their ids, {units.count(count, 'iterator')} {units.agree(count, 'consumes', 'consume')} "
            f"{units.agree(count, 'itself', 'themselves')}, which cannot be right: the tree of stages is "
            "cut there."
        )
    return (
        f"{units.count(count, 'iterator')} never returned during the recording: calls "
        "are recorded when they end. Record for longer than the slowest batch takes."
    )


def _judged(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    ranked, measured_ps = diagnosis.ranked, diagnosis.step_ps
    of_what = "of the step time" if waited.has_steps else "of the time from the first batch to the last"
    share = units.show(waited.ratio, "ratio")
    yield f"{share} {of_what} is spent waiting for input: {_ps(waited.wait_ps)} per step."
    if diagnosis.wait_share is not None and diagnosis.wait_share >= waited.ratio + _WORKS_MEANWHILE:
        shown = units.show(diagnosis.wait_share, "ratio")
        yield f"Fetching batches takes {shown} of it, but the program's ops run during the rest of that time."
    if len(waited.shares) == 1:
        yield f"There is one step: it waits for {units.show(waited.shares[0], 'ratio')} of its time."
    elif waited.shares:
        wait = units.agree(waited.long_waits, "waits", "wait") if waited.long_waits else "waits"
        long_waits = f"{waited.long_waits:,}" if waited.long_waits else "none"
        what = "traced run" if waited.mean_ps is not None else "step"
        yield (
            f"{units.count(len(waited.shares), what)}: the median share of waiting is "
            f"{units.show(waited.median, 'ratio')}, the largest {units.show(max(waited.shares), 'ratio')}; "
            f"{long_waits} {wait} for half of the time or more."
        )
    else:
        yield "No steps were found, so shares refer to the time between batches."
    if waited.ratio_all >= waited.ratio + 0.1:
        yield (
            f"Including the steps that averages leave out, it is {units.show(waited.ratio_all, 'ratio')}: "
            "filling buffers at the start takes long."
        )
    if waited.between:
        yield (
            "The program spends time between the marked steps, so here a step lasts from its start to the "
            "start of the next."
        )
    if measured_ps is not None and measured_ps < (1 - _COSTS) * waited.step_ps:
        yield (
            f"A step took {_ps(measured_ps)} without the profiler and {_ps(waited.step_ps)} with it: "
            "predictions are for steps without it."
        )
    if not diagnosis.loads:
        yield (
            "The recording does not tell the stages of the pipeline: since TensorFlow 2, RunMetadata and "
            "timelines of a session do not contain them. Record with tf.profiler.experimental.start(…)."
        )
        return
    worst = diagnosis.bottleneck
    if worst is not None:
        yield from _about(worst, diagnosis, waited)
    else:
        yield from _no_stage(diagnosis, waited)
    yield from _prefetched(ranked, waited)
    if diagnosis.machine is not None or rates.tells_cores([load.stage for load in diagnosis.loads]):
        yield _cpu(ranked, waited, diagnosis.machine, diagnosis.cores)
    if diagnosis.ceiling is not None:
        yield _ceiling(diagnosis.ceiling, waited)
    if diagnosis.share_seen < 1:
        seen = units.show(diagnosis.share_seen, "ratio")
        yield f"Only the first {seen} of the pipeline's events were read."


def _no_stage(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """Why no stage limits the steps."""
    if diagnosis.unseen is not None and diagnosis.verdict != "not_input_bound":
        yield (
            f"Runs that were traced waited for {_ps(diagnosis.unseen)} each: tracing takes long, and "
            "meanwhile the pipeline works ahead. So the recording does not show which stage holds it up; "
            "without the prefetch, one would."
        )
        return
    if diagnosis.verdict == "not_input_bound":
        if waited.ratio >= PARTLY_FROM:
            yield "No stage needs half of a step: the program waits for a thread or a core, not for data."
        yield "The pipeline keeps up: the time goes to the program itself, or to the Python around it."
        if diagnosis.contends is not None:
            stage = diagnosis.contends.stage
            yield (
                "But both compute on the same cores and wait for them: with less work in "
                f"{stage.branch} ({stage.spoken}), the program's part of a step would be shorter."
            )
        return
    most = max(diagnosis.loads, key=lambda load: load.service_ps, default=None)
    if most is None or not most.service_ps:
        yield "No stage limits the steps: none of them was seen at work."
        return
    said = (
        f"No stage limits the steps: {most.stage.branch} ({most.stage.spoken}) needs most, "
        f"{_ps(most.service_ps)} of {_ps(waited.step_ps)}."
    )
    inside = sum(load.service_ps for load in diagnosis.loads if load.stage.lane == PROGRAM)
    if 2 * inside >= waited.wait_ps:
        yield f"{said} The program waits for all of them, {_ps(inside)} of each step, one after the other."
    else:
        yield f"{said} The program waits for a thread or a core, not for data."


def _about(worst: Load, diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    threads = units.count(worst.width, "thread")
    name = worst.stage.branch
    yield (
        f"{name} ({worst.stage.spoken}) does {_ps(worst.work_ps)} of work per step on {threads}, "
        f"so it needs {_ps(worst.service_ps)}; without waiting, a step would take "
        f"{_ps(waited.step_ps - waited.wait_ps)}."
    )
    others = [load for load in diagnosis.ranked if load is not worst and load.service_ps]
    other = diagnosis.beside
    if other is not None:
        yield (
            f"{other.stage.branch} ({other.stage.spoken}) needs {_ps(other.service_ps)} on threads of its "
            "own: a step becomes much shorter only if both become faster."
        )
    elif others:
        next_one = max(others, key=lambda load: load.service_ps)
        needs = f"{_ps(next_one.service_ps)}"
        if next_one.service_ps <= worst.service_ps:
            yield f"The next stage, {next_one.stage.branch}, needs {needs}."
        else:
            yield (
                f"{next_one.stage.branch} needs more, {needs}, but in parallel with the others: a faster "
                f"{next_one.stage.branch} would gain less than a faster {name}."
            )
    fed = [load for load in diagnosis.ranked if load.stage.fed_by is not None]
    if fed:
        yield (
            "The pipelines of the devices only hand over what the host's pipeline makes "
            f"({fed[0].stage.short} takes it from there)."
        )
    queued = max(others, key=lambda load: load.queue_ps, default=worst)
    if queued is not worst and queued.queue_ps > 0.1 * max(worst.total_ps, 1):
        yield (
            f"{queued.stage.branch} waits {_ps(queued.queue_ps)} for a thread of the pool: "
            "it looks slow but is not."
        )
    if worst.model_work_ps is not None and _differ(worst.model_work_ps, worst.trace_work_ps):
        yield (
            f"tf.data's own model reports {_ps(worst.model_work_ps)} of work per step for it, the trace "
            f"{_ps(worst.trace_work_ps)}; stepscope uses the {worst.work_from}."
        )
    if worst.python:
        yield "It runs a py_function: Python's interpreter lock lets one call compute at a time."


def _differ(one: int, other: int) -> bool:
    return 3 * max(one, other) > 4 * min(one, other)


def _prefetched(ranked: Sequence[Load], waited: Waits) -> list[str]:
    """What runs beside the step, and what the program waits for while it runs."""
    taken = [load for load in ranked if load.stage.taken or any(one.stage.fed_by for one in ranked)]
    inside = sum(load.service_ps for load in taken if load.stage.lane == PROGRAM)
    beside = sum(load.service_ps for load in taken if load.stage.lane != PROGRAM)
    if not inside and not beside:
        return []
    if not any(load.stage.ahead for load in taken):
        return ["Nothing is prefetched: the whole pipeline runs while the program waits for its batch."]
    if inside <= 0.1 * (inside + beside):
        return ["It is prefetched: the pipeline runs on threads of its own, in parallel with the step."]
    return [f"It is partly prefetched: {_ps(inside)} per step runs only when the program asks for a batch."]


def _cpu(ranked: Sequence[Load], waited: Waits, machine: Machine | None, cores: int) -> str:
    """Whether the CPU is full, and how that is known."""
    if machine is not None:
        own = "" if machine.process_cores is None else f", {machine.process_cores:.1f} by the program"
        what = "The CPU is full" if machine.full else "The CPU is not full"
        said = (
            f"{what}: {units.show(machine.busy, 'ratio')} of {units.count(machine.cores, 'core')} was used "
            f"during the steps{own} (from the record of the machine)."
        )
        if machine.crowded:
            said += (
                f" Other programs keep {machine.others:.1f} of them busy: on a quiet machine everything "
                "would be faster and predictions surer."
            )
        return said
    used = sum(load.cpu_ps for load in ranked) / max(waited.step_ps, 1)
    shown = f"{used:.1f}" if used >= 0.1 else "less than 0.1"
    return (
        f"The pipeline keeps {shown} of {units.count(cores, 'core')} busy (from the trace, which does not "
        "see other programs; `stepscope record` samples the machine as well)."
    )


def _ceiling(best: Ceiling, waited: Waits) -> str:
    limits = spoken_limit(best.limits)
    return (
        f"With the best parallelism and prefetching, a step would take {_ps(best.step_ps)} on this "
        f"machine; then {limits} limits it."
    )


def _ps(value: int) -> str:
    return units.show(value, "ps")
