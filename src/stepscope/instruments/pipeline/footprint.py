"""The memory of a change: a cache, or batches in a prefetch buffer.

Bytes of an element come from tf.data's own model, elements of a dataset from the user's chain.
"""

from collections.abc import Sequence
from typing import NamedTuple

from stepscope import strict_json
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.load import Load
from stepscope.instruments.pipeline.places import UserStage

MOST = 0.9
"""The part of the free memory that a cache may fill."""


class Footprint(NamedTuple):
    """The memory of a cache; None for what is unknown."""

    elements: int | None
    """Elements that it keeps; negative when they never end, or repeat."""
    element_bytes: float | None
    free_bytes: int | None
    """Memory that is free."""

    @property
    def bytes(self) -> int | None:
        """Bytes of all elements."""
        if self.elements is None or self.element_bytes is None:
            return None
        return round(self.elements * self.element_bytes)

    @property
    def fits(self) -> bool | None:
        """Whether there is room for it."""
        if self.elements is not None and self.elements < 0:
            return False
        if self.bytes is None or self.free_bytes is None:
            return None
        return self.bytes <= MOST * self.free_bytes


_REPEATS = ("ForeverRepeat", "ShuffleAndRepeat")


def cache(
    load: Load, written: Sequence[UserStage], machine: Machine | None, fed_by: Sequence[Load] = ()
) -> Footprint:
    """The memory of a cache after a stage. written: the transformations of the stage; the cache follows the
    last. fed_by: the stages before it, whose repeat() would make its output repeat."""
    elements = _cardinality(written[-1]) if written else None
    if any(fed.stage.short.startswith(_REPEATS) for fed in (load, *fed_by) if fed.stage.nested_in is None):
        elements = -1
    return Footprint(elements, _element_bytes(load), None if machine is None else machine.available_bytes)


def batch(loads: Sequence[Load]) -> int | None:
    """Bytes of a batch at the end of the pipeline; None without a model."""
    for load in loads:
        if load.stage.taken and load.account is not None and load.account.batch_bytes:
            return load.account.batch_bytes
    return None


def _element_bytes(load: Load) -> float | None:
    account = load.account
    if account is None or not account.batch_bytes or account.visits <= 0:
        return None
    return account.batch_bytes / account.visits


def _cardinality(place: UserStage) -> int | None:
    count = strict_json.members(place.arguments).get("cardinality")
    return count if isinstance(count, int) and not isinstance(count, bool) else None
