"""Stages: iterators of the same place in the pipeline, as one, and how the user wrote them.

An iterator is one instance; repeat and flat_map make thousands of them. Their slices are named alike but
for indices, so a stage is what has the same long name in the same pipeline. stage_tree.py makes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stepscope.instruments.pipeline.calls import StageCall

_FEW_STEPS = 4
"""Fewer steps do not tell what each of them does."""
_INDEX = re.compile(r"\[\d+\]")
_PLACED = re.compile(r"(\w+?)Dataset(V\d+)?:(\d+)")
FROM_GENERATOR = "from_generator"
"""A flat_map over one element, whose function makes a stage that calls the generator: for its user, one
transformation."""
_WORDS = {
    "Tensor": "from_tensors",
    "TensorSlice": "from_tensor_slices",
    "MatchingFiles": "list_files",
    "TFRecord": "TFRecordDataset",
    "TextLine": "TextLineDataset",
    "FixedLengthRecord": "FixedLengthRecordDataset",
    "Generator": FROM_GENERATOR,
}
"""Kinds of datasets that are written otherwise than they are called."""
_READERS = frozenset({"TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"})
"""Classes of TensorFlow that are a flat_map, or an interleave, over the names of files: for their user, one
transformation."""
_DIGITS = 18
"""Longer numbers are no numbers of threads or elements."""
PROGRAM = "program"
"""The lane of stages that run when the program asks for a batch, and not before."""
THREAD = "thread:"
"""How the lanes begin of threads in which a stage works ahead and calls its input."""


@dataclass(eq=False)
class PipelineStage:
    """A stage as TensorFlow ran it. Times are not here: see rates."""

    number: int
    pipeline: int
    """Number of its pipeline; 0 is the one the program takes batches from."""
    branch_name: str
    """Long name with the branch of a zip, a mixture or a concatenation."""
    user_stage: str | None
    """As in the stat `name`: MapDataset:2 is the third transformation; None when TensorFlow added it."""
    above: PipelineStage | None = None
    ahead: bool = False
    """It works on threads of its own, ahead of its consumer."""
    taken: bool = False
    """The program itself takes batches from its pipeline."""
    fed_by: PipelineStage | None = None
    """Root of the host's pipeline that it hands over to a device, under a distribution strategy."""
    nested_in: PipelineStage | None = None
    """The stage whose function made it, as interleave does; None when it is in the user's chain."""
    position: int | None = None
    """Place of its (first) transformation in the user's chain, counted from 0 at the source; that of the
    transformation it is inside of, for a stage inside of a function. None when TensorFlow put it in."""
    lists_files: bool = False
    """It is a part of what list_files wrote; see chain."""
    reader: str | None = None
    """The class of datasets that it is a part of, where that reads files."""
    lane: str = ""
    """What it runs on: program, function:N (of stage N), thread:N (in which stage N works ahead)."""
    args: dict[str, object] = field(default_factory=dict)
    calls: list[StageCall] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Long name without any index."""
        return _INDEX.sub("", self.branch_name)

    @property
    def short(self) -> str:
        """The last part of the name, as ParallelMapV2."""
        return self.name.rpartition("::")[2]

    @property
    def branch(self) -> str:
        """As in branch()."""
        return branch(self.branch_name)

    @property
    def written(self) -> list[str]:
        """The user's transformations as one writes them; none where TensorFlow put it in."""
        return [self.reader] if self.reader is not None else words(self.user_stage)

    @property
    def is_whole(self) -> bool:
        """Whether the function that made it is not the user's: both are one transformation."""
        outer = self.nested_in
        return outer is not None and (self.reader is not None or self.written == [FROM_GENERATOR])

    @property
    def spoken(self) -> str:
        """The user's transformation as a person says it: map (transformation 2)."""
        return self.named("{} (transformation {})")

    def named(self, form: str) -> str:
        """The same in another form, for a word and a number."""
        outer = self.nested_in
        written = ["list_files"] if self.lists_files else self.written
        if outer is not None and self.is_whole and outer.position is not None:
            return form.format(written[0], outer.position)
        if outer is not None:
            return f"{' with '.join(written)} inside {outer.named(form)}"
        if self.position is None:
            return " with ".join(written) or f"{self.short}, added by TensorFlow"
        return " with ".join(map(form.format, written, self.positions))

    @property
    def positions(self) -> list[int]:
        """Places in the user's chain of all its transformations; none where TensorFlow put it in."""
        if self.position is None:
            return []
        numbers = [int(place) for _, _, place in _PLACED.findall(self.user_stage or "")]
        return numbers if len(numbers) > 1 else [self.position]

    @property
    def parallelism(self) -> int | None:
        """Calls of its function that may run at once; None when it is not told."""
        return self.number_of("parallelism") or None

    def number_of(self, key: str) -> int | None:
        """What the recording says under a key, if it is a number and not negative."""
        value = str(self.args.get(key))
        return int(value) if value.isdecimal() and value.isascii() and len(value) <= _DIGITS else None

    @property
    def consumer_lane(self) -> str:
        """The lane that takes its elements. Lanes of its consumers are known."""
        if self.above is None:
            return PROGRAM if self.taken else f"pipeline:{self.pipeline}"
        return f"{THREAD}{self.above.number}" if self.above.ahead else self.above.lane


def branch(branch_name: str) -> str:
    """The last part of a long name, from the branch on where it is in one of several:
    Zip[1]::ParallelMapV2."""
    parts = branch_name.split("::")
    indexed = [number for number, part in enumerate(parts) if part.endswith("]")]
    return "::".join(parts[indexed[-1] if indexed else -1 :])


def written(name: str) -> str | None:
    """The user's transformation of the stat `name`, None when TensorFlow put it in."""
    return None if not name or name.startswith("inject/") or not _PLACED.search(name) else name


def placed(user_stage: str | None) -> list[tuple[str, int]]:
    """Kind and number of each of them: ("Map", 2), ("Batch", 3)."""
    return [(kind, int(number)) for kind, _, number in _PLACED.findall(user_stage or "")]


def words(user_stage: str | None) -> list[str]:
    """The transformations of `fused(MapDataset:2,BatchDatasetV2:3)` as one writes them: map, batch."""
    return [
        _WORDS.get(kind, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower().removeprefix("parallel_"))
        for kind, _, _ in _PLACED.findall(user_stage or "")
    ]


def written_as(user_stage: str, position: int | None) -> str:
    """The user's transformation of a stage, for a sentence. position: as in Stage. What a function makes has
    a number beyond all of the chain, which says nothing: there it is the place of that function's."""
    if position is None or position in {number for _, number in placed(user_stage)}:
        return user_stage
    written = " with ".join(words(user_stage))
    return f"{written}{', ' if written == FROM_GENERATOR else ' inside '}transformation {position}"


def call_text(word: str) -> str:
    """A transformation as a method, or as the class that it is: .map, TFRecordDataset."""
    return word if word[:1].isupper() else f".{word}"


def reader_of(user_stage: str | None) -> str | None:
    """The class of datasets that a stage is written as, if that reads files."""
    written = words(user_stage)
    return written[0] if len(written) == 1 and written[0] in _READERS else None


def made_in_steps(made: int, steps: int) -> bool:
    """Whether so many iterators in so many steps are one for most of them, and no beginning of an epoch."""
    return steps >= _FEW_STEPS and 2 * made >= steps
