"""Compiling as a cause, in words: what compiles, how often, from where, and what was new about the calls."""

from stepscope import units
from stepscope.instruments.causes.cause_facts import Retrace
from stepscope.instruments.causes.judgement import Judgement
from stepscope.report.names import place_of

_CHANGES = {
    "value": "{argument} has another value each time",
    "shape": "{argument} has another shape each time",
    "dtype": "{argument} has another element type each time",
    "type": "{argument} is of another type each time",
    "structure": "{argument} has another structure each time",
    "function": "{argument} is another function each time",
    "object": "{argument} is another object each time",
    "graph": "the program adds ops to the graph each time",
    "new_function": "the function itself is a new object each time",
    "unknown": "the recorder saw nothing change between these calls",
}
"""What was new, by `compilation.change`."""
_VALUES = {
    "graph": " ({was}, then {became} of them)",
    "new_function": " and holds another `{argument}` ({was}, then {became})",
    "function": "",
    "object": "",
    "unknown": "",
}
"""The two values, where they are known: those of functions and objects would tell a reader nothing."""
_DIFFERENT = " ({was}, then {became})"


def compiled(judgement: Judgement) -> str:
    """Which function compiles, how often, from where and why."""
    what = [f"`{judgement.function}` compiles"] if judgement.function else []
    if judgement.compiling and judgement.steps > 1:
        what.append(f"in {judgement.compiling:,} of {units.count(judgement.steps, 'step')}")
    text = " ".join(what)
    if judgement.place is not None:
        text += f"{', ' if text else ''}called in {place_of(judgement.place)}"
    if judgement.retrace is not None:
        text += f"{'; ' if text else ''}{change(judgement.retrace)}"
    return f": {text}" if text else ""


def change(retrace: Retrace) -> str:
    """What was new about the calls that compiled: `rate` has another value each time (0.1, then 0.09)."""
    argument = f"argument `{retrace.argument}`" if retrace.argument is not None else "an argument"
    text = _CHANGES.get(retrace.change, _CHANGES["unknown"]).format(argument=argument)
    if retrace.was is None or retrace.became is None:
        return text
    values = _VALUES.get(retrace.change, _DIFFERENT)
    return text + values.format(argument=retrace.argument, was=retrace.was, became=retrace.became)
