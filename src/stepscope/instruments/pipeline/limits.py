"""Which stages limit a pipeline: one without whose work a step would be shorter, or two that go together."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import PipelineModel, predict
from stepscope.instruments.pipeline.stages import PipelineStage
from stepscope.instruments.pipeline.trials import HELPS
from stepscope.instruments.pipeline.waits import Waits


def gain_without(now: PipelineModel, loads: Sequence[Load], measured_ps: int) -> int:
    """How much shorter a step would be if some stages did nothing."""
    then = now.changed([load.stage.number for load in loads], lambda part: None)
    return 0 if then == now else measured_ps - predict(now, then, measured_ps).step_ps


def limiting_stages(
    ranked: Sequence[Load],
    gains: Mapping[PipelineStage, int],
    now: PipelineModel,
    waited: Waits,
    measured_ps: int,
) -> tuple[Load | None, Load | None]:
    """The stage that limits, and a second one if only removing both gains anything. ranked: by the gain of
    removing each."""
    enough = max(min(HELPS * measured_ps, waited.wait_ps / 2), 1)
    busy = sorted((load for load in ranked if load.service_ps), key=lambda load: -load.service_ps)[
        :_MOST_LANES
    ]
    together = {
        (first, second): gain_without(now, [first, second], measured_ps)
        for first, second in permutations(busy, 2)
        if first.stage.lane != second.stage.lane and second.service_ps >= _AS_LONG * first.service_ps
    }
    if ranked and gains[ranked[0].stage] >= enough:
        worst = ranked[0]
        beside = (load for load in busy if gains[worst.stage] < _ALONE * together.get((worst, load), 0))
        return worst, next(beside, None)
    return next((pair for pair, gain in together.items() if gain >= enough), (None, None))


_AS_LONG = 0.9
"""Two stages take equally long when one needs at least this part of the other's time."""
_ALONE = 0.4
"""Two stages limit together when removing one gains less than this part of removing both."""
_MOST_LANES = 6
"""Most stages that are examined in pairs: those that take longest."""
