"""The kind of each step (training, evaluation, compile, warm-up, cut off), and its number."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence

from stepscope.instruments.step_evidence import EVALUATES, KERAS, Mark, Step, batch_kind

COMPILE_SHARE = 0.1
"""A step is a compile step when compiling takes at least this part of it."""
WARM_UP_FACTOR = 3
"""The first step is warm-up when it takes more than this many times the median of the others."""
WARM_UP_OTHERS = 3
"""How many other steps that median needs."""
CUT_SHARE = {"marker": 0.1}
"""The last step is cut off by the end of the recording when it lasts less than this part of the others'
median: a mark of the user's is hardly ever cut."""
CUT_OTHERS = 0.5
"""The same for other evidence: PyTorch's profiler ends its marks when it stops, and of steps that last from
one call to the next the last ends with its call."""
BEGUN_SHARE = 0.5
"""The first step had begun before the recording when it lasts less than this part of the shortest other one:
steps that differ as much by nature differ among the others as well."""
STUB_SHARE = 0.1
"""What lasts less than this part of the others' median tells nothing of a step: it is a stub."""

_TRAIN = re.compile(r"(^|[^a-z])(train|training|fit)([^a-z]|$)", re.I)
COMPILES = re.compile(
    r"(^|:)_?(Xla|Tpu|TPU)Compile|xla_compile$|Client::Compile$|Compiler::(Run|Compile)|backend_compile"
)
_LOOKS_UP = re.compile(r"(^|:)_XlaCompile$|xla_compile$")
"""TensorFlow's op that asks for the program of a cluster. It runs in each step, and compiles where there is
no program for the shapes that it is given."""
LOOK_UP_PS = 5_000_000_000
"""The op found a program where it takes no longer, as the macro look_up_ps! says. Measured with TensorFlow
1.15: 5 to 50 µs, 2 ms where other threads had the cores; to compile a single constant took 46 ms."""


def compiling(marks: Sequence[Mark]) -> list[Mark]:
    """The marks that compile: by their name, or because the call traced."""
    return [mark for mark in marks if mark.traced or (COMPILES.search(mark.name) and not _looked_up(mark))]


def _looked_up(mark: Mark) -> bool:
    return mark.dur_ps <= LOOK_UP_PS and _LOOKS_UP.search(mark.name) is not None


def classify(steps: Sequence[Step], compiles: Sequence[Mark]) -> list[Step]:
    """The steps of one loop, in order of time, with kind, reason and whether averages include them."""
    named = [_named_kind(step) for step in steps]
    spent = _covered(named, compiles)
    in_calls = _covered(named, [mark for mark in compiles if mark.traced])
    done = []
    for step, compile_ps, call_ps in zip(named, spent, in_calls, strict=True):
        length = step.end_ps - step.ts_ps
        if compile_ps >= COMPILE_SHARE * length and compile_ps > 0:
            # Such a call runs what it traced as well; a compiler does not begin before tracing is done.
            what = "calls that trace take" if 2 * call_ps >= compile_ps else "the compiler takes"
            share = round(100 * compile_ps / length)
            step = step._replace(kind="compile", averaged=False, reason=f"{what} {share} % of it")
        done.append(step)
    if done and all(step.recovered_from == "file" for step in done):
        # Each is a recording of its own, so that none is cut off; the base view step finds the warm-up.
        return done
    return judge_lengths(done)


def judge_lengths(steps: Sequence[Step]) -> list[Step]:
    """The steps, of which averages leave out the first and the last where their lengths say so."""
    done = list(steps)
    if done and done[-1].averaged:
        kind = done[-1].kind
        done[-1] = _cut_off(done[-1], [step for step in done[:-1] if step.averaged and step.kind == kind])
    if done and done[0].averaged:
        done[0] = _begun_before(done[0], [step for step in done[1:] if step.averaged])
    _mark_warm_ups(done)
    return done


def forget_lengths(steps: Sequence[Step]) -> list[Step]:
    """The steps without what their lengths said. Of the recorder's steps it is known what was recorded."""
    return [
        _named_kind(step._replace(kind="unknown", averaged=True))
        if step.kind in ("cut_off", "warm_up") and step.recovered_from != "recorder"
        else step
        for step in steps
    ]


def _mark_warm_ups(steps: list[Step]) -> None:
    """Leaves the first step of a kind out of averages where it takes several times as long as the others."""
    by_kind: dict[str, list[int]] = defaultdict(list)
    for i, step in enumerate(steps):
        by_kind[step.kind].append(i)
    for kind, members in by_kind.items():
        lengths = [steps[i].end_ps - steps[i].ts_ps for i in members]
        if kind == "compile" or len(lengths) <= WARM_UP_OTHERS:
            continue
        others = sorted(lengths[1:])
        typical = others[(len(others) - 1) // 2]
        if lengths[0] > WARM_UP_FACTOR * typical:
            times = lengths[0] / max(typical, 1)
            why = f"the first step, {times:.1f} times as long as the median of the others"
            steps[members[0]] = steps[members[0]]._replace(kind="warm_up", averaged=False, reason=why)


def _cut_off(last: Step, others: Sequence[Step]) -> Step:
    """The last step, marked when the recording ends within it, and kept: only averages leave it out."""
    if not others:
        return last
    lengths = sorted(step.end_ps - step.ts_ps for step in others)
    typical, length = lengths[(len(lengths) - 1) // 2], last.end_ps - last.ts_ps
    if length < STUB_SHARE * typical:
        why = "the recording ends as it begins: it lasts less than a tenth of the others"
        return last._replace(averaged=False, reason=why)
    if len(others) > 1 and length < CUT_SHARE.get(last.recovered_from, CUT_OTHERS) * typical:
        share = round(100 * length / typical)
        why = f"the recording ends within it, at {share} % of the median of the others"
        return last._replace(kind="cut_off", averaged=False, reason=why)
    return last


def _begun_before(first: Step, others: Sequence[Step]) -> Step:
    """The first step, marked when part of its work was done before the recording began: starting a profiler
    takes longer than a step, and meanwhile a device computes and queues fill. Only averages leave it out."""
    lengths = sorted(step.end_ps - step.ts_ps for step in others if step.kind == first.kind)
    length = first.end_ps - first.ts_ps
    if len(lengths) < WARM_UP_OTHERS or length >= BEGUN_SHARE * lengths[0]:
        return first
    share = f"{100 * length / lengths[(len(lengths) - 1) // 2]:.2g}"
    begun = "not all work of a step is in it"
    why = f"it lasts {share} % of the median of the others: {begun}"
    return first._replace(kind="cut_off", averaged=False, reason=why)


def _named_kind(step: Step) -> Step:
    if (kind := batch_kind(step.name)) is not None:
        return step._replace(kind=kind, reason=f"the server's mark says so: {step.name}")
    if EVALUATES.search(step.name):
        return step._replace(kind="eval", reason=f"its mark is called {step.name}")
    if KERAS.match(step.name):
        return step._replace(reason="Keras gives its functions for training and evaluation one name")
    if _TRAIN.search(step.name):
        return step._replace(kind="train", reason=f"its mark is called {step.name}")
    return step._replace(reason="nothing distinguishes training from evaluation")


def _covered(steps: Sequence[Step], marks: Sequence[Mark]) -> list[int]:
    """For each step, the time in it that at least one of the marks covers, in picoseconds."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted((m.ts_ps, m.end_ps) for m in marks):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    ends = [end for _, end in merged]
    spent = []
    for step in steps:
        total = 0
        for begin, end in merged[bisect_left(ends, step.ts_ps) :]:
            if begin >= step.end_ps:
                break
            total += max(0, min(end, step.end_ps) - max(begin, step.ts_ps))
        spent.append(total)
    return spent


def numbered(steps: Sequence[Step]) -> list[Step]:
    """Keeps the program's own numbers where each is there once, else counts from 0."""
    numbers = [step.number for step in steps]
    if None not in numbers and len(set(numbers)) == len(numbers):
        return list(steps)
    return [step._replace(number=i) for i, step in enumerate(steps)]
