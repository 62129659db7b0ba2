"""RunMetadata and StepStats, binary or text: what a traced `Session.run` leaves in TF1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stepscope.formats import _protobuf

if TYPE_CHECKING:
    from stepscope._core import Store

NAME = "run_metadata"
DECODER = "run_metadata"


def sniff(head: bytes, name: str) -> bool:
    """Fields of a RunMetadata or a StepStats, or their names as text."""
    return _protobuf.kind(head) == NAME


def finish(store: Store, path: str) -> None:
    """Nothing is left to do: the core tells all that the file tells."""
