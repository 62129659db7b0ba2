"""Tensors of a file of PyTorch: the pickle in it, and what each tensor keeps for itself."""

import io
import math
import zipfile
import zlib
from collections import Counter
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

from stepscope import units
from stepscope.formats import Damaged
from stepscope.formats._checkpoint_rows import StoredTensor, dtype_bits
from stepscope.formats._torch_pickle import PickledTensor, read_pickle, tensors
from stepscope.formats.torch_checkpoint import MAGIC
from stepscope.store_rows import note

MOST_PICKLE_BYTES = 256 << 20
_BEFORE = 3
"""Pickles before that of the object: the magic number, the version, and what the system was."""
_MEMBER = "data.pkl"


def listing(path: str) -> tuple[list[StoredTensor], list[dict[str, Any]], bytes]:
    """The tensors, what is to be noted of them, and the pickle that lists them. Damaged when it cannot be
    followed to its end."""
    value, data = _object(path)
    found = list(tensors(value))
    if not found:
        raise Damaged("it keeps no tensors")
    return *_rows(found), data


def _object(path: str) -> tuple[Any, bytes]:
    """The object that was saved, and its pickle."""
    with open(path, "rb") as file:  # noqa: PTH123 - a stream that pickles are read from one after the other
        if file.read(len(MAGIC)) == MAGIC:
            file.seek(0)
            for _ in range(_BEFORE):
                read_pickle(file)
            begin = file.tell()
            value = read_pickle(file)
            end = file.tell()
            file.seek(begin)
            return value, file.read(end - begin)
        try:
            with zipfile.ZipFile(file) as archive:
                member = next(info for info in archive.infolist() if info.filename.endswith(f"/{_MEMBER}"))
                if member.file_size > MOST_PICKLE_BYTES:
                    raise Damaged(f"{_MEMBER} has {units.show(member.file_size, 'bytes')}")
                data = archive.read(member)
        except (zipfile.BadZipFile, EOFError, StopIteration, NotImplementedError, zlib.error) as error:
            raise Damaged(f"its archive is cut or damaged: {error or _MEMBER}") from error
    return read_pickle(io.BytesIO(data)), data


def _rows(found: Sequence[tuple[str, PickledTensor]]) -> tuple[list[StoredTensor], list[dict[str, Any]]]:
    """The tensors with what each keeps for itself: one that another keeps already adds no bytes, and the
    first of a storage has what no tensor shows of it."""
    rows: list[StoredTensor] = []
    first: dict[Any, str] = {}
    names: Counter[str] = Counter()
    shared: list[tuple[str, str]] = []
    begun: dict[str, int] = {}
    left: dict[str, int] = {}
    for name, tensor in found:
        name = name or "tensor"
        names[name] += 1
        if names[name] > 1:
            name = f"{name} ({names[name]})"
        bits = dtype_bits(tensor.dtype)
        size = None if bits is None else math.prod(tensor.shape) * bits // 8
        key = (tensor.storage.key, tensor.offset, math.prod(tensor.shape))
        if key in first and key[-1]:
            shared.append((name, first[key]))
            rows.append(StoredTensor(name, tensor.dtype, tensor.shape, 0, 0))
            continue
        first[key] = name
        storage = tensor.storage
        begun.setdefault(storage.key, len(rows))
        left.setdefault(storage.key, storage.elements * (dtype_bits(storage.dtype) or 0) // 8)
        left[storage.key] -= size or 0
        rows.append(StoredTensor(name, tensor.dtype, tensor.shape, size))
    notes = []
    if larger := [(begun[key], more) for key, more in left.items() if more > 0]:
        for at, more in larger:
            rows[at] = rows[at]._replace(bytes=(rows[at].bytes or 0) + more)
        at, more = max(larger, key=itemgetter(1))
        kept = f"{rows[at].name} is part of a storage that was saved whole: {units.show(more, 'bytes')} of "
        notes.append(note("storage-kept-whole", "info", f"{kept}it are in no tensor", len(larger)))
    if shared:
        name, of = shared[0]
        notes.append(note("shared-values", "info", f"{name} is kept as {of}", len(shared)))
    return rows, notes
