"""Entries that have no rows for want of others are not asked; which those are is found in their SQL."""

import json
from pathlib import Path

import pytest

import stepscope
from stepscope import library
from stepscope.engines import NeededRows, are_unmet
from stepscope.library import statements
from tests.corpus import SAMPLES
from tests.engines import parameters
from tests.library import needs
from tests.library.parsed import parsed

MARKED = "track WHERE (kind = 'marks')"
HIGH = "step_stored WHERE (dur_ps > 7)"


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        pytest.param(
            "SELECT t.name FROM track AS t INNER JOIN step_stored AS s ON s.track_id = t.id AND s.dur_ps > 7 "
            "WHERE t.kind = 'marks' AND s.ts_ps > t.id",
            [[HIGH], [MARKED]],
            id="conditions-of-a-table",
        ),
        pytest.param(
            "SELECT t.name FROM track AS t LEFT JOIN step_stored AS s ON s.track_id = t.id "
            "WHERE s.dur_ps > 7",
            [["track"]],
            id="left-join",
        ),
        pytest.param(
            "WITH longs AS (SELECT s.track_id AS of_track, s.dur_ps * 2 AS twice FROM step_stored AS s) "
            "SELECT l.of_track FROM longs AS l WHERE l.twice > 7",
            [["step_stored WHERE ((dur_ps * 2) > 7)"]],
            id="expression",
        ),
        pytest.param(
            "WITH most AS (SELECT s.host_id, MAX(s.dur_ps) AS most_ps, MIN(s.id) AS first_id, "
            "SUM(s.id) AS ids FROM step_stored AS s GROUP BY s.host_id) "
            "SELECT m.host_id FROM most AS m WHERE m.most_ps > 7 AND m.first_id = 1 AND m.ids > 2",
            [[HIGH], ["step_stored WHERE (id = 1)"]],
            id="extremes-are-of-rows-of-their-own",
        ),
        pytest.param(
            "WITH seen AS (SELECT CASE WHEN t.kind = 'marks' AND s.id > 7 THEN 'x' ELSE t.name END AS what "
            "FROM track AS t LEFT JOIN step_stored AS s ON s.track_id = t.id) "
            "SELECT w.what FROM seen AS w WHERE w.what = 'x'",
            [["track WHERE ((kind = 'marks') OR (\"name\" = 'x'))"]],
            id="a-case-that-asks-for-another-row",
        ),
        pytest.param(
            "WITH seen AS (SELECT CASE WHEN t.kind = 'marks' AND s.id > 7 THEN 'x' ELSE t.name END AS what "
            "FROM track AS t LEFT JOIN step_stored AS s ON s.track_id = t.id) "
            "SELECT w.what FROM seen AS w WHERE w.what = 'y'",
            [["track WHERE (\"name\" = 'y')"]],
            id="a-case-of-which-one-value-fits",
        ),
        pytest.param(
            "WITH every AS (SELECT t.kind AS what, 1 AS side FROM track AS t "
            "UNION ALL SELECT s.name AS what, 2 AS side FROM step_stored AS s) "
            "SELECT e.what FROM every AS e WHERE e.what = 'x'",
            [["step_stored WHERE (\"name\" = 'x')", "track WHERE (kind = 'x')"]],
            id="condition-of-each-side",
        ),
        pytest.param(
            "WITH every AS (SELECT t.kind AS what, 1 AS side FROM track AS t "
            "UNION ALL SELECT s.name AS what, 2 AS side FROM step_stored AS s) "
            "SELECT e.what FROM every AS e WHERE e.what = 'x' AND e.side = 2",
            [["step_stored WHERE (\"name\" = 'x')"]],
            id="one-side-alone",
        ),
        pytest.param(
            "WITH every AS (SELECT t.kind AS what, t.id AS id FROM track AS t "
            "UNION ALL SELECT s.name AS what, s.id AS id FROM step_stored AS s), "
            "least AS (SELECT MIN(e.what) AS what, MIN(e.id) AS id FROM every AS e GROUP BY e.id) "
            "SELECT l.what FROM least AS l WHERE l.what = 'x' AND l.id = 1",
            [["step_stored", "track"]],
            id="extremes-of-two-sides",
        ),
        pytest.param(
            "SELECT t.name FROM track AS t LEFT JOIN step_stored AS s ON s.track_id = t.id "
            "WHERE t.id = 1 OR (t.kind = 'marks' AND s.dur_ps > 7)",
            [["track WHERE ((id = 1) OR (kind = 'marks'))"]],
            id="what-is-left-of-an-or",
        ),
        pytest.param(
            "SELECT t.name FROM track AS t LEFT JOIN step_stored AS s ON s.track_id = t.id "
            "WHERE t.id = 1 OR s.dur_ps > 7",
            [["track"]],
            id="nothing-is-left-of-an-or",
        ),
        pytest.param("SELECT COUNT(*) AS n FROM track AS t WHERE t.kind = 'marks'", [], id="always-a-row"),
        pytest.param(
            "SELECT t.name FROM track AS t WHERE t.kind = 'marks' "
            "UNION ALL SELECT s.name FROM step_stored AS s WHERE s.dur_ps > 7",
            [[HIGH, MARKED]],
            id="either",
        ),
        pytest.param(
            "SELECT t.name FROM track AS t WHERE EXISTS (SELECT 1 FROM step_stored AS s WHERE s.dur_ps > 7)",
            [[HIGH], ["track"]],
            id="exists",
        ),
        pytest.param(
            "SELECT a.name FROM track AS a INNER JOIN track AS b ON b.id = a.id "
            "WHERE a.kind = 'marks' AND b.name = 'x'",
            [["track WHERE (\"name\" = 'x')"], [MARKED]],
            id="two-rows-of-a-table",
        ),
        pytest.param(
            "WITH ranked AS (SELECT t.kind, ROW_NUMBER() OVER (ORDER BY t.id) AS turn FROM track AS t) "
            "SELECT r.kind FROM ranked AS r WHERE r.turn = 1 AND r.kind = 'marks'",
            [[MARKED]],
            id="window",
        ),
    ],
)
def test_what_a_select_needs(sql: str, found: list[list[str]]) -> None:
    clauses = needs.clauses(needs.of_query(parsed(sql), {}))
    assert sorted(sorted(map(str, clause)) for clause in clauses) == found


def test_the_file_says_nothing_that_the_sql_does_not() -> None:
    """What it lacks costs time only: a new entry may come without."""
    told, found = json.loads(needs.PATH.read_text(encoding="utf-8")), needs.found()
    wrong = [name for name, clauses in told.items() if any(one not in found.get(name, ()) for one in clauses)]
    assert wrong == [], "python -m tests.library.needs"
    assert len(told) > 0.9 * len(found), "python -m tests.library.needs"


@pytest.mark.repeats("what the clauses follow from is tried above, one rule at a time")
@pytest.mark.parametrize("sample", ["chrome/kineto_cuda.json", "run_metadata/two_servers.pb"])
def test_what_lacks_rows_has_none(sample: str) -> None:
    """Asked one by one, which nobody leaves out."""
    with stepscope.open(SAMPLES / Path(sample), cache=False) as trace:
        met: dict[NeededRows, bool] = {}

        def missing(need: NeededRows) -> bool:
            if need not in met:
                where = f" WHERE {need.where}" if need.where else ""
                met[need] = bool(trace.query(f"SELECT 1 FROM {need.table}{where} LIMIT 1").rows())
            return not met[need]

        without = [one for one in library.entries() if are_unmet(one.needs, missing)]
        assert len([one for one in without if one.kind == "finding"]) > 25
        assert [one.name for one in without if trace.query(one.sql).rows()] == []
        reads = [one for one in statements.reads() if are_unmet(one.needs, missing)]
        assert len(reads) > 50
        for run_id, host_id, source_id in trace.query("SELECT run_id, host_id, source_id FROM source").rows():
            known = [parameters.of_source(trace, source_id, run_id, host_id, [])]
            for one in reads:
                for values in parameters.sets_of_values(one, known):
                    assert trace.query(statements.filled(one, values)).rows() == [], one.name
