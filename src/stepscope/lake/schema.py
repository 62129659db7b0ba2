"""The schema as data: schema.sql read once, with what its comments say."""

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple


class SchemaColumn(NamedTuple):
    """A column: its SQL type and what it means."""

    name: str
    type: str
    nullable: bool
    about: str


class SchemaTable(NamedTuple):
    """A table: what one row is, and its columns in order."""

    name: str
    about: str
    columns: tuple[SchemaColumn, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> tuple[tuple[str, str], ...]:
        """Names and SQL types of the columns, in order."""
        return tuple((column.name, column.type) for column in self.columns)

    def column(self, name: str) -> SchemaColumn:
        """The column of that name; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


class Schema(NamedTuple):
    """All tables, in the order of the file."""

    version: int
    about: str
    tables: tuple[SchemaTable, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tables, in order."""
        return tuple(table.name for table in self.tables)

    def table(self, name: str) -> SchemaTable:
        """The table of that name; KeyError when there is none."""
        for table in self.tables:
            if table.name == name:
                return table
        raise KeyError(name)


_TABLE = re.compile(r"((?:^--[^\n]*\n)+)CREATE TABLE (\w+) \(\n(.*?)^\);", re.MULTILINE | re.DOTALL)
_COLUMN = re.compile(r"^  (\w+) (\w+)( NOT NULL)?,?\s*-- (.+)$")
_TYPE = re.compile(r"(?:^--[^\n]*\n)*^CREATE TYPE (\w+) AS \(\n(.*?)^\);\n\n", re.MULTILINE | re.DOTALL)
_LIKE = re.compile(r"^  LIKE (\w+)(,?)\n", re.MULTILINE)
_LAST = re.compile(r"(\w)( +-- [^\n]*\n)\Z")
_VERSION = re.compile(r"^-- SCHEMA_VERSION (\d+)$", re.MULTILINE)


def written_out(text: str) -> str:
    """A schema file with the columns of a type wherever a table has them by LIKE. KeyError without one."""
    types: dict[str, str] = {}

    def columns(like: re.Match[str]) -> str:
        return _LAST.sub(r"\1,\2", types[like[1]]) if like[2] else types[like[1]]

    for name, body in _TYPE.findall(text):
        types[name] = _LIKE.sub(columns, body)
    return _LIKE.sub(columns, _TYPE.sub("", text))


def read(text: str) -> Schema:
    """Reads a schema file. ValueError when a table or column has no comment, or the file no version."""
    text = written_out(text)
    version = _VERSION.search(text)
    if version is None:
        raise ValueError("no line '-- SCHEMA_VERSION n'")
    tables = []
    for comment, name, body in _TABLE.findall(text):
        columns = []
        for line in body.splitlines():
            match = _COLUMN.match(line)
            if match is None:
                raise ValueError(f"table {name}: not 'name TYPE [NOT NULL], -- comment': {line!r}")
            columns.append(SchemaColumn(match[1], match[2], match[3] is None, match[4].strip()))
        tables.append(SchemaTable(name, _prose(comment), tuple(columns)))
    if len(tables) != text.count("CREATE TABLE"):
        raise ValueError("a table without a comment above it")
    head = text.split("CREATE TABLE", 1)[0].rsplit("\n\n", 1)[0]
    return Schema(int(version[1]), _prose(head), tuple(tables))


def _prose(comment: str) -> str:
    return "\n".join(line.removeprefix("--").removeprefix(" ") for line in comment.strip().splitlines())


@cache
def schema() -> Schema:
    """The schema of this version of stepscope."""
    return read(Path(__file__).with_name("schema.sql").read_text(encoding="utf-8"))
