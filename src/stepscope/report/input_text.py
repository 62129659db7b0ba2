"""What holds the input up, as the second half of a sentence."""

from stepscope import units
from stepscope.instruments.causes.judgement import Judgement
from stepscope.report.cause_phrases import code_line
from stepscope.report.names import function_of, line_of, place_of

_LOADER_WORK = {"unpickling": "unpickles what workers sent", "workers": "starts and ends workers"}


def input_stage(judgement: Judgement) -> str:
    """Which stage holds the input up, and whether the pipeline begins anew all the time."""
    if judgement.stage is None:
        return code_line(judgement) + _loader_work(judgement) + _remade(judgement)
    text = f"{code_line(judgement) if judgement.awaits else ''}; {_stage(judgement)}"
    if judgement.kept is not None:
        line = "" if judgement.kept.line is None else f" in line {judgement.kept.line}"
        text += f", and .filter{line} keeps {units.show(judgement.kept.part, 'ratio')} of what that makes"
    if (fill := judgement.fill) is not None:
        line = "" if fill.line is None else f" in line {fill.line}"
        drawn = units.count(round(fill.drawn), "element")
        text += f". The .shuffle{line} fills its buffer: it draws {drawn} for each that it hands on"
    if (cache := judgement.unfilled) is not None:
        line = "" if cache.line is None else f" in line {cache.line}"
        text += (
            f". The .cache{line} never fills: .take draws {cache.taken:,} of its {cache.elements:,} elements"
        )
    return text + _remade(judgement)


def _remade(judgement: Judgement) -> str:
    """How many iterators steps make, where each makes one."""
    if judgement.remade is None:
        return ""
    made, steps = judgement.remade
    return f". {units.count(made, 'new iterator')} in {units.count(steps, 'step')}: each starts over"


def _loader_work(judgement: Judgement) -> str:
    """What the program does itself for most of the wait for a loader."""
    if judgement.loader_work is None:
        return ""
    work, part = judgement.loader_work
    return f"; {units.show(part, 'ratio')} of that {_LOADER_WORK[work]}"


def _stage(judgement: Judgement) -> str:
    """The stage as the user wrote it: by its function, else by its line, else by its name."""
    stage = judgement.spoken or judgement.stage
    if judgement.place is None or judgement.awaits:
        return f"{stage} holds it up"
    function, caller = (
        (judgement.place, judgement.called_from)
        if judgement.in_python
        else (judgement.given, judgement.place)
    )
    if function is None or function.function is None:
        of_stage = "" if judgement.in_python else f"{stage} in "
        return f"{of_stage}{place_of(judgement.place)} holds it up"
    called = "" if caller is None else f", called by {stage} in {line_of(caller)}"
    return f"`{function_of(function.function)}` in {line_of(function)} holds it up{called}"
