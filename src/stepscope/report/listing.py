"""Rows that a verb lists: all of them as they are for programs, and how people want to read them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stepscope.units import Unit

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Listing:
    """Rows with the names of their columns, and what to know beside them."""

    columns: Sequence[str]
    rows: Iterable[Row]
    sentences: Sequence[str] = ()
    for_people: Sequence[str] = ()
    """The columns of a table for people, where these have a choice of their own. Those that are empty in all
    rows are left out."""
    readable: Callable[[Row], Row] = dict
    """A row as people read it: long names cut, times with their units."""
    units: Mapping[str, Unit] = field(default_factory=dict)
    """The units of columns of numbers that people read on one scale. Without any, numbers are as they are."""
    heads: Mapping[str, str] = field(default_factory=dict)
    """What columns are called that people know by another name."""
    widest: Mapping[str, int] = field(default_factory=dict)
    """How many letters a text has in a table at most; other forms have all."""


def brief(name: str | None, most: int) -> str | None:
    """A name of TensorFlow, whose middle carries no information, cut for a table."""
    return name if name is None or len(name) <= most else f"{name[: most - 9]}…{name[-8:]}"
