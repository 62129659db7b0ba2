"""Lines of the program that a part of the steps comes from, by the samples of its stacks."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes import call_paths
from stepscope.instruments.causes.call_paths import CallPath, FunctionKey, function_of, innermost_call
from stepscope.instruments.causes.cause_facts import SampleCounts
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.step_breakdown import labels, stack_samples
from stepscope.instruments.step_breakdown.labels import Label, Meaning
from stepscope.instruments.thresholds import ANY, tuned
from stepscope.library.statements import Query, statement


@dataclass(frozen=True, eq=False, repr=False)
class SampleThresholds:
    """When samples of stacks show a line."""

    few: int = tuned(
        5, "so few samples of other things say nothing of where all of them come from", slack=ANY
    )


THRESHOLDS = SampleThresholds()
_INNER = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")


@dataclass(frozen=True)
class LineSearch:
    """How the line of a label is found among its samples."""

    stands_in: Label | None = None
    """A label whose samples show the line if this one has none: slices tell the two apart, stacks do not."""
    of_loop: bool = False
    """The line of the loop of steps is named, and the function within that has most of the time."""
    by_function: bool = False
    most_of: float | None = None
    functions_too: bool = False
    """These three as in `innermost_call`."""
    forward: bool = False
    """Gradients count to the call whose gradients they are. The call that asks for all of them is named only
    if there is no other."""


class SampledStacks(NamedTuple):
    """The stacks of a source."""

    loaders: frozenset[int]
    """Those on which a loader has called the program's own Python, which runs or calls a framework."""
    paths: dict[int, CallPath]
    """The program's own calls on each, up to where a framework converts or compiles."""
    meanings: dict[int, Meaning]
    """What each stands for."""
    loops: frozenset[FunctionKey]
    """The functions with the loop of steps."""
    called_back: dict[int, CallPath]
    """The program's own calls on those on which an op calls Python, from that on."""
    gradients: frozenset[int] = frozenset()
    """Those on which a framework runs gradients, and no code of the program within."""
    recomputing: frozenset[int] = frozenset()
    """Those on which a framework computes again what it did not keep for gradients."""
    hooks: Mapping[int, CallPath] = {}
    """The program's own calls on those on which Keras runs callbacks of a batch, from that on."""
    models: Mapping[int, CallPath] = {}
    """The program's own calls on those on which a framework loads a model or makes its layers, up to that."""


Stacks = Mapping[int, SampledStacks]
"""Those of a host, by the source that has them."""


class StackEvidence(NamedTuple):
    """Samples of the stacks of a host, and the sources whose steps are judged."""

    query: Query
    stacks: Stacks
    sources: Sequence[int]
    averaged: bool = False
    """Whether only the steps that averages include are judged."""

    def samples(self, main: int) -> Iterator[tuple[SampledStacks, list[tuple[Any, ...]]]]:
        """Rows of the samples that begin within such a step: stack, weight_ps, active_ps, queued_ps. main: 1
        for those of the driving thread, 0 for those of all others."""
        for source_id, stacks in self.stacks.items():
            steps = partial(statement, sources=self.sources, averaged=int(self.averaged))
            yield stacks, self.query(steps("samples_in_steps", source_id=source_id, main=main)).rows()

    def parts(self) -> list[tuple[int, int, Label, int]]:
        """What samples of the driving thread see of the steps: a step, a stack, a label, picoseconds."""
        asked = statement("parts_by_stack", sources=self.sources, averaged=int(self.averaged))
        return self.query(asked).rows()

    @property
    def paths(self) -> dict[int, CallPath]:
        """The program's own calls on each stack."""
        return {stack: path for stacks in self.stacks.values() for stack, path in stacks.paths.items()}

    def number(self) -> int:
        """How many samples of the driving thread lie in steps."""
        return sum(len(rows) for _, rows in self.samples(1))

    @property
    def loops(self) -> frozenset[FunctionKey]:
        """The functions with the loop of steps."""
        return frozenset(key for stacks in self.stacks.values() for key in stacks.loops)

    def runs_graphs(self) -> bool:
        """Whether some of them were taken while a session ran its graph."""
        if not self.stacks:
            return False
        rows = self.query(statement("frames_of_stacks", sources=list(self.stacks))).rows()
        return any(labels.runs_graph(row[3] or "", row[5] or "") for row in rows)

    def times(self, label: str, forward: bool = False) -> tuple[Counter[CallPath], Counter[CallPath]]:
        """The time of the steps by the calls on the stack: that of one label, and that of all labels. A stack
        alone cannot tell a thread that runs a line from one that waits in it for ops. forward: without
        gradients."""
        took: Counter[CallPath] = Counter()
        everything: Counter[CallPath] = Counter()
        left_out = {stack for stacks in self.stacks.values() if forward for stack in stacks.gradients}
        paths = self.paths
        for _, stack_id, part, dur_ps in self.parts():
            if (path := paths.get(stack_id)) and stack_id not in left_out:
                everything[path] += dur_ps
                if part == label:
                    took[path] += dur_ps
        return took, everything


def stacks_of_host(query: Query, run_id: str, host_id: str) -> Stacks:
    """The stacks of a host, by the source that has them."""
    rows = query(statement("sampled_sources", run_id=run_id, host_id=host_id)).rows()
    return {source_id: _stacks(query, source_id) for (source_id,) in rows}


class _LabelledPaths:
    """The samples of the driving thread by the calls on them. forward: without gradients."""

    def __init__(self, evidence: StackEvidence, forward: bool) -> None:
        self.weights: dict[str | None, Counter[CallPath]] = defaultdict(Counter)
        """Picoseconds by label."""
        self.number: dict[str | None, dict[CallPath, float]] = defaultdict(lambda: defaultdict(float))
        """How many samples by label; the shares of those that several labels share."""
        self.everything: Counter[CallPath] = Counter()
        """Picoseconds, gradients included."""
        self.looks: Counter[CallPath] = Counter()
        for stacks, rows in evidence.samples(1):
            for stack_id, weight_ps, active_ps, queued_ps in rows:
                path = stacks.paths.get(stack_id, ())
                self.everything[path] += weight_ps
                if forward and stack_id in stacks.gradients:
                    continue
                self.looks[path] += 1
                ran = labels.part_run(weight_ps, active_ps, queued_ps)
                meaning = stacks.meanings.get(stack_id, labels.NOTHING)
                for part, share in labels.shares(meaning.label, ran) if path else ():
                    self.weights[part][path] += round(share * weight_ps)
                    self.number[part][path] += share


def line_of_label(evidence: StackEvidence, label: Label, search: LineSearch) -> Explanation:
    """Where the program spends what counts to a label, and from where that was called."""
    seen = _LabelledPaths(evidence, search.forward)
    known = label if seen.weights[label] else search.stands_in
    weights, counted = seen.weights[known], seen.number[known]
    if search.of_loop:
        few = evidence.number() - sum(counted.values()) < THRESHOLDS.few
        took, all_took = evidence.times(label)
        if not took:
            took, all_took = weights, seen.everything
        if (found := call_paths.loop_line(took, all_took, evidence.loops, few)) is not None:
            spent_in = call_paths.innermost_function(found[0], took)
            return _counted(*found, counted, by_line=True, spent_in=spent_in)
    if search.forward:
        took, all_took = evidence.times(label, forward=True)
        if took:
            weights = took
            counted = {path: seen.looks[path] * ps / all_took[path] for path, ps in took.items()}
    call = innermost_call(weights, search.by_function, search.most_of, functions_too=search.functions_too)
    return _counted(*call, counted)


def line_of_loader(evidence: StackEvidence, least: float | None) -> Explanation:
    """The line of the program's own Python in which threads of a loader, or of an op that calls Python, spend
    most of the time. least: the part of the steps that they have to compute in such Python; None where it is
    known that the loader's time goes there, so that what sleeps or reads in it counts, too."""
    weights: Counter[CallPath] = Counter()
    number: dict[CallPath, float] = defaultdict(float)
    sampled_ps = sum(weight_ps for _, rows in evidence.samples(1) for _, weight_ps, *_ in rows)
    for stacks, rows in evidence.samples(0):
        for stack_id, weight_ps, active_ps, queued_ps in rows:
            if stack_id in stacks.loaders and (path := stacks.paths.get(stack_id)):
                ran = labels.part_run(weight_ps, active_ps, queued_ps)
                whole = least is None or ran is None or active_ps is None or ran >= labels.PREEMPTED
                weights[path] += weight_ps if whole else active_ps
                number[path] += 1
    if sum(weights.values()) < (least or 0.0) * sampled_ps:
        return Explanation()
    return _counted(*innermost_call(weights, by_function=True), number)


def line_of_callbacks(evidence: StackEvidence) -> Explanation:
    """The line of what ops call that has most of the time, on whatever thread they run it."""
    weights: Counter[CallPath] = Counter()
    number: dict[CallPath, float] = defaultdict(float)
    for main in (1, 0):
        for stacks, rows in evidence.samples(main):
            for stack_id, weight_ps, *_ in rows:
                if path := stacks.called_back.get(stack_id):
                    weights[path] += weight_ps
                    number[path] += 1
    return _counted(*innermost_call(weights, by_function=True, first_too=True), number)


def _counted(
    place: CodeLine | None,
    called_from: CodeLine | None,
    number: Mapping[CallPath, float],
    by_line: bool = False,
    spent_in: CodeLine | None = None,
) -> Explanation:
    """A line with the samples that speak for it: those that pass through its function, or through the line
    itself where others of the same function are other places."""
    if place is None:
        return Explanation()
    weight_at_place = 0.0
    others: dict[object, float] = defaultdict(float)
    for path, many in number.items():
        if any(call == place if by_line else function_of(call) == function_of(place) for call in path):
            weight_at_place += many
        else:
            others[path[-1] if by_line else function_of(path[-1])] += many
    samples = SampleCounts(sum(number.values()), weight_at_place, max(others.values(), default=0.0))
    return Explanation(place=place, called_from=called_from, spent_in=spent_in, samples=samples)


class _Within(dict[int, int]):
    """Stacks on which some frame lies, by how many calls of the program are around it."""

    def follow(self, stack_id: int, parent_id: int, begins: bool, depth: int, inner: bool = False) -> None:
        """Adds a stack. begins: its innermost frame is such a frame. inner: of several, the innermost counts,
        not the outermost."""
        if parent_id in self and not (begins and inner):
            self[stack_id] = self[parent_id]
        elif begins:
            self[stack_id] = depth


def _stacks(query: Query, source_id: int) -> SampledStacks:
    paths: dict[int, CallPath] = {}
    meanings: dict[int, Meaning] = {}
    loops: set[FunctionKey] = set()
    gradients: set[int] = set()
    called, recomputing, hooked, models = _Within(), _Within(), _Within(), _Within()
    making = {stack_id for (stack_id,) in query(statement("model_stacks", source_id=source_id)).rows()}
    frames = query(statement("frames_of_stacks", sources=[source_id])).rows()
    for _, stack_id, parent_id, file, line, function, code, has_loop in frames:
        around = meanings.get(parent_id, labels.NOTHING)
        path = paths.get(parent_id, ())
        if code == "program" and file is not None and _goes_on(around):
            path = _extended(path, CodeLine(file, line, function))
            if has_loop:
                loops.add((file, function))
        paths[stack_id] = path
        place, is_foreign, depth = (file or "", function or ""), code != "program", len(path)
        if is_foreign and (parent_id in gradients or labels.runs_gradients(*place)):
            gradients.add(stack_id)
        called.follow(stack_id, parent_id, labels.calls_back(place[0], code), depth, inner=True)
        recomputing.follow(stack_id, parent_id, labels.recomputes(*place), depth)
        hooked.follow(stack_id, parent_id, is_foreign and labels.runs_hooks(*place), depth)
        models.follow(stack_id, parent_id, is_foreign and bool(path) and stack_id in making, depth)
        meanings[stack_id] = labels.nested_meaning(around, labels.frame_meaning(place[0], function, code))
    return SampledStacks(
        stack_samples.loader_stacks(query, source_id, calling=True),
        paths,
        meanings,
        frozenset(loops),
        {stack_id: paths[stack_id][depth:] for stack_id, depth in called.items()},
        frozenset(gradients),
        frozenset(recomputing),
        {stack_id: paths[stack_id][depth:] for stack_id, depth in hooked.items()},
        {stack_id: paths[stack_id][:depth] for stack_id, depth in models.items()},
    )


def _goes_on(around: Meaning) -> bool:
    """Whether calls inside count: what compiles or stores is named by its call; a loader's call is not what
    takes its time."""
    return not around.whole or around.label == "input"


def _extended(path: CallPath, line: CodeLine) -> CallPath:
    """A comprehension is part of the line that it is written in."""
    plain = (line.function or "").rpartition(".")[2]
    if plain in _INNER and path and (path[-1].file, path[-1].line) == (line.file, line.line):
        return path
    return (*path, line)
