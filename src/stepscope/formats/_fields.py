"""Fields of JSON objects that may hold anything: a value of the kind that is wanted, or None."""

from collections.abc import Mapping
from typing import Any

_FITS = 2**63 - 1


def whole(record: Any, key: str) -> int | None:
    """A whole number that fits into 64 bits."""
    value = record.get(key) if isinstance(record, dict) else None
    good = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _FITS
    return value if good else None


def finite(value: Any) -> float | None:
    """A number that is finite."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if abs(value) < 2**1023 else None


def string(record: Mapping[str, Any], key: str) -> str | None:
    """A string."""
    value = record.get(key)
    return value if isinstance(value, str) else None
