"""Time of which nothing is known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stepscope.instruments.causes.cause import Cause
from stepscope.instruments.causes.judgement import LabelShare
from stepscope.instruments.causes.thresholds import CauseThresholds
from stepscope.instruments.thresholds import tuned


@dataclass(frozen=True, eq=False, repr=False)
class UnknownThresholds(CauseThresholds):
    """When the cause is not known either."""

    stands_out: float = tuned(
        0.4,
        "when nothing is known of this part, the cause is not known either, unless a label has more",
        slack=(0.0, 0.481),
        by=("tf_guide/no_prefetch.xplane.pb.gz",),
    )


class UnknownCause(Cause):
    """Nothing is known."""

    name = "unknown"
    thresholds = UnknownThresholds()

    def hides_the_rest(self, parts: Sequence[LabelShare]) -> bool:
        """Whether more is unknown than of any label known, and enough for any cause to hide in it."""
        share = {part.label: part.share for part in parts}
        known = max((part for label, part in share.items() if label != self.name), default=0.0)
        return share.get(self.name, 0.0) >= max(self.thresholds.stands_out, known)
