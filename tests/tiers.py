"""The two tiers of the suite: what a change can break, and what repeats.

`make test` runs the first. A test that repeats a rule over more cases than can tell anything new, or that
needs more than the repository holds, is marked with its reason, `@pytest.mark.repeats("reason")`, and runs in
`make test-all`. A file that repeats as a whole is called `repeats_NAME.py`; `make test` does not read it, so
that it may import what only `make test-all` installs.

STEPSCOPE_TEST_SHARD=2/4 runs the second of four parts of whatever is run, file by file.
"""

import os
import zlib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

ALL = os.environ.get("STEPSCOPE_TEST_ALL", "") not in ("", "0")
SHARD = os.environ.get("STEPSCOPE_TEST_SHARD", "")
MARK = "repeats"
DEAREST = (
    "repeats_spark_cluster.py",
    "repeats_bigquery_sql.py",
    "repeats_second_engine.py",
    "repeats_first_hour.py",
)
"""Files that take minutes of processor each: one to each of four shards."""


def cases(few: int, many: int) -> int:
    """How many cases a test tries that could try any number: `many` where all tests run."""
    return many if ALL else few


def some(every: Iterable[Any], kept: Collection[Any], reason: str) -> list[ParameterSet]:
    """Parameters of a test: those whose first value is in `kept` always, the rest where all tests run."""
    found = []
    for one in every:
        values = one if isinstance(one, tuple) else (one,)
        marks = () if values[0] in kept else (pytest.mark.repeats(reason),)
        found.append(pytest.param(*values, marks=marks))
    left = set(kept) - {param.values[0] for param in found}
    assert not left, f"not among the parameters: {left}"
    return found


def in_shard(path: Path, shard: str) -> bool:
    """Whether the tests of a file belong to a part, as "2/4" names it; the same on every machine."""
    number, _, of = shard.partition("/")
    dealt = DEAREST.index(path.name) if path.name in DEAREST else zlib.crc32(path.name.encode())
    return dealt % int(of) == int(number) - 1


def pytest_configure(config: pytest.Config) -> None:
    """Makes the mark known."""
    config.addinivalue_line("markers", f"{MARK}(reason): runs in `make test-all` only, for this reason")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what repeats, unless all tests are asked for, and the other shards."""
    for item in items:
        for mark in item.iter_markers(MARK):
            if not mark.args or not isinstance(mark.args[0], str):
                raise pytest.UsageError(f"{item.nodeid}: the mark {MARK} needs a reason")
    left_out = [] if ALL else [item for item in items if item.get_closest_marker(MARK)]
    if SHARD:
        left_out += [item for item in items if not in_shard(item.path, SHARD)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        others = set(left_out)
        items[:] = [item for item in items if item not in others]
