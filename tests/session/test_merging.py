"""Small tables of a run with many sources, merged into one file each: the same rows, from fewer files."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepscope
from stepscope.lake import derived_tables, reader
from stepscope.lake.schema import schema
from stepscope.session import lake_derivation
from stepscope.session.lake_tables import LakeTables
from stepscope.session.table_makers import VERSIONS
from tests.lake.recordings import chrome
from tests.tiers import ALL

MANY = 4
SOURCES = MANY + 3
FEW = 2


@pytest.fixture(scope="module", autouse=True)
def few_are_many() -> Iterator[None]:
    """A handful of sources takes a tenth of the time that as many take as stand for many outside of tests."""
    with pytest.MonkeyPatch.context() as patch:
        assert lake_derivation.MANY_SOURCES > MANY
        patch.setattr(lake_derivation, "MANY_SOURCES", MANY)
        yield


@pytest.fixture(scope="module")
def filled(few_are_many: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake with a run of many sources and a run of few."""
    above = tmp_path_factory.mktemp("merged")
    for run, sources in (("many", SOURCES), ("few", FEW)):
        for number in range(sources):
            chrome(above / run / f"{number}.json", f"{run}-{number}-")
        stepscope.ingest([above / run], above / "lake", run=run)
    return above / "lake"


@pytest.fixture
def lake(filled: Path, tmp_path: Path) -> Path:
    return shutil.copytree(filled, tmp_path / "lake")


def everything(lake: Path) -> dict[str, list[tuple[object, ...]]]:
    with stepscope.open(lake=lake, cache=False) as trace:
        names = schema().names if ALL else ("run", "host", "source", "track", "slice", "rollup_op")
        return {name: sorted(trace.query(f"SELECT * FROM {name}").rows(), key=repr) for name in names}


def merged(lake: Path, run: str) -> derived_tables.Derived:
    (found,) = (one for one in derived_tables.read_all(lake) if one.run_id.startswith(run))
    return found


def paths_read(lake: Path, table: str) -> list[str]:
    tables = LakeTables(reader.open_lake(lake), None, lake_derivation.rows)
    try:
        return [path for part in tables._parts(table) for path in part.paths]
    finally:
        tables.close()


def test_merged_tables_give_the_rows_of_their_sources(lake: Path) -> None:
    assert {file.table for file in merged(lake, "many").files} >= {"track", "source", "rollup_op"}
    assert {file.table for file in merged(lake, "few").files} <= VERSIONS.keys()
    assert len(paths_read(lake, "track")) == 1 + FEW
    assert len(paths_read(lake, "slice")) == SOURCES + FEW
    before = everything(lake)
    assert len(before["source"]) == SOURCES + FEW
    shutil.rmtree(lake / derived_tables.FOLDER)
    assert len(paths_read(lake, "track")) == SOURCES + FEW
    assert everything(lake) == before


def test_a_damaged_merged_file_is_not_read(lake: Path) -> None:
    before = everything(lake)
    file = next(file for file in merged(lake, "many").files if file.table == "rollup_op")
    data = bytearray((lake / file.path).read_bytes())
    data[len(data) // 2] ^= 1
    (lake / file.path).write_bytes(bytes(data))
    assert len(paths_read(lake, "track")) == SOURCES + FEW
    assert everything(lake) == before


def test_another_source_of_the_run_merges_anew(lake: Path, tmp_path: Path) -> None:
    old = {file.path for file in merged(lake, "many").files}
    more = chrome(tmp_path / "more" / "x.json", "more")
    (one,) = stepscope.ingest([more], lake, run="many")
    assert one.error is None
    assert len(paths_read(lake, "track")) == 1 + FEW
    assert not old & {file.path for file in merged(lake, "many").files}
    assert len(everything(lake)["source"]) == SOURCES + FEW + 1
