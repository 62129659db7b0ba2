"""Checkpoints of TensorFlow, V1 and V2: which tensors they keep, how large, and what each is for.

A V2 checkpoint is known by its index, whose values lie in files beside it; a V1 checkpoint is a file with the
values in it. The tables tell names, types, shapes and sizes; values stay where they are until asked for
(`stepscope tfprof scope PATH -select tensor_value`). Tensors whose values are not where the index says are
listed and counted in a note.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from stepscope.formats import HEAD_BYTES, _protobuf

if TYPE_CHECKING:
    from stepscope._core import Store

NAME = "checkpoint"
DECODER = "checkpoint"

MOST_PACKED_BYTES = 256 << 20
"""An index, or a V1 checkpoint, that has to be unpacked first may have so many bytes."""
_MAGIC = bytes.fromhex("57fb808b247547db")
"""The last bytes of a table."""
_FITS = 2**63 - 1


def sniff(head: bytes, name: str) -> bool:
    """A table whose first key is empty and whose first value is a header (V2) or a list of tensors (V1); a
    file that is there as a whole must also end as a table does."""
    if len(head) < HEAD_BYTES and not head.endswith(_MAGIC):
        return False
    return bool(_version(head) or _version(_literal(head)))


def _version(head: bytes) -> int:
    """2 for an index, 1 for a file with its values, 0 for something else: a whole, empty key in front of a
    value that is a message with field 1."""
    view = memoryview(head)
    length, at = _protobuf.varint(view, 2)
    if head[:2] != b"\0\0" or not length or at >= len(head):
        return 0
    # V2: the number of data files, then order of bytes and version. V1: the list, which begins with a tensor.
    number, behind = _protobuf.varint(view, at + 1)
    if number is None:
        return 0
    if head[at] == 0x08 and number > 0 and behind <= at + length <= at + 64:
        return 2
    whole = head[at] == 0x0A and 0 < number < length
    return int(whole and head[behind : behind + 1] in (b"\x0a", b"\x12"))


def _literal(head: bytes) -> bytes:
    """The bytes that a packed block begins with: its length, then the first of them as they are."""
    _, at = _protobuf.varint(memoryview(head), 0)
    if at >= len(head) or head[at] & 3:
        return b""
    return head[at + 1 + max(0, (head[at] >> 2) - 59) :]


def finish(store: Store, path: str) -> None:
    """Nothing is left to do: build() has told all."""


def build(path: str | None, read: Callable[[], bytes], folder: str | None) -> Store:
    """The store of a checkpoint.

    path: the plain file on disk, beside which the values lie; None when it is packed or in an archive, where
    `read` gives its bytes. CoreError when it is damaged or the folder cannot be written; what `read` raises.
    """
    # The name tells the core which kind it is: an index is called so, a file with values has none beside it.
    if path is not None:
        with Path(path).open("rb") as file:
            named = is_index(file.read(HEAD_BYTES)) == path.endswith(".index")
        if named and (path.endswith(".index") or not Path(f"{path}.index").exists()):
            return _store(path, folder, has_values=True)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="stepscope-") as scratch:
        data = read()
        place = Path(scratch, "checkpoint.index" if is_index(data) else "checkpoint")
        place.write_bytes(data)
        return _store(str(place), folder, has_values=False)


def is_index(head: bytes) -> bool:
    """True for the beginning of an index, whose values lie in other files."""
    return 2 in (_version(head), _version(_literal(head[:HEAD_BYTES])))


def _store(path: str, folder: str | None, *, has_values: bool) -> Store:
    from stepscope import _core
    from stepscope.formats._checkpoint_roles import roles_of

    checkpoint = _core.Checkpoint(path)
    tensors = checkpoint.tensors()
    roles = roles_of([(name, dtype, shape) for name, dtype, shape, _, _ in tensors])
    rows = [
        {
            "id": number,
            "name": name,
            "dtype": dtype,
            "shape": json.dumps(shape, separators=(",", ":")),
            "elements": _fitting(math.prod(shape)),
            "bytes": _fitting(size),
            "slices": slices,
            "role": roles[name][0],
            "weight": roles[name][1],
        }
        for number, (name, dtype, shape, size, slices) in enumerate(tensors)
    ]
    absent = checkpoint.absent() if has_values else []
    store = _core.build(folder)
    if rows:
        store.replace("checkpoint_tensor", {name: [row[name] for row in rows] for name in rows[0]})
    notes = []
    if absent:
        name, offset, seen = absent[0]
        notes.append(
            {
                "slug": "missing-values",
                "effect": "missing",
                "events": len(absent),
                "first_offset": offset,
                "detail": f"{name}: {seen}",
            }
        )
    store.update_facts(
        {
            "producer": "tensorflow",
            "content_hash": _core.hash_file(path),
            "origin_unix_ns": None,
            "start_ps": None,
            "end_ps": None,
            "events_seen": len(rows),
            "events_stored": len(rows),
            "events_lost": 0,
            "events_repaired": 0,
            "events_capped": 0,
            "notes": notes,
            "meta": {},
        }
    )
    return store


def _fitting(value: int | None) -> int | None:
    return value if value is not None and value <= _FITS else None
