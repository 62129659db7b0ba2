"""Rows as an Arrow stream: values into buffers here, buffers into a stream by the core."""

import datetime
import itertools
from array import array
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from stepscope import _core
from stepscope.presenters.rows import json_value

_INT64, _UINT64 = 1 << 63, 1 << 64
_EPOCH = datetime.datetime(1970, 1, 1)
_EPOCH_UTC = _EPOCH.replace(tzinfo=datetime.timezone.utc)
_DAY_ZERO = datetime.date(1970, 1, 1)


class ArrowLayout(NamedTuple):
    """How a column travels: Arrow's format string, and its values as buffers after the validity bitmap."""

    format: str
    buffers: Callable[[Sequence[Any]], list[bytes]]


def stream(
    names: Sequence[str], types: Sequence[str], columns: Sequence[Sequence[Any]], length: int
) -> object:
    """A PyCapsule of an ArrowArrayStream with all rows in one batch. types: SQL types of the columns."""
    kinds = [_kind(type, values) for type, values in zip(types, columns, strict=True)]
    made = [
        (_utf8(name).decode(), kind.format, [_valid(values), *kind.buffers(values)])
        for name, kind, values in zip(names, kinds, columns, strict=True)
    ]
    return _core.arrow_stream(made, length)


def _valid(values: Sequence[Any]) -> bytes | None:
    """The bits of those that are not NULL; None where all are."""
    return _bits(values, lambda value: value is not None) if None in values else None


def _kind(type: str, values: Sequence[Any]) -> ArrowLayout:
    """By the values; the SQL type decides where there are none, and keeps unsigned columns unsigned."""
    classes = {value.__class__ for value in values if value is not None}
    if not classes:
        return _BY_TYPE.get(type.partition("(")[0], _TEXT)
    if classes == {bool}:
        return _BOOL
    if classes == {int}:
        return _integer(type, values)
    if classes <= {int, float}:
        return _FLOAT
    if classes <= {int, Decimal} and _all_finite(values):
        return _decimal(values)
    if classes == {str}:
        return _TEXT
    if classes <= {bytes, bytearray, memoryview}:
        return ArrowLayout("Z", lambda values: _variable(values, bytes))
    if classes == {datetime.date}:
        return ArrowLayout("tdD", lambda values: [_packed("i", values, lambda day: (day - _DAY_ZERO).days)])
    if classes == {datetime.datetime}:
        return ArrowLayout(
            "tsu:UTC" if _any_with_zone(values) else "tsu:", lambda values: [_packed("q", values, _micros)]
        )
    return ArrowLayout("U", lambda values: _variable(values, _json_text))


def _all_finite(values: Sequence[Any]) -> bool:
    return all(value is None or Decimal(value).is_finite() for value in values)


def _any_with_zone(times: Sequence[Any]) -> bool:
    return any(time is not None and time.tzinfo is not None for time in times)


def _integer(type: str, values: Sequence[Any]) -> ArrowLayout:
    low = min(value for value in values if value is not None)
    high = max(value for value in values if value is not None)
    if low >= -_INT64 and high < _INT64 and type != "UBIGINT":
        return _INT
    return _UINT if low >= 0 and high < _UINT64 else _decimal(values)


def _decimal(values: Sequence[Any]) -> ArrowLayout:
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

    return ArrowLayout(f"d:76,{scale},256" if wide else f"d:38,{scale}", pack)


def _packed(code: str, values: Sequence[Any], number: Callable[[Any], Any]) -> bytes:
    return array(code, [0 if value is None else number(value) for value in values]).tobytes()


def _variable(values: Sequence[Any], encode: Callable[[Any], bytes]) -> list[bytes]:
    """64-bit offsets, and what lies between them."""
    parts = [b"" if value is None else encode(value) for value in values]
    return [array("q", itertools.accumulate(map(len, parts), initial=0)).tobytes(), b"".join(parts)]


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _json_text(value: Any) -> bytes:
    """Lists, structs, intervals and mixtures travel as the JSON text that `--format json` prints."""
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


_BOOL = ArrowLayout("b", lambda values: [_bits(values, bool)])
_INT = ArrowLayout("l", lambda values: [_packed("q", values, int)])
_UINT = ArrowLayout("L", lambda values: [_packed("Q", values, int)])
_FLOAT = ArrowLayout("g", lambda values: [_packed("d", values, float)])
_TEXT = ArrowLayout("U", lambda values: _variable(values, _utf8))
_BY_TYPE = {
    **dict.fromkeys(("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT"), _INT),
    **dict.fromkeys(("UTINYINT", "USMALLINT", "UINTEGER"), _INT),
    **dict.fromkeys(("FLOAT", "DOUBLE", "DECIMAL"), _FLOAT),
    "UBIGINT": _UINT,
    "BOOLEAN": _BOOL,
}
