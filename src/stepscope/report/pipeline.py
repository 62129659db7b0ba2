"""The tf.data pipeline as a report: the verdict, what speaks for it, the stages, what a change would gain."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from stepscope import units
from stepscope.instruments.pipeline import changes
from stepscope.instruments.pipeline.chain import Removed
from stepscope.instruments.pipeline.diagnoses import SourcePipelines as SourcePipelines
from stepscope.instruments.pipeline.diagnoses import find, otherwise
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.loaders import Loading
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.library import statements
from stepscope.report import document_keys, pipeline_changes
from stepscope.report import loading as loaders
from stepscope.report.parts import Change, Column, Diff, Edit, Report, Section, SourceLine, Tree, TreeNode
from stepscope.report.pipeline_questions import questions, sentences
from stepscope.report.remains import spread
from stepscope.report.stage_names import label, limit, numbering, runs_as
from stepscope.report.waiting_answer import odd

NOTHING = (
    "These recordings say nothing about the stages of an input pipeline: they hold no tf.data events and no "
    "waiting for a DataLoader."
)
_TODO = {
    "tensorflow": "run `stepscope record -- python …`, or in TensorFlow 2.2 and newer record with "
    "tf.profiler.experimental.start(…) around some steps of the loop, in the process that makes the batches; "
    "since TensorFlow 2, RunMetadata and timelines of a session do not contain these events, and what a "
    "program feeds into its runs, or takes from a queue of the graph, has none",
    "captured": "run `stepscope PATH`, which says what steps wait for: what a program feeds into its runs, "
    "or takes from a queue of the graph, has no stages",
    "pytorch": "run `stepscope PATH`, which says how long steps wait for the DataLoader",
    "jax": "run `stepscope PATH`, which says what the program's own Python takes: pipelines are seen of "
    "tf.data and of PyTorch's DataLoader",
    "other": "run `stepscope PATH`, which says what the recording holds",
}


def todo(frameworks: Collection[str | None], captured: bool = False) -> str:
    """What to do where no pipeline was found. frameworks: of the sources. captured: a recorder of ours, which
    sees tf.data in a program of JAX, too, wrote one of them."""
    if frameworks and not captured and not any(frameworks):
        return _TODO["other"]
    of = set(frameworks) - {None}
    if of == {"pytorch"}:
        return _TODO["pytorch"]
    if captured:
        return _TODO["jax" if of == {"jax"} else "captured"]
    return _TODO["tensorflow"]


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
    Column("runs_as", "text", "Runs as", "what TensorFlow made of it"),
)
_GAINS = (
    Column("gain_ps", "ps", "Saves", "time by which a step becomes shorter"),
    Column("predicted_step_ps", "ps", "Step then", "predicted duration of a step"),
    Column("low", "ps", "At least", "the least that a step may take then"),
    Column("high", "ps", "At most", "the most that a step may take then"),
)


class Pipelines(NamedTuple):
    """The input pipelines of recordings: the parameters of build()."""

    found: Sequence[SourcePipelines]
    missing: Sequence[Oddity]
    loading: Sequence[Loading]


def read(query: statements.Query) -> Pipelines:
    """The pipelines of recordings; without any, the other evidence about their input."""
    found = find(query)
    return Pipelines(found, *otherwise(query, found))


def build(
    found: Iterable[SourcePipelines], missing: Sequence[Oddity] = (), loading: Sequence[Loading] = ()
) -> Report:
    """The report of all pipelines, the one that waits most first.

    missing: what of the recordings is lost, loading: what is known of DataLoaders of PyTorch; both are
    reported where there is no pipeline of tf.data."""
    found = ordered(found)
    if not found:
        headline = (*(loaders.sentences(loading) if loading else (NOTHING,)), *map(odd, missing))
        document = document_keys.no_pipeline(headline, loading[0].share if loading else None)
        return Report("Input pipeline", headline, document=document)
    if len(found) > 1:
        title, sections = f"{len(found)} input pipelines", tuple(map(group, found))
    else:
        title, sections = found[0].path, tuple(_parts(found[0]))
    document = document_keys.pipelines([(pipelines, questions(pipelines.diagnosis)) for pipelines in found])
    first = found[0].diagnosis
    return Report(title, (verdict(first), *_what_helps_most(first)), sections, document=document)


def ordered(found: Iterable[SourcePipelines]) -> list[SourcePipelines]:
    """The pipelines, the one that waits most first."""

    def waits(pipelines: SourcePipelines) -> float:
        return -1.0 if pipelines.diagnosis.waits is None else pipelines.diagnosis.waits.ratio

    return sorted(found, key=lambda pipelines: (-waits(pipelines), pipelines.source_id))


def group(pipelines: SourcePipelines) -> Section:
    """A pipeline as a section of a larger report."""
    return Section(
        "pipeline",
        "Input pipeline",
        "Is the input the bottleneck, which stage, and what would help?",
        (verdict(pipelines.diagnosis),),
        subject=pipelines.path,
        parts=tuple(_parts(pipelines)),
    )


def verdict(diagnosis: Diagnosis) -> str:
    """The answer in a sentence."""
    return f"{_TITLES[diagnosis.verdict]} (confidence {diagnosis.confidence})."


def _what_helps_most(diagnosis: Diagnosis) -> Iterator[str]:
    """The change that saves most, where one is known to help: the rest of the answer is long."""
    change = next((change_ for change_ in diagnosis.changes if change_.helps and not change_.unknown), None)
    if change is None or diagnosis.step_ps is None:
        return
    at = "" if change.code is None else f", in {change.code.file}:{change.code.line}"
    then = change.prediction
    yield (
        f"What helps most: {pipeline_changes.what(change)}{at}. A step would take {_ps(then.step_ps)}"
        f"{spread(then.low_ps, then.high_ps)} instead of {_ps(diagnosis.step_ps)}."
    )


def _parts(pipelines: SourcePipelines) -> Iterator[Section]:
    diagnosis = pipelines.diagnosis
    for asked in questions(diagnosis):
        yield Section(asked.name, asked.title, asked.title.partition(" ")[2], asked.answer)
    if diagnosis.loads:
        question = "How much of a step does each stage need?"
        sql = statements.text("pipeline_tree", source_id=pipelines.source_id)
        gone = tuple(map(_gone, diagnosis.removed))
        yield Section("stages", "Stages", question, gone, sql=sql, tree=_tree(diagnosis))
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
        nodes.append(_program(diagnosis.waits.step_ps, diagnosis.step_ps))
    first = len(nodes)
    below = _inputs_by_consumer(loads)
    todo = [(load, first) for load in reversed(below.get(-1, []))]
    while todo:
        load, depth = todo.pop()
        written = next((stage for stage in diagnosis.places.get(load.stage, ())[:1] if stage.file), None)
        service_ps = load.service_ps if load.work_ps or (load.calls and not load.unseen) else None
        nodes.append(
            TreeNode(
                depth,
                label(load.stage),
                (service_ps, load.width, load.stage.ahead, runs_as(load.stage)),
                None if written is None else SourceLine(written.file or "", written.line or 0),
                "bottleneck" if load is worst else "",
            )
        )
        todo += [(fed, depth + 1) for fed in reversed(below.get(load.stage.number, []))]
    return Tree(_STAGES, tuple(nodes), numbering([load.stage for load in loads]))


def _program(traced_ps: int, step_ps: int | None) -> TreeNode:
    """What takes the batches. step_ps: duration of a step without what the profiler's events cost."""
    differs = step_ps is not None and step_ps not in (0, traced_ps)
    about = f"about {_ps(step_ps or 0)} without what the profiler's events cost" if differs else ""
    return TreeNode(0, "program", (traced_ps, None, None, None), about=about)


def _inputs_by_consumer(loads: Sequence[Load]) -> dict[int, list[Load]]:
    """The stages that feed each one, by its number; -1 for the program."""
    below: dict[int, list[Load]] = {}
    for load in loads:
        above = load.stage.above or next((o.stage for o in loads if o.stage.fed_by is load.stage), None)
        below.setdefault(-1 if above is None else above.number, []).append(load)
    return below


def _gone(removed: Removed) -> str:
    """That TensorFlow took a transformation out, as a sentence."""
    name, written = f"transformation {removed.position}", removed.written
    if written is not None:
        at = "" if written.file is None else f" in {written.file}:{written.line}"
        name = f".{written.transformation}{at} ({name})"
    return f"TensorFlow took {name} out of your chain, as it does with what changes nothing."


def _diff(predicted: Sequence[changes.PredictedChange], diagnosis: Diagnosis) -> Diff:
    return Diff(_GAINS, tuple(_change(change, diagnosis) for change in predicted))


def _change(change: changes.PredictedChange, diagnosis: Diagnosis) -> Change:
    nothing = (None,) * len(_GAINS)
    if change.unknown:
        return Change(
            change.name, pipeline_changes.what(change), None, nothing, pipeline_changes.unknown(change)
        )
    if not change.helps:
        return Change(
            change.name, pipeline_changes.what(change), False, nothing, pipeline_changes.why_not(change)
        )
    p = change.prediction
    edit = None
    if change.code is not None:
        edit = Edit(SourceLine(change.code.file, change.code.line), change.code.before, change.code.after)
    values = ((diagnosis.step_ps or 0) - p.step_ps, p.step_ps, p.low_ps, p.high_ps)
    limits = limit(p.limits_next, [load.stage for load in diagnosis.loads], diagnosis.places)
    return Change(
        change.name, pipeline_changes.what(change), True, values, f"then {limits} limits the step", edit
    )


def evidence(diagnosis: Diagnosis) -> list[str]:
    """What speaks for the verdict, sentence by sentence."""
    return sentences(questions(diagnosis))


def _ps(value: int) -> str:
    return units.show(value, "ps")
