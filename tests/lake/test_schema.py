"""schema.sql as data."""

import duckdb
import pytest

from stepscope.lake.schema import read, schema, written_out


def test_what_is_read_is_what_duckdb_makes_of_the_file() -> None:
    from importlib import resources

    text = resources.files("stepscope.lake").joinpath("schema.sql").read_text(encoding="utf-8")
    with duckdb.connect() as con:
        con.execute(written_out(text))
        found = con.execute(
            "SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns() "
            "WHERE NOT internal ORDER BY table_oid, column_index"
        ).fetchall()
    assert found == [
        (table.name, column.name, column.type, column.nullable)
        for table in schema().tables
        for column in table.columns
    ]


def test_types_are_those_that_every_engine_has() -> None:
    """Spark reads an unsigned number as a decimal, and BigQuery has none."""
    types = {column.type for table in schema().tables for column in table.columns}
    assert types <= {"BIGINT", "INTEGER", "DOUBLE", "BOOLEAN", "VARCHAR"}


def test_every_table_and_column_says_what_it_is() -> None:
    assert schema().version >= 1
    for table in schema().tables:
        assert table.about
        assert all(column.about for column in table.columns)
        assert {"run_id"} <= set(table.names)
    assert schema().table("slice").column("dur_ps").about
    with pytest.raises(KeyError):
        schema().table("slices")
    with pytest.raises(KeyError):
        schema().table("slice").column("dur")


@pytest.mark.parametrize(
    "text",
    [
        "-- no version\nCREATE TABLE a (\n  b BIGINT -- c\n);\n",
        "-- SCHEMA_VERSION 1\n\nCREATE TABLE a (\n  b BIGINT -- c\n);\n",
        "-- SCHEMA_VERSION 1\n\n-- About.\nCREATE TABLE a (\n  b BIGINT\n);\n",
    ],
    ids=["no version", "table without comment", "column without comment"],
)
def test_what_is_not_described_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"(?i)version|comment"):
        read(text)
