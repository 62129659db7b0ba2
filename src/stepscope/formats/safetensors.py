"""Tensors in the format of safetensors: which a file keeps, how large, and what each is for.

Format: <https://huggingface.co/docs/safetensors>: the length of a header, the header as JSON, and the values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from stepscope import _core, strict_json, units
from stepscope.formats import Damaged, Writer, timeless
from stepscope.sources.source import Traits
from stepscope.store_rows import note

if TYPE_CHECKING:
    from stepscope._core import Store
    from stepscope.formats import Pieces
    from stepscope.formats._checkpoint_rows import StoredTensor

NAME = "safetensors"
TRAITS = Traits(kind="checkpoint", endings=(".safetensors",))
WRITERS = {NAME: Writer()}
CACHED = False
"""It is quickly listed, however large it is."""
_MOST_HEADER_BYTES = 100_000_000
"""As the format has it."""
_LENGTH_BYTES = 8
_BEGINS = re.compile(rb'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{\s*"')
_DTYPES = {"F": "float", "BF": "bfloat", "I": "int", "U": "uint", "C": "complex"}
_DTYPE = re.compile(r"(BF|F|I|U|C)(\d+)(_[A-Z0-9]+)?")


def sniff(head: bytes, name: str) -> bool:
    """A length that a header may have, and a header of JSON in which an object is named first."""
    length = int.from_bytes(head[:_LENGTH_BYTES], "little")
    begins = _BEGINS.match(head, _LENGTH_BYTES) is not None
    return begins and length <= _MOST_HEADER_BYTES and b'"dtype"' in head


def build(pieces: Pieces) -> Store:
    """Its tensors. Damaged when the header cannot be read."""
    from stepscope.formats._checkpoint_rows import store_of

    with pieces.on_disk() as path:
        size = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
            text = file.read(length)
        try:
            header = strict_json.parse(text)
        except strict_json.OddJson as error:
            cut = len(text) < length
            raise Damaged(
                "it ends within its header" if cut else f"its header is no JSON: {error}"
            ) from error
        if not isinstance(header, dict):
            raise Damaged("its header is no object")
        found = [_tensor(name, entry) for name, entry in header.items() if name != "__metadata__"]
        held_bytes = size - length - _LENGTH_BYTES
        notes = []
        if absent := [tensor for tensor, end in found if end > held_bytes]:
            seen = f"{absent[0].name}: the file has {units.show(max(held_bytes, 0), 'bytes')} of values"
            notes.append(note("missing-values", "missing", seen, len(absent), size))
        return store_of(pieces, _core.hash_bytes(text), NAME, [tensor for tensor, _ in found], notes)


steps = timeless


def _tensor(name: str, entry: Any) -> tuple[StoredTensor, int]:
    """A tensor, and where its values end."""
    from stepscope.formats._checkpoint_rows import MOST_DIMENSIONS, StoredTensor

    try:
        begin, end = entry["data_offsets"]
        shape, dtype = list(entry["shape"]), entry["dtype"]
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"what it tells of {name} is no tensor") from error
    whole = all(type(number) is int and number >= 0 for number in (begin, end, *shape))
    if not whole or len(shape) > MOST_DIMENSIONS or begin > end or not isinstance(dtype, str):
        raise Damaged(f"what it tells of {name} is no tensor")
    return StoredTensor(name, _dtype(dtype), shape, end - begin), end


def _dtype(text: str) -> str:
    """A type of elements as others call it: float32 for F32, float8_e4m3 for F8_E4M3."""
    found = _DTYPE.fullmatch(text)
    if found is None:
        return text.lower()
    return f"{_DTYPES[found[1]]}{found[2]}{(found[3] or '').lower()}"
