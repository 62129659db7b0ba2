"""The judgement of a recording in words: the sentences that come first, of one host, of several hosts or
runs, or of several programs."""

from collections import Counter
from collections.abc import Sequence

from stepscope import units
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.causes.label_shares import Weighed
from stepscope.report import remains
from stepscope.report.cause_beginnings import DRAWN, TAKES
from stepscope.report.cause_text import forbidding, limiting
from stepscope.report.names import host_of, place_of, unit_of
from stepscope.step_labels import LOOKS

_LIMITS: dict[str, str] = {
    **{label: look.limits for label, look in LOOKS.items()},
    "none": "nothing stands out in {}",
}
_ALIKE = 0.05
"""How far the shares of hosts may be apart that are called the same without more words."""
_MENTIONED = 0.2
"""A known label with this part of a step is named beside the unknown time."""
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
    if len({judgement.run_id for judgement in judged}) > 1:
        return _runs(judged)
    if unrelated:
        return _programs(programs)
    concluded = () if say_nothing(judged) else _run(judged, several)
    return [*concluded, *_broken_laws(judged), *_contention(judged[0])]


def _run(judged: Sequence[Judgement], several: bool) -> list[str]:
    """What limits the hosts of one run, the one first that has most time in steps."""
    first = judged[0]
    hosts = len(judged) > 1
    sentence, *more = limiting(first, run=several, host=hosts)
    limit = [_capitalized(sentence), *more, *_further_sentences(first)]
    if hosts:
        return [*limit, *_hosts(judged)]
    # Behind what is left without the cause: garbage may be collected wherever objects are made.
    return [*limit, *remains.sentences(first, unit_of(first)), *_collects_garbage(first), *_others(first)]


def _runs(judged: Sequence[Judgement]) -> list[str]:
    """What limits each of several runs."""
    runs = len({judgement.run_id for judgement in judged})
    number = f"{runs} runs" if runs == len(judged) else f"{len(judged)} hosts of {runs} runs"
    each = [(_owner(judgement, judged), own_sentence(judgement)) for judgement in judged]
    if len(judged) <= _MOST_PROGRAMS:
        return [f"{number}, each judged by itself, the longest first:", *_first_of(each)]
    counted = f"{number}, each judged by itself: {_counted(judged)}."
    return [counted, *_first_of(each), f"{len(each) - _MOST_PROGRAMS:,} more: the table has all of them."]


def _first_of(each: Sequence[tuple[str, str]]) -> list[str]:
    """A sentence for each of the first programs. each: their names, and what is said of them."""
    return [f"{name}: {sentence}" for name, sentence in each[:_MOST_PROGRAMS]]


def _owner(judgement: Judgement, judged: Sequence[Judgement]) -> str:
    """A run, with the host where it has several."""
    hosts = sum(other.run_id == judgement.run_id for other in judged)
    return judgement.run_id if hosts == 1 else f"{judgement.run_id} on {host_of(judgement.host_id)}"


def own_sentence(judgement: Judgement) -> str:
    """The sentence about one of several programs: what limits it, or the law that leaves it unknown. It
    begins in lower case."""
    law = forbidding(judgement)
    if law is not None:
        return f"{law.said}."
    further = [*_further_sentences(judgement), *_collects_garbage(judgement), *_untraced(judgement)]
    return " ".join([*limiting(judgement), *further])


def _untraced(judgement: Judgement) -> list[str]:
    """How long a step takes without the profiler, where no sentence about the mean follows."""
    untraced_ps = remains.untraced_step(judgement)
    if untraced_ps is None:
        return []
    return [f"Without the profiler, a {unit_of(judgement)} typically takes {units.show(untraced_ps, 'ps')}."]


def say_nothing(judged: Sequence[Judgement]) -> bool:
    """Whether none of the hosts' steps say anything of what takes a step."""
    return bool(judged) and all(forbidding(judgement) is not None for judgement in judged)


def _programs(programs: Sequence[tuple[str, Weighed]]) -> list[str]:
    """A sentence for each of several programs, that with most time in its steps first."""
    ordered = sorted(programs, key=lambda program: (-program[1].steps * program[1].mean_ps, program[0]))
    first = f"{units.count(len(ordered), 'recording')} of different programs, the longest first:"
    text = [first, *_first_of([(name, _weighed(weighed)) for name, weighed in ordered])]
    if len(ordered) > _MOST_PROGRAMS:
        text.append(f"{units.count(len(ordered) - _MOST_PROGRAMS, 'more recording')}: open each by itself.")
    return text


def _weighed(program: Weighed) -> str:
    """What limits a program of which labels alone are known."""
    label = "compute" if program.cause == "none" else program.cause
    whole = units.show(program.mean_ps, "ps")
    of = f"the {whole} recorded" if program.whole_capture else f"a step of {whole}"
    part = f"{units.show(program.share_of(label), 'ratio')} of {of}"
    return f"{TAKES[program.cause].format(part=part)}."


def _further_sentences(judgement: Judgement) -> list[str]:
    """What belongs to the cause, and what takes most where that is unknown."""
    known = _recorded_share(judgement) if judgement.cause == "unknown" else []
    return [
        *_lines(judgement),
        *_moves(judgement),
        *_together(judgement),
        *_recomputed(judgement),
        *_precise(judgement),
        *known,
    ]


def _lines(judgement: Judgement) -> list[str]:
    """Two lines that share what the cause takes."""
    if not judgement.lines:
        return []
    first, second = (
        f"{units.show(found.share, 'ratio')} in {place_of(found.line)}" for found in judgement.lines
    )
    return [f"Two lines share that: {first}, and {second}."]


_MANY_BYTES = 1 << 20
"""From this many bytes in a step on, what is fed and fetched gets a sentence: to copy it takes 0.1 ms."""


def _moves(judgement: Judgement) -> list[str]:
    """What is fed to runs of a session, and fetched."""
    moved = zip(("is fed {}", "gives back {}"), judgement.session_bytes or (), strict=False)
    much = [does.format(units.show(size, "bytes")) for does, size in moved if size >= _MANY_BYTES]
    return [f"In a {unit_of(judgement)}, Session.run {' and '.join(much)}."] if much else []


def _recomputed(judgement: Judgement) -> list[str]:
    """What is computed again to save memory, and what a step would gain if that were kept."""
    found = judgement.recomputed
    if found is None:
        return []
    part = units.show(found.share, "ratio")
    again = f"{part} of a step computes again what {found.by} did not keep, to save memory"
    # Samples of PyTorch's stacks are of the host, which may run ahead of its device.
    ahead = judgement.on_device and found.by == "torch.utils.checkpoint"
    if judgement.whole_capture or ahead:
        return [f"{again}."]
    gain = units.show(round(found.share * (remains.untraced_step(judgement) or judgement.mean_ps)), "ps")
    return [f"{again}: if it were kept, a step would be about {gain} shorter."]


def _collects_garbage(judgement: Judgement) -> list[str]:
    """That Python collects garbage, at whatever line allocates next."""
    found = judgement.garbage
    if found is None:
        return []
    part = units.show(found.share, "ratio")
    number = units.count(found.collections, "collection")
    of_all = f", {found.whole:,} of them of all objects" if found.whole else ""
    steps = units.count(found.steps, "step")
    return [f"Python's garbage collection takes {part} of a step: {number} in {steps}{of_all}."]


def _precise(judgement: Judgement) -> list[str]:
    """That ops compute with more bits than models need, or on units that take longer."""
    goes_to = {
        "ops with 64-bit floats": judgement.doubles,
        "products of 32-bit floats without tensor cores": judgement.plain_products,
    }
    return [
        f"{units.show(share, 'ratio')} of all compute time goes to {what}."
        for what, share in goes_to.items()
        if share is not None
    ]


def _together(judgement: Judgement) -> list[str]:
    """What the line of the cause takes in all, where it takes little by each label."""
    if not judgement.together:
        return []
    whole = units.show(sum(part.share for part in judgement.together), "ratio")
    each = [f"{LOOKS[part.label].word} {units.show(part.share, 'ratio')}" for part in judgement.together]
    ops = units.show(judgement.share_of("compute"), "ratio")
    if (
        judgement.callbacks
        or judgement.other_batches
        or "compute" in {part.label for part in judgement.together}
    ):
        return [f"What runs there takes of a step: {', '.join(each)}."]
    return [f"That line takes {whole} of a step in all, beside {ops} for ops: {', '.join(each)}."]


def _recorded_share(judgement: Judgement) -> list[str]:
    """What takes most of the time that the recording does show, where that is a good part of a step."""
    known = [part for part in judgement.parts if part.label != "unknown"]
    if not known or known[0].share < _MENTIONED:
        return []
    recording = "the recording" if judgement.steps == 1 else "the recordings"
    whole = recording if judgement.whole_capture else f"a {unit_of(judgement)}"
    part = f"{units.show(known[0].share, 'ratio')} of {whole}"
    drawn = known[0].label == "compute" and DRAWN.applies(judgement)
    takes = DRAWN.takes if drawn else f"of what it does show, {TAKES[known[0].label]}"
    return [f"{_capitalized(takes.format(part=part))}."]


def _broken_laws(judged: Sequence[Judgement]) -> list[str]:
    """The laws that recordings break: what weakens the sentences around. One sentence for each law, of the
    first host that breaks it."""
    first: dict[str, str] = {}
    for judgement in judged:
        for law in judgement.broken:
            where = f" on {host_of(judgement.host_id)}" if len(judged) > 1 else ""
            first.setdefault(law.law, f"{_capitalized(law.said)}{where}.")
    return list(first.values())


def _others(judgement: Judgement) -> list[str]:
    """The steps that compile nothing, after a sentence about all steps."""
    found = judgement.others
    if found is None or found.cause == "unknown" or not found.parts:
        return []
    most = found.parts[0]
    mean = f"{units.show(most.ps_per_step, 'ps')} of {units.show(found.mean_ps, 'ps')}"
    which = "step that is" if found.steps == 1 else f"{found.steps:,} steps that are"
    part = f"{units.show(most.share, 'ratio')} ({mean})"
    return [f"In the {which} averaged, {TAKES[most.label].format(part=part)}."]


def _contention(judgement: Judgement) -> list[str]:
    """Whether others had the cores, which makes all of the rest less sure."""
    found = judgement.contention
    if found is None or not (found.busy or judgement.competing):
        return []
    waiting, running = f"{found.waiting:.1f}", f"{found.running:.1f}"
    number = "1.0 thread" if waiting == "1.0" else f"{waiting} threads"
    busy = f"The machine was busy: {number} of the program waited for a core while {running} ran."
    if found.oversubscribed:
        number = units.count(found.cores or 0, "core")
        busy = (
            f"The program has more threads that compute than cores: {waiting} waited while {running} ran, "
            f"on {number}."
        )
    some = f"Of the program's threads, {waiting} waited for a core while {running} ran."
    return [busy if found.busy else some, *_competing(judgement)]


def _competing(judgement: Judgement) -> list[str]:
    """Other work of the program that had cores, or waited for some."""
    found = judgement.competing
    if found is None:
        return []
    if found.who == "children":
        return [f"Processes that it started had {found.number:.1f} cores in that time."]
    place = "" if found.place is None else f", in {place_of(found.place)}"
    return [
        f"Its input pipeline had {found.number:.1f} threads that computed, or waited to, meanwhile{place}."
    ]


def _counted(judged: Sequence[Judgement]) -> str:
    """How many of them each cause limits, the most frequent first."""
    number = Counter(judgement.cause for judgement in judged)
    ordered = sorted(number, key=lambda cause: (-number[cause], list(_LIMITS).index(cause)))
    return ", ".join(_LIMITS[cause].format(f"{number[cause]:,}") for cause in ordered)


def _hosts(judged: Sequence[Judgement]) -> list[str]:
    """What is said of the other hosts of a run, after the one with most time in steps."""
    same = sum(judgement.cause == judged[0].cause for judgement in judged)
    if same < len(judged):
        return [f"{len(judged)} hosts were recorded: {_counted(judged)}."]
    all_hosts = "both hosts" if same == 2 else f"all {same:,} hosts"
    if judged[0].cause == "unknown":
        return [f"The cause is unknown on {all_hosts}."]
    return [f"It is the same on {all_hosts}{_shares(judged)}."]


def _shares(judged: Sequence[Judgement]) -> str:
    """How much it is on each, where that differs: the sentence before names the share of one host."""
    shares = [judgement.share for judgement in judged]
    if max(shares) - min(shares) < _ALIKE:
        return ""
    least, most = units.show(min(shares), "ratio"), units.show(max(shares), "ratio")
    return f", at {least} to {most}"


def _capitalized(text: str) -> str:
    return text[0].upper() + text[1:]
