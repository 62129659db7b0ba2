"""How much memory a change takes: a cache, or batches that wait in a prefetch.

Bytes of an element are from tf.data's own model, elements of a dataset from the chain that the user wrote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from stepscope import units
from stepscope.instruments.pipeline.host import Machine
from stepscope.instruments.pipeline.places import Place
from stepscope.instruments.pipeline.rates import Load

MOST = 0.9
"""Part of the free memory that a cache may take and still fit."""


def cache(load: Load, written: Sequence[Place], machine: Machine | None) -> tuple[str, bool | None]:
    """What a cache behind a stage takes, as the end of a sentence, and whether it fits; None: not known.

    written: the transformations of the stage, the last of which the cache follows."""
    elements = _cardinality(written[-1]) if written else None
    if elements is not None and elements < 0:
        return "but its output never ends: put the cache before the repeat()", False
    each = _element_bytes(load)
    if elements is None or each is None:
        what = "number" if each is not None else "size"
        unknown = f"the {what} of its elements is unknown"
        return f"if it yields the same in each epoch and fits into memory: {unknown}", None
    size = round(elements * each)
    said = f"if it yields the same in each epoch; it takes {units.show(size, 'bytes')} "
    said += f"({units.count(elements, 'element')} of {units.show(round(each), 'bytes')})"
    free = machine.available_bytes if machine is not None else None
    if free is None:
        return f"{said}, and the free memory is unknown", None
    fits = size <= MOST * free
    has = units.show(free, "bytes")
    return (f"{said} of the {has} that is free" if fits else f"{said}, and only {has} is free"), fits


def batch(loads: Sequence[Load]) -> int | None:
    """Bytes of a batch at the end of the pipeline; None where no model tells."""
    for load in loads:
        if load.stage.taken and load.account is not None and load.account.batch_bytes:
            return load.account.batch_bytes
    return None


def _element_bytes(load: Load) -> float | None:
    account = load.account
    if account is None or not account.batch_bytes or account.visits <= 0:
        return None
    return account.batch_bytes / account.visits


def _cardinality(place: Place) -> int | None:
    found = json.loads(place.arguments)
    count = found.get("cardinality") if isinstance(found, dict) else None
    return count if isinstance(count, int) and not isinstance(count, bool) else None
