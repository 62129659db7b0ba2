"""Parts of the rate model after a change: less work, several at once, ahead of the program."""

from dataclasses import replace

from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import ModelStage
from stepscope.instruments.pipeline.stages import PROGRAM


def nothing(part: ModelStage) -> None:
    """The part removed."""


def part_of(part: ModelStage, share: float) -> ModelStage:
    """The part when fewer elements are taken from it."""
    return scaled(part, share, share)


def vectorized(part: ModelStage, load: Load, many: float) -> ModelStage:
    """The part when its function is called once for many elements: kernels are assumed to take as long in
    all; calls, and the time between kernels, count once."""
    each = min((load.between_kernels_ps or 0) / max(load.work_ps, 1), 1.0)
    left = 1 - each * (1 - 1 / many)
    return scaled(part, left, 1 / many)


def scaled(part: ModelStage, work: float, calls: float) -> ModelStage:
    """The part with a fraction of its work, called a fraction as often."""
    return replace(
        part,
        work_ps=round(part.work_ps * work),
        cpu_ps=round(part.cpu_ps * work),
        pool_ps=round(part.pool_ps * work),
        handing_ps=round(part.handing_ps * calls),
        handing_cpu_ps=round(part.handing_cpu_ps * calls),
        calls=part.calls * calls,
    )


def moved_from_program(part: ModelStage) -> ModelStage:
    """The part when a prefetch runs it ahead of the program."""
    ends = "changed:end"
    return replace(
        part,
        lane=ends if part.lane == PROGRAM else part.lane,
        into=ends if part.into == PROGRAM else part.into,
    )
