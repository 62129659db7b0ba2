"""What the library says of several ranks: made-up jobs with a known truth, and recordings."""

import csv
from pathlib import Path

import pytest

from stepscope import library
from stepscope.instruments.ranks.table import RankRows, rows_of
from tests.draw import Row, Tables
from tests.instruments.jobs import US, Job, job
from tests.tiers import cases


def _findings(jobs: list[Job], name: str, folder: Path) -> list[Row]:
    tables = [rows_of(made.parts, made.ranks) for made in jobs]
    connection = Tables().connect()
    for table in RankRows._fields:
        rows = [row for found in tables for row in getattr(found, table)]
        file = folder / f"{table}.csv"
        with file.open("w", newline="") as out:
            writer = csv.DictWriter(out, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        connection.execute(f"COPY {table} FROM '{file}' (HEADER)")
    result = connection.execute(library.sql(name))
    names = [column[0] for column in result.description]
    return [dict(zip(names, row, strict=True)) for row in result.fetchall()]


@pytest.mark.repeats("smaller than what library/test_findings_of_ranks.py finds")
def test_a_straggler_of_twenty_microseconds_in_two_milliseconds(tmp_path: Path):
    """Found in 95 of 100 jobs, and named; nothing is found in 20 jobs without one."""
    late, fair = cases(20, 100), cases(5, 20)
    jobs = [job(seed, late=seed % 8, run_id=f"run-{seed:03}", first_source=8 * seed) for seed in range(late)]
    rows = _findings(jobs, "straggler", tmp_path)
    named = {row["run_id"]: row for row in rows if row["participant"] == f"rank-{int(row['run_id'][4:]) % 8}"}
    assert len(named) >= 0.95 * late
    assert len(rows) == len(named)
    for row in named.values():
        assert row["severity"] == "low"
        assert row["collectives"] == 160
        assert row["late_ps"] is not None  # 20 µs are more than clocks err by
    even = [job(seed, run_id=f"run-{seed:03}", first_source=8 * seed) for seed in range(100, 100 + fair)]
    assert len(_findings(even, "straggler", tmp_path)) == 0


def test_of_two_ranks_one_is_late(tmp_path: Path):
    (row,) = _findings([job(7, ranks=2, late=1, late_us=400)], "straggler", tmp_path)
    assert (row["participant"], row["severity"], row["ranks"]) == ("rank-1", "high", 2)
    assert row["caused_share"] > 0.99
    assert row["impact_ps"] == pytest.approx(160 * 400 * US, rel=0.02)
    assert row["reason"] == "Its steps do not show what takes it longer than the others."
