"""The ops that XLA can compile, and what keeps the nodes of graphs off it."""

from collections.abc import Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.errors import NothingFound
from stepscope.report.listing import Listing
from stepscope.xla_tools import supported
from stepscope.xla_tools.supported import once as once

_TODO = {
    "XLA_GPU_JIT": "this TensorFlow was built without GPUs: give --python of one that has them",
    "XLA_CPU_JIT": "this TensorFlow was built without XLA: give --python of one that has it",
}
_WIDEST = dict.fromkeys(("types", "allowed"), 100)
"""Lists of types may have thousands of letters."""


def build(
    nodes: Sequence[tuple[str, str, Mapping[str, Any]]] | None, device: str, python: str | None
) -> Listing:
    """The ops with their types; or those of nodes (name, op, attributes) that cannot be compiled, and why."""
    version, known = supported.registry(device, python)
    if not known:
        raise NothingFound(
            "TensorFlow has no kernels for this device",
            seen=f"{device} in TensorFlow {version}",
            todo=_TODO.get(device, "XLA_CPU_JIT and XLA_GPU_JIT are usual"),
        )
    summary = f"TensorFlow {version}: {units.count(len(known), 'op')} for {device}"
    if nodes is None:
        every = [{"op": op, "types": supported.types_of(known[op]) or None} for op in sorted(known)]
        return Listing(supported.COLUMNS, every, [summary], widest=_WIDEST)
    rows = supported.unsupported(nodes, known)
    off = sum(row["nodes"] for row in rows)
    summary += f"; {off:,} of {units.count(len(nodes), 'node')} cannot be compiled"
    return Listing(supported.AGAINST, rows, [summary], widest=_WIDEST)
