"""The ceiling: how fast the pipeline could be made on this machine, whatever is done to its parallelism.

A linear programme gives cores to stages so that the slowest is as fast as can be:

    maximise x   with   x <= R_i theta_i,   sum theta_i <= cores - bias,   theta_i <= 1 where a stage is
    sequential

R_i is the rate of stage i on one core, theta_i the cores it gets, bias what the program itself uses. At the
optimum every stage gets just what it needs, theta_i = x / R_i, so the answer can be written down: with w_i =
1 / R_i the work of a stage for a step, and b the program's own,

    step = max(program, sequential w_i, (sum w_i + b) / cores, functions / threads of the pool)

as if every stage were prefetched and ran beside the others. Sequential is what neither threads nor copies of
the pipeline (see copies) run several times at once.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from stepscope.instruments.pipeline import copies
from stepscope.instruments.pipeline.cores import pool_of
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.model import CPU, POOL
from stepscope.instruments.pipeline.stages import PROGRAM
from stepscope.instruments.pipeline.waits import Waits

_PARALLEL = re.compile(
    r"(Legacy)?(Parallel|Map|BatchV2|Interleave|FlatMap|TFRecord|TextLine|FixedLengthRecord|Prefetch|DataService)"
)
"""Prefixes of the names of stages that TensorFlow can run several times at once."""


@dataclass(frozen=True)
class Ceiling:
    """The optimum: no parallelism, prefetching or use of these cores makes a step shorter."""

    step_ps: int
    limits: str
    """A stage, `program`, `cpu` or `threads`."""
    cores: tuple[tuple[str, float], ...]
    """Cores that each stage keeps busy at the optimum, most first."""


def ceiling(loads: Sequence[Load], waits: Waits, cores: int, program_cpu_ps: int, device: bool) -> Ceiling:
    """program_cpu_ps: the CPU work of a step outside the pipeline."""
    program_ps = max(waits.step_ps - waits.wait_ps, 0)
    stages = [load.stage for load in loads]
    bounds = [(program_ps, PROGRAM)]
    used = held = 0
    for load in loads:
        if not (parallel(load) or copies.possible(load.stage, stages)):
            bounds.append((load.work_ps, load.stage.name))
        # Python may wait, and waiting needs no core; but it occupies its thread.
        used += load.cpu_ps if not load.python else 0
        held += load.pool_ps
    bounds.append((held // max(pool_of(stages) or cores, 1), POOL))
    bounds.append(((used + (0 if device else program_cpu_ps)) // max(cores, 1), CPU))
    step_ps, limits = max(bounds, key=lambda bound: bound[0])
    shares = [(load.stage.name, load.work_ps / step_ps) for load in loads if step_ps and load.work_ps]
    return Ceiling(step_ps, limits, tuple(sorted(shares, key=lambda share: -share[1])[:5]))


def parallel(load: Load) -> bool:
    """Whether several of its calls can run at once, or could if the user asked for it. Stages made by the
    function of an interleave run once for each branch."""
    stage = load.stage
    return stage.ahead or stage.nested_in is not None or bool(_PARALLEL.match(stage.short)) or load.width > 1
