"""Lakes here lack the tables that are derived from whole runs, as those of an ingest do until it ends."""

import pytest


@pytest.fixture(autouse=True, scope="module")
def lakes_of_files(nothing_is_derived: None) -> None:
    """These tests are about files, manifests and snapshots."""
