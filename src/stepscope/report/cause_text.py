"""What limits the steps of a host, as a sentence: the part that its cause takes, then what is known of it.

`cause_beginnings` has the first half for each cause, _EVIDENCE a function that writes the second.
"""

import re
from collections.abc import Callable, Mapping

from stepscope import units
from stepscope.instruments import laws
from stepscope.instruments.causes.dispatch import MANY_CALLS
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.step_breakdown.labels import ON_DEVICES
from stepscope.report.cause_beginnings import many_calls, most_allocates, takes
from stepscope.report.cause_phrases import (
    calls,
    code_line,
    line_clause,
    made_in,
    others_meanwhile,
    recordings,
    small_ops,
)
from stepscope.report.compile_text import compiled
from stepscope.report.input_text import input_stage
from stepscope.report.names import host_of, listed, place_of, shortened, unit_of
from stepscope.report.ops_text import ops
from stepscope.report.remains import untraced_step
from stepscope.step_labels import LOOKS

_GOES_TO = {"idle": "an accelerator without work", "wait": "sleeping and waiting for others"}
"""Words for the time of a label where LOOKS has others."""
_LONGEST = 200
"""Characters of a sentence: two lines of a terminal."""
_MORE = 1.18
"""What takes so many times as much takes more than slightly more."""
_FREES_ON_DEVICE = re.compile(r"(?!.*Host).*Free")
"""What frees memory of a device waits until the device is done with all that was launched."""


def limiting(judgement: Judgement, run: bool = False, host: bool = False) -> list[str]:
    """What limits a host, as it begins within a sentence; with what takes about as much in a sentence of its
    own where both do not fit into one. run, host: name them, because there are others."""
    evidence = _EVIDENCE.get(judgement.cause, code_line)(judgement)
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
        recorded = units.show(recordings(judgement) * judgement.mean_ps, "ps")
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


def _bound(judgement: Judgement) -> str:
    """The word before the share (at least, at most) if work of the device is missing, as a law says, or if
    unrecorded ops are part of it."""
    if judgement.runs_unseen:
        return "at most"
    if not any("share" in laws.weakens(law.law) for law in judgement.broken) or judgement.cause == "unknown":
        return ""
    return "at least" if judgement.cause in (*ON_DEVICES, "none") else "at most"


def _copies(judgement: Judgement) -> str:
    """How much is copied, and the line that does it."""
    size = judgement.copied_bytes
    copied = "" if size is None else f": {units.show(size, 'bytes')} a {unit_of(judgement)}"
    return copied + code_line(judgement)


def _launches(judgement: Judgement) -> str:
    """Which op runs on the host, how many calls launch, or which loop in the graph does."""
    if judgement.host_op is not None:
        return f", most of it {judgement.host_op}{line_clause(judgement)}"
    if judgement.loop_runs is not None:
        if judgement.loop_unseen:
            nodes = f"{units.count(judgement.loop_runs, 'node')} of the graph a {unit_of(judgement)}"
            made = "" if judgement.place is None else f" made in {place_of(judgement.place)}"
            return f": {nodes}, each too short to be recorded, of the loop{made}"
        runs = f"{judgement.loop_runs:,} times a {unit_of(judgement)}"
        return f": ops of a loop in the graph run {runs}{made_in(judgement)}"
    text = f": {calls(judgement)}" if many_calls(judgement) else ""
    if judgement.small_ops is not None:
        share = units.show(judgement.share_of("compute"), "ratio")
        text = f", and running them {share}: {small_ops(judgement, *judgement.small_ops)}"
    call = judgement.called_from if text else None
    called = "" if call is None else f", called in {place_of(call)}"
    return f"{text}{line_clause(judgement)}{called}{others_meanwhile(judgement)}"


def _wait(judgement: Judgement) -> str:
    """The call, the op or the line that waits, and what another thread does that may hold the lock."""
    if judgement.late_copy is not None:
        return f", in {judgement.late_copy}{code_line(judgement)}"
    if judgement.op_type is not None:
        return f", most of it in {shortened(judgement.op_type)}{made_in(judgement)}"
    return code_line(judgement) + others_meanwhile(judgement)


def _idle(judgement: Judgement) -> str:
    """What is launched meanwhile."""
    launches = judgement.gap_launches
    if launches is None:
        return code_line(judgement)
    took = units.show(recordings(judgement) * launches.took_ps, "ps")
    if launches.op is None:
        does = "is in calls of the runtime" if launches.called else "launches ops"
        return f"; meanwhile the host {does} for {took}"
    what = shortened(launches.op)
    return f"; meanwhile {what if launches.called else f'the launch of {what}'} takes {took}"


def _setup(judgement: Judgement) -> str:
    """Which calls allocate, and what it means that they are many; else that setting up is done once."""
    found = most_allocates(judgement)
    if found is None:
        return (
            f"{line_clause(judgement)}: it is used for the first time, or code and memory are brought to it"
        )
    number = units.count(found.calls, "call")
    text = f": {number} of {found.name}, {units.show(found.took_ps, 'ps')} in all{line_clause(judgement)}"
    if _FREES_ON_DEVICE.match(found.name) and found.calls > MANY_CALLS:
        text += ". Each waits for the device; what is freed is not kept for the next tensor: the caching"
        text += " allocator is off or full"
    return text


def _python(judgement: Judgement) -> str:
    """Which op calls Python, where one does."""
    if judgement.op_type is None:
        return code_line(judgement) + others_meanwhile(judgement)
    called = "it" if judgement.place is None else place_of(judgement.place)
    return f": {shortened(judgement.op_type)} calls {called}"


def _sampled(call: tuple[str, float]) -> str:
    """In which function a processor was seen."""
    name, share = call
    return f"; {units.show(share, 'ratio')} of the samples of the processor are in {shortened(name)}"


def _unknown(judgement: Judgement) -> str:
    """The line in which the time passes, or how to find out."""
    if judgement.sampled:
        return line_clause(judgement)
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
    "compute": ops,
    "none": ops,
    "input": input_stage,
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
