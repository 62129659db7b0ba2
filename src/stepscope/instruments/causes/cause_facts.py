"""What recordings show of a cause besides its line: each a fact that a sentence can say."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from stepscope.code_lines import CodeLine

LoaderWork = Literal["unpickling", "workers"]
"""What the program itself does while it gets a batch from the workers of a loader, besides waiting."""
Stored = Literal["checkpoint", "summary", "model"]
"""What is written in the loop of steps, or read: a model."""


@dataclass(frozen=True)
class Retrace:
    """A function that was traced or compiled again and again, and what was new about the calls."""

    function: str
    called: CodeLine | None
    change: str
    """As in compilation.change."""
    argument: str | None
    was: str | None
    became: str | None
    times: int
    """Calls that traced or compiled because of such a change."""
    steps: int
    """Steps in which they lie."""


@dataclass(frozen=True)
class Allocating:
    """Calls that allocate or free memory, of a device or of the host for its copies."""

    name: str
    """Of the call that takes longest."""
    calls: int
    took_ps: int
    """Over all threads and the whole recording."""
    all_ps: int
    """The same of all such calls, whatever their names."""
    of_code_ps: int = 0
    """The same of those among them that unload code, and free no memory."""
    on_host_ps: int = 0
    """The same of those that allocate, free or pin memory of the host."""


@dataclass(frozen=True)
class GapLaunches:
    """Launching while an accelerator has nothing to do."""

    op: str | None
    """The op whose launch takes most of that time; None where many do together."""
    took_ps: int
    """In a mean step."""
    called: bool = False
    """Whether it is a call of a runtime, which tracers of these draw by its own name, and no op."""


class SampleCounts(NamedTuple):
    """The samples by which a line was chosen. A sample that sees two things counts in part to each."""

    number: float = 0.0
    """Of what is asked about."""
    at_line: float = 0.0
    """Those of them that speak for the line."""
    next_best: float = 0.0
    """Those that speak for the line that has most of the others."""


@dataclass(frozen=True)
class FilterYield:
    """What a filter behind a stage keeps."""

    part: float
    """Of the elements that the stage makes."""
    line: int | None = None
    """Of the filter, where the stage's own file has it."""


class BufferFill(NamedTuple):
    """What a shuffle behind a stage draws to fill its buffer."""

    drawn: float
    """Elements for each that it hands on."""
    line: int | None = None
    """Of the shuffle, where the stage's own file has it."""


class Recomputed(NamedTuple):
    """What ops compute again because it was not kept for gradients."""

    by: Literal["torch.utils.checkpoint", "jax.checkpoint", "tf.recompute_grad"]
    """What did not keep it."""
    share: float
    """Of a mean step."""


class SharedLine(NamedTuple):
    """A line of the program, and what it takes of a mean step by the label of the cause."""

    line: CodeLine
    share: float


class WholeTable(NamedTuple):
    """A table that is updated as a whole for the few rows that a step looks up."""

    rows: int
    columns: int
    used_rows: int
    """The most rows that a step looks up."""
    share: float
    """What ops on all rows take of the time of all ops."""


class GarbageCollection(NamedTuple):
    """Runs of Python's garbage collection within steps."""

    share: float
    """Of a mean step."""
    collections: int
    whole: int
    """Those that went through all objects."""
    steps: int


@dataclass(frozen=True)
class UnfilledCache:
    """A cache behind a stage that no pass over the data fills, so that none reads from it."""

    line: int | None
    taken: int
    """Elements that a pass draws."""
    elements: int
    """All there are."""
