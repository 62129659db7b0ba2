"""The cores and threads that tf.data may use, as its stages say."""

from collections.abc import Sequence

from stepscope.instruments.pipeline.stages import PipelineStage


def _largest(stages: Sequence[PipelineStage], key: str) -> int:
    """The largest number that stages have under a key; 0 without any."""
    return max((number for stage in stages if (number := stage.number_of(key)) is not None), default=0)


def tells_cores(stages: Sequence[PipelineStage]) -> bool:
    """Whether the recording tells how many cores tf.data may use. The size of its pool does not: options may
    change it, and a trace does not show whether they do."""
    return _largest(stages, "cpu_budget") > 0


def cores_of(stages: Sequence[PipelineStage]) -> int:
    """Cores that tf.data may use; where unknown, the number of threads of its pool."""
    return _largest(stages, "cpu_budget") or pool_of(stages) or 1


def pool_of(stages: Sequence[PipelineStage]) -> int | None:
    """Threads of tf.data's pool, which run its functions; None where unknown."""
    return _largest(stages, "threadpool_size") or None
