"""Outer parallelism: copies of a pipeline, each for a part of the data, joined by an interleave.

Filter, unbatch and batch take one element after another, however many threads there are. Copies of them do
not wait for one another: shard() divides the source, each copy goes as far as its batch, and an interleave
runs as many at once as there are copies.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from stepscope.instruments.pipeline.model import ModelStage
from stepscope.instruments.pipeline.stages import PipelineStage, words

_ONE_BY_ONE = re.compile(r"(Filter|Unbatch|BatchV2|PaddedBatch|RaggedBatch|DenseToSparseBatch)(V\d+)?$")
"""Stages that take one element after another, and have no parallel form, or one that only copies."""
_BATCHES = re.compile(r"(Padded|Parallel)?Batch(V\d+)?$|MapAndBatch(V\d+)?$")
_UNDIVIDED = ("Generator", "DataService", "Tensor", "FromTensor")
"""Sources with a single element, or that make every element before shard() drops those of other copies."""
_PER_CORE = 2
"""Copies per core where Python may wait: a waiting copy leaves its core to others."""


def possible(stage: PipelineStage, stages: Sequence[PipelineStage]) -> bool:
    """Whether copies of the pipeline up to a stage would share its work."""
    if not _ONE_BY_ONE.match(stage.short) or stage.nested_in is not None:
        return False
    return not any(pipeline_stage.short in _UNDIVIDED for pipeline_stage in _upstream(stage, stages))


def number(cores: int, threads: int, *, python: bool) -> int:
    """The number of copies: one per core, more where they may wait, and never more than the pool has
    threads."""
    wanted = _PER_CORE * cores if python else cores
    return max(min(wanted, threads) if python else wanted, 2)


def stages_of_copies(stage: PipelineStage, stages: Sequence[PipelineStage]) -> list[PipelineStage]:
    """The stages of each copy, sources last: from the source up to the batch after the stage, if nothing
    works ahead in between."""
    end, above = stage, stage
    while above.above is not None and not above.above.ahead and not _BATCHES.match(above.short):
        above = above.above
        if _BATCHES.match(above.short):
            end = above
    return [end, *_upstream(end, stages)]


def part(stage: ModelStage, lane: str, copies: int, threads: int) -> ModelStage:
    """A part of the copies: a stage that shared this thread gets as many threads as there are copies, one
    with its own threads has them in each copy. lane: the stage's own now."""
    if stage.lane == lane:
        return replace(stage, lane="changed:copies", width=copies, into="changed:copies")
    return replace(stage, width=min(max(stage.width * copies, 1), max(threads, stage.width)))


def code(stages: Sequence[PipelineStage], copies: int, autotune: str) -> str:
    """The line to write: stages of a copy, sources last, as the user wrote them. autotune: how the program's
    TensorFlow spells that."""
    written = []
    for stage in reversed(stages):
        if stage.nested_in is None and stage.position is not None:
            written += ["list_files"] if stage.lists_files else words(stage.user_stage)
    written = [
        word for at, word in enumerate(written) if not at or (word, written[at - 1]) != ("list_files",) * 2
    ]
    source, *rest = written or ["dataset"]
    chain = "".join(f".{word}(…)" for word in rest)
    return (
        f"tf.data.Dataset.range({copies}).interleave(lambda i: {source}(…).shard({copies}, i){chain}, "
        f"cycle_length={copies}, num_parallel_calls={copies}).prefetch({autotune})"
    )


def _upstream(stage: PipelineStage, stages: Sequence[PipelineStage]) -> list[PipelineStage]:
    """The inputs of a stage, nearest first. stages: consumers before their inputs."""
    found: set[int] = {stage.number}
    below = []
    for pipeline_stage in stages:
        if (
            pipeline_stage.above is not None
            and pipeline_stage.above.number in found
            and pipeline_stage is not stage
        ):
            found.add(pipeline_stage.number)
            below.append(pipeline_stage)
    return below
