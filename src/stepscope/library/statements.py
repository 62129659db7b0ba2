"""The statements that Python runs: files in the folder `reads` of the room that asks, or of the library where
several ask."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from stepscope import library
from stepscope.engines import Arrow, Statement
from stepscope.library.header import LISTS, PARAMETER, Entry, Field, parse


class QueryRows(Protocol):
    """What a query gives."""

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows."""

    def batches(self) -> Iterator[list[tuple[Any, ...]]]:
        """The rows in lists, where there are too many to hold them all. No other query may run meanwhile."""


Query = Callable[[Statement], QueryRows]
"""Runs a statement: how instruments ask a trace."""

Stream = Callable[[Statement], Arrow]
"""Runs a statement whose rows are as many as slices: they go to the core as Arrow."""

Value = int | str | None | Sequence[int] | Sequence[str]
"""A value of a parameter; None is NULL."""


def statement(name: str, **values: Value) -> Statement:
    """The statement called `name` with the values of its parameters.

    KeyError when there is none of that name; TypeError for values that it does not take.
    """
    found = _read(name)
    return found.statement._replace(sql=filled(found, values))


def text(name: str, **values: Value) -> str:
    """The same as text, to show."""
    return statement(name, **values).sql


def reads() -> tuple[Entry, ...]:
    """All of them, in alphabetical order, with their parameters open."""
    return tuple(
        _read(name) for name in sorted(path.stem for here in _folders() for path in here.glob("*.sql"))
    )


def filled(found: Entry, values: Mapping[str, Value]) -> str:
    """The SQL of an entry with its values as literals."""
    if values.keys() != {field.name for field in found.parameters}:
        asked = ", ".join(field.name for field in found.parameters) or "nothing"
        raise TypeError(f"{found.name} takes {asked}, not {', '.join(values) or 'nothing'}")
    literals = {field.name: _literal(field, values[field.name]) for field in found.parameters}
    return PARAMETER.sub(lambda match: literals[match[1]], found.sql) if literals else found.sql


def _literal(field: Field, value: Value) -> str:
    if field.unit in LISTS:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise TypeError(f"{field.name} is a list of {field.unit}, not {value!r}")
        # A list in SQL is never empty; no number of ours is negative.
        items = value or ((-1,) if field.unit == "ints" else ("",))
        single = field._replace(unit=field.unit.removesuffix("s"))
        return f"({', '.join(_literal(single, item) for item in items)})"
    if value is None:
        return "NULL"
    if field.unit == "text" and isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if field.unit != "text" and isinstance(value, int) and not isinstance(value, bool):
        return f"({value})" if value < 0 else str(value)
    raise TypeError(f"{field.name} is {field.unit}, not {value!r}")


@cache
def _read(name: str) -> Entry:
    for here in _folders():
        path = here / f"{name}.sql"
        if path.is_file():
            found = parse("read", name, path.read_text(encoding="utf-8"))
            return found._replace(needs=library.needs(name))
    raise KeyError(name)


def _folders() -> list[Path]:
    return [*(Path(here, "reads") for here in library.__path__), *_statements_of_rooms()]


@cache
def _statements_of_rooms() -> tuple[Path, ...]:
    package = Path(__file__).parents[1]
    found = (path for depth in ("*/reads", "*/*/reads") for path in sorted(package.glob(depth)))
    return tuple(path for path in found if path.parent.name != "library")
