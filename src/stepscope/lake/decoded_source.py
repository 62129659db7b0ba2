"""A decoded source, before it is stored."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from stepscope._core import Store
from stepscope.sources.source import Source


class Decoded(NamedTuple):
    """The result of decoding a source: a store with its facts, or the error why it cannot be read at all."""

    source: Source
    store: Store | None
    facts: Mapping[str, Any]
    error: str | None


class Lanes(NamedTuple):
    """Slices of a source as `_core.Lod` takes them."""

    place: tuple[str, int] | Store
    """A file with its size, or a store."""
    first_id: int
    """Added to its tracks and ids."""
