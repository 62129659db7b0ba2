"""The answer of an analysis for people: each column under its SQL name, on one scale with its unit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from stepscope import units


class AnswerField(Protocol):
    """A column: its SQL name, and the unit of its values."""

    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> Any: ...


class Scaled(NamedTuple):
    """Headings, texts of the rows, and which columns are aligned to the right."""

    titles: list[str]
    rows: Iterable[list[str]]
    right: list[bool]


def scaled(fields: Sequence[AnswerField], rows: Sequence[Sequence[Any]]) -> Scaled:
    """`self_ps (ms)` above milliseconds: the name is what SQL calls the column, the symbol what is shown."""
    scales = units.scales([field.unit for field in fields], rows)
    titles = [
        f"{field.name} ({scale.symbol})" if scale.symbol else field.name
        for field, scale in zip(fields, scales, strict=True)
    ]
    texts = ([scale.cell(value) for scale, value in zip(scales, row, strict=True)] for row in rows)
    return Scaled(titles, texts, [field.unit not in ("text", "bool") for field in fields])
