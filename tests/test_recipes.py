"""The recipes of CONTRIBUTING.md, followed: each new thing is one new file that nothing else has to name.

An output has its own test: test_recipe_output.py.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import stepscope
from stepscope import cli, engines, library
from stepscope.cli import main
from tests.draw import draw
from tests.fakes import drawn_trace
from tests.lake.recordings import chrome
from tests.library import lint
from tests.library.test_library import COLUMNS

ANALYSIS = """-- Names by length
--
-- question: Which names are longest?
-- reads: slice
-- columns:
--   name | text | Name | name of a slice
--   letters | int | Letters | how long it is
SELECT s.name, LENGTH(s.name) AS letters
FROM slice AS s
GROUP BY s.name
ORDER BY letters DESC NULLS LAST, s.name NULLS LAST
"""

FINDING = """-- Slices without a name
--
-- question: Do slices lack a name?
-- reads: slice
-- severity: low
-- impact: {slices} slices have no name.
-- action: Name them where they are recorded.
-- reasoning: What has no name cannot be found again.
-- formula: Slices whose name is empty are counted.
-- columns:
--   severity | text | Severity | always low
--   impact_ps | ps | Impact | time of these slices
--   slices | int | Slices | how many
SELECT 'low' AS severity, SUM(s.dur_ps) AS impact_ps, COUNT(*) AS slices
FROM slice AS s
WHERE s.name = ''
HAVING COUNT(*) > 0
ORDER BY slices NULLS LAST
"""

VERB = '''
"""stepscope count PATH: the number of slices."""

from stepscope.cli.arguments import Parser, add_paths, add_reading

ABOUT = "how many slices there are"


def parser():
    """The options of the verb."""
    parser = Parser("count", ABOUT, "stepscope count PATH…")
    add_paths(parser)
    add_reading(parser)
    return parser


def run(options, console):
    """Prints the number."""
    from stepscope.cli.reading import opened

    with opened(options, console) as (trace, _):
        console.data.write(f"{trace.query('SELECT COUNT(*) FROM slice').rows()[0][0]}\\n")
    return 0
'''

ENGINE = '''
"""SQLite as the engine: tables of a lake are copied into it when a query first names them."""

import re
import sqlite3

import pyarrow.parquet as pq

from stepscope.engines import statement
from stepscope.errors import QueryError, UsageError


class Answer:
    """Rows of a query."""

    def __init__(self, cursor):
        self.columns = tuple(column[0] for column in cursor.description)
        self.types = ("",) * len(self.columns)
        self._cursor = cursor

    def rows(self):
        return self._cursor.fetchall()

    def batches(self, size=10_000):
        while batch := self._cursor.fetchmany(size):
            yield batch


class SQLite:
    """stepscope.engines.Engine on SQLite."""

    def __init__(self):
        self.writes, self.doubt = False, lambda error: error
        self._con, self._waiting = sqlite3.connect(":memory:"), {}

    def attach(self, relation):
        self._waiting[relation.name] = relation

    def define(self, views):
        self._waiting |= {name: statement(view).sql for name, view in views.items()}

    def seal(self, paths=()):
        """SQLite opens no files of its own accord."""

    def reads(self, *statements):
        return None

    def query(self, asked, params=()):
        self._bring(statement(asked).sql)
        try:
            return Answer(self._con.execute(statement(asked).sql, params))
        except sqlite3.Error as error:
            raise self.doubt(QueryError("SQLite refused.", seen=str(error), todo="mend it")) from error

    def answers(self, asked, keep=()):
        return [self.query(one).rows() for one in asked]

    def keep(self, views):
        """Views are computed anew."""

    def copy(self, asked, path, form):
        raise UsageError("This engine only reads.", seen=path, todo="use another")

    def interrupt(self):
        self._con.interrupt()

    def close(self):
        self._con.close()

    leave = close

    def _bring(self, sql):
        for name in re.findall("[a-z_]+", sql):
            if (made := self._waiting.pop(name, None)) is None:
                continue
            if isinstance(made, str):
                self._bring(made)
                self._con.execute(f"CREATE VIEW {name} AS {made}")
                continue
            names = [column for column, _ in made.columns]
            self._con.execute(f"CREATE TABLE {name} ({', '.join(names)})")
            for path in (path for part in made.parts() for path in part.paths):
                rows = zip(*pq.ParquetFile(path).read(names).to_pydict().values())
                self._con.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(names))})", rows)
'''


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder whose files count as files of stepscope.cli, .engines and .library."""
    for package in (cli, engines, library):
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Has folders listed anew."""
    cli._other_verbs.cache_clear()
    library._files.cache_clear()
    library.views.cache_clear()
    for name in [name for name in sys.modules if ".toy_" in name]:
        del sys.modules[name]


def test_an_analysis_is_one_file(room: Path) -> None:
    (room / "analyses").mkdir()
    (room / "analyses" / "toy_letters.sql").write_text(ANALYSIS, encoding="utf-8")
    found = library.entry("toy_letters")
    assert lint.problems(found.sql, COLUMNS) == []
    trace = drawn_trace(draw("cpu/python thread : [aaa][b][aaa]"))
    assert trace.answer(found).rows() == [("aaa", 3), ("b", 1)]


def test_a_finding_is_one_file(room: Path) -> None:
    (room / "findings").mkdir()
    (room / "findings" / "toy_nameless.sql").write_text(FINDING, encoding="utf-8")
    tables = draw("cpu/python thread : [a..][b]")
    tables.rows["slice"][1]["name"] = ""
    from stepscope import report

    found = report.build(drawn_trace(tables, "t.pb"))
    (mine,) = [finding for finding in found.findings if finding.slug == "toy-nameless"]
    assert mine.impact == "1 slices have no name."


def test_a_verb_is_one_file(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (room / "toy_count.py").write_text(VERB, encoding="utf-8")
    path = str(chrome(room / "recordings" / "a.json", count=7))
    assert main(["toy_count", path]) == 0
    assert capsys.readouterr().out == "7\n"
    assert main(["--help"]) == 0
    assert "toy_count how many slices there are" in capsys.readouterr().out


def test_an_engine_is_one_file(room: Path) -> None:
    (room / "toy_sqlite.py").write_text(ENGINE, encoding="utf-8")
    toy: ModuleType = importlib.import_module("stepscope.engines.toy_sqlite")
    stepscope.ingest([chrome(room / "recordings" / "a.json")], room / "lake")
    question = (
        "SELECT name, COUNT(*) AS slices, SUM(dur_ps) AS total_ps FROM slice GROUP BY name ORDER BY name"
    )
    with stepscope.open(room / "lake") as one, stepscope.open(room / "lake", engine=toy.SQLite) as other:
        assert other.query(question).rows() == one.query(question).rows()
        for name in ("completeness", "op_types", "busy_by_track"):
            assert other.answer(library.entry(name)).rows() == one.answer(library.entry(name)).rows()
