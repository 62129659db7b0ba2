"""The load of a stage: what it does in a step, on how many threads."""

from dataclasses import dataclass

from stepscope.instruments.pipeline.accounting import Account
from stepscope.instruments.pipeline.stages import PipelineStage


@dataclass(eq=False)
class Load:
    """The load of a stage. Times are of the whole recording, except those per step."""

    stage: PipelineStage
    width: int
    """Threads that share its work."""
    calls: int
    total_ps: int
    """Time of its calls, with everything below them."""
    own_ps: int
    """Time of its calls without those of its inputs: waiting, for a stage that works ahead."""
    function_ps: int
    """Time in which executors ran its function, over all threads."""
    queue_ps: int
    """Time in which its function waited for a thread."""
    busy_ps: int
    """Time in which it worked on at least one thread."""
    threads: int
    """Threads that its calls and its function ran on."""
    work_ps: int
    """Its work per step, over all threads."""
    cpu_ps: int
    """The part of its work that needs a core: without handover between the pieces of its function."""
    pool_ps: int
    """Time per step in which its function occupies a thread of the pool."""
    in_waits_ps: int
    """Its work, divided by its threads, while the program waited."""
    python: bool
    """It runs a py_function."""
    between_ops_ps: int = 0
    """Time per step in its calls in which neither its input nor an op of its function is at work, where the
    recording has such ops without their executors. Its work contains it."""
    unseen: bool = False
    """It runs a function on threads of its own, and the recording has nothing of what that does."""
    per_step: float = 0.0
    """Elements that it makes for a step, with the calls at the end of a dataset."""
    between_kernels_ps: int | None = None
    """The part of its work per step that executors spend between kernels; None where the trace does not show
    it."""
    trace_work_ps: int = 0
    """Its work per step from the events of the trace."""
    account: Account | None = None
    """The account of tf.data's own model, where one was captured."""
    model_work_ps: int | None = None
    """Its work per step from that model."""

    @property
    def work_from(self) -> str:
        """trace or model: the source of work_ps."""
        return "trace" if self.work_ps == self.trace_work_ps else "model"

    @property
    def service_ps(self) -> int:
        """Time it needs for a step."""
        return self.work_ps // self.width
