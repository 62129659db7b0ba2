"""One page for all tests of the folder: opening takes longer than asking."""

from collections.abc import Iterator

import pytest

from tests.server.asking import RECORDINGS, Served


@pytest.fixture(scope="package")
def served() -> Iterator[Served]:
    page = Served(*RECORDINGS)
    yield page
    page.close()
