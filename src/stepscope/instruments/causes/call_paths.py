"""The call of the program that takes most of some time, found from its stacks."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from stepscope.code_lines import CodeLine
from stepscope.instruments.thresholds import tuned

CallPath = tuple[CodeLine, ...]
"""Calls of the program's own functions, the outermost first."""
FunctionKey = tuple[str, str | None]
"""A file and a function in it."""
Call = tuple[CodeLine | None, CodeLine | None]
"""A line, and the one that called its function."""


@dataclass(frozen=True, eq=False, repr=False)
class CallThresholds:
    """How far a call is followed into what it calls."""

    of_line: float = tuned(
        0.8,
        "a line is followed into what it calls while it has this part of the time",
        slack=(0.0, 1.0),
        by=("capture/python_loop",),
    )
    of_function: float = tuned(
        0.6,
        "the same of a function, whatever its lines",
        slack=(0.0, 1.0),
        by=("capture/python_loop", "gpu/torch_uploads.json.gz"),
    )
    all_of_it: float = tuned(
        0.9,
        "a line with this part of all that a thread does tells nothing apart: the loop is further inside",
        slack=(0.585, 1.0),
        by=("capture/python_loop",),
    )


THRESHOLDS = CallThresholds()


def function_of(call: CodeLine) -> FunctionKey:
    """The function that a line is in."""
    return call.file, call.function


def longest(weights: Counter[CodeLine]) -> CodeLine:
    """The line with most of the time; of several the last."""
    return max(weights, key=lambda call: (weights[call], call.file, call.line or 0))


def innermost_call(
    weights: Counter[CallPath],
    by_function: bool = False,
    most_of: float | None = None,
    first_too: bool = False,
    functions_too: bool = False,
) -> Call:
    """The innermost call that has most of the time on one line, and the one that called it.

    by_function: on one function, whatever its lines: where many small calls are the cause, no line of them
    is. most_of: which part that is. first_too: the outermost call needs most of the time as well.
    functions_too: where no line of a function has most of it but all of them together have, its longest line
    stands for it.
    """
    whole = sum(weights.values())
    least = whole * (most_of or (THRESHOLDS.of_function if by_function else THRESHOLDS.of_line))
    path: list[CodeLine] = []
    while whole:
        called, alike, has, stays = _next_call(weights, path, by_function)
        if called is None:
            break
        if path and path[-1].function == "<module>":
            # A module that calls the function with the loop of steps tells nothing; one with the loop does.
            one_line = has > stays
        else:
            one_line = has >= least or not (path or first_too)
        if not one_line and not (functions_too and alike >= least):
            break
        path.append(called)
        if not one_line:
            break
    return (path[-1] if path else None), (path[-2] if len(path) > 1 else None)


def _next_call(
    weights: Counter[CallPath], path: Sequence[CodeLine], by_function: bool
) -> tuple[CodeLine | None, int, int, int]:
    """The call within a path that has most of its time; what all lines of its function have, what it has
    itself, and what the path has without any call within."""
    depth = len(path)
    same: Callable[[CodeLine, CodeLine], bool] = (
        (lambda a, b: function_of(a) == function_of(b)) if by_function else (lambda a, b: a == b)
    )
    lines: Counter[CodeLine] = Counter()
    functions: Counter[FunctionKey] = Counter()
    stays = 0
    for calls, weight in weights.items():
        if len(calls) < depth or not all(map(same, calls, path)):
            continue
        if len(calls) == depth:
            stays += weight
            continue
        lines[calls[depth]] += weight
        functions[function_of(calls[depth])] += weight
    if not lines:
        return None, 0, 0, stays
    if not by_function:
        called = max(lines, key=lambda call: (lines[call], call.file, call.function or "", call.line or 0))
        return called, functions[function_of(called)], lines[called], stays
    file, function = max(functions, key=lambda key: (functions[key], key[0], key[1] or ""))
    weight_of_line = {call.line: lines[call] for call in lines if function_of(call) == (file, function)}
    line = max(weight_of_line, key=lambda number: (weight_of_line[number], number or 0))
    alike = functions[file, function]
    return CodeLine(file, line, function), alike, alike, stays


def innermost_function(line: CodeLine, weights: Counter[CallPath]) -> CodeLine | None:
    """The innermost function called in a line that takes most of its time; None if the line itself takes
    it."""
    called: Counter[CallPath] = Counter()
    for calls, weight in weights.items():
        if line in calls:
            called[calls[calls.index(line) + 1 :]] += weight
    return innermost_call(called, by_function=True, first_too=True)[0]


def loop_line(
    weights: Counter[CallPath],
    everything: Counter[CallPath],
    loops: Collection[FunctionKey] = (),
    few: bool = False,
) -> tuple[CodeLine, CodeLine | None] | None:
    """The line of the function with the loop of steps that spends most of what is asked about, and what
    called that function; None when all that the thread does comes from one line, as from a call of fit.

    loops: the functions with the loop of steps, where the recorder saw them; else the function is where what
    the thread does parts. few: there are too few samples of anything else to tell by them. Which line within
    a loop of Python runs is not known well: threads take turns where loops begin again.
    """
    found = _known_loop_line(weights, everything, loops, few)
    if found is not None:
        return found
    where = _parting(everything)
    if where is None:
        return None
    depth, above = where
    lines = _lines_at(weights, depth)
    return (longest(lines), above) if lines else None


def _parting(everything: Counter[CallPath]) -> tuple[int, CodeLine | None] | None:
    """The depth at which a thread's calls diverge, and the line that leads there; None if no function has
    most of the time."""
    whole = sum(everything.values())
    depth = 0
    above: CodeLine | None = None
    while whole:
        lines = _lines_at(everything, depth)
        functions: Counter[FunctionKey] = Counter()
        for call, weight in lines.items():
            functions[function_of(call)] += weight
        if not functions or max(functions.values()) < THRESHOLDS.of_line * whole:
            return None
        call = longest(lines)
        if lines[call] < THRESHOLDS.all_of_it * whole:
            break
        above, depth = call, depth + 1
    return depth, above


def _lines_at(weights: Counter[CallPath], depth: int) -> Counter[CodeLine]:
    """The time of the calls at a depth."""
    found: Counter[CodeLine] = Counter()
    for calls, weight in weights.items():
        if len(calls) > depth:
            found[calls[depth]] += weight
    return found


def _known_loop_line(
    weights: Counter[CallPath], everything: Counter[CallPath], loops: Collection[FunctionKey], few: bool
) -> tuple[CodeLine, CodeLine | None] | None:
    asked: Counter[tuple[CodeLine, CodeLine | None]] = Counter()
    inside: Counter[CallPath] = Counter()
    for calls, weight in weights.items():
        inner = [depth for depth, call in enumerate(calls) if function_of(call) in loops]
        if inner:
            asked[calls[inner[-1]], calls[inner[-1] - 1] if inner[-1] else None] += weight
            inside[calls[inner[-1] :]] += weight
    # A loop that most of it does not pass through explains none of it.
    if not asked or sum(asked.values()) < THRESHOLDS.of_line * sum(weights.values()):
        return None
    line, above = max(asked, key=lambda call: (asked[call], call[0].file, call[0].line or 0))
    others = everything - weights
    while not few and has_all(line, others):
        # All else that the thread does is called from that line too: the cause is further inside.
        inside = Counter({calls[1:]: weight for calls, weight in inside.items() if calls[:1] == (line,)})
        called = _lines_at(inside, 0)
        if not called or sum(called.values()) < THRESHOLDS.of_line * sum(inside.values()):
            break
        line, above = longest(called), line
    return line, above


def has_all(line: CodeLine, others: Counter[CallPath]) -> bool:
    """Whether there are samples and nearly all of them pass through one line."""
    weight_with_line = sum(weight for calls, weight in others.items() if line in calls)
    return weight_with_line > 0 and weight_with_line >= THRESHOLDS.all_of_it * sum(others.values())
