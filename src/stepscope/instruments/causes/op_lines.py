"""The line of the program that an op comes from: the line that created it, or the function that calls it."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from stepscope.code_lines import CodeLine, is_framework_or_library
from stepscope.instruments import traced_python
from stepscope.instruments.causes import traced_calls
from stepscope.instruments.causes.call_paths import THRESHOLDS as CALLS
from stepscope.instruments.causes.call_paths import CallPath, FunctionKey, function_of, innermost_call
from stepscope.instruments.causes.layers import forward_of, layer_of
from stepscope.instruments.causes.traced_calls import THRESHOLDS as TRACED
from stepscope.instruments.causes.traced_calls import SliceName, TimedSlice
from stepscope.library.statements import Query, statement

_GRADIENT = "autograd::engine::evaluate_function"
"""The beginning of the names of slices in which PyTorch computes the gradient of an op."""
_Role = Literal["own", "gradient", "asked", "other"]


def creating_line(query: Query, run_id: str, op: str) -> CodeLine | None:
    """The line that created an op, by an op log or a compiled program; of a gradient, the line that created
    the op it belongs to. Where that line creates ops of several layers, the call of it, if that creates ops
    of one layer only."""
    rows = query(statement("line_of_op", run_id=run_id, op=op, forward=forward_of(op) or op)).rows()
    if not rows:
        return None
    file, line, function, *call = rows[0]
    if is_framework_or_library(file):
        return None
    made = CodeLine(file, line, function)
    if call[0] is None or _layers_at(query, run_id, made) < 2:
        return made
    called = CodeLine(*call)
    return called if _layers_at(query, run_id, called) == 1 else made


def function_at(query: Query, run_id: str, place: CodeLine) -> CodeLine:
    """A line that made ops, with its function where that is known."""
    for name in ("lines_of_ops", "lines_of_instructions"):
        for _, file, line, function in query(statement(name, run_id=run_id)).rows():
            if (file, line) == (place.file, place.line):
                return CodeLine(file, line, function)
    return place


def _layers_at(query: Query, run_id: str, place: CodeLine) -> int:
    """How many layers have ops that a line or what it calls created. Scopes within a layer are part of it."""
    rows = query(statement("ops_of_line", run_id=run_id, file=place.file, line=place.line)).rows()
    found = {layer for (op,) in rows if (layer := layer_of(op)) is not None}
    return sum(not any(layer.startswith(f"{other}/") for other in found) for layer in found)


def calling_line(query: Query, op: str, sources: Sequence[int]) -> CodeLine | None:
    """The innermost function of the program that most calls of an op come from, where calls of Python were
    traced. The framework calls the ops of gradients: they have no function."""
    weights: Counter[CallPath] = Counter()
    for slices in traced_calls.driving_slices(query, sources):
        add_calls(weights, op, slices)
    return most_calling_line(weights)


def add_calls(weights: Counter[CallPath], op: str, slices: Iterable[TimedSlice]) -> None:
    """Counts the calls of an op by the program's own calls around each: none around what gradients call.
    slices: as for traced_calls.add_by_call."""
    # Paths are long, and thousands of slices lie in each: paths have numbers, and names say what slices are.
    paths: list[CallPath] = [()]
    inner: dict[tuple[int, SliceName], int] = {}
    roles: dict[SliceName, _Role] = {}
    calls: Counter[int] = Counter()
    open_: list[tuple[int, int]] = []
    for begin, end, called in slices:
        if (role := roles.get(called)) is None:
            role = roles[called] = _role(called, op)
        if role == "other":
            continue
        while open_ and open_[-1][0] <= begin:
            open_.pop()
        path = open_[-1][1] if open_ else 0
        if role == "asked":
            calls[path] += 1
        elif role == "gradient":
            open_.append((end, 0))
        else:
            if (path, called) not in inner:
                inner[path, called] = len(paths)
                paths.append(traced_calls.extended_path(paths[path], *called[:2]))
            open_.append((end, inner[path, called]))
    for path, number in calls.items():
        weights[paths[path]] += number


def _role(called: SliceName, op: str) -> _Role:
    """What a slice is for the calls of an op: one of the program's own functions, a gradient's, the op."""
    name, category, _ = called
    if category == traced_python.CATEGORY and traced_python.is_own(name):
        return "own"
    if name.startswith(_GRADIENT):
        return "gradient"
    return "asked" if name == op else "other"


def most_calling_line(weights: Counter[CallPath], loops: Collection[FunctionKey] = ()) -> CodeLine | None:
    """The innermost function with most of the calls that the program makes; None where it makes few of them,
    or none of its functions makes most. weights: calls by those of the program around them. loops: the
    functions with the loop of steps, which has all calls: of these, a line has most or tells nothing."""
    by_program = Counter({path: number for path, number in weights.items() if path})
    calls = by_program.total()
    place = innermost_call(by_program, by_function=True)[0]
    if place is None or calls < TRACED.own_calls * sum(weights.values()):
        return None
    of_loop = function_of(place) in loops
    inside = sum(
        number
        for path, number in by_program.items()
        if (place in path if of_loop else function_of(place) in map(function_of, path))
    )
    return place if inside >= CALLS.of_function * calls else None
