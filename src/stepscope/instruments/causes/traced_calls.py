"""Functions of the program that a part of the steps comes from, where a recorder traced its calls of Python:
PyTorch does (`with_stack=True`), and tells the folders of files, so that a program's own can be known."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import inf
from typing import TypeVar

from stepscope.code_lines import CodeLine
from stepscope.instruments import traced_python
from stepscope.instruments.causes.call_paths import CallPath
from stepscope.instruments.foreign_files import is_foreign
from stepscope.instruments.python_frame import recorded_call
from stepscope.instruments.step_breakdown import driver, labels
from stepscope.instruments.step_breakdown.labels import Meaning
from stepscope.instruments.thresholds import ANY, DRAWN, tuned
from stepscope.library.statements import Query, statement


@dataclass(frozen=True, eq=False, repr=False)
class TracedThresholds:
    """How much traced calls must show, and how many are read."""

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
        slack=ANY,
    )
    in_mark: float = tuned(
        0.6, "a mark is where a label's time goes when it has this part of it", fitted_on=DRAWN, slack=ANY
    )


THRESHOLDS = TracedThresholds()

SliceName = tuple[str, str | None, bool]
"""Name of a slice, its category, whether it names an op."""
TimedSlice = tuple[int, int, SliceName]
"""Begin and end."""


def label_times(query: Query, sources: Sequence[int]) -> dict[str | None, Counter[CallPath]]:
    """What each label has of the first steps, by the calls of the program around it; empty where calls of
    Python were not traced."""
    weights: dict[str | None, Counter[CallPath]] = defaultdict(Counter)
    for slices in driving_slices(query, sources):
        add_by_call(weights, slices)
    return dict(weights)


_Place = TypeVar("_Place", str, CodeLine)


def mark_of(query: Query, label: str, sources: Sequence[int]) -> str | None:
    """The name of the marks, made by the program within its steps, that most of what counts to a label lies
    in: the place where no line is known. None where no mark has most of it."""
    weights: Counter[str | None] = Counter()
    steps = {(row[4], row[4] + row[5]) for row in query(statement("timed_steps")).rows() if row[0] in sources}
    for slices in driving_slices(query, sources, set(sources)):
        add_by_mark(weights, label, steps, slices)
    return _most(weights)


def marked_shares(query: Query, sources: Sequence[int]) -> list[tuple[str, float]]:
    """What lies in slices that stand for no label, by the innermost of them: their names and parts of the
    first steps, the longest first."""
    weights: Counter[str | None] = Counter()
    timed = {(row[4], row[4] + row[5]) for row in query(statement("timed_steps")).rows() if row[0] in sources}
    of_steps = sum(end - begin for begin, end in timed)
    for slices in driving_slices(query, sources, set(sources)):
        add_by_mark(weights, None, timed, slices)
    return [
        (name, spent / of_steps) for name, spent in weights.most_common() if name is not None and of_steps
    ]


def storing_call(query: Query, sources: Sequence[int]) -> str | None:
    """What most of the waiting lies in, where that is a call that stores something, as TensorFlow runs SaveV2
    eagerly: by name, without what runs it. None where no such call has most of it."""
    weights: Counter[str | None] = Counter()
    for slices in driving_slices(query, sources, set(sources)):
        add_by_storing(weights, slices)
    found = _most(weights)
    return None if found is None else found.rpartition(": ")[2]


def outermost_call(query: Query, label: str, sources: Sequence[int]) -> CodeLine | None:
    """The function called in steps, of no framework, in which most of what counts to a label lies, where
    names tell files without their folders: which calls inside are the program's is not known then."""
    named = {source_id for (source_id,) in query(statement("named_calls")).rows()}.intersection(sources)
    if not named:
        return None
    weights: Counter[CodeLine | None] = Counter()
    steps = sorted(
        (row[4], row[4] + row[5]) for row in query(statement("timed_steps")).rows() if row[0] in named
    )
    for slices in driving_slices(query, sources, named):
        add_by_outermost(weights, label, steps, slices)
    return _most(weights)


def _most(weights: Counter[_Place | None]) -> _Place | None:
    """The place with most of the time; None if no place has most of it."""
    if not weights:
        return None
    place, most = max(weights.items(), key=lambda found: (found[1], str(found[0] or "")))
    return place if most >= THRESHOLDS.in_mark * sum(weights.values()) else None


def driving_slices(
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
            for row in (*query(statement("driving_names", tracks=[track])).rows(), driver.LATE_COPY)
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


_Around = TypeVar("_Around")


def _self_times(
    slices: Iterable[TimedSlice], outside: _Around, entered: Callable[[_Around, TimedSlice], _Around]
) -> Iterator[tuple[_Around, int]]:
    """The time of each slice without those inside it, with what it stands for. entered: what a slice stands
    for inside of what is around it; outside: what is around the outermost."""
    open_: list[tuple[int, _Around]] = []
    at = 0
    for timed in chain(slices, [None]):
        begin = inf if timed is None else timed[0]
        while open_ and open_[-1][0] <= begin:
            end, inner = open_.pop()
            if end > at:
                yield inner, end - at
                at = end
        if timed is not None:
            if open_ and timed[0] > at:
                yield open_[-1][1], timed[0] - at
            at = max(at, timed[0]) if open_ else timed[0]
            open_.append((timed[1], entered(open_[-1][1] if open_ else outside, timed)))


def add_by_call(weights: dict[str | None, Counter[CallPath]], slices: Iterable[TimedSlice]) -> None:
    """Adds the time of each slice without those inside it, to what it stands for and the program's own calls
    around it: of a loader, those that it makes. slices: of one thread, by begin, the longer first."""

    def entered(around: tuple[CallPath, Meaning], timed: TimedSlice) -> tuple[CallPath, Meaning]:
        path, outer = around
        begin, end, (name, category, is_op) = timed
        meaning = labels.slice_meaning(name, category, is_op, False, end - begin)
        inner = labels.nested_meaning(outer, meaning)
        if inner.label == "input" and outer.label != "input":
            path = ()
        if meaning.label == "python" and (not outer.whole or inner.label == "input"):
            path = extended_path(path, name, category)
        return path, inner

    outside: tuple[CallPath, Meaning] = ((), labels.NOTHING)
    for (path, meaning), time_ps in _self_times(slices, outside, entered):
        weights[meaning.label][path] += time_ps


def add_by_mark(
    weights: Counter[str | None],
    label: str | None,
    steps: Collection[tuple[int, int]],
    slices: Iterable[TimedSlice],
) -> None:
    """Adds what counts to a label, or to none, by the mark of the program around it. slices: as for
    add_by_call."""

    def entered(around: tuple[str | None, Meaning], timed: TimedSlice) -> tuple[str | None, Meaning]:
        mark, outer = around
        begin, end, (name, category, is_op) = timed
        meaning = labels.slice_meaning(name, category, is_op, False, end - begin)
        # A function that was traced is no mark, nor is the step itself.
        if meaning.label is None and not name.startswith("$") and (begin, end) not in steps:
            mark = name
        return mark, labels.nested_meaning(outer, meaning)

    outside: tuple[str | None, Meaning] = (None, labels.NOTHING)
    for (mark, meaning), time_ps in _self_times(slices, outside, entered):
        if meaning.label == label:
            weights[mark] += time_ps


def add_by_storing(weights: Counter[str | None], slices: Iterable[TimedSlice]) -> None:
    """Adds what is waited by the call that stores something around it. slices: as for add_by_call."""

    def entered(around: tuple[str | None, Meaning], timed: TimedSlice) -> tuple[str | None, Meaning]:
        call, outer = around
        begin, end, (name, category, is_op) = timed
        meaning = labels.slice_meaning(name, category, is_op, False, end - begin)
        if call is None and not outer.whole and meaning == labels.STORES:
            call = name
        return call, labels.nested_meaning(outer, meaning)

    outside: tuple[str | None, Meaning] = (None, labels.NOTHING)
    for (call, meaning), time_ps in _self_times(slices, outside, entered):
        if meaning.label == "wait":
            weights[call] += time_ps


def add_by_outermost(
    weights: Counter[CodeLine | None],
    label: str,
    steps: Sequence[tuple[int, int]],
    slices: Iterable[TimedSlice],
) -> None:
    """Adds what counts to a label by the outermost call within a step that is no framework's. steps: begin
    and end of each, in order. slices: as for add_by_call."""

    def entered(
        around: tuple[CodeLine | None, Meaning], timed: TimedSlice
    ) -> tuple[CodeLine | None, Meaning]:
        call, outer = around
        begin, end, (name, category, is_op) = timed
        meaning = labels.slice_meaning(name, category, is_op, False, end - begin)
        found = _program_line(name) if call is None and meaning.label == "python" else None
        if found is not None:
            at = bisect_right(steps, (begin, inf)) - 1
            if at >= 0 and end <= steps[at][1]:
                call = found
        return call, labels.nested_meaning(outer, meaning)

    outside: tuple[CodeLine | None, Meaning] = (None, labels.NOTHING)
    for (call, meaning), time_ps in _self_times(slices, outside, entered):
        if meaning.label == label:
            weights[call] += time_ps


@lru_cache(maxsize=50_000)
def _program_line(name: str) -> CodeLine | None:
    """The line that a slice of that name stands for; None if the name has no line, or that of a framework."""
    frame = recorded_call(name)
    return CodeLine(*frame) if frame and frame[1] and not is_foreign(frame[0]) else None


def extended_path(path: CallPath, name: str, category: str | None) -> CallPath:
    """The calls around what is called inside a slice."""
    function = traced_python.called(name, category)
    return path if function is None else (*path, function)
