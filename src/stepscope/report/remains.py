"""Sentences about the step without its cause: a number where that is known, else a bound."""

from typing import NamedTuple

from stepscope import units
from stepscope.instruments import laws
from stepscope.instruments.causes import gain
from stepscope.instruments.causes.judgement import Judgement
from stepscope.instruments.causes.paces import HAS_EVENTS

_OPEN = 5 / 3
"""A range whose upper bound is this many times the lower one is not worth printing: its middle is a quarter
away from both."""
_SAYS = 0.25
"""A bound says something when so much of the step has to go, or has to stay."""
_WORTH = 0.95
"""Where more of a step would be left, the sentence is not worth its line."""
_MODEL = 0.8
"""A line with so much of the time of all ops is the model, or most of it: what would be left without it is no
step of training."""
_NOTHING = 0.01
_SAME = 0.9
"""A step that takes more than this of another one takes as long, as far as a sentence is concerned."""
_ALONG = 0.15
"""Where so much of the cause's time goes of other labels, more goes than the sentence before says."""
_OTHERS = 1.05
"""If more than this many times the time without the wait remains, the program waits for more than one
stage."""
_BY = {
    "profiler": ", and without the profiler",
    "disturbed": ", by the steps that other programs disturbed least",
}
"""Why the number is less than what the parts of the step leave."""


class Remains(NamedTuple):
    """A step without its cause, in picoseconds: a number with both bounds, a bound alone, or nothing, as far
    as that is known; and by how much it is shorter, a number with both bounds or nothing."""

    ps: int | None = None
    low_ps: int | None = None
    high_ps: int | None = None
    saved_ps: int | None = None
    saved_low_ps: int | None = None
    saved_high_ps: int | None = None


def printed_range(low_ps: int | None, high_ps: int | None) -> tuple[int | None, int | None]:
    """The bounds of what is left of a step; neither where they lie so far apart that they tell nothing."""
    if low_ps is None or high_ps is None or high_ps > _OPEN * low_ps:
        return None, None
    return low_ps, high_ps


def spread(low_ps: int | None, high_ps: int | None) -> str:
    """The bounds in brackets, after a number; empty without them."""
    if low_ps is None or high_ps is None:
        return ""
    return f" ({units.show(low_ps, 'ps')} to {units.show(high_ps, 'ps')})"


def remains(judgement: Judgement) -> Remains:
    """The length of a step without its cause."""
    # What waits for a core, or for what the device does first, would wait for it in whatever is left, too.
    waits = judgement.queues or judgement.late_copy is not None
    nothing_goes = judgement.cause in ("none", "unknown") or waits
    if nothing_goes or any("left" in laws.weakens(law.law) for law in judgement.broken):
        return Remains()
    saved = _saved(judgement)
    high_ps = max(judgement.mean_ps, judgement.left_ps) if _may_stay(judgement) else judgement.high_ps
    low, high = printed_range(judgement.low_ps, high_ps)
    if _is_unsure(judgement):
        saved = None, None, None
    elif low is not None:
        return Remains(judgement.left_ps, low, high, *saved)
    # A step may be shorter without the profiler than what a bound leaves of one with it.
    whole_ps = min(judgement.mean_ps, judgement.untraced_ps or judgement.mean_ps)
    if high_ps <= (1 - _SAYS) * whole_ps:
        return Remains(None, None, high_ps, *saved)
    least_ps = judgement.low_ps if judgement.low_ps >= _SAYS * whole_ps else None
    return Remains(None, least_ps, None, *saved)


def _is_unsure(judgement: Judgement) -> bool:
    """Whether chance may have decided both what the cause is and in which line it lies. What goes with
    another line, no error of these samples tells."""
    return {"few-steps", "few-samples"} <= set(judgement.weak)


def _saved(judgement: Judgement) -> tuple[int | None, int | None, int | None]:
    """By how much a step is shorter without its cause, where steps without a profiler tell, or the cause has
    no events, which a profiler would make longer. What is left may be so little that its own range says
    nothing."""
    of_ps = judgement.untraced_ps
    if of_ps is None and judgement.cause not in HAS_EVENTS:
        of_ps = judgement.typical_ps
        if of_ps is not None and judgement.left_ps < _NOTHING * of_ps:
            of_ps = None  # no step is shorter by all of itself: how much may stay says more
    if of_ps is None:
        return None, None, None
    saved_ps, *bounds = gain.saved(of_ps, judgement.left_ps, judgement.low_ps, judgement.high_ps)
    low, high = printed_range(*bounds)
    if low is None or saved_ps <= 0:
        return None, None, None
    return saved_ps, 0 if _may_stay(judgement) else low, high


def _may_stay(judgement: Judgement) -> bool:
    """Whether a step may take as long as ever: what has to be done in another way may, and so may what nobody
    recorded: workers that the cause hides, and ops in calls that compile. What a device waits for is work of
    the host, of which nobody knows how much has to be done."""
    unseen = judgement.fed_unseen or judgement.runs_unseen or judgement.cause == "idle"
    return is_replaced(judgement) or unseen


def is_replaced(judgement: Judgement) -> bool:
    """Whether what goes is work that has to be done in another way: batches are made, and what ops of a type
    compute is computed. A layer may be left out."""
    of_type = judgement.cause == "compute" and judgement.layer_share is None
    return of_type or judgement.cause == "input"


def sentences(judgement: Judgement, unit: str) -> list[str]:
    """How long a step would be without its cause, where that is worth a sentence. unit: what a step is
    called."""
    if (
        judgement.whole_capture
        or judgement.cause in ("none", "unknown")
        or judgement.left_ps > _WORTH * judgement.mean_ps
        or _is_model(judgement)
    ):
        return []
    without = _what_is_gone(judgement)
    known = remains(judgement)
    if known.high_ps is not None and known.high_ps < _NOTHING * judgement.mean_ps:
        # The ops that were launched stay; where they ran within compiled functions, nobody recorded them. And
        # what the host did while a device had nothing to do goes only in part.
        sentence = f"Without {without}, hardly anything of a {unit} would be left."
        return [] if judgement.cause in ("dispatch", "idle") else [sentence]
    typical_ps = judgement.typical_ps
    if known.ps is not None and typical_ps is not None and known.ps >= _SAME * typical_ps:
        return []  # what few steps do, a typical one is without
    amount = amount_of(known)
    if known.ps is None and known.saved_ps is not None:
        shorter_by = f"{shorter(known)}{provided(judgement)}"
        return [f"Without {without}, {_step(judgement, unit, known)} would be {shorter_by}."]
    if amount is None:
        return []
    # A bound that is lower than what the sentence before leaves needs its reason, too.
    stays_ps = judgement.mean_ps - judgement.ps_per_step - judgement.besides_ps
    reasoned = known.ps is not None or (known.high_ps is not None and known.high_ps < stays_ps)
    corrected = judgement.corrected if reasoned else ()
    by = "".join(words for reason, words in _BY.items() if reason in corrected)
    profiler = by.startswith(_BY["profiler"])
    first, then = (_BY["profiler"], by.removeprefix(_BY["profiler"])) if profiler else ("", by)
    step = f"a {unit}" if by else _step(judgement, unit, known)
    return [f"Without {without}{first}, {step} would take {amount}{then}."]


def _is_model(judgement: Judgement) -> bool:
    """Whether what stands out is the model: products of matrices or convolutions, wherever they are, or the
    line of the program with nearly all ops, a loop over layers."""
    if judgement.cause != "compute":
        return False
    if judgement.layer is None:
        return judgement.of_products and judgement.table is None
    return ":" in judgement.layer and (judgement.layer_share or 0.0) >= _MODEL


def shorter(known: Remains, bounds: bool = False) -> str:
    """By how much a step is shorter. known: with that. bounds: say between which bounds."""
    assert known.saved_ps is not None
    sentence = f"{'' if known.saved_low_ps else 'up to '}about {units.show(known.saved_ps, 'ps')}"
    if bounds and known.saved_low_ps:
        sentence += spread(known.saved_low_ps, known.saved_high_ps)
    at_most = "" if known.high_ps is None else f", and take at most {units.show(known.high_ps, 'ps')}"
    return f"{sentence} shorter{at_most}"


def provided(judgement: Judgement) -> str:
    """Unrecorded work that a shorter step depends on, behind the length of the step without the cause."""
    return ", as far as the loader's workers keep up" if judgement.fed_unseen else ""


def untraced_step(judgement: Judgement) -> int | None:
    """How long a typical step takes without the profiler, where sentences say so: where the recorder timed
    some, and typical ones of the traced steps, of which all shares are, take another time. A few long steps
    make a mean longer, and are no cost of the profiler."""
    untraced_ps, traced_ps = judgement.untraced_ps, judgement.median_ps or judgement.mean_ps
    if untraced_ps is None or judgement.whole_capture or takes_as_long(untraced_ps, traced_ps):
        return None
    return untraced_ps


def takes_as_long(ps: int, other_ps: int) -> bool:
    """Whether two steps take equally long, as far as a sentence is concerned."""
    return other_ps * _SAME <= ps <= other_ps / _SAME


def _step(judgement: Judgement, unit: str, known: Remains) -> str:
    """The step that a number is of, with how long it is where that is not the mean of the sentence before:
    who subtracts one from the other gets what goes."""
    mean_ps, untraced_ps, typical_ps = judgement.mean_ps, judgement.untraced_ps, judgement.typical_ps
    if known.ps is None and known.saved_ps is None:
        return f"a {unit}"
    if known.ps is None and untraced_ps is not None:
        typical_ps = untraced_ps
        apart = untraced_step(judgement) is not None or (known.saved_ps or 0) >= mean_ps
    else:
        apart = typical_ps is not None and abs(typical_ps - mean_ps) > gain.THRESHOLDS.alike * mean_ps
    if typical_ps is None or not apart:
        return f"a {unit}"
    took = units.show(typical_ps, "ps")
    return (
        f"a {unit} ({took} without the profiler)"
        if typical_ps == untraced_ps
        else f"a typical {unit} ({took})"
    )


def _what_is_gone(judgement: Judgement) -> str:
    """What the step would be without."""
    if judgement.cause == "compute":
        return layer_ops(judgement) or "these ops"
    if judgement.stage is not None and judgement.left_ps > _OTHERS * (
        judgement.mean_ps - judgement.ps_per_step
    ):
        # Other stages, or cores, hold the program up then: it waits less, and does not cease to wait.
        return "the work of that stage"
    first = "that" if judgement.rival is None else "the first of the two"
    first = "both" if judgement.lines and judgement.rival is None else first
    along = judgement.besides_ps >= _ALONG * judgement.ps_per_step
    return f"{first} and what else is done there" if along and judgement.place is not None else first


def layer_ops(judgement: Judgement) -> str | None:
    """The ops that a gain is without where a layer stands out more than a type of op does."""
    if judgement.layer is None or (judgement.op_share or 0.0) >= (judgement.layer_share or 0.0):
        return None
    return f"all ops of {judgement.layer.rpartition('/')[2]}"


def amount_of(known: Remains, bounds: bool = False) -> str | None:
    """How long a step would take, as far as that is known. bounds: as for `shorter`."""
    if known.ps is not None:
        return f"about {units.show(known.ps, 'ps')}{spread(known.low_ps, known.high_ps) if bounds else ''}"
    if known.high_ps is not None:
        return f"at most {units.show(known.high_ps, 'ps')}"
    return None if known.low_ps is None else f"at least {units.show(known.low_ps, 'ps')}"
