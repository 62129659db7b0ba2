"""RunMetadata and StepStats, binary or text: what a traced `Session.run` leaves in TF1."""

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import Pieces, Step
from stepscope.sources.source import Traits

NAME = "run_metadata"
TRAITS = Traits(steps="beside", sessions=True, op_logs=True, endings=(".pbtxt", ".txt", ".pb"))


def sniff(head: bytes, name: str) -> bool:
    """Fields of a RunMetadata or a StepStats, or their names as text."""
    return _core.sniff(NAME, head, name)


def build(pieces: Pieces) -> Store:
    """The native core reads all that the file holds."""
    from stepscope.formats import _host_trace

    return _host_trace.decode(pieces, NAME)


def steps(pieces: Pieces) -> list[Step]:
    """The steps that `stepscope record` timed beside this one, where it is of one of its captures."""
    from stepscope.formats import _capture_steps

    return _capture_steps.recorder_steps(pieces)
