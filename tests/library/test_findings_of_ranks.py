"""What findings say of jobs of two ranks, worked out by hand."""

from collections.abc import Callable
from typing import Any

import pytest

from stepscope import library
from tests.draw import Tables
from tests.report import made_ranks
from tests.report.made_ranks import MS

CASES: dict[str, tuple[Callable[[], Tables], dict[str, Any]]] = {
    # 40 - 10 ms in each of three steps.
    "late_input": (
        made_ranks.input_late_on_one_rank,
        {"participant": "rank-1", "severity": "high", "impact_ps": 90 * MS, "others_ps": 10 * MS},
    ),
    # 6 ms at each of ten collectives.
    "straggler": (
        made_ranks.one_rank_arrives_last,
        {
            "participant": "rank-1",
            "severity": "high",
            "impact_ps": 60 * MS,
            "times_last": 10,
            "collectives": 10,
        },
    ),
    # 900 elements are 1.8 times the mean of 500: four exchanges of 10 ms would take 5/9 of it.
    "uneven_experts": (
        made_ranks.one_rank_gets_most,
        {"participant": "rank-1", "severity": "medium", "impact_ps": 40 * MS * 4 // 9, "times_mean": 1.8},
    ),
    # 40 of 100 ms in each of three steps; the 5 % of rank 1 are no finding.
    "unhidden_collectives": (
        made_ranks.collectives_in_the_open,
        {"participant": "rank-0", "severity": "high", "impact_ps": 120 * MS, "exposed_share": 0.4},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_one_thing_is_wrong(name: str) -> None:
    make, expected = CASES[name]
    connection = make().connect()
    for other in CASES:
        result = connection.execute(library.sql(other))
        columns = [column[0] for column in result.description]
        rows = [dict(zip(columns, row, strict=True)) for row in result.fetchall()]
        if other == name:
            (row,) = rows
            assert {column: row[column] for column in expected} == pytest.approx(expected)
        else:
            assert rows == [], other
