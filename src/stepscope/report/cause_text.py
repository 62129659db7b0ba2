"""What limits the steps of a host, as a sentence: the part that its cause takes, then what is known of it.

`cause_beginnings` has the first half for each cause, _EVIDENCE a function that writes the second.
"""

import re
from collections.abc import Callable, Mapping

from stepscope import units
from stepscope.instruments import laws
from stepscope.instruments.causes.all_causes import COMPUTE
from stepscope.instruments.causes.cause_facts import WholeTable
from stepscope.instruments.causes.dispatch import MANY_CALLS
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.step_breakdown.labels import ON_DEVICES
from stepscope.report.cause_beginnings import many_calls, most_allocates, takes
from stepscope.report.compile_text import compiled
from stepscope.report.names import function_of, host_of, line_of, listed, place_of, shortened, unit_of
from stepscope.report.remains import untraced_step
from stepscope.step_labels import LOOKS

_GOES_TO = {"idle": "an accelerator without work", "wait": "sleeping and waiting for others"}
"""Words for the time of a label where LOOKS has others."""
_LONGEST = 200
"""Characters of a sentence: two lines of a terminal."""
_MORE = 1.18
"""What takes so many times as much takes more than slightly more."""
_LITTLE = 0.01
"""An op that takes less of the time of all ops is not named."""
_LOOPS = ("while", "While", "StatelessWhile")
"""Ops that are loops of a compiled program."""
_FREES_ON_DEVICE = re.compile(r"(?!.*Host).*Free")
"""What frees memory of a device waits until the device is done with all that was launched."""


def limiting(judgement: Judgement, run: bool = False, host: bool = False) -> list[str]:
    """What limits a host, as it begins within a sentence; with what takes about as much in a sentence of its
    own where both do not fit into one. run, host: name them, because there are others."""
    evidence = _EVIDENCE.get(judgement.cause, _line)(judgement)
    sentence, rival = (
        f"{takes(judgement).format(part=_part(judgement, run, host))}{evidence}",
        _rival(judgement),
    )
    if not rival:
        return [f"{sentence}."]
    together = f"{sentence}; {rival}."
    return [together] if len(together) <= _LONGEST else [f"{sentence}.", f"{rival[0].upper()}{rival[1:]}."]


def _rival(judgement: Judgement) -> str:
    """What takes about as much as the cause, and where: who mends one of both gains half of what it seems.
    Empty where nothing does."""
    found = judgement.rival
    if found is None or (judgement.small_ops is not None and found.label == "compute"):
        return ""
    share = units.show(found.share, "ratio")
    much = "nearly as much" if found.share <= judgement.share else "slightly more"
    much = "more" if found.share > _MORE * judgement.share else much
    much = "just as much" if share == units.show(judgement.share, "ratio") else much
    at = [shortened(found.what)] if found.what is not None else []
    at += [f"in {place_of(found.place)}"] if found.place is not None else []
    more = f", {' '.join(at)}" if at else ""
    word = _GOES_TO.get(found.label, LOOKS[found.label].word)
    if found.label == "dispatch" and judgement.waits_for_cores:
        word += " and waiting for a core to do so"
    beside = judgement.cause == "none" and found.share < judgement.share
    return f"{share} goes to {word}{more}" if beside else f"{much}, {share}, goes to {word}{more}"


def forbidding(judgement: Judgement) -> laws.Broken | None:
    """The broken law that leaves the cause of a step unknown, even as a bound."""
    found = (
        law for law in judgement.broken if "share" in laws.weakens(law.law) and not laws.bound([law.law])
    )
    return next(found, None)


def _part(judgement: Judgement, run: bool, host: bool) -> str:
    """The part of a step that the cause takes: 60.0 % of a step (60.0 ms of 100 ms)."""
    whose = f" of {judgement.run_id}" if run else ""
    whose += f" on {host_of(judgement.host_id)}" if host else ""
    bound, share = _bound(judgement), units.show(judgement.share, "ratio")
    share = units.bounded(bound, judgement.share) if bound else share
    if judgement.whole_capture:
        recorded = units.show(_recordings(judgement) * judgement.mean_ps, "ps")
        return f"{share} of the {recorded} recorded{whose}"
    # A mean of steps that compile and steps that do not is no step.
    several = judgement.others is not None
    times = judgement.steps if several else 1
    unit = unit_of(judgement)
    # A step that is not traced takes another time, which a sentence after this one says.
    unit = unit if untraced_step(judgement) is None else f"traced {unit}"
    step = "the recorded steps" if several else f"the only {unit}" if judgement.steps == 1 else f"a {unit}"
    taken, whole = (units.show(times * ps, "ps") for ps in (judgement.ps_per_step, judgement.mean_ps))
    return f"{share} of {step}{whose} ({taken} of {whole})"


def _recordings(judgement: Judgement) -> int:
    """How many recordings without steps a figure is of, each as if it were a step: theirs is their sum."""
    return judgement.steps if judgement.whole_capture else 1


def _bound(judgement: Judgement) -> str:
    """The word before the share (at least, at most) if work of the device is missing, as a law says, or if
    unrecorded ops are part of it."""
    if judgement.runs_unseen:
        return "at most"
    if not any("share" in laws.weakens(law.law) for law in judgement.broken) or judgement.cause == "unknown":
        return ""
    return "at least" if judgement.cause in (*ON_DEVICES, "none") else "at most"


def _line_clause(judgement: Judgement) -> str:
    return f", in {place_of(judgement.place)}" if judgement.place else ""


def _line(judgement: Judgement) -> str:
    """The line that a cause lies in, or what the program calls that part of its steps."""
    if judgement.place is None:
        return "" if judgement.mark is None else f", within `{shortened(judgement.mark)}`"
    if judgement.spent_in is not None:
        # The line to look at comes first, and then the one of the loop that calls it.
        return f", in {place_of(judgement.spent_in)}, called in {place_of(judgement.place)}"
    return _line_clause(judgement)


def _copies(judgement: Judgement) -> str:
    """How much is copied, and the line that does it."""
    size = judgement.copied_bytes
    copied = "" if size is None else f": {units.show(size, 'bytes')} a {unit_of(judgement)}"
    return copied + _line(judgement)


def _ops(judgement: Judgement) -> str:
    """The op that takes most, and what another thread runs at the same time."""
    if judgement.meanwhile is None:
        return _most_of_ops(judgement)
    beside = f"; another thread runs {place_of(judgement.meanwhile)} then, which wants a core, too, and the"
    return f"{_most_of_ops(judgement)}{beside} interpreter between ops"


def _most_of_ops(judgement: Judgement) -> str:
    """In which function most ops run, how many and small they are, and which type or layer takes most."""
    with_gradients = " with its gradients" if judgement.gradients_too else ""
    ran_in = judgement.spent_in
    text = "" if ran_in is None else f", most of it in {place_of(ran_in)}{with_gradients}"
    if judgement.small_ops is not None:
        text += f": {_small_ops(judgement, *judgement.small_ops)}"
    if judgement.table is not None:
        return text + _table(judgement.table, unit_of(judgement))
    if judgement.op_type is None or judgement.op_share is None or judgement.op_share < _LITTLE:
        return text
    if not judgement.of_ops:
        return text  # Of what was drawn, whatever it was, a sentence of its own says what took most.
    name, share = shortened(judgement.written_op or judgement.op_type), judgement.op_share
    name += "" if judgement.launched_by is None else f" of {judgement.launched_by}"
    if _layer_alone(judgement) and judgement.layer is not None:
        name, share = judgement.layer.rpartition("/")[2], judgement.layer_share or share
    # Ops run side by side: their times add up to more than the time in which any runs.
    text += f", {name} for {units.show(share, 'ratio')} of all compute time"
    # Of many small ops, the one that runs all others tells what to mend.
    in_loop = judgement.small_ops is not None and judgement.op_type in _LOOPS
    made = _made(judgement) if judgement.cause == "compute" or in_loop else ""
    if judgement.run_in is None:
        return text + made
    return f"{text}{made}{' and' if made else ', most of it'} run in {place_of(judgement.run_in)}"


def _table(table: WholeTable, unit: str) -> str:
    """The time of ops on all rows of a table."""
    part = f"for {units.show(table.share, 'ratio')} of all compute time"
    looks_up = f"a {unit} looks up at most {table.used_rows:,}"
    return f", ops on all {table.rows:,} rows of a table {part}: {looks_up}"


def _made(judgement: Judgement) -> str:
    if judgement.place is None:
        return ""
    part = "" if judgement.made_share is None else f"{units.show(judgement.made_share, 'ratio')} of that "
    return f", {part}made in {place_of(judgement.place)}"


def _layer_alone(judgement: Judgement) -> bool:
    """Whether a layer that the model names stands out, and no type of op does."""
    named = judgement.layer is not None and ":" not in judgement.layer
    return named and (judgement.op_share or 0.0) < COMPUTE.thresholds.one_op


def _input(judgement: Judgement) -> str:
    """Which stage holds the input up, and whether the pipeline begins anew all the time."""
    if judgement.stage is None:
        return _line(judgement) + _loader_work(judgement) + _remade(judgement)
    text = f"{_line(judgement) if judgement.awaits else ''}; {_stage(judgement)}"
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


_LOADER_WORK = {"unpickling": "unpickles what workers sent", "workers": "starts and ends workers"}


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


def _launches(judgement: Judgement) -> str:
    """Which op runs on the host, how many calls launch, or which loop in the graph does."""
    if judgement.host_op is not None:
        return f", most of it {judgement.host_op}{_line_clause(judgement)}"
    if judgement.loop_runs is not None:
        if judgement.loop_unseen:
            nodes = f"{units.count(judgement.loop_runs, 'node')} of the graph a {unit_of(judgement)}"
            made = "" if judgement.place is None else f" made in {place_of(judgement.place)}"
            return f": {nodes}, each too short to be recorded, of the loop{made}"
        runs = f"{judgement.loop_runs:,} times a {unit_of(judgement)}"
        return f": ops of a loop in the graph run {runs}{_made(judgement)}"
    text = f": {calls(judgement)}" if many_calls(judgement) else ""
    if judgement.small_ops is not None:
        share = units.show(judgement.share_of("compute"), "ratio")
        text = f", and running them {share}: {_small_ops(judgement, *judgement.small_ops)}"
    call = judgement.called_from if text else None
    called = "" if call is None else f", called in {place_of(call)}"
    return f"{text}{_line_clause(judgement)}{called}{_launched_in_gaps(judgement)}"


def _small_ops(judgement: Judgement, number: int, each_ps: int) -> str:
    what = units.count(_recordings(judgement) * number, "op" if judgement.of_ops else "slice")
    in_all = "" if judgement.whole_capture else f" a {unit_of(judgement)}"
    return f"{what}{in_all} of {units.show(each_ps, 'ps')} each"


def _wait(judgement: Judgement) -> str:
    """The call, the op or the line that waits, and what another thread does that may hold the lock."""
    if judgement.late_copy is not None:
        return f", in {judgement.late_copy}{_line(judgement)}"
    if judgement.op_type is not None:
        return f", most of it in {shortened(judgement.op_type)}{_made(judgement)}"
    return _line(judgement) + _launched_in_gaps(judgement)


def _launched_in_gaps(judgement: Judgement) -> str:
    """What another thread runs then: Python beside Python waits for the interpreter's lock."""
    if judgement.meanwhile is None:
        return ""
    if judgement.meanwhile_waits:
        return f"; another thread waits in {place_of(judgement.meanwhile)} then, and may hold the lock"
    runs = f"; another thread runs {place_of(judgement.meanwhile)} then"
    return runs if judgement.cause == "wait" else f"{runs}, and only one can run Python at a time"


def _idle(judgement: Judgement) -> str:
    """What is launched meanwhile."""
    launches = judgement.gap_launches
    if launches is None:
        return _line(judgement)
    took = units.show(_recordings(judgement) * launches.took_ps, "ps")
    if launches.op is None:
        does = "is in calls of the runtime" if launches.called else "launches ops"
        return f"; meanwhile the host {does} for {took}"
    what = shortened(launches.op)
    return f"; meanwhile {what if launches.called else f'the launch of {what}'} takes {took}"


def calls(judgement: Judgement, of_others: str = "") -> str:
    """The calls that launch, in all or in a step. of_others: whose they are where they run no session."""
    whose = " of Session.run" if judgement.of_session else of_others
    each = "in all" if judgement.whole_capture else f"a {unit_of(judgement)}"
    return f"{units.count(_recordings(judgement) * (judgement.calls or 0), 'call')}{whose} {each}"


def _setup(judgement: Judgement) -> str:
    """Which calls allocate, and what it means that they are many; else that setting up is done once."""
    found = most_allocates(judgement)
    if found is None:
        return (
            f"{_line_clause(judgement)}: it is used for the first time, or code and memory are brought to it"
        )
    number = units.count(found.calls, "call")
    text = f": {number} of {found.name}, {units.show(found.took_ps, 'ps')} in all{_line_clause(judgement)}"
    if _FREES_ON_DEVICE.match(found.name) and found.calls > MANY_CALLS:
        text += ". Each waits for the device; what is freed is not kept for the next tensor: the caching"
        text += " allocator is off or full"
    return text


def _python(judgement: Judgement) -> str:
    """Which op calls Python, where one does."""
    if judgement.op_type is None:
        return _line(judgement) + _launched_in_gaps(judgement)
    called = "it" if judgement.place is None else place_of(judgement.place)
    return f": {shortened(judgement.op_type)} calls {called}"


def _sampled(call: tuple[str, float]) -> str:
    """In which function a processor was seen."""
    name, share = call
    return f"; {units.show(share, 'ratio')} of the samples of the processor are in {shortened(name)}"


def _unknown(judgement: Judgement) -> str:
    """The line in which the time passes, or how to find out."""
    if judgement.sampled:
        return _line_clause(judgement)
    before = (
        ""
        if judgement.before_ps is None
        else f": {units.show(judgement.before_ps, 'ps')} before the first op"
    )
    if judgement.awaited_ps is not None:
        awaited = units.show(judgement.awaited_ps, "ps")
        return f": for {awaited} the host waits for a device, and what that did then was not recorded"
    if judgement.sampled_call is not None:
        return before + _sampled(judgement.sampled_call)
    if judgement.ranges and not before:
        named = (f"`{shortened(name)}` has {units.show(share, 'ratio')}" for name, share in judgement.ranges)
        unit = "the recording" if judgement.whole_capture else f"a {unit_of(judgement)}"
        before = f": {listed(list(named))} of {unit}"
    if not judgement.of_ops:
        return before  # The program may be in any language.
    if judgement.launches_alone:
        return (
            f"{before}: of the accelerator only launches were recorded. The full trace level, with CUPTI on "
            "the library path and the right to use it, would show it"
        )
    return f"{before}. `stepscope record` samples what the threads of a Python program do, and would show it"


_EVIDENCE: Mapping[str, Callable[[Judgement], str]] = {
    "compute": _ops,
    "none": _ops,
    "input": _input,
    "compile": compiled,
    "copy": _copies,
    "dispatch": _launches,
    "idle": _idle,
    "setup": _setup,
    "python": _python,
    "wait": _wait,
    "unknown": _unknown,
}
"""The second half of the sentence by cause; for all others, the line."""
