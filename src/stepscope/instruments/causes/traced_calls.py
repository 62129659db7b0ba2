"""Functions of the program that a part of the steps comes from, where a recorder traced its calls of Python:
PyTorch does (`with_stack=True`), and tells the folders of files, so that a program's own can be known."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import inf

from stepscope.code_lines import CodeLine
from stepscope.instruments import traced_python
from stepscope.instruments.causes.call_paths import THRESHOLDS as CALLS
from stepscope.instruments.causes.call_paths import CallPath, function_of, innermost_call
from stepscope.instruments.step_breakdown import driver, labels
from stepscope.instruments.step_breakdown.labels import Meaning
from stepscope.instruments.thresholds import DRAWN, tuned
from stepscope.library.statements import Query, statement


@dataclass(frozen=True, eq=False, repr=False)
class TracedThresholds:
    """How much traced calls have to tell, and how many are looked at."""

    slices: int = tuned(
        500_000,
        "of the first steps, so many slices are looked at: steps are alike, and each slice is a row",
        slack=(7_810, inf),
        by=("gpu/torch_svd.json.gz",),
    )
    own_calls: float = tuned(
        0.25,
        "the program's functions make an op when so many of its calls come from them: gradients need about "
        "two for each",
        fitted_on=DRAWN,
        slack=(0.0, inf),
    )
    in_mark: float = tuned(
        0.6,
        "a mark is where a label's time goes when it has this part of it",
        fitted_on=DRAWN,
        slack=(0.0, inf),
    )


THRESHOLDS = TracedThresholds()
_GRADIENT = "autograd::engine::evaluate_function"
"""How PyTorch begins to call what it runs for the gradient of an op."""

SliceName = tuple[str, str | None, bool]
"""Name of a slice, its category, whether it names an op."""
TimedSlice = tuple[int, int, SliceName]
"""Begin and end."""


def line_of_op(query: Query, op: str, sources: Sequence[int]) -> CodeLine | None:
    """The innermost function of the program that most of the calls of an op come from, as far as any of its
    functions makes them: those for gradients are made by the framework."""
    weights: Counter[CallPath] = Counter()
    for slices in _slices(query, sources):
        add_calls(weights, op, slices)
    return line_of_calls(weights)


def line_of_calls(weights: Counter[CallPath]) -> CodeLine | None:
    """The innermost function with most of the calls that the program makes; None where it makes few of them,
    or none of its functions makes most. weights: calls by those of the program around them."""
    own = Counter({path: number for path, number in weights.items() if path})
    made = sum(own.values())
    place = innermost_call(own, by_function=True)[0]
    if place is None or made < THRESHOLDS.own_calls * sum(weights.values()):
        return None
    there = sum(number for path, number in own.items() if function_of(place) in map(function_of, path))
    return place if there >= CALLS.of_function * made else None


def label_times(query: Query, sources: Sequence[int]) -> dict[str | None, Counter[CallPath]]:
    """What each label has of the first steps, by the calls of the program around it; empty where calls of
    Python were not traced."""
    weights: dict[str | None, Counter[CallPath]] = defaultdict(Counter)
    for slices in _slices(query, sources):
        add(weights, slices)
    return dict(weights)


def mark_of(query: Query, label: str, sources: Sequence[int]) -> str | None:
    """The name of the marks, made by the program within its steps, that most of what counts to a label lies
    in: the place where no line is known. None where no mark has most of it."""
    weights: Counter[str | None] = Counter()
    steps = {(row[4], row[4] + row[5]) for row in query(statement("timed_steps")).rows() if row[0] in sources}
    for slices in _slices(query, sources, set(sources)):
        add_marked(weights, label, steps, slices)
    if not weights:
        return None
    name, most = max(weights.items(), key=lambda one: (one[1], one[0] or ""))
    return name if most >= THRESHOLDS.in_mark * sum(weights.values()) else None


def add_marked(
    weights: Counter[str | None], label: str, steps: Collection[tuple[int, int]], slices: Iterable[TimedSlice]
) -> None:
    """Adds what counts to a label by the mark of the program around it. slices: as for add."""
    open_: list[tuple[int, str | None, Meaning]] = []
    at = 0

    def until(to: int) -> int:
        if to > at and open_[-1][2].label == label:
            weights[open_[-1][1]] += to - at
        return max(at, to)

    for begin, end, (name, category, is_op) in slices:
        while open_ and open_[-1][0] <= begin:
            at = until(open_[-1][0])
            open_.pop()
        at = until(begin) if open_ else begin
        mark, around = open_[-1][1:] if open_ else (None, labels.NOTHING)
        meaning = labels.of_slice(name, category, is_op, False, end - begin)
        # A function that was traced is no mark, nor is the step itself.
        if meaning.label is None and not name.startswith("$") and (begin, end) not in steps:
            mark = name
        open_.append((end, mark, labels.within(around, meaning)))
    while open_:
        at = until(open_[-1][0])
        open_.pop()


def _slices(
    query: Query, sources: Sequence[int], known: Collection[int] | None = None
) -> Iterator[Iterator[TimedSlice]]:
    """The slices of each driving thread in the first steps. known: sources to look at, by default those whose
    calls of Python were traced."""
    if known is None:
        traced = {source_id for (source_id,) in query(statement("traced_sources")).rows()}
        known = traced.intersection(sources)
    if not known:
        return
    for source_id, track in driver.tracks(query, sorted(known)).items():
        names: dict[int, SliceName] = {
            row[0]: (row[1], row[2], bool(row[3]))
            for row in query(statement("driving_names", tracks=[track])).rows()
        }
        span = _first_steps(query, source_id)
        if span is None:
            continue
        begin_ps, end_ps = span
        rows = query(statement("driving_slices", tracks=[track], begin_ps=begin_ps, end_ps=end_ps)).rows()
        yield ((row[1], row[2], names[row[3]]) for row in rows if row[3] in names)


def _first_steps(query: Query, source_id: int) -> tuple[int, int] | None:
    """Begin and end of as many steps as hold so many slices, at least one; None where one holds far more."""
    steps = [
        (row[4], row[4] + row[5]) for row in query(statement("timed_steps")).rows() if row[0] == source_id
    ]
    slices = query(statement("slice_count", source_id=source_id)).rows()[0][0] or 0
    if not steps or slices > 4 * THRESHOLDS.slices * len(steps):
        return None
    kept = steps[: max(1, len(steps) * THRESHOLDS.slices // max(slices, 1))]
    return kept[0][0], max(end for _, end in kept)


def add_calls(weights: Counter[CallPath], op: str, slices: Iterable[TimedSlice]) -> None:
    """Counts the calls of an op by the program's own calls around each: none around what gradients call.
    slices: as for add."""
    open_: list[tuple[int, CallPath]] = []
    for begin, end, (name, category, _) in slices:
        while open_ and open_[-1][0] <= begin:
            open_.pop()
        path = open_[-1][1] if open_ else ()
        if category == traced_python.CATEGORY and traced_python.is_own(name):
            path = _within(path, name, category)
        elif name.startswith(_GRADIENT):
            path = ()
        elif name == op:
            weights[path] += 1
        open_.append((end, path))


def add(weights: dict[str | None, Counter[CallPath]], slices: Iterable[TimedSlice]) -> None:
    """Adds the time of each slice without those within, to what it stands for and the program's own calls
    around it: of a loader, those that it makes. slices: of one thread, by begin, the longer first."""
    open_: list[tuple[int, CallPath, Meaning]] = []
    at = 0
    for begin, end, (name, category, is_op) in slices:
        while open_ and open_[-1][0] <= begin:
            at = _until(weights, open_, at, open_[-1][0])
            open_.pop()
        at = _until(weights, open_, at, begin) if open_ else begin
        path, around = (open_[-1][1], open_[-1][2]) if open_ else ((), labels.NOTHING)
        meaning = labels.of_slice(name, category, is_op, False, end - begin)
        inside = labels.within(around, meaning)
        if inside.label == "input" and around.label != "input":
            path = ()
        if meaning.label == "python" and (not around.whole or inside.label == "input"):
            path = _within(path, name, category)
        open_.append((end, path, inside))
    while open_:
        at = _until(weights, open_, at, open_[-1][0])
        open_.pop()


def _within(path: CallPath, name: str, category: str | None) -> CallPath:
    """The calls around what is called within a slice."""
    function = traced_python.called(name, category)
    return path if function is None else (*path, function)


def _until(
    weights: dict[str | None, Counter[CallPath]], open_: list[tuple[int, CallPath, Meaning]], at: int, to: int
) -> int:
    if to > at:
        _, path, meaning = open_[-1]
        weights[meaning.label][path] += to - at
    return max(at, to)
