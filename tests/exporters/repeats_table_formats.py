"""Delta and Iceberg tables, read back by their own readers."""

import sys
from pathlib import Path

import pytest

import stepscope
from stepscope import exporters
from stepscope.cli import main
from stepscope.errors import UsageError
from stepscope.session.trace import open as open_trace
from tests.lake.recordings import chrome


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    for host in ("h0", "h1"):
        chrome(tmp_path / "logs" / "run=fleet" / f"host={host}" / "t.json", host, count=12)
    stepscope.ingest([tmp_path / "logs"], tmp_path / "lake")
    return tmp_path / "lake"


def _wanted(lake: Path, table: str) -> list[tuple[object, ...]]:
    with open_trace(lake) as trace:
        return sorted(trace.query(f"SELECT * FROM {table}").rows(), key=repr)


def test_delta(lake: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    deltalake = pytest.importorskip("deltalake", reason="what reads Delta tables is not installed")
    out = tmp_path / "fleet.delta"
    assert main(["export", str(lake), "-o", str(out)]) == 0
    moved = out.rename(tmp_path / "elsewhere")
    for table in ("slice", "source", "counter", "step"):
        found = deltalake.DeltaTable(moved / table).to_pyarrow_table()
        assert sorted((tuple(row.values()) for row in found.to_pylist()), key=repr) == _wanted(lake, table)
    capsys.readouterr()


def test_iceberg(lake: Path, tmp_path: Path) -> None:
    tables = pytest.importorskip("pyiceberg.table", reason="what reads Iceberg tables is not installed")
    out = tmp_path / "fleet.iceberg"
    with open_trace(lake) as trace:
        written = exporters.write(trace, out)
    for table in ("slice", "source", "counter", "step"):
        newest = max((out / table / "metadata").glob("*.metadata.json"))
        found = tables.StaticTable.from_metadata(newest.as_uri()).scan().to_arrow()
        assert sorted((tuple(row.values()) for row in found.to_pylist()), key=repr) == _wanted(lake, table)
        assert written.rows[table] == found.num_rows


@pytest.mark.parametrize("package", ["deltalake", "pyiceberg"])
def test_what_is_missing_is_said(
    lake: Path, tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (package, f"{package}.catalog.memory"):
        monkeypatch.setitem(sys.modules, name, None)
    out = tmp_path / ("x.delta" if package == "deltalake" else "x.iceberg")
    with open_trace(lake) as trace, pytest.raises(UsageError) as error:
        exporters.write(trace, out)
    assert "stepscope[" in error.value.todo
    assert not out.exists()
