"""The judgement of a host: what limits its steps, and what is known of that.

Everything that says what to do about a recording follows it: the headline, the weight of findings, and what
is said of the input pipeline. So they cannot contradict each other.
"""

from dataclasses import dataclass
from typing import Literal

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.contention import Contention
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.gain import Correction
from stepscope.instruments.causes.label_shares import LabelShare, Weighed
from stepscope.instruments.laws.violation import Broken
from stepscope.instruments.step_breakdown.labels import Label

Confidence = Literal["high", "medium", "low"]
Weakness = Literal["few-steps", "few-samples", "busy-machine"]
LISTED_FROM = 0.05
"""Parts that hold more than this of a step are listed as causes."""


@dataclass(frozen=True)
class Rival:
    """What takes about as much of a mean step as the cause."""

    label: Label
    share: float
    place: CodeLine | None = None
    what: str | None = None
    """The type of op, or the stage."""


@dataclass(frozen=True)
class Competing:
    """Other work of the program, which has cores while its steps wait for some."""

    who: Literal["input", "children"]
    """The input pipeline, or processes that the program started."""
    number: float
    """Threads of the pipeline that compute or wait for a core, or cores of the processes, on average."""
    place: CodeLine | None = None
    """The line of the program that the pipeline runs, else the one that wrote its stage."""


@dataclass(frozen=True)
class Judgement(Explanation, Weighed):
    """What limits the steps of a host, as far as ops, stacks and captures tell as well."""

    run_id: str
    host_id: str
    share: float
    """Of a mean step, what the cause takes; of compute for `none`."""
    ps_per_step: int
    confidence: Confidence
    left_ps: int
    """How long a step would be without the cause; where ops are, without the type of op or the layer that
    stands out."""
    low_ps: int
    high_ps: int
    corrected: tuple[Correction, ...] = ()
    """Why that is less than what the parts of the steps leave."""
    untraced_ps: int | None = None
    """How long a typical step is that no profiler records, where the recorder timed some that do the same."""
    median_ps: int | None = None
    """The middle one of the recorded steps: what a typical step without a profiler is compared with."""
    typical_ps: int | None = None
    """The step that `left_ps` is left of, where steps tell: by the same steps and the same statistic, which
    need not be the mean."""
    besides_ps: int = 0
    """What goes with the cause of other labels' time in a mean step."""
    compiling: int | None = None
    """Steps that traced or compiled something."""
    weak: tuple[Weakness, ...] = ()
    """What it was decided by that is few."""
    contention: Contention | None = None
    competing: Competing | None = None
    serves: bool = False
    """Whether its steps are batches of an inference server."""
    of_runs: bool = False
    """Whether its steps are single runs of a session, of which files tell nothing else of a step."""
    on_device: bool = False
    """Whether what executes does so on a device."""
    of_ops: bool = True
    """Whether the recorder knows ops. Where it does not, whatever it drew stands for one."""
    rival: Rival | None = None
    fed_unseen: bool = False
    """Whether batches come from processes that were not recorded, and may be what limits the steps without
    the cause."""
    broken: tuple[Broken, ...] = ()
    """Laws that do not hold of what it was decided by."""

    @property
    def causes(self) -> tuple[LabelShare, ...]:
        """The parts that hold more than LISTED_FROM of a step."""
        return tuple(part for part in self.parts if part.share > LISTED_FROM)

    @property
    def queues(self) -> bool:
        """Whether launching is the cause and most of it waits for cores that other programs have."""
        found = self.contention
        return self.cause == "dispatch" and found is not None and found.launching < _LAUNCHES

    @property
    def waits_for_cores(self) -> bool:
        """Whether ops that processors run waited for cores at least as long as they had some, or for cores
        that other work of the program's is known to have had."""
        busy = self.contention is not None and self.contention.busy
        return not self.on_device and (busy or self.competing is not None)


_LAUNCHES = 0.5
"""Launching that takes a smaller part of its time than this mostly waits for cores."""
