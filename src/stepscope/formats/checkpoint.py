"""Checkpoints of TensorFlow, V1 and V2: which tensors they keep, how large, and what each is for.

A V2 checkpoint is known by its index, whose values lie in files beside it; a V1 checkpoint is a file with the
values in it. The tables tell names, types, shapes and sizes; values stay where they are until asked for
(`stepscope tfprof scope PATH -select tensor_value`). Tensors whose values are not where the index says are
listed and counted in a note.
"""

from pathlib import Path

from stepscope import _core
from stepscope._core import Store
from stepscope.formats import HEAD_BYTES, Pieces, timeless
from stepscope.sources.source import Traits
from stepscope.store_rows import note

NAME = "checkpoint"
TRAITS = Traits(kind="checkpoint")

CACHED = False
"""A checkpoint is more files than its index, and quickly listed."""

MOST_PACKED_BYTES = 256 << 20
"""An index, or a V1 checkpoint, that has to be unpacked first may have so many bytes."""


def sniff(head: bytes, name: str) -> bool:
    """A table whose first key is empty and whose first value is a header (V2) or a list of tensors (V1); a
    file that is there as a whole must also end as a table does."""
    return _core.sniff(NAME, head, name)


def build(pieces: Pieces) -> Store:
    """The tensors of a checkpoint. The files of its values are looked up beside a plain file on the disk.

    CoreError when it is damaged or the folder cannot be written; OSError or Unreadable when it is gone.
    """
    # The name says which kind it is: an index is called so, a file with values has none beside it.
    path = pieces.path()
    if path is not None:
        with Path(path).open("rb") as file:
            named = _core.is_checkpoint_index(file.read(HEAD_BYTES)) == path.endswith(".index")
        if named and (path.endswith(".index") or not Path(f"{path}.index").exists()):
            return _store(path, pieces, has_values=True)
    import tempfile

    with tempfile.TemporaryDirectory(prefix="stepscope-") as scratch:
        data = pieces.read(MOST_PACKED_BYTES)
        index = _core.is_checkpoint_index(data[:HEAD_BYTES])
        place = Path(scratch, "checkpoint.index" if index else "checkpoint")
        place.write_bytes(data)
        return _store(str(place), pieces, has_values=False)


steps = timeless


def _store(path: str, pieces: Pieces, *, has_values: bool) -> Store:
    from stepscope.formats._checkpoint_rows import StoredTensor, store_of

    checkpoint = _core.Checkpoint(path)
    absent = checkpoint.absent() if has_values else []
    notes = []
    if absent:
        name, offset, seen = absent[0]
        notes.append(note("missing-values", "missing", f"{name}: {seen}", len(absent), offset))
    tensors = [StoredTensor(*row) for row in checkpoint.tensors()]
    return store_of(pieces, _core.hash_file(path), "tensorflow", tensors, notes)
