"""Rows as an Arrow stream, by the C data interface alone: no library is needed on this side.

Every struct that is handed out owns its memory through an entry of `_ALIVE`, which its release callback
removes. A child can be moved out of its parent by the consumer, so it has an entry of its own.
"""

from __future__ import annotations

import ctypes
import datetime
import itertools
from array import array
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

_INT64, _UINT64 = 1 << 63, 1 << 64
_NULLABLE = 2
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=datetime.timezone.utc)
_DAY_ZERO = datetime.date(1970, 1, 1)


class Kind(NamedTuple):
    """How a column travels: Arrow's format string, and its values as buffers after the validity bitmap."""

    format: str
    buffers: Callable[[Sequence[Any]], list[bytes]]


def stream(
    names: Sequence[str], types: Sequence[str], columns: Sequence[Sequence[Any]], length: int
) -> object:
    """A PyCapsule of an ArrowArrayStream with all rows in one batch. types: SQL types of the columns."""
    kinds = [_kind(type, values) for type, values in zip(types, columns, strict=True)]
    batch = [_column(kind, values) for kind, values in zip(kinds, columns, strict=True)]
    return _capsule(_Source(list(names), [kind.format for kind in kinds], batch, length))


# --- values into buffers -----------------------------------------------------------------------------


def _kind(type: str, values: Sequence[Any]) -> Kind:
    """By the values; the SQL type decides where there are none, and keeps unsigned columns unsigned."""
    there = {value.__class__ for value in values if value is not None}
    if not there:
        return _BY_TYPE.get(type.partition("(")[0], _TEXT)
    if there == {bool}:
        return _BOOL
    if there == {int}:
        return _integer(type, values)
    if there <= {int, float}:
        return _FLOAT
    if there <= {int, Decimal} and all(value is None or Decimal(value).is_finite() for value in values):
        return _decimal(values)
    if there == {str}:
        return _TEXT
    if there <= {bytes, bytearray, memoryview}:
        return Kind("Z", lambda values: _variable(values, bytes))
    if there == {datetime.date}:
        return Kind("tdD", lambda values: [_packed("i", values, lambda day: (day - _DAY_ZERO).days)])
    if there == {datetime.datetime}:
        aware = any(value is not None and value.tzinfo is not None for value in values)
        return Kind("tsu:UTC" if aware else "tsu:", lambda values: [_packed("q", values, _micros)])
    return Kind("U", lambda values: _variable(values, _as_text))


def _integer(type: str, values: Sequence[Any]) -> Kind:
    low = min(value for value in values if value is not None)
    high = max(value for value in values if value is not None)
    if low >= -_INT64 and high < _INT64 and type != "UBIGINT":
        return _INT
    return _UINT if low >= 0 and high < _UINT64 else _decimal(values)


def _decimal(values: Sequence[Any]) -> Kind:
    """Decimals of 38 digits, of 76 where that is not enough."""
    numbers = [Decimal(value) for value in values if value is not None]
    scale = max((-int(number.as_tuple().exponent) for number in numbers), default=0)
    scale = max(scale, 0)

    def unscaled(value: Any) -> int:
        sign, digits, exponent = Decimal(value).as_tuple()
        number: int = int("".join(map(str, digits))) * 10 ** (int(exponent) + scale)
        return -number if sign else number

    largest = max((abs(unscaled(number)) for number in numbers), default=0)
    wide = largest >= 10**38
    size = 32 if wide else 16

    def pack(values: Sequence[Any]) -> list[bytes]:
        cells = (0 if value is None else unscaled(value) for value in values)
        return [b"".join(cell.to_bytes(size, "little", signed=True) for cell in cells)]

    return Kind(f"d:76,{scale},256" if wide else f"d:38,{scale}", pack)


def _packed(code: str, values: Sequence[Any], number: Callable[[Any], Any]) -> bytes:
    return array(code, [0 if value is None else number(value) for value in values]).tobytes()


def _variable(values: Sequence[Any], encode: Callable[[Any], bytes]) -> list[bytes]:
    """64-bit offsets, and what lies between them."""
    parts = [b"" if value is None else encode(value) for value in values]
    return [array("q", itertools.accumulate(map(len, parts), initial=0)).tobytes(), b"".join(parts)]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _as_text(value: Any) -> bytes:
    """Lists, structs, intervals and mixtures travel as the JSON text that `--format json` prints."""
    from stepscope.presenters.rows import json_value

    return _utf8(value if isinstance(value, str) else json_value(value))


def _micros(moment: datetime.datetime) -> int:
    since = moment - (_EPOCH if moment.tzinfo is None else _EPOCH_UTC)
    return since // datetime.timedelta(microseconds=1)


def _bits(values: Sequence[Any], is_set: Callable[[Any], bool]) -> bytes:
    bits = bytearray((len(values) + 7) // 8)
    for i, value in enumerate(values):
        if is_set(value):
            bits[i >> 3] |= 1 << (i & 7)
    return bytes(bits)


_BOOL = Kind("b", lambda values: [_bits(values, bool)])
_INT = Kind("l", lambda values: [_packed("q", values, int)])
_UINT = Kind("L", lambda values: [_packed("Q", values, int)])
_FLOAT = Kind("g", lambda values: [_packed("d", values, float)])
_TEXT = Kind("U", lambda values: _variable(values, _utf8))
_BY_TYPE = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), _INT),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER"), _INT),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), _FLOAT),
    "UBIGINT": _UINT,
    "BOOLEAN": _BOOL,
}


class _Column(NamedTuple):
    length: int
    nulls: int
    buffers: list[bytes | None]


def _column(kind: Kind, values: Sequence[Any]) -> _Column:
    nulls = sum(value is None for value in values)
    valid = _bits(values, lambda value: value is not None) if nulls else None
    return _Column(len(values), nulls, [valid, *kind.buffers(values)])


# --- the structs of the C data interface -------------------------------------------------------------


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_release_schema_t = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))
_release_array_t = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))
_release_stream_t = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))
_get_schema_t = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))
_get_next_t = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))
_last_error_t = ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))

_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.c_void_p),
    ("release", _release_schema_t),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.c_void_p),
    ("release", _release_array_t),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", _get_schema_t),
    ("get_next", _get_next_t),
    ("get_last_error", _last_error_t),
    ("release", _release_stream_t),
    ("private_data", ctypes.c_void_p),
]


class _Source:
    """What a stream gives: its schema any number of times, its batch once."""

    def __init__(self, names: list[str], formats: list[str], columns: list[_Column], length: int) -> None:
        self.names, self.formats, self.columns, self.length = names, formats, columns, length
        self.given = False


_ALIVE: dict[int, Any] = {}
"""What a struct that is handed out points to, by its private_data."""
_numbers = itertools.count(1)


def _keep(*what: Any) -> int:
    number = next(_numbers)
    _ALIVE[number] = what
    return number


def _pointers(kind: Any, structs: Sequence[Any]) -> Any:
    return (ctypes.POINTER(kind) * max(len(structs), 1))(*map(ctypes.pointer, structs))


def _fill_schema(one: Any, format: str, name: str, children: Sequence[Any], flags: int) -> None:
    ctypes.memset(ctypes.addressof(one), 0, ctypes.sizeof(one))
    table = _pointers(_Schema, children)
    kept = (ctypes.create_string_buffer(format.encode()), ctypes.create_string_buffer(_utf8(name)))
    one.format, one.name = (ctypes.cast(text, ctypes.c_char_p) for text in kept)
    one.flags = flags
    one.n_children = len(children)
    one.children = ctypes.cast(table, ctypes.POINTER(ctypes.POINTER(_Schema)))
    one.release = _release_schema
    one.private_data = _keep(table, children, kept)


def _fill_array(one: Any, column: _Column, children: Sequence[Any]) -> None:
    ctypes.memset(ctypes.addressof(one), 0, ctypes.sizeof(one))  # the memory of a consumer holds anything
    held = [
        None if data is None else ctypes.create_string_buffer(data, max(len(data), 8))
        for data in column.buffers
    ]
    table = (ctypes.c_void_p * max(len(held), 1))(
        *(None if one is None else ctypes.addressof(one) for one in held)
    )
    below = _pointers(_Array, children)
    one.length, one.null_count, one.offset = column.length, column.nulls, 0
    one.n_buffers, one.n_children = len(held), len(children)
    one.buffers = ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))
    one.children = ctypes.cast(below, ctypes.POINTER(ctypes.POINTER(_Array)))
    one.release = _release_array
    one.private_data = _keep(held, table, below, children)


def _let_go(pointer: Any, alive: dict[int, Any] = _ALIVE) -> None:
    """Releases the children that are still there, then the struct itself."""
    one = pointer.contents
    for i in range(getattr(one, "n_children", 0)):
        child = one.children[i]
        if child.contents.release:
            child.contents.release(child)
    number = one.private_data
    ctypes.memset(ctypes.addressof(one) + type(one).release.offset, 0, type(one).release.size)
    alive.pop(number, None)


def _give_schema(stream: Any, out: Any) -> int:
    source = _ALIVE[stream.contents.private_data][0]
    children = [_Schema() for _ in source.names]
    for child, name, format in zip(children, source.names, source.formats, strict=True):
        _fill_schema(child, format, name, [], _NULLABLE)
    _fill_schema(out.contents, "+s", "", children, 0)
    return 0


def _give_next(stream: Any, out: Any) -> int:
    source = _ALIVE[stream.contents.private_data][0]
    if source.given:
        ctypes.memset(out, 0, ctypes.sizeof(_Array))  # the end of the stream
        return 0
    source.given = True
    children = [_Array() for _ in source.columns]
    for child, column in zip(children, source.columns, strict=True):
        _fill_array(child, column, [])
    _fill_array(out.contents, _Column(source.length, 0, [None]), children)
    return 0


_get_schema = _get_schema_t(_give_schema)
_get_next = _get_next_t(_give_next)
_last_error = _last_error_t(lambda stream: None)
_release_schema = _release_schema_t(_let_go)
_release_array = _release_array_t(_let_go)
_release_stream = _release_stream_t(_let_go)

_NAME = b"arrow_array_stream"
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
_handed: dict[int, _Stream] = {}
"""Streams whose consumer has not taken them over yet, by their addresses."""


def _capsule(source: _Source) -> object:
    """A capsule without a destructor. One in Python would run while a consumer's exception is on its way, and
    replace it; so the few bytes of a stream that was taken are freed when the next one is made, and a capsule
    that nobody ever takes keeps its rows until the process ends."""
    for address in [address for address, stream in _handed.items() if not stream.release]:
        del _handed[address]
    one = _Stream(_get_schema, _get_next, _last_error, _release_stream, _keep(source))
    address = ctypes.addressof(one)
    _handed[address] = one
    return _new_capsule(address, _NAME, None)


# A consumer may release what it holds while the process ends, when this module's names are gone already.
for _callback in (_get_schema, _get_next, _last_error, _release_schema, _release_array, _release_stream):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))
