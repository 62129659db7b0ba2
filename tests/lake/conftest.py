"""Lakes here lack the tables that are derived from whole runs, as those of an ingest do until it ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from stepscope.session import lake_derivation


@pytest.fixture(autouse=True, scope="module")
def nothing_is_derived() -> Iterator[None]:
    """These tests are about files, manifests and snapshots. Deriving takes nine tenths of a small ingest, is
    tested in session/test_deriving.py, and is left to who reads such a lake."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lake_derivation, "derive_runs", lambda lake, run_ids: None)
        yield
