"""The judgement of a recording in words: the sentence that comes first, and `answer` and `causes` for
programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from stepscope import units
from stepscope.instruments import laws
from stepscope.instruments.step_breakdown.labels import ON_DEVICES
from stepscope.report import remains
from stepscope.report.parts import Column, Note, ReportFinding, Section, Table
from stepscope.report.sentences import host_of, shortened
from stepscope.step_labels import LOOKS

if TYPE_CHECKING:
    from stepscope.code_lines import CodeLine
    from stepscope.instruments.causes.judgement import Allocating, Judgement, Retrace, Weighed
    from stepscope.instruments.laws.violation import Broken

_TAKES: dict[str, str] = {
    **{label: look.takes for label, look in LOOKS.items()},
    "none": "nothing stands out: ops run for {part}",
}
_DRAWN = "what was drawn covers {part}"
"""Where the recorder knows no ops."""
_ALONE = "communication takes {part}: nothing was recorded that could hide it"
"""Where a recorder sees nothing but communication."""
_CALLED_BACK = "Python takes {part}"
"""Where an op calls it, so that an op does run."""
_ALLOCATING = "allocating and freeing memory of the device takes {part}"
"""Where that is most of setting it up."""
_AWAITING = {
    "host": "waiting for copies between host and device takes {part}",
    "device": "waiting for copies within the device takes {part}",
}
"""Where cores wait for what is copied beside them."""
_WORDS: dict[str, str] = {label: look.word for label, look in LOOKS.items()}

Severity = Literal["high", "medium", "low", "info"]

_OF = {
    "input-wait": ("input",),
    "python-in-pipeline": ("input", "python"),
    "matching-files": ("input", "compute"),
    "recompilation": ("compile",),
    "retraced-functions": ("compile",),
    "copies-in-steps": ("copy",),
    "python-between-ops": ("python",),
    "dominant-op": ("compute",),
    "per-op-dispatch": ("dispatch",),
    "copies-between-ops": ("copy",),
    "per-step-io": ("wait",),
    "waits-between-ops": ("wait",),
}
"""Findings that say what a label says: their weight follows its part of a step."""
_OF_STEPS = frozenset(
    {
        "device-idle",
        "many-tiny-kernels",
        "host-sync",
        "device-waits-for-host",
        "cpu-ops-in-device-step",
        "unhidden-collectives",
    }
)
"""Others that say what a part of the steps goes to: nothing, where steps tell nothing of the device."""
_HIGH_FROM, _MEDIUM_FROM = 0.2, 0.05


_LIMITS: dict[str, str] = {
    **{label: look.limits for label, look in LOOKS.items()},
    "none": "nothing stands out in {}",
}
_ALIKE = 0.05
"""How far the shares of hosts may be apart that are called the same without more words."""
_LITTLE = 0.01
"""An op that takes less of the time of all ops is not named."""
_MANY_CALLS = 20
"""As in the finding per-op-dispatch."""
_MENTIONED = 0.2
"""What is known and takes so much of a step is named beside what is not."""
_GOES_TO = {"idle": "an accelerator without work", "wait": "sleeping and waiting for others"}
_MOST_PROGRAMS = 5
"""Runs, or unrelated recordings, that get a sentence each; a table has all runs."""


def sentences(
    judged: Sequence[Judgement],
    several: bool,
    unrelated: bool = False,
    programs: Sequence[tuple[str, Weighed]] = (),
) -> list[str]:
    """What comes first in the headline; empty where there are no steps and nothing to judge. Each sentence
    says of whom it speaks. several: there are other runs, judged or not. unrelated: recordings of different
    programs share a run, as files in one folder do. programs: those recordings by what they are called, each
    weighed by itself."""
    if not judged:
        return []
    runs = len({judgement.run_id for judgement in judged})
    if runs == 1 and not unrelated:
        hosts = len(judged) > 1
        concluded = (
            _sentence(judged[0], several, hosts),
            *_rival(judged[0]),
            *(_hosts(judged) if hosts else ()),
            *(remains.sentences(judged[0], _unit(judged[0])) if not hosts else ()),
            *(_others(judged[0]) if not hosts else ()),
        )
        return [
            *(() if say_nothing(judged) else concluded),
            *_lawless(judged),
            *_busy(judged[0]),
        ]
    if runs == 1:
        return _programs(programs)
    number = f"{runs} runs" if runs == len(judged) else f"{len(judged)} hosts of {runs} runs"
    each = [(_whose(judgement, judged), own_sentence(judgement)) for judgement in judged]
    if len(judged) <= _MOST_PROGRAMS:
        return [f"{number}, each judged by itself, the longest first:", *_listed(each)]
    counted = f"{number}, each judged by itself: {_counted(judged)}."
    return [counted, *_listed(each), f"{len(each) - _MOST_PROGRAMS:,} more: the table has all of them."]


def _listed(each: Sequence[tuple[str, str]]) -> list[str]:
    """A sentence for each of the first programs. each: their names, and what is said of them."""
    return [f"{name}: {said}" for name, said in each[:_MOST_PROGRAMS]]


def _whose(judgement: Judgement, judged: Sequence[Judgement]) -> str:
    """A run, with the host where it has several."""
    hosts = sum(other.run_id == judgement.run_id for other in judged)
    return judgement.run_id if hosts == 1 else f"{judgement.run_id} on {host_of(judgement.host_id)}"


def own_sentence(judgement: Judgement) -> str:
    """What is said of one of several programs: what limits it, or the law without which nothing is known.
    It begins as within a sentence."""
    law = _forbidding(judgement)
    if law is not None:
        return f"{law.said}."
    return " ".join([_limiting(judgement), *_rival(judgement)])


def _programs(programs: Sequence[tuple[str, Weighed]]) -> list[str]:
    """A sentence for each of several programs, that with most time in its steps first."""
    ordered = sorted(programs, key=lambda one: (-one[1].steps * one[1].mean_ps, one[0]))
    first = f"{units.count(len(ordered), 'recording')} of different programs, the longest first:"
    said = [first, *_listed([(name, _weighed(one)) for name, one in ordered])]
    if len(ordered) > _MOST_PROGRAMS:
        said.append(f"{units.count(len(ordered) - _MOST_PROGRAMS, 'more recording')}: open each by itself.")
    return said


def _weighed(one: Weighed) -> str:
    """What limits a program of which labels alone are known."""
    label = "compute" if one.cause == "none" else one.cause
    whole = units.show(one.mean_ps, "ps")
    of = f"the {whole} recorded" if one.whole_capture else f"a step of {whole}"
    part = f"{units.show(one.share_of(label), 'ratio')} of {of}"
    return f"{_TAKES[one.cause].format(part=part)}."


def _rival(judgement: Judgement) -> list[str]:
    """What takes about as much as the cause, and where."""
    if judgement.cause == "unknown":
        return _known(judgement)
    found = judgement.rival
    if found is None:
        return []
    share = units.show(found.share, "ratio")
    much = "Nearly as much" if found.share <= judgement.share else "Slightly more"
    at = [shortened(found.what)] if found.what is not None else []
    at += [f"in {_at(found.place)}"] if found.place is not None else []
    more = f"; {' '.join(at)}" if at else ""
    return [f"{much} goes to {_GOES_TO.get(found.label, _WORDS[found.label])}: {share}{more}."]


def _known(judgement: Judgement) -> list[str]:
    """What takes most of the time that the recording does tell, where that is a good part of a step."""
    known = [part for part in judgement.parts if part.label != "unknown"]
    if not known or known[0].share < _MENTIONED:
        return []
    whole = "the recording" if judgement.whole_capture else f"a {_unit(judgement)}"
    part = f"{units.show(known[0].share, 'ratio')} of {whole}"
    return [f"Of what it does show, {_TAKES[known[0].label].format(part=part)}."]


def _lawless(judged: Sequence[Judgement]) -> list[str]:
    """The laws that recordings break: what weakens the sentences around. One sentence for each law, of the
    first host that breaks it."""
    said: dict[str, str] = {}
    for judgement in judged:
        for law in judgement.broken:
            where = f" on {host_of(judgement.host_id)}" if len(judged) > 1 else ""
            said.setdefault(law.law, f"{law.said[0].upper()}{law.said[1:]}{where}.")
    return list(said.values())


def _others(judgement: Judgement) -> list[str]:
    """What the steps do that compile nothing, after what all of them do."""
    found = judgement.others
    if found is None or found.cause == "unknown" or not found.parts:
        return []
    most = found.parts[0]
    if most.label not in _TAKES:
        return []
    mean = f"{units.show(most.ps_per_step, 'ps')} of {units.show(found.mean_ps, 'ps')}"
    which = "step that is" if found.steps == 1 else f"{found.steps:,} steps that are"
    part = f"{units.show(most.share, 'ratio')} ({mean})"
    return [f"In the {which} averaged, {_TAKES[most.label].format(part=part)}."]


def _busy(judgement: Judgement) -> list[str]:
    """Whether other programs had the cores, which makes all of the rest less sure."""
    found = judgement.contention
    if found is None or not found.busy:
        return []
    waiting, running = f"{found.waiting:.1f}", f"{found.running:.1f}"
    number = "1.0 thread" if waiting == "1.0" else f"{waiting} threads"
    return [f"The machine was busy: {number} of the program waited for a core while {running} ran."]


def _counted(judged: Sequence[Judgement]) -> str:
    """How many of them each cause limits, the most frequent first."""
    number = Counter(judgement.cause for judgement in judged)
    ordered = sorted(number, key=lambda cause: (-number[cause], list(_LIMITS).index(cause)))
    return ", ".join(_LIMITS[cause].format(f"{number[cause]:,}") for cause in ordered)


def _hosts(judged: Sequence[Judgement]) -> list[str]:
    """What is said of the other hosts of a run, after the one with most time in steps."""
    same = sum(judgement.cause == judged[0].cause for judgement in judged)
    if same == len(judged):
        both = "both hosts" if same == 2 else f"all {same:,} hosts"
        return [f"{_same(judged)} on {both}{_shares(judged)}."]
    return [f"{len(judged)} hosts were recorded: {_counted(judged)}."]


def _same(judged: Sequence[Judgement]) -> str:
    return "The cause is unknown" if judged[0].cause == "unknown" else "It is the same"


def _shares(judged: Sequence[Judgement]) -> str:
    """How much it is on each, where that differs: the sentence before names the share of one host."""
    shares = [judgement.share for judgement in judged]
    if judged[0].cause == "unknown" or max(shares) - min(shares) < _ALIKE:
        return ""
    least, most = units.show(min(shares), "ratio"), units.show(max(shares), "ratio")
    return f", at {least} to {most}"


def answers(judged: Sequence[Judgement]) -> Section | None:
    """What limits each of several runs or hosts, as a table; None for a single one."""
    if len(judged) < 2:
        return None
    rows = tuple(
        (
            judgement.run_id,
            judgement.host_id,
            judgement.cause,
            judgement.share,
            None if judgement.whole_capture else judgement.steps,
            judgement.mean_ps,
            judgement.spoken
            or judgement.stage
            or judgement.written_op
            or judgement.op_type
            or (None if judgement.place is None else _at(judgement.place)),
            judgement.confidence,
            own_sentence(judgement),
        )
        for judgement in judged
    )
    return Section(
        "answers",
        "Each run" if len({judgement.run_id for judgement in judged}) == len(judged) else "Each host",
        "What limits each run and host?",
        table=Table(_ANSWERS, rows, len(rows)),
    )


_ANSWERS = (
    Column("run_id", "text", "Run", "name of the run"),
    Column("host_id", "text", "Host", "name of the host"),
    Column("cause", "text", "Cause", "what limits its steps; none where nothing stands out"),
    Column("share", "ratio", "Share", "part of a mean step that the cause takes"),
    Column("steps", "int", "Steps", "steps that were judged; empty where the whole recording stands for one"),
    Column("mean_ps", "ps", "Step", "mean duration of a step"),
    Column("what", "text", "What", "stage, type of op or line"),
    Column("confidence", "text", "Confidence", "high, medium or low"),
    Column("said", "text", "In words", "what limits its steps, as a sentence"),
)


def _sentence(judgement: Judgement, run: bool, host: bool) -> str:
    """What limits a host. run, host: name them, because there are others."""
    said = _limiting(judgement, run, host)
    return said[0].upper() + said[1:]


def _limiting(judgement: Judgement, run: bool = False, host: bool = False) -> str:
    """The same as it begins within a sentence."""
    whose = f" of {judgement.run_id}" if run else ""
    whose += f" on {host_of(judgement.host_id)}" if host else ""
    share = _bounded(judgement) + units.show(judgement.share, "ratio")
    if judgement.whole_capture:
        mean = f"{units.show(judgement.mean_ps, 'ps')} recorded{whose}"
        part = f"{share} of the {mean}"
    else:
        step = f"the only {_unit(judgement)}" if judgement.steps == 1 else f"a {_unit(judgement)}"
        mean = f"{units.show(judgement.ps_per_step, 'ps')} of {units.show(judgement.mean_ps, 'ps')}"
        if judgement.others is not None:  # a mean of steps that compile and steps that do not is no step
            step, many = "the recorded steps", judgement.steps
            of_all = units.show(many * judgement.mean_ps, "ps")
            mean = f"{units.show(many * judgement.ps_per_step, 'ps')} of {of_all}"
        part = f"{share} of {step}{whose} ({mean})"
    said = _TAKES[judgement.cause]
    if judgement.cause == "python" and judgement.op_type is not None:
        said = _CALLED_BACK
    elif judgement.cause in ("compute", "none") and not judgement.of_ops:
        said = _DRAWN
    elif judgement.cause == "none" and judgement.small_ops is not None:
        said = _TAKES["compute"]
    elif judgement.cause == "communication" and not judgement.share_of("compute"):
        said = _ALONE
    elif judgement.cause == "copy" and judgement.awaits_copies is not None:
        said = _AWAITING[judgement.awaits_copies]
    elif judgement.cause == "setup" and _allocating(judgement) is not None:
        said = _ALLOCATING
    return f"{said.format(part=part)}{_more(judgement)}."


def say_nothing(judged: Sequence[Judgement]) -> bool:
    """Whether none of the hosts' steps say anything of what takes a step."""
    return bool(judged) and all(map(_says_nothing, judged))


def _says_nothing(judgement: Judgement) -> bool:
    """Whether a law is broken without which nothing is known of what takes a step, not even a bound."""
    return _forbidding(judgement) is not None


def _forbidding(judgement: Judgement) -> Broken | None:
    """That law."""
    found = (
        law for law in judgement.broken if "share" in laws.weakens(law.law) and not laws.bound([law.law])
    )
    return next(found, None)


def _bounded(judgement: Judgement) -> str:
    """What stands before the share of a cause where a law says that work of the device is missing."""
    if not any("share" in laws.weakens(law.law) for law in judgement.broken) or judgement.cause == "unknown":
        return ""
    return "at least " if judgement.cause in (*ON_DEVICES, "none") else "at most "


def _more(judgement: Judgement) -> str:
    if judgement.cause in ("compute", "none"):
        where = "" if judgement.spent_in is None else f", most of it in {_at(judgement.spent_in)}"
        if judgement.small_ops is not None:
            number, each_ps = judgement.small_ops
            where += f": {units.count(number, 'op')} a {_unit(judgement)} of {units.show(each_ps, 'ps')} each"
        if judgement.op_type is None or judgement.op_share is None or judgement.op_share < _LITTLE:
            return where
        place = (
            f", made in {_at(judgement.place)}"
            if judgement.place is not None and judgement.cause == "compute"
            else ""
        )
        op_type = shortened(judgement.written_op or judgement.op_type)
        return f"{where}, {op_type} for {units.show(judgement.op_share, 'ratio')} of that time{place}"
    if judgement.cause == "input" and judgement.stage is not None:
        return f"; {_holding_up(judgement)}{_remade(judgement)}"
    if judgement.cause == "compile":
        return _compiles(judgement)
    if judgement.cause == "dispatch":
        # A few calls launch many ops from within compiled functions: their number explains nothing.
        many = judgement.calls is not None and judgement.calls >= _MANY_CALLS
        calls = f": {_calls(judgement)} {_each(judgement)}" if many else ""
        return calls + (f", in {_at(judgement.place)}" if judgement.place else "")
    if judgement.cause == "setup":
        found = _allocating(judgement)
        if found is not None:
            return _allocates(judgement, found)
        at = f", in {_at(judgement.place)}" if judgement.place else ""
        return f"{at}: it is used for the first time, or code and memory are brought to it"
    if judgement.cause == "unknown":
        return ". `stepscope record` samples what its threads do, and would tell"
    if judgement.cause == "python" and judgement.op_type is not None:
        by = f"{shortened(judgement.op_type)} calls"
        return f": {by} it" if judgement.place is None else f": {by} {_at(judgement.place)}"
    if judgement.place is None:
        return "" if judgement.mark is None else f", within `{shortened(judgement.mark)}`"
    if judgement.spent_in is not None:
        # The line to look at comes first, and then the one of the loop that calls it.
        return f", in {_at(judgement.spent_in)}, called in {_at(judgement.place)}"
    return f", in {_at(judgement.place)}"


_BLOCKS = ("Free",)
"""What frees memory of a device waits until the device is done with all that was launched."""


def _allocating(judgement: Judgement) -> Allocating | None:
    """The calls that allocate, where they are most of what sets up the device."""
    found = judgement.allocating
    return (
        found if found is not None and 2 * found.all_ps >= judgement.ps_per_step * judgement.steps else None
    )


def _allocates(judgement: Judgement, found: Allocating) -> str:
    """Which calls allocate, and what it means that they are many."""
    calls = f": {units.count(found.calls, 'call')} of {found.name}, {units.show(found.took_ps, 'ps')} in all"
    calls += f", in {_at(judgement.place)}" if judgement.place else ""
    if any(word in found.name for word in _BLOCKS) and found.calls > _MANY_CALLS:
        calls += ". Each waits for the device; what is freed is not kept for the next tensor: the caching"
        calls += " allocator is off or full"
    return calls


def _calls(judgement: Judgement) -> str:
    """How many calls launch."""
    return units.count(judgement.calls or 0, "call") + (" of Session.run" if judgement.of_session else "")


def _holding_up(judgement: Judgement) -> str:
    """Which stage holds the input up: what the user wrote, with the line."""
    stage = judgement.spoken or judgement.stage
    if judgement.place is None:
        return f"{stage} holds it up"
    function, by = (
        (judgement.place, judgement.called_from)
        if judgement.in_python
        else (judgement.given, judgement.place)
    )
    if function is None or function.function is None:
        return (
            f"{stage} in {_at(judgement.place)} holds it up"
            if not judgement.in_python
            else f"{_at(judgement.place)} holds it up"
        )
    called = "" if by is None else f", called by {stage} in {_line(by)}"
    return f"`{_plain(function.function)}` in {_line(function)} holds it up{called}"


def _remade(judgement: Judgement) -> str:
    """That the pipeline begins anew all the time, which is what its stages do then."""
    if judgement.remade is None:
        return ""
    made, steps = judgement.remade
    return f". {units.count(made, 'new iterator')} in {units.count(steps, 'step')}: each begins anew"


def _line(place: CodeLine) -> str:
    name = place.file.rpartition("/")[2]
    return name if place.line is None else f"{name}:{place.line}"


def _each(judgement: Judgement) -> str:
    """What a number of calls is counted over."""
    return "in all" if judgement.whole_capture else f"a {_unit(judgement)}"


def _unit(judgement: Judgement) -> str:
    """What its steps are called."""
    return "batch" if judgement.serves else "step"


def _compiles(judgement: Judgement) -> str:
    """Which function compiles, how often, from where and why."""
    what = [f"`{judgement.function}` compiles"] if judgement.function else []
    if judgement.compiling and judgement.steps > 1:
        what.append(f"in {judgement.compiling:,} of {units.count(judgement.steps, 'step')}")
    said = " ".join(what)
    if judgement.place is not None:
        said += f"{', ' if said else ''}called in {_at(judgement.place)}"
    if judgement.retrace is not None:
        said += f"{'; ' if said else ''}{_new(judgement.retrace)}"
    return f": {said}" if said else ""


_NEW = {
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


def _new(retrace: Retrace) -> str:
    """What was new about the calls that compiled: `rate` has another value each time (0.1, then 0.09)."""
    argument = f"argument `{retrace.argument}`" if retrace.argument is not None else "an argument"
    said = _NEW.get(retrace.change, _NEW["unknown"]).format(argument=argument)
    if retrace.was is None or retrace.became is None or retrace.change in ("function", "object", "unknown"):
        return said
    if retrace.change == "graph":
        return f"{said} ({retrace.was}, then {retrace.became} of them)"
    if retrace.change == "new_function":
        return f"{said} and holds another `{retrace.argument}` ({retrace.was}, then {retrace.became})"
    return f"{said} ({retrace.was}, then {retrace.became})"


def _at(place: CodeLine) -> str:
    return _line(place) + (f" `{_plain(place.function)}`" if place.function else "")


def _plain(function: str) -> str:
    """A function's name without the class or function that contains it."""
    return function.rpartition(".")[2]


def document(judged: Sequence[Judgement], notes: Sequence[Note], unrelated: bool = False) -> dict[str, Any]:
    """`answer` and `causes` of the summary's JSON, and `answers` with those of each run and host; times in
    picoseconds, shares from 0 to 1. Several runs, or unrelated recordings, have no answer in common."""
    known = [_unknown(judgement) if _says_nothing(judgement) else judgement for judgement in judged]
    told = [_answer(judgement, notes) for judgement in known]
    alone = len({judgement.run_id for judgement in judged}) == 1 and not unrelated
    return {
        "answer": told[0] if alone else None,
        "causes": _causes(known[0]) if alone else [],
        "answers": [
            {**answer, "causes": _causes(without), "said": own_sentence(judgement)}
            for answer, without, judgement in zip(told, known, judged, strict=True)
        ],
    }


def _unknown(judgement: Judgement) -> Judgement:
    """What is left of a judgement by steps that say nothing of what takes a step: that nothing is known."""
    return replace(
        judgement, cause="unknown", share=0.0, ps_per_step=0, parts=(), place=None, called_from=None,
        spent_in=None, op=None, op_type=None, op_share=None, stage=None, function=None, mark=None,
        retrace=None, rival=None, calls=None, compiling=None, confidence="low",
    )  # fmt: skip


def _causes(judgement: Judgement) -> list[dict[str, Any]]:
    return [
        {"cause": part.label, "share": part.share, "ps_per_step": part.ps_per_step}
        for part in judgement.causes
    ]


def _answer(judgement: Judgement, notes: Sequence[Note]) -> dict[str, Any]:
    left = remains.remains(judgement)
    weak = [
        note.slug
        for note in notes
        if note.effect in ("lost", "capped", "missing") or note.slug == "truncated"
    ]
    return {
        "cause": judgement.cause,
        "share": judgement.share,
        "ps_per_step": judgement.ps_per_step,
        "place": _place(judgement.place),
        "called_from": _place(judgement.called_from),
        "spent_in": _place(judgement.spent_in),
        "op": judgement.op,
        "op_type": judgement.op_type,
        "stage": judgement.stage,
        "function": judgement.function,
        "mark": judgement.mark,
        "retraced": _retraced(judgement.retrace),
        "confidence": judgement.confidence,
        "because": _because(judgement),
        "weakened_by": list(dict.fromkeys([*judgement.weak, *(law.law for law in judgement.broken), *weak])),
        "step_ps": judgement.mean_ps,
        "step_if_removed_ps": left.ps,
        "low": left.low_ps,
        "high": left.high_ps,
        "run": judgement.run_id,
        "host": judgement.host_id,
    }


def _retraced(retrace: Retrace | None) -> dict[str, Any] | None:
    if retrace is None:
        return None
    return {
        "function": retrace.function,
        "called": _place(retrace.called),
        "change": retrace.change,
        "argument": retrace.argument,
        "was": retrace.was,
        "became": retrace.became,
        "times": retrace.times,
        "steps": retrace.steps,
    }


def _place(place: CodeLine | None) -> dict[str, Any] | None:
    if place is None:
        return None
    function = None if place.function is None else _plain(place.function)
    return {"file": place.file, "line": place.line, "function": function}


def _because(judgement: Judgement) -> list[str]:
    whole = (
        "the recording"
        if judgement.whole_capture
        else units.count(judgement.steps, _unit(judgement), "batches" if judgement.serves else None)
    )
    told = [
        f"{_WORDS[part.label]}: {units.show(part.share, 'ratio')} of {whole}" for part in judgement.causes
    ]
    if judgement.stage is not None:
        told.append(f"{judgement.spoken or judgement.stage} is the stage that holds the program up most")
    if judgement.op_type is not None and judgement.op_share is not None:
        runs_as = f" (as {judgement.op_type})" if judgement.written_op else ""
        share = units.show(judgement.op_share, "ratio")
        told.append(f"{judgement.written_op or judgement.op_type}{runs_as} takes {share} of the time of ops")
    if judgement.compiling:
        told.append(f"{units.count(judgement.compiling, 'step')} traced or compiled something")
    if judgement.retrace is not None:
        again = (
            f"{units.count(judgement.retrace.times, 'call')} of `{judgement.retrace.function}` compiled again"
        )
        told.append(f"{again}: {_new(judgement.retrace)}")
    if judgement.calls:
        told.append(
            f"{_calls(judgement)}{'' if judgement.of_session else ' of the framework'} {_each(judgement)}"
        )
    return told


def weighed(findings: Sequence[ReportFinding], judged: Sequence[Judgement]) -> tuple[ReportFinding, ...]:
    """The findings, those first that weigh most: none is heavier than the part of a step that it is about,
    and high only where that is what limits the steps. Compiling that limits the program is high, in however
    few steps it lies."""
    kept = []
    unsure = say_nothing(judged)
    for finding in findings:
        labels = _OF.get(finding.slug)
        if unsure and (labels is not None or finding.slug in _OF_STEPS):
            continue
        if labels is not None and judged:
            finding = _as_heavy_as(finding, labels, judged)
        kept.append(finding)
    return tuple(sorted(kept, key=lambda report_finding: _RANK[report_finding.severity]))


def _as_heavy_as(
    finding: ReportFinding, labels: tuple[str, ...], judged: Sequence[Judgement]
) -> ReportFinding:
    """The finding, as severe as the part of a step that it is about allows. labels: of that part."""
    share = max(judgement.share_of(label) for judgement in judged for label in labels)
    limiting = [judgement for judgement in judged if judgement.cause in labels]
    limits = any(judgement.share >= _HIGH_FROM for judgement in limiting)
    limit: Severity = "high" if limits else "medium" if share >= _MEDIUM_FROM else "low"
    # What few steps do is told by few rows, whatever it takes of all that was recorded.
    heavier = limits and labels == ("compile",) and any(judgement.others for judgement in limiting)
    if heavier or _RANK[finding.severity] < _RANK[limit]:
        return replace(finding, severity=limit)
    return finding


_RANK: dict[Severity, int] = {"high": 0, "medium": 1, "low": 2, "info": 3}
