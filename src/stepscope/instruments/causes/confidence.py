"""The confidence in a cause: whether chance, few samples or other programs may have decided it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from stepscope.instruments.causes.all_causes import CAUSES
from stepscope.instruments.causes.cause_facts import SampleCounts
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.gain import Sums
from stepscope.instruments.causes.judgement import Confidence, Weakness
from stepscope.instruments.causes.label_shares import CauseName, parts_of
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.thresholds import tuned


@dataclass(frozen=True, eq=False, repr=False)
class ConfidenceThresholds:
    """What weakens an answer."""

    few_steps: int = tuned(5, "fewer steps weaken an answer")
    few_samples: int = tuned(10, "fewer samples of a line weaken an answer")
    errors: float = tuned(2.0, "what leads by less than so many standard errors may lead by chance")
    sure_share: float = tuned(0.5, "a cause with this part of a step is sure")
    sure_unknown: float = tuned(0.15, "where less than this part of a step is unknown")
    medium_unknown: float = tuned(0.3, "from this part on, what is unknown makes an answer weak")


THRESHOLDS = ConfidenceThresholds()


def confidence_of(share: float, unknown: float, steps: int, weak: Sequence[Weakness] = ()) -> Confidence:
    """The confidence in a cause: few steps, few samples and much unrecorded time lower it."""
    known = share >= THRESHOLDS.sure_share and unknown < THRESHOLDS.sure_unknown
    if known and steps >= THRESHOLDS.few_steps and not weak:
        return "high"
    stands_out = share >= CauseThresholds.stands_out
    return "medium" if unknown < THRESHOLDS.medium_unknown and stands_out and len(weak) < 2 else "low"


def weaknesses(
    steps: Sequence[tuple[int, Sums]],
    cause: CauseName,
    samples: SampleCounts | None,
    contention: Contention | None = None,
) -> list[Weakness]:
    """The weaknesses of an answer: few steps or samples, and other programs on the cores. steps: duration and
    parts of each. samples: those that show the line, if any do."""
    found: list[Weakness] = []
    if cause != "unknown" and not _settled(steps, cause):
        found.append("few-steps")
    if samples is not None:
        number, at_place, next_best = samples
        # The error of the difference of two counts that share their samples.
        apart = at_place - next_best > THRESHOLDS.errors * math.sqrt(at_place + next_best)
        if number < THRESHOLDS.few_samples or not apart:
            found.append("few-samples")
    if contention is not None and contention.busy:
        found.append("busy-machine")
    return found


def _settled(steps: Sequence[tuple[int, Sums]], cause: CauseName) -> bool:
    """Whether the margin by which this label became the cause exceeds the standard error over the steps: the
    margin above its threshold and above the next label; for compute, the margin by which the next label
    misses its threshold."""
    if len(steps) < THRESHOLDS.few_steps:
        return False
    rival = next(
        (part.label for part in parts_of(steps) if part.label not in ("compute", "unknown", cause)), None
    )
    whole = sum(dur_ps for dur_ps, _ in steps) / len(steps)
    if cause in ("compute", "none"):
        if rival is None:
            return True
        bound = CAUSES[rival].thresholds.stands_out * whole
        return _exceeds([bound - sums.get(rival, 0) for _, sums in steps])
    bound = CAUSES[cause].thresholds.stands_out * whole
    more = [sums.get(cause, 0) - (sums.get(rival, 0) if rival else 0) for _, sums in steps]
    return _exceeds([sums.get(cause, 0) - bound for _, sums in steps]) and _exceeds(more)


def _exceeds(values: Sequence[float]) -> bool:
    """Whether their mean is above zero by more than its error."""
    return mean(values) > THRESHOLDS.errors * stdev(values) / math.sqrt(len(values))
