"""One Chromium for all tests of the folder: starting it takes longer than most pages."""

from collections.abc import Iterator

import pytest

from tests.presenters.browser import Browser


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with Browser() as opened:
        yield opened
