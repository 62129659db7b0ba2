"""Lines of the program that a part of the steps comes from: by the samples of its stack, or by its ops."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from stepscope.instruments.causes import layers
from stepscope.instruments.causes.judgement import Place
from stepscope.instruments.step_breakdown import labels, stack_samples
from stepscope.instruments.step_breakdown.labels import Meaning
from stepscope.library.statements import Query, statement

Path = tuple[Place, ...]
"""Calls of the program's own functions, the outermost first."""
Function = tuple[str, str | None]
"""A file and a function in it."""

MOST_OF = 0.8
"""A line is followed into what it calls while it has this part of the time."""
MOST_OF_WAITS = 0.55
"""The same of waiting: other calls, of a framework, block as well, while ops run."""
ALL_OF = 0.9
"""A line that has this part of all that a thread does tells nothing apart: the loop is further inside."""
MOST_OF_FUNCTION = 0.6
"""The same of a function. Of launching it is MOST_OF: what is to be compiled is the function that has all of
the calls."""
FEW = 5
"""So few samples of other things say nothing of where all of them come from."""
_ALIKE = {"copy": "dispatch", "dispatch": "copy"}
"""A call that moves data also launches, and the other way round: slices tell them apart, stacks do not."""
_INNER = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")


def of_op(query: Query, run_id: str, op: str) -> Place | None:
    """The line that made an op, where an op log or a compiled program tells: of a gradient the one that made
    the op that it belongs to. A line that makes ops of several layers tells none apart, so the call of it
    stands for it where that makes one layer only."""
    rows = query(statement("line_of_op", run_id=run_id, op=op, forward=layers.forward_of(op) or op)).rows()
    if not rows:
        return None
    file, line, function, *call = rows[0]
    if labels.of_framework(file):
        return None
    made = Place(file, line, function)
    if call[0] is None or _layers_at(query, run_id, made) < 2:
        return made
    called = Place(*call)
    return called if _layers_at(query, run_id, called) == 1 else made


def _layers_at(query: Query, run_id: str, place: Place) -> int:
    """How many layers have ops that a line made or called for. Scopes within a layer are part of it."""
    rows = query(statement("ops_of_line", run_id=run_id, file=place.file, line=place.line)).rows()
    found = {layer for (op,) in rows if (layer := layers.layer_of(op)) is not None}
    return sum(not any(layer.startswith(f"{other}/") for other in found) for layer in found)


class Stacks(NamedTuple):
    """The stacks of a source."""

    loaders: frozenset[int]
    """Those on which a loader has called the program's own Python, which runs or calls a framework."""

    paths: dict[int, Path]
    """The program's own calls on each, up to where a framework converts or compiles."""
    meanings: dict[int, Meaning]
    """What each stands for."""
    loops: frozenset[Function]
    """The functions with the loop of steps."""
    called_back: dict[int, Path]
    """The program's own calls on those on which an op calls Python, from that on."""


def sampled(query: Query, run_id: str, host_id: str) -> dict[int, Stacks]:
    """The stacks of a host, by the source that has them."""
    rows = query(statement("sampled_sources", run_id=run_id, host_id=host_id)).rows()
    return {source_id: _stacks(query, source_id) for (source_id,) in rows}


class Found(NamedTuple):
    """A place that samples tell, and how many of them."""

    place: Place | None
    called_from: Place | None
    samples: float = 0.0
    """Of what is asked about; a sample that sees two things counts in part to each."""
    there: float = 0.0
    """Those of them that speak for the place."""
    next_best: float = 0.0
    """Those that speak for the place that has most of the others."""
    spent_in: Place | None = None
    """Where a line of the loop calls a function that takes most of its time: the innermost such function."""


def of_label(query: Query, stacks: Mapping[int, Stacks], label: str, sources: Sequence[int]) -> Found:
    """Where the program spends what counts to a label, and from where that was called. stacks: of the host,
    by source; sources: those whose steps are meant."""
    by_label: dict[str | None, Counter[Path]] = defaultdict(Counter)
    number: dict[str | None, dict[Path, float]] = defaultdict(lambda: defaultdict(float))
    everything: Counter[Path] = Counter()
    for other, one in stacks.items():
        for stack_id, weight_ps, active_ps in _samples(query, other, sources, 1):
            path = one.paths.get(stack_id, ())
            everything[path] += weight_ps
            ran = None if active_ps is None else active_ps / weight_ps
            for part, share in labels.shares(one.meanings.get(stack_id, labels.NOTHING).label, ran):
                if path:
                    by_label[part][path] += round(share * weight_ps)
                    number[part][path] += share
    told = label if by_label[label] else _ALIKE.get(label)
    weights, counted = by_label[told], number[told]
    loops = frozenset[Function]().union(*(one.loops for one in stacks.values()))
    if label in ("python", "copy"):
        few = looks(query, stacks, sources) - sum(counted.values()) < FEW
        took, all_took = _by_time(query, stacks, label, sources)
        if not took:
            took, all_took = weights, everything
        if (found := in_loop(took, all_took, loops, few)) is not None:
            return _counted(*found, counted, by_line=True)._replace(spent_in=within(found[0], took))
    most_of = MOST_OF_WAITS if label == "wait" else MOST_OF
    innermost = chosen(weights, label == "dispatch", most_of, functions_too=label in ("wait", "copy"))
    return _counted(*innermost, counted)


def _by_time(
    query: Query, stacks: Mapping[int, Stacks], label: str, sources: Sequence[int]
) -> tuple[Counter[Path], Counter[Path]]:
    """The time of the steps by the calls on the stack: that of one label, and that of all labels. A stack
    alone cannot tell a thread that runs a line from one that waits in it for ops."""
    took: Counter[Path] = Counter()
    everything: Counter[Path] = Counter()
    paths = {stack_id: path for one in stacks.values() for stack_id, path in one.paths.items() if path}
    for _, stack_id, told, dur_ps in query(statement("parts_by_stack", sources=sources)).rows():
        if (path := paths.get(stack_id)) is not None:
            everything[path] += dur_ps
            if told == label:
                took[path] += dur_ps
    return took, everything


def looks(query: Query, stacks: Mapping[int, Stacks], sources: Sequence[int]) -> int:
    """How many samples of the driving thread lie in steps of the sources."""
    return sum(len(_samples(query, other, sources, 1)) for other in stacks)


def of_loader(query: Query, stacks: Mapping[int, Stacks], sources: Sequence[int], least: float) -> Found:
    """The line of the program's own Python in which threads of a loader, or of an op that calls Python, spend
    most of the time, where they spend at least a part of the steps in such Python."""
    weights: Counter[Path] = Counter()
    number: dict[Path, float] = defaultdict(float)
    sampled_ps = 0
    for other, one in stacks.items():
        sampled_ps += sum(weight_ps for _, weight_ps, _ in _samples(query, other, sources, 1))
        for stack_id, weight_ps, active_ps in _samples(query, other, sources, 0):
            if stack_id in one.loaders and (path := one.paths.get(stack_id)):
                ran = active_ps is None or active_ps >= labels.PREEMPTED * weight_ps
                weights[path] += weight_ps if ran else active_ps
                number[path] += 1
    if sum(weights.values()) < least * sampled_ps:
        return Found(None, None)
    return _counted(*chosen(weights, by_function=True), number)


def of_callbacks(query: Query, stacks: Mapping[int, Stacks], sources: Sequence[int]) -> Found:
    """The line of what ops call that has most of the time, on whatever thread they run it."""
    weights: Counter[Path] = Counter()
    number: dict[Path, float] = defaultdict(float)
    for other, one in stacks.items():
        for stack_id, weight_ps, _ in (
            *_samples(query, other, sources, 1),
            *_samples(query, other, sources, 0),
        ):
            if path := one.called_back.get(stack_id):
                weights[path] += weight_ps
                number[path] += 1
    return _counted(*chosen(weights, by_function=True, first_too=True), number)


def _counted(
    place: Place | None, called_from: Place | None, number: Mapping[Path, float], by_line: bool = False
) -> Found:
    """A place with the samples that speak for it: those that pass through its function, or through its line
    where others of the same function are other places."""
    if place is None:
        return Found(None, None)
    there = 0.0
    others: dict[object, float] = defaultdict(float)
    for path, many in number.items():
        if any(one == place if by_line else _function(one) == _function(place) for one in path):
            there += many
        else:
            others[path[-1] if by_line else _function(path[-1])] += many
    return Found(place, called_from, sum(number.values()), there, max(others.values(), default=0.0))


def _function(place: Place) -> Function:
    return place.file, place.function


def in_loop(
    weights: Counter[Path], everything: Counter[Path], loops: Collection[Function] = (), few: bool = False
) -> tuple[Place, Place | None] | None:
    """The line of the function with the loop of steps that spends most of what is asked about, and what
    called that function; None when all that the thread does comes from one line, as from a call of fit.

    loops: the functions with the loop of steps, where the recorder saw them; else the function is where what
    the thread does parts. few: there are too few samples of anything else to tell by them. Which line within
    a loop of Python runs is not known well: threads take turns where loops begin again.
    """
    if (found := _in_known_loop(weights, everything, loops, few)) is not None:
        return found
    whole = sum(everything.values())
    depth = 0
    above: Place | None = None
    while whole:
        here: Counter[tuple[str, str | None]] = Counter()
        lines: Counter[Place] = Counter()
        for calls, weight in everything.items():
            if len(calls) > depth:
                here[calls[depth].file, calls[depth].function] += weight
                lines[calls[depth]] += weight
        if not here or max(here.values()) < MOST_OF * whole:
            return None
        place = max(lines, key=lambda one: (lines[one], one.file, one.line or 0))
        if lines[place] < ALL_OF * whole:
            break
        above, depth = place, depth + 1
    asked: Counter[Place] = Counter()
    for calls, weight in weights.items():
        if len(calls) > depth:
            asked[calls[depth]] += weight
    if not asked:
        return None
    return max(asked, key=lambda one: (asked[one], one.file, one.line or 0)), above


def within(line: Place, weights: Counter[Path]) -> Place | None:
    """The innermost of the functions called in a line that has most of its time; None when the line itself
    has it."""
    inside: Counter[Path] = Counter()
    for calls, weight in weights.items():
        if line in calls:
            inside[calls[calls.index(line) :]] += weight
    called: Counter[Path] = Counter()
    for calls, weight in inside.items():
        called[calls[1:]] += weight
    place, _ = chosen(called, by_function=True, first_too=True)
    return place


def _in_known_loop(
    weights: Counter[Path], everything: Counter[Path], loops: Collection[Function], few: bool
) -> tuple[Place, Place | None] | None:
    asked: Counter[tuple[Place, Place | None]] = Counter()
    inside: Counter[Path] = Counter()
    for calls, weight in weights.items():
        inner = [depth for depth, one in enumerate(calls) if (one.file, one.function) in loops]
        if inner:
            asked[calls[inner[-1]], calls[inner[-1] - 1] if inner[-1] else None] += weight
            inside[calls[inner[-1] :]] += weight
    # A loop that most of it does not pass through explains none of it.
    if not asked or sum(asked.values()) < MOST_OF * sum(weights.values()):
        return None
    place, above = max(asked, key=lambda one: (asked[one], one[0].file, one[0].line or 0))
    others = everything - weights
    while not few and has_all(place, others):
        # All else that the thread does is called from that line too: the cause is further inside.
        inside = Counter({calls[1:]: n for calls, n in inside.items() if calls[:1] == (place,)})
        nexts: Counter[Place] = Counter()
        for calls, weight in inside.items():
            if calls:
                nexts[calls[0]] += weight
        if not nexts or sum(nexts.values()) < MOST_OF * sum(inside.values()):
            break
        place, above = max(nexts, key=lambda one: (nexts[one], one.file, one.line or 0)), place
    return place, above


def has_all(place: Place, others: Counter[Path]) -> bool:
    """Whether there are samples, and nearly all of them pass through a line."""
    there = sum(weight for calls, weight in others.items() if place in calls)
    return there > 0 and there >= ALL_OF * sum(others.values())


def _samples(query: Query, source_id: int, sources: Sequence[int], main: int) -> list[tuple[Any, ...]]:
    """Samples that begin within a step of the sources; main: 1 for those of the driving thread, 0 for those
    of all others."""
    return query(statement("samples_in_steps", source_id=source_id, main=main, sources=sources)).rows()


def _stacks(query: Query, source_id: int) -> Stacks:
    paths: dict[int, Path] = {}
    meanings: dict[int, Meaning] = {}
    loops: set[Function] = set()
    called_from: dict[int, int] = {}
    for _, stack_id, parent_id, file, line, function, code, has_loop in query(
        statement("frames_of_stacks", sources=[source_id])
    ).rows():
        around = meanings.get(parent_id, labels.NOTHING)
        path = paths.get(parent_id, ())
        # What compiles or stores is named by its call; a loader's call is not what takes its time.
        if code == "program" and file is not None and (not around.whole or around.label == "input"):
            path = _extended(path, Place(file, line, function))
            if has_loop:
                loops.add((file, function))
        paths[stack_id] = path
        if labels.calls_back(file or "", code):
            called_from[stack_id] = len(path)
        elif parent_id in called_from:
            called_from[stack_id] = called_from[parent_id]
        meanings[stack_id] = labels.within(around, labels.of_frame(file or "", function, code))
    loaders = stack_samples.of_loaders(query, source_id, calling=True)
    called_back = {stack_id: paths[stack_id][depth:] for stack_id, depth in called_from.items()}
    return Stacks(loaders, paths, meanings, frozenset(loops), called_back)


def _extended(path: Path, place: Place) -> Path:
    """A comprehension is part of the line that it is written in."""
    plain = (place.function or "").rpartition(".")[2]
    if plain in _INNER and path and (path[-1].file, path[-1].line) == (place.file, place.line):
        return path
    return (*path, place)


def chosen(
    weights: Counter[Path],
    by_function: bool = False,
    most_of: float | None = None,
    first_too: bool = False,
    functions_too: bool = False,
) -> tuple[Place | None, Place | None]:
    """The innermost call that has most of the time on one line, and the one that called it.

    by_function: on one function, whatever its lines: where many small calls are the cause, no line of them
    is. most_of: which part that is. first_too: the outermost call needs most of the time as well.
    functions_too: where no line of a function has most of it but all of them together have, its longest line
    stands for it.
    """
    whole = sum(weights.values())
    least = most_of or (MOST_OF_FUNCTION if by_function else MOST_OF)
    path: list[Place] = []
    while whole:
        nexts: Counter[tuple[str, str | None, int | None]] = Counter()
        lines: dict[tuple[str, str | None, int | None], Counter[int | None]] = {}
        depth = len(path)
        for calls, weight in weights.items():
            if len(calls) > depth and all(map(_same(by_function), calls, path)):
                one = calls[depth]
                key = (one.file, one.function, None if by_function else one.line)
                nexts[key] += weight
                lines.setdefault(key, Counter())[one.line] += weight
        if not nexts:
            break
        key = max(nexts, key=lambda one: (nexts[one], one[0], one[1] or "", one[2] or 0))
        # The line of a module that calls the function with the loop of steps tells nothing.
        follows = (path and path[-1].function != "<module>") or (first_too and not path)
        one_line = not follows or nexts[key] >= least * whole
        of_function = sum(nexts[one] for one in nexts if one[:2] == key[:2])
        if not one_line and not (functions_too and of_function >= least * whole):
            break
        line = max(lines[key], key=lambda one: (lines[key][one], one or 0))
        path.append(Place(key[0], line, key[1]))
        if not one_line:
            break
    if not path:
        return None, None
    return path[-1], path[-2] if len(path) > 1 else None


def _same(by_function: bool) -> Callable[[Place, Place], bool]:
    if by_function:
        return lambda a, b: _function(a) == _function(b)
    return lambda a, b: a == b
