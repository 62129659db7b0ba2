"""What a fleet costs: the page says what the measured figures give, and the figures add up."""

from pathlib import Path
from types import ModuleType

import pytest

import stepscope
from stepscope import config
from stepscope.session import compacting
from tests.scripts import load

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def costs() -> ModuleType:
    return load(ROOT / "benchmarks" / "fleet_cost.py")


def test_the_page_is_made_of_the_last_results(costs: ModuleType) -> None:
    made = costs.page(costs.newest("fleet-cost"), costs.newest("fleet"))
    assert costs.PAGE.read_text(encoding="utf-8") == made, (
        "stale: run `python benchmarks/fleet_cost.py --page`"
    )


def test_the_arithmetic(costs: ModuleType) -> None:
    """By hand, for figures that make round numbers of 10,000 hosts with a million events."""
    found = {
        "raw_bytes": 50.0, "ingest_us": 0.64, "compact_us": 1.8, "compacted_bytes": 6.0,
        "timelines_bytes": 12.0, "slice_logical_bytes": 300.0, "summed_logical_bytes": 70.0,
        "others_logical_bytes": 5.0,
    }  # fmt: skip
    here = {one.what: one for one in costs.machine(found)}
    assert here["ingest, all cores"].amount == "1.7 min"  # 6,400 s of one core
    assert here["ingest, all cores"].dollars == pytest.approx(100 / 3600 * 3.108)
    compact = here["compact, 32 files at a time"]
    assert compact.amount == "9.4 min"  # 18,000 s of one core
    assert compact.dollars == pytest.approx(562.5 / 3600 * 3.108)
    assert here["a month of the lake: tables"].dollars == pytest.approx(60e9 / 2**30 * 0.02)
    there = {one.what: one for one in costs.warehouse(found)}
    assert there["sum by name and host"].amount == "700 GB"
    assert there["sum by name and host"].dollars == pytest.approx(0.7e12 / 2**40 * 6.25)
    assert there["a month of the dataset"].dollars == pytest.approx(3.05e12 / 2**30 * 0.02)
    assert there["count of all slices"].dollars == 0


def test_compaction_writes_as_many_files_at_a_time_as_the_page_says(
    costs: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(config, "machine_bytes", lambda: 256 << 30)
    monkeypatch.setattr(config, "threads", lambda: costs.CORES)
    assert compacting._writers() == costs.AT_ONCE


def test_bytes_are_counted_as_bigquery_counts_them(costs: ModuleType) -> None:
    with stepscope.open("tests/samples/chrome/phases.json") as trace:
        columns = ("name", "category", "ts_ps", "depth")
        rows = trace.query("SELECT name, category, ts_ps, depth FROM slice").rows()
        by_hand = sum(
            sum(
                0 if value is None else 2 + len(value.encode()) if isinstance(value, str) else 8
                for value in row
            )
            for row in rows
        )
        assert by_hand > 100
        assert trace.query(costs.logical("slice", columns)).rows() == [(by_hand,)]
        assert trace.query(costs.logical("slice")).rows()[0][0] > by_hand


@pytest.mark.repeats("a benchmark on a lake of its own; the page is made of results that are kept")
def test_it_measures_what_it_says(costs: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    found = costs.measured(tmp_path, hosts=2, events=20_000)
    known = costs.newest("fleet-cost")
    assert found.keys() == known.keys() - {"file"}
    for name in ("summed_logical_bytes", "slice_logical_bytes"):
        assert found[name] == pytest.approx(known[name], rel=0.4), name
