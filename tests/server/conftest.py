"""One page for all tests of the folder, whose cache is theirs alone: opening takes longer than asking."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.server.asking import RECORDINGS, Served


@pytest.fixture(scope="package", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="package")
def served(own_cache: None) -> Iterator[Served]:
    page = Served(*RECORDINGS)
    yield page
    page.close()
