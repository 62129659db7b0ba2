"""The answer of an analysis for people: each column under its SQL name, on one scale with its unit."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from stepscope import units
from stepscope.presenters.plain import shorten
from stepscope.report.listing import Listing


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


class NamedField(NamedTuple):
    """A column of a listing."""

    name: str
    unit: units.Unit


def scaled(fields: Sequence[AnswerField], rows: Sequence[Sequence[Any]]) -> Scaled:
    """`self_ps (ms)` above milliseconds: the name is what SQL calls the column, the symbol what is shown."""
    scales = units.scales([field.unit for field in fields], rows)
    titles = [
        f"{field.name} ({scale.symbol})" if scale.symbol else field.name
        for field, scale in zip(fields, scales, strict=True)
    ]
    texts = ([scale.cell(value) for scale, value in zip(scales, row, strict=True)] for row in rows)
    return Scaled(titles, texts, [field.unit not in ("text", "bool") for field in fields])


def readable(
    listing: Listing, *, cut: bool
) -> tuple[Sequence[str], Iterable[Sequence[Any]], Sequence[bool] | None]:
    """Headings, rows, and the columns that are aligned to the right, where something says which. cut: texts
    are cut as well."""
    records = [listing.readable(row) for row in listing.rows]
    names: Sequence[str] = listing.columns
    if listing.for_people:
        names = [name for name in listing.for_people if any(row[name] is not None for row in records)]
    most = listing.widest if cut else {}
    rows = [
        [shorten(row[name], most[name]) if name in most and row[name] else row[name] for name in names]
        for row in records
    ]
    heads = [listing.heads.get(name, name) for name in names]
    if not listing.units:
        return heads, rows, None
    return scaled(
        [NamedField(head, listing.units.get(name, "text")) for head, name in zip(heads, names, strict=True)],
        rows,
    )
