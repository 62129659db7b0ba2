"""What the tests of the engines share."""

from collections.abc import Iterator

import pytest

from stepscope.engines.duckdb import DuckDB


@pytest.fixture
def engine() -> Iterator[DuckDB]:
    made = DuckDB()
    yield made
    made.close()
