"""What the library says of drawn tables."""

from typing import Any

from stepscope import library
from tests.draw import Tables, reads_sums


def rows(tables: Tables, name: str) -> list[dict[str, Any]]:
    """An entry's rows by column."""
    found = tables.shared(reads_sums(name)).execute(library.sql(name))
    names = [column[0] for column in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
