"""Stages as the user wrote them: function and line where a capture has them, else the place in the chain.

TensorFlow's own names, as ParallelMapV2 or MapAndBatch, are for the tree of stages, where both stand side by
side.
"""

from collections.abc import Mapping, Sequence

from stepscope.instruments.pipeline.places import UserStage
from stepscope.instruments.pipeline.stages import FUSED, PROGRAM, PipelineStage, call_text
from stepscope.instruments.pipeline.tf1_calls import OF_OPTIONS

Written = Mapping[PipelineStage, Sequence[UserStage]]
_LIMITS = {PROGRAM: "the program itself", "cpu": "the CPU", "threads": "the thread pool"}


def named(stage: PipelineStage, written: Written, *, brief: bool = False) -> str:
    """A stage in a sentence: `load` in clips.py:26, called by .map in line 39; or map (transformation 2).
    brief: without who calls it."""
    known = [user_stage for user_stage in written.get(stage, ()) if user_stage.file is not None]
    branch = _branch(stage)
    if not known or stage.lists_files or (stage.nested_in is None and len(known) < len(stage.positions)):
        return stage.spoken + branch
    first, *others = known
    name = _first(first, brief=brief)
    if brief and first.function is not None:
        return name + branch
    for other in others:
        at = f"line {other.line}" if other.file == first.file else f"{other.file}:{other.line}"
        name += f" with {call_text(other.transformation)} in {at}"
    if stage.nested_in is not None and not stage.is_whole:
        name = f"{' with '.join(stage.written) or stage.short} inside {name}"
    return name + branch


def subject(name: str) -> str:
    """A name at the beginning of a sentence; a function keeps its own letters."""
    name = name[0].upper() + name[1:] if name.startswith("the ") else name
    return f"{name}," if ", called by " in name else name


def _first(place: UserStage, *, brief: bool) -> str:
    function = place.function
    if function is None:
        return f"{call_text(place.transformation)} in {place.file}:{place.line}"
    name = "the lambda" if function.function == "<lambda>" else f"`{function.function}`"
    at = f"line {place.line}" if function.file == place.file else f"{place.file}:{place.line}"
    name_and_line = f"{name} in {function.file}:{function.line}"
    return name_and_line if brief else f"{name_and_line}, called by {call_text(place.transformation)} in {at}"


def _branch(stage: PipelineStage) -> str:
    """In which branch of a zip, a mixture or a concatenation a stage is, where it is in one."""
    around, _, _ = stage.branch.rpartition("::")
    return f" in {around}" if around else ""


def label(stage: PipelineStage) -> str:
    """A stage in the tree: map (2), or TensorFlow's name where the user wrote none."""
    if stage.nested_in is not None:
        return " with ".join(stage.written) or stage.short
    return stage.named("{} ({})") if stage.position is not None else stage.short


def runs_as(stage: PipelineStage) -> str:
    """What TensorFlow made of a stage."""
    if stage.user_stage is None:
        return "set by options or default" if stage.short.startswith(OF_OPTIONS) else "added by TensorFlow"
    branch, _, last = stage.branch_name.rpartition("::")
    return f"{branch.rpartition('::')[2]}::{last}" if branch.endswith("]") else last


def numbering(stages: Sequence[PipelineStage]) -> str:
    """What the numbers of stages count from. A full cache takes nothing from what is behind it."""
    outer = [stage for stage in stages if stage.nested_in is None]
    cached = any(stage.position == 0 and "Cache" in stage.short for stage in outer)
    readers = sorted({stage.reader for stage in outer if stage.reader is not None and stage.position == 1})
    twice = f", and {readers[0]} counts as two, with the names of its files" if readers else ""
    since = (
        ", counted from the cache: what is behind it did not run." if cached else f"; the source is 0{twice}."
    )
    fused = sorted({name for stage in outer for name in stage.written if name in FUSED})
    counted = (
        f" {' and '.join(fused)} {'counts' if len(fused) == 1 else 'count'} as one, if written as two, too."
    )
    return f"Numbers in brackets are places in your chain of transformations{since}{counted if fused else ''}"


def limit(name: str, stages: Sequence[PipelineStage] = (), written: Written | None = None) -> str:
    """What limits a step, as the model names it, in words."""
    if name in _LIMITS:
        return _LIMITS[name]
    stage = next((pipeline_stage for pipeline_stage in stages if pipeline_stage.name == name), None)
    return name.rpartition("::")[2] if stage is None else named(stage, written or {}, brief=True)
