"""XPlane: what the profilers of TensorFlow, JAX and XLA write; `.xplane.pb`, an XSpace message."""

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import Pieces, Step
from stepscope.sources.source import Source, Traits
from stepscope.sources.spool import Spool

NAME = "xplane"
TRAITS = Traits(named_by_host=True, steps="within", op_logs=True)


def sniff(head: bytes, name: str) -> bool:
    """The beginning of an XSpace, which has neither magic nor version."""
    return _core.sniff(NAME, head, name)


def build(pieces: Pieces) -> Store:
    """The native core reads all that the file holds."""
    return pieces.decode(NAME)


def fill(store: Store, source: Source, spool: Spool) -> None:
    """Adds the programs that ran, which XPlanes keep."""
    from stepscope.formats.xla import xplane_tables

    xplane_tables.fill(store, source, spool)


def steps(pieces: Pieces) -> list[Step]:
    """The steps that `stepscope record` timed itself, where the XPlane is one of its captures."""
    from stepscope.formats import _capture_steps

    return _capture_steps.recorder_steps(pieces)
