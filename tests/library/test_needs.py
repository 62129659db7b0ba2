"""Entries that have no rows for want of a table's are not asked; which those are is found in their SQL."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import stepscope
from stepscope import library
from tests.corpus import SAMPLES
from tests.library import needs


def test_the_file_says_nothing_that_the_sql_does_not() -> None:
    """What it lacks costs time only: a new entry may come without."""
    told, found = json.loads(needs.PATH.read_text(encoding="utf-8")), needs.found()
    wrong = {name: tables for name, tables in told.items() if not set(tables) <= set(found.get(name, ()))}
    assert wrong == {}, "python -m tests.library.needs"
    assert len(told) > 0.9 * len(found), "python -m tests.library.needs"


@pytest.mark.parametrize("sample", ["chrome/kineto_cuda.json", "run_metadata/two_servers.pb"])
def test_what_lacks_a_table_has_no_rows(sample: str) -> None:
    """Asked one by one, which nobody leaves out."""
    with stepscope.open(SAMPLES / Path(sample), cache=False) as trace:
        tables = {table for one in library.entries() for table in one.statement.needs}
        counted = {table: trace.query(f"SELECT count(*) FROM {table}").rows()[0][0] for table in tables}
        without = [one for one in library.entries() if any(not counted[name] for name in one.statement.needs)]
        assert len([one for one in without if one.kind == "finding"]) > 15
        assert [one.name for one in without if trace.query(one.statement).rows()] == []
