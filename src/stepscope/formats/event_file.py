"""TensorBoard event files: run metadata of TF1 and TF2 steps, and graphs, among scalars and the like."""

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.sources.source import Traits

NAME = "event_file"
TRAITS = Traits(sessions=True, op_logs=True, endings=(".events", ".event"))


def sniff(head: bytes, name: str) -> bool:
    """A record whose length carries the right checksum, and in it the beginning of an event."""
    return _core.sniff(NAME, head, name)


def build(pieces: Pieces) -> Store:
    """The native core reads all that the file holds."""
    from stepscope.formats import _host_trace

    return _host_trace.decode(pieces, NAME)
