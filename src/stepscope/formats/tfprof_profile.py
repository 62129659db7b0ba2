"""Profiles of tfprof: what `tf.compat.v1.profiler.Profiler` and `tf.contrib.tfprof.ProfileContext` save of a
graph, of the steps that were traced, and of the lines that made its ops."""

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.sources.source import Traits

NAME = "tfprof_profile"
TRAITS = Traits(sessions=True, lines=True, endings=(".pbtxt", ".txt", ".pb"))


def sniff(head: bytes, name: str) -> bool:
    """Nodes of a profile: what a graph has, and when they ran."""
    return _core.sniff(NAME, head, name)


def build(pieces: Pieces) -> Store:
    """The native core reads all that the file holds."""
    from stepscope.formats import _host_trace

    return _host_trace.decode(pieces, NAME)
