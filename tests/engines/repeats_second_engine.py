"""One truth for every engine: what a lake holds is enough to answer the whole library on another one."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest

import stepscope
from stepscope import library, report
from stepscope.engines import Condition, Files, Relation
from stepscope.errors import QueryError, UsageError
from stepscope.library import statements
from stepscope.session.trace import Only, OpenTrace
from stepscope.session.trace import open as open_trace
from tests import corpus
from tests.engines.parameters import of_source, sets_of_values
from tests.engines.second import DataFusion, adapted
from tests.lake import compacted


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All sample recordings of the repository in one lake."""
    folder = tmp_path_factory.mktemp("second") / "lake"
    stepscope.ingest([corpus.SAMPLES], folder)
    return folder


@pytest.fixture(scope="module")
def duckdb(lake: Path) -> Iterator[OpenTrace]:
    with open_trace(lake) as trace:
        yield trace


class OnlyFiles(DataFusion):
    """Nothing that the lake lacks is made while it is read."""

    def register(self, relation: Relation, files: Sequence[Files], rows: pa.Table) -> None:
        assert not rows.num_rows, f"{relation.name} is not in the lake"
        super().register(relation, files, rows)


@pytest.fixture(scope="module")
def second(lake: Path) -> Iterator[OpenTrace]:
    with open_trace(lake, engine=OnlyFiles) as trace:
        yield trace


@pytest.mark.parametrize("entry", library.entries(), ids=lambda entry: entry.name)
def test_every_file_of_the_library_gives_equal_rows(
    entry: library.Entry, duckdb: OpenTrace, second: OpenTrace
) -> None:
    """Cell by cell, and in the same order where the file has one: base views have none."""
    wanted, found = duckdb.ask(entry), second.ask(entry)
    assert (found.columns, found.types) == (wanted.columns, wanted.types)
    rows = [wanted.rows(), found.rows()]
    if entry.kind == "base":
        rows = [sorted(one, key=repr) for one in rows]
    assert rows[1] == rows[0]


@pytest.fixture(scope="module")
def known(duckdb: OpenTrace) -> list[dict[str, statements.Value]]:
    """Values for every parameter of a statement, of the two sources with the most rows of each table, that
    with the most slices first. What has no rows in any of them has hardly any in the others, and asking all
    of them took an hour."""
    largest: set[int] = set()
    for table in duckdb.schema.tables:
        if "source_id" in {column.name for column in table.columns}:
            by_source = f"SELECT source_id, COUNT(*) AS n FROM {table.name} GROUP BY source_id"
            most = duckdb.query(f"{by_source} ORDER BY n DESC, source_id LIMIT 2")
            largest |= {source_id for source_id, _ in most.rows()}
    counted = duckdb.query("SELECT source_id, COUNT(*) AS n FROM slice GROUP BY source_id ORDER BY n DESC")
    place = {source_id: number for number, (source_id, _) in enumerate(counted.rows())}
    modules: dict[int, set[str]] = {}
    asked = statements.statement("instruction_slices", computing=0)
    for source_id, _, _, module, *_ in duckdb.query(asked).rows():
        if module is not None:
            modules.setdefault(source_id, set()).add(module)
    sources = duckdb.query(statements.statement("sources")).rows()
    return [
        of_source(duckdb, row[0], row[1], row[2], sorted(modules.get(row[0], ())))
        for row in sorted(sources, key=lambda row: (place.get(row[0], len(sources)), row[0]))
        if row[0] in largest
    ]


@pytest.mark.parametrize("one", statements.reads(), ids=lambda one: one.name)
def test_every_statement_gives_equal_rows(
    one: library.Entry, known: list[dict[str, statements.Value]], duckdb: OpenTrace, second: OpenTrace
) -> None:
    """On the two largest sources for which it has rows, and on the first where it has none."""
    compared, empty = 0, False
    for values in sets_of_values(one, known):
        sql = statements.statement(one.name, **values)
        rows = duckdb.query(sql).rows()
        if not rows and (compared or empty):
            continue
        others = second.query(sql).rows()
        if one.unordered:
            rows, others = sorted(rows), sorted(others)
        assert others == rows
        compared += 1 if rows else 0
        empty = empty or not rows
        if compared == 2:
            return


def test_the_samples_have_rows_for_most_of_the_library(duckdb: OpenTrace) -> None:
    """Equal rows would prove little if there were none."""
    entries = library.entries()
    shared = ["track_place", "step_window", "op_sum", "device_sum", "track_sum", "step_wait"]
    answers = zip(entries, duckdb.answers(entries, shared), strict=True)
    with_rows = [entry.name for entry, rows in answers if rows]
    assert len(with_rows) >= 40
    assert len(with_rows) * 3 >= len(entries) * 2


def test_the_report_of_a_lake_is_the_same(lake: Path) -> None:
    with open_trace(lake) as one, open_trace(lake, engine=DataFusion) as other:
        assert report.build(other) == report.build(one)


def test_rows_of_a_compacted_lake_that_do_not_count(tmp_path: Path) -> None:
    """Those of a source that was decoded anew since, and those of hosts that are not read."""
    lake = compacted.with_a_source_decoded_anew(tmp_path)
    for hosts in (None, ["h1", "h2"]):
        with (
            open_trace(lake, only=Only(hosts=hosts)) as one,
            open_trace(lake, engine=DataFusion, only=Only(hosts=hosts)) as other,
        ):
            for table in one.schema.names:
                sql = f"SELECT * FROM {table}"
                assert sorted(other.query(sql).rows(), key=repr) == sorted(one.query(sql).rows(), key=repr)
            count = other.query("SELECT COUNT(*) AS n FROM slice").rows()
            assert count == [(23 if hosts else 10 + 11 + 12 + 13 + 20,)]


def test_conditions_are_words_of_the_engine() -> None:
    """With quotes and backslashes as its dialect has them."""
    where = [Condition("host_id", ("a'b", "c\\d")), Condition("source_id", (1, 2), negated=True)]
    for dialect, wanted in (
        ("spark", r"`host_id` IN ('a\'b', 'c\\d') AND NOT `source_id` IN (1, 2)"),
        ("postgres", r""""host_id" IN ('a''b', 'c\d') AND NOT "source_id" IN (1, 2)"""),
    ):
        engine = DataFusion()
        engine.DIALECT = dialect
        assert engine.fulfils(where) == wanted
    assert engine.fulfils([]) == ""


def test_it_reads_only_files_that_manifests_list(second: OpenTrace) -> None:
    with pytest.raises(QueryError, match="refused"):
        second.query("SELECT COUNT(*) AS n FROM nowhere")
    with pytest.raises(UsageError, match="writes no files"):
        second.copy("SELECT 1 AS a", "x.csv", "csv")


def test_adaptations_are_few() -> None:
    """What sqlglot writes is taken as it is, but for JSON."""
    sql = "SELECT JSON_EXTRACT_STRING(s.args_json, '$.a.b') AS x FROM slice AS s ORDER BY x NULLS LAST"
    assert adapted(sql) == "SELECT JSON_TEXT(s.args_json, '$.a.b') AS x FROM slice AS s ORDER BY x"
