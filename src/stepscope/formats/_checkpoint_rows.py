"""Rows for the tensors of a checkpoint, for every format that lists some."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from stepscope._core import Store
from stepscope.formats import Pieces
from stepscope.formats._checkpoint_roles import roles_of
from stepscope.store_rows import put

MOST_DIMENSIONS = 64
"""As PyTorch has it; a tensor of TensorFlow has 254 at most, and none has many."""
_FITS = 2**63 - 1
_BITS = re.compile(r"[a-z]+(\d+)")


class StoredTensor(NamedTuple):
    """A tensor as a checkpoint lists it."""

    name: str
    dtype: str
    shape: Sequence[int]
    bytes: int | None
    slices: int = 1


def dtype_bits(dtype: str) -> int | None:
    """Bits of an element, by the name of its type; None where it does not say."""
    if dtype == "bool":
        return 8
    found = _BITS.match(dtype)
    return None if found is None else int(found[1])


def store_of(
    pieces: Pieces,
    digest: str,
    producer: str,
    tensors: Sequence[StoredTensor],
    notes: Sequence[dict[str, Any]],
) -> Store:
    """The tensors of a checkpoint as a store. digest: what stands for the part of it that lists them."""
    roles = roles_of([(tensor.name, tensor.dtype, tensor.shape) for tensor in tensors])
    rows = [
        {
            "id": number,
            "name": tensor.name,
            "dtype": tensor.dtype,
            "shape": json.dumps(list(tensor.shape), separators=(",", ":")),
            "elements": _fitting(math.prod(tensor.shape)),
            "bytes": _fitting(tensor.bytes),
            "slices": tensor.slices,
            "role": roles[tensor.name][0],
            "weight": roles[tensor.name][1],
        }
        for number, tensor in enumerate(tensors)
    ]
    store = pieces.build()
    put(store, "checkpoint_tensor", rows)
    store.update_facts(
        {
            "producer": producer,
            "content_hash": digest,
            "events_seen": len(rows),
            "events_stored": len(rows),
            "notes": list(notes),
        }
    )
    return store


def _fitting(value: int | None) -> int | None:
    return value if value is not None and value <= _FITS else None
