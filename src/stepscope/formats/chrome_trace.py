"""Chrome's trace-event JSON: TensorFlow's Timeline and profiler, JAX, Kineto, Horovod, VizTracer, others."""

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import Pieces, _session_runs, _twins
from stepscope.sources.source import Traits

NAME = "chrome_trace"
TRAITS = Traits(endings=(".pt.trace.json", ".trace.json", ".json", ".trace", ".ctf", ".txt"))
TWINS = (_twins.profile_folder, _session_runs.twins, _twins.timelines, _twins.renamed_timelines)
"""Timelines are made from what other formats hold in full."""
COPIES = (_session_runs.copies,)


def sniff(head: bytes, name: str) -> bool:
    """An object with traceEvents, or an array whose first elements have a phase."""
    return _core.sniff(NAME, head, name)


def build(pieces: Pieces) -> Store:
    """What the native core reads, with tracks and their devices named."""
    store = pieces.decode(NAME)
    finish(store)
    return store


def finish(store: Store) -> None:
    """Says what the tracks are, and adds the devices that they belong to."""
    from stepscope.formats import _chrome_rows

    _chrome_rows.classify(store)
