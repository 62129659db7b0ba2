"""Is the pipeline fast enough? How much of the steps is waiting for it, and how far that can be trusted."""

from collections.abc import Iterator

from stepscope import units
from stepscope.instruments.pipeline.diagnosis import Diagnosis
from stepscope.instruments.pipeline.oddities import Oddity
from stepscope.instruments.pipeline.waits import PARTLY_FROM, Waits

NO_BATCHES = "no call that takes a batch"
RECORD_BATCHES = "record while the loop runs, in the process that takes the batches"
_WORKS_MEANWHILE = 0.05
"""Part of a step in which a batch is waited for while ops run, from which on that is said."""
_COSTS = 0.05
"""Part of a step that tracing may cost without being told."""
_FAST = {"input_bound": "No", "partly_input_bound": "Not quite", "not_input_bound": "Yes"}


def sentences(diagnosis: Diagnosis) -> Iterator[str]:
    """The answer."""
    waited = diagnosis.waits
    if waited is None:
        yield "No call that fetches a batch was recorded, so it is unknown whether the program waits."
        yield from map(odd, diagnosis.odd)
        if diagnosis.share_seen < 1:
            share = units.show(diagnosis.share_seen, "ratio")
            yield f"Only the first {share} of the pipeline's events were read: record fewer steps."
        yield "Record while the loop runs, in the process that fetches the batches."
        return
    yield from _share(diagnosis, waited)
    yield from _distribution(waited)
    # Not what was measured without a profiler: only what its events explain of the difference.
    cheaper_ps = diagnosis.step_ps
    if cheaper_ps is not None and cheaper_ps < (1 - _COSTS) * waited.step_ps:
        yield (
            f"Without what the profiler's events cost, a step takes about {_ps(cheaper_ps)} of "
            f"{_ps(waited.step_ps)}: predictions are for such steps."
        )
    if not diagnosis.loads:
        yield (
            "The recording does not tell the stages of the pipeline: profiles of tfprof never do, nor do "
            "RunMetadata and timelines since TensorFlow 2. `stepscope record` does."
        )
    elif diagnosis.share_seen < 1:
        seen = units.show(diagnosis.share_seen, "ratio")
        yield f"Only the first {seen} of the pipeline's events were read."
    yield from map(odd, diagnosis.odd)


def _share(diagnosis: Diagnosis, waited: Waits) -> Iterator[str]:
    """How much of the steps is waiting, and whether that is the pipeline's fault."""
    of_what = "of the step time" if waited.has_steps else "of the time from the first batch to the last"
    share = units.show(waited.ratio, "ratio")
    waits_all_the_same = diagnosis.verdict == "not_input_bound" and waited.ratio >= PARTLY_FROM
    fast = "By itself, yes" if waits_all_the_same else _FAST.get(diagnosis.verdict, "Perhaps")
    fast = fast if diagnosis.apart_ps is None else "In these runs, yes"
    yield f"{fast}: {share} {of_what} is spent waiting for input, {_ps(waited.wait_ps)} per step."
    if waits_all_the_same:
        most = max(diagnosis.loads, key=lambda load: load.service_ps, default=None)
        needs = _ps(0 if most is None else most.service_ps)
        yield (
            f"The stage that needs most could deliver every {needs}: its batches come late where threads of "
            "the pipeline wait for a core."
        )
    elif diagnosis.apart_ps is not None:
        yield (
            f"But {_ps(diagnosis.apart_ps)} lie between one of them and the next, in which nothing was "
            "recorded and the pipeline works ahead. Trace single runs among others that are not traced, or "
            "use `stepscope record`: it times runs without tracing them."
        )
    elif diagnosis.verdict == "not_input_bound":
        yield "The pipeline keeps up: the time goes to the program itself, or to the Python around it."
    if diagnosis.wait_share is not None and diagnosis.wait_share >= waited.ratio + _WORKS_MEANWHILE:
        shown = units.show(diagnosis.wait_share, "ratio")
        yield f"Fetching batches takes {shown} of it, but the program's ops run during the rest of that time."


_ROUNDING = 0.001


def _distribution(waited: Waits) -> Iterator[str]:
    """How the waiting is spread over the steps. Where no step waits for its batches for as much as the mean
    one, others count: iterators that are made anew, say."""
    if len(waited.shares) == 1:
        yield f"There is one step: it waits for {units.show(waited.shares[0], 'ratio')} of its time."
    elif waited.shares and waited.ratio <= max(waited.shares) + _ROUNDING:
        wait = units.agree(waited.long_waits, "waits", "wait") if waited.long_waits else "waits"
        long_waits = f"{waited.long_waits:,}" if waited.long_waits else "none"
        what = "traced run" if waited.mean_ps is not None else "step"
        yield (
            f"{units.count(len(waited.shares), what)}: the median share of waiting is "
            f"{units.show(waited.median, 'ratio')}, the largest {units.show(max(waited.shares), 'ratio')}; "
            f"{long_waits} {wait} for half of the time or more."
        )
    elif not waited.shares:
        yield "No steps were found, so shares refer to the time between batches."
    if waited.ratio_all >= waited.ratio + 0.1:
        yield (
            f"Including the steps that averages leave out, it is {units.show(waited.ratio_all, 'ratio')}: "
            "filling buffers at the start takes long."
        )
    if waited.between:
        yield (
            "The program spends time between the marked steps, so here a step lasts from its start to the "
            "start of the next."
        )


def odd(oddity: Oddity) -> str:
    """What is odd about the recording, as a sentence."""
    count = oddity.number
    if oddity.kind == "lost":
        return f"A part of the recording is missing ({oddity.detail}), perhaps with the slowest batches."
    if oddity.kind == "waits":
        return f"Steps wait for input for {oddity.detail} of their time, for what has no stages here."
    if oddity.kind == "shared_ids":
        return (
            f"{units.count(count, 'iterator id')} {units.agree(count, 'belongs', 'belong')} to several "
            "stages, so stages may hold each other's times. Record again."
        )
    if oddity.kind == "circle":
        return (
            f"By their ids, {units.count(count, 'iterator')} {units.agree(count, 'consumes', 'consume')} "
            f"{units.agree(count, 'itself', 'themselves')}, which cannot be right: the tree of stages is "
            "cut there."
        )
    return (
        f"{units.count(count, 'iterator')} never returned during the recording: calls "
        "are recorded when they end. Record for longer than the slowest batch takes."
    )


def _ps(value: int) -> str:
    return units.show(value, "ps")
