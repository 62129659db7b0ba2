"""Stages: iterators of the same place in the pipeline, as one, and how the user wrote them.

An iterator is one instance; repeat and flat_map make thousands of them. Their slices are named alike but
for indices, so a stage is what has the same long name in the same pipeline. stage_tree.py makes them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from stepscope.instruments.pipeline.calls import StageCall

_FEW_STEPS = 4
"""Fewer steps do not show what each of them does."""
_INDEX = re.compile(r"\[\d+\]")
_PLACED = re.compile(r"(\w+?)Dataset(V\d+)?:(\d+)")
FROM_GENERATOR = "from_generator"
"""A flat_map over one element, whose function makes a stage that calls the generator; for the user, one
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
"""Kinds of datasets whose method has another name."""
_READERS = frozenset({"TFRecordDataset", "TextLineDataset", "FixedLengthRecordDataset"})
"""TensorFlow classes that are a flat_map, or an interleave, over file names; for the user, one
transformation."""
_DIGITS = 18
"""Longer numbers are not counts of threads or elements."""
PROGRAM = "program"
"""The lane of stages that run only when the program asks for a batch."""
THREAD = "thread:"
"""Prefixes of the lanes of threads in which a stage works ahead and calls its input."""


@dataclass(eq=False)
class PipelineStage:
    """A stage as TensorFlow ran it, without times: these are in rates."""

    number: int
    pipeline: int
    """Number of its pipeline; the program takes batches from pipeline 0."""
    branch_name: str
    """Long name with the branch of a zip, a mixture or a concatenation."""
    user_stage: str | None
    """Its transformation as in the stat `name`: MapDataset:2 is the third; None when TensorFlow added it."""
    above: PipelineStage | None = None
    ahead: bool = False
    """It works on threads of its own, ahead of its consumer."""
    taken: bool = False
    """The program itself takes batches from its pipeline."""
    fed_by: PipelineStage | None = None
    """Root of the host's pipeline that feeds a device, under a distribution strategy."""
    nested_in: PipelineStage | None = None
    """The stage whose function made it, as interleave does; None for stages of the user's chain."""
    position: int | None = None
    """Position of its (first) transformation in the user's chain, from 0 at the source; inside a function,
    that of the transformation with the function. None when TensorFlow added it."""
    lists_files: bool = False
    """It is a part of list_files; see chain."""
    reader: str | None = None
    """The class of datasets that it is a part of, if that reads files."""
    lane: str = ""
    """Its lane: program, function:N (of stage N), thread:N (in which stage N works ahead)."""
    args: dict[str, object] = field(default_factory=dict)
    calls: list[StageCall] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Long name without indices."""
        return _INDEX.sub("", self.branch_name)

    @property
    def short(self) -> str:
        """The last part of the name, as ParallelMapV2."""
        return self.name.rpartition("::")[2]

    @property
    def repeats(self) -> bool:
        """It only hands elements over, and makes its input anew when that ends."""
        return self.short in ("ForeverRepeat", "FiniteRepeat")

    @property
    def branch(self) -> str:
        """As in branch()."""
        return branch(self.branch_name)

    @property
    def written(self) -> list[str]:
        """The user's transformations as written; none where TensorFlow added it."""
        return [self.reader] if self.reader is not None else words(self.user_stage)

    @property
    def is_whole(self) -> bool:
        """Whether the function that made it is not the user's: both are one transformation."""
        outer = self.nested_in
        if outer is None:
            return False
        return (self.reader is not None and self.reader == outer.reader) or self.written == [FROM_GENERATOR]

    @property
    def spoken(self) -> str:
        """The user's transformation in words: map (transformation 2)."""
        return self.named("{} (transformation {})")

    def named(self, form: str) -> str:
        """The user's transformation as a word and a number."""
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
        """Positions in the user's chain of all its transformations; none where TensorFlow added it."""
        if self.position is None:
            return []
        numbers = [int(place) for _, _, place in _PLACED.findall(self.user_stage or "")]
        return numbers if len(numbers) > 1 else [self.position]

    @property
    def parallelism(self) -> int | None:
        """Calls of its function that may run at once; None when unknown."""
        return self.number_of("parallelism") or None

    def number_of(self, key: str) -> int | None:
        """The recorded value of a key, if it is a number and not negative."""
        value = str(self.args.get(key))
        return int(value) if value.isdecimal() and value.isascii() and len(value) <= _DIGITS else None

    @property
    def consumer_lane(self) -> str:
        """The lane of its consumer. Lanes of its consumers are known."""
        if self.above is None:
            return PROGRAM if self.taken else f"pipeline:{self.pipeline}"
        return f"{THREAD}{self.above.number}" if self.above.ahead else self.above.lane


def branch(branch_name: str) -> str:
    """The last part of a long name, from the branch on if it has one: Zip[1]::ParallelMapV2."""
    parts = branch_name.split("::")
    indexed = [number for number, part in enumerate(parts) if part.endswith("]")]
    return "::".join(parts[indexed[-1] if indexed else -1 :])


def written(name: str) -> str | None:
    """The user's transformation in the stat `name`, None when TensorFlow added it."""
    return None if not name or name.startswith("inject/") or not _PLACED.search(name) else name


def placed(user_stage: str | None) -> list[tuple[str, int]]:
    """Kind and number of each of them: ("Map", 2), ("Batch", 3)."""
    return [(kind, int(number)) for kind, _, number in _PLACED.findall(user_stage or "")]


def words(user_stage: str | None) -> list[str]:
    """The transformations of `fused(MapDataset:2,BatchDatasetV2:3)` as written: map, batch."""
    return [
        _WORDS.get(kind, re.sub(r"(?<=[a-z])(?=[A-Z])", "_", kind).lower().removeprefix("parallel_"))
        for kind, _, _ in _PLACED.findall(user_stage or "")
    ]


def written_as(user_stage: str, position: int | None) -> str:
    """The user's transformation of a stage, for a sentence. position: as in Stage. Numbers inside functions
    come after the whole chain and mean nothing to a user: there, the position of the function counts."""
    if position is None or position in {number for _, number in placed(user_stage)}:
        return user_stage
    written = " with ".join(words(user_stage))
    return f"{written}{', ' if written == FROM_GENERATOR else ' inside '}transformation {position}"


FUSED = {"map_and_batch": ("map", "batch"), "shuffle_and_repeat": ("shuffle", "repeat")}
"""What TensorFlow makes of two transformations in a row, or the program wrote: old recordings do not tell."""


def call_text(word: str) -> str:
    """A transformation as a method, or as its class: .map, TFRecordDataset."""
    return word if word[:1].isupper() else f".{word}"


def reader_of(user_stage: str | None) -> str | None:
    """The class of datasets that the user wrote for a stage, if it reads files."""
    written = words(user_stage)
    return written[0] if len(written) == 1 and written[0] in _READERS else None


def made_in_steps(made: int, steps: int) -> bool:
    """Whether this many iterators in this many steps mean one per step, and not the start of an epoch."""
    return steps >= _FEW_STEPS and 2 * made >= steps
