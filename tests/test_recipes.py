"""The recipes of CONTRIBUTING.md, followed: each new thing is one new file that nothing else has to name.

An output has its own test: test_recipe_output.py.
"""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import stepscope
from stepscope import cli, engines, formats, library, reference
from stepscope.cli import main
from tests.draw import draw
from tests.fakes import drawn_trace
from tests.lake.recordings import chrome
from tests.library import lint
from tests.library.test_library import COLUMNS

FORMAT = '''
"""Sizes of tensors: a first line TENSORS, then a name and a number of bytes a line."""

from stepscope import _core

NAME = "toy_tensors"
CACHED = False


def sniff(head, name):
    """Whether the first line is there."""
    return head.startswith(b"TENSORS\\n")


def build(pieces):
    """The table checkpoint_tensor."""
    data = pieces.read(1 << 20)
    rows = [line.split() for line in data.decode().splitlines()[1:]]
    store = pieces.build()
    count = len(rows)
    store.replace(
        "checkpoint_tensor",
        {
            "id": list(range(count)),
            "name": [name for name, _ in rows],
            "dtype": ["uint8"] * count,
            "shape": ["[]"] * count,
            "elements": [int(size) for _, size in rows],
            "bytes": [int(size) for _, size in rows],
            "slices": [1] * count,
            "role": ["weight"] * count,
            "weight": [None] * count,
        },
    )
    facts = dict.fromkeys(("origin_unix_ns", "start_ps", "end_ps"))
    events = {"events_seen": count, "events_stored": count, "bytes_in": len(data)}
    none = dict.fromkeys(("events_lost", "events_repaired", "events_capped"), 0)
    content = {"producer": "toy", "content_hash": _core.hash_bytes(data), "notes": [], "meta": {}}
    store.update_facts({**facts, **events, **none, **content})
    return store


def steps(pieces):
    """Tensors have no time."""
'''

TRACE_FORMAT = '''
"""A trace of a toy that trains with PyTorch: steps, ops, kernels and blocks of memory, a line each, in
microseconds."""

from stepscope.formats._profile_events import Events
from stepscope.formats import Writer

NAME = "toy_trace"
WRITERS = {"toy": Writer("pytorch")}
_BEGAN_NS = 1_700_000_000_000_000_000


def sniff(head, name):
    """Whether the first line is there."""
    return head.startswith(b"TOY TRACE\\n")


def _lines(pieces):
    return [line.split() for line in pieces.read(1 << 20).decode().splitlines()[1:]]


def build(pieces):
    """Ops as slices of a thread, kernels as slices of a stream, blocks of memory as moments."""
    events = Events(origin_ps=0)
    events.thread(1, 1, "python", "main")
    for what, name, begin, rest in _lines(pieces):
        begin_ps, rest = int(begin) * 10**6, int(rest)
        if what == "op":
            events.slice(name, begin_ps, begin_ps + rest * 10**6, 1, 1, "cpu_op")
        elif what == "kernel":
            events.slice(name, begin_ps, begin_ps + rest * 10**6, "device", 7, "kernel", {"device": 0})
        elif what == "memory":
            args = {"Addr": int(name), "Bytes": rest, "Device Type": 0, "Device Id": -1}
            events.instant("[memory]", begin_ps, 1, 1, args)
    store = events.store(pieces, pieces.read(1 << 20), "toy")
    store.update_facts({"origin_unix_ns": _BEGAN_NS})
    return store


def steps(pieces):
    """The steps that the toy wrote down."""
    for what, name, begin, length in _lines(pieces):
        if what == "step":
            begin_ns = _BEGAN_NS + int(begin) * 1000
            yield int(name), begin_ns, begin_ns + int(length) * 1000, True
'''

TOY_TRACE = """TOY TRACE
step 1 0 1000
op aten::mm 0 600
memory 7 100 4096
op aten::relu 600 300
step 2 1000 1000
op aten::mm 1000 600
kernel gemm 1050 800
memory 8 1100 8192
memory 7 1500 -4096
op aten::relu 1600 300
step 3 2000 1000
op aten::mm 2000 600
op aten::relu 2600 400
"""

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

from stepscope.cli.arguments import Parser, add_reading

ABOUT = "how many slices there are"


def parser():
    """The options of the verb."""
    parser = Parser("count", ABOUT, "stepscope count PATH…")
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

import json
import math
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


def named_value(text, path):
    """A value of JSON by a path such as $.id, as text."""
    value = json.loads(text).get(path.removeprefix("$.")) if text else None
    return None if value is None else str(value)


class SQLite:
    """stepscope.engines.Engine on SQLite."""

    def __init__(self):
        self.whole_runs = False
        self._con, self._waiting = sqlite3.connect(":memory:"), {}
        self._con.create_function("FLOOR", 1, math.floor, deterministic=True)
        self._con.create_function("JSON_EXTRACT_STRING", 2, named_value, deterministic=True)

    def prepare(self, work):
        self._doubt = work.doubt

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
            raise self._doubt(QueryError("SQLite refused.", seen=str(error), todo="mend it")) from error

    def answers(self, asked, keep=(), progress=None):
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
    """A folder whose files count as files of stepscope.cli, .engines, .formats and .library."""
    for package in (cli, engines, formats, library):
        own = tmp_path / package.__name__.rpartition(".")[2]
        own.mkdir()
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(own)])
    forget()
    yield tmp_path
    forget()


def forget() -> None:
    """Has folders listed anew."""
    cli._abouts.cache_clear()
    formats.formats.cache_clear()
    library._files.cache_clear()
    library.views.cache_clear()
    reference.entries.cache_clear()
    for name in [name for name in sys.modules if ".toy_" in name]:
        del sys.modules[name]


def test_a_format_is_one_file(room: Path) -> None:
    (room / "formats" / "toy_tensors.py").write_text(FORMAT, encoding="utf-8")
    recording = room / "recordings" / "sizes.txt"
    recording.parent.mkdir()
    recording.write_text("TENSORS\nkernel 48\nbias 4\n", encoding="utf-8")
    question = "SELECT name, bytes, source_id > 0 AS placed FROM checkpoint_tensor ORDER BY id"
    with stepscope.open(recording) as trace:
        assert trace.query(question).rows() == [("kernel", 48, False), ("bias", 4, False)]
    (row,) = stepscope.ingest([recording], room / "lake")
    assert (row.format, row.events_stored, row.error) == ("toy_tensors", 2, None)
    with stepscope.open(room / "lake") as trace:
        assert trace.query(question).rows() == [("kernel", 48, True), ("bias", 4, True)]


def test_a_format_of_traces_is_one_file(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With events, steps and memory: all views show it, and advice is in the words of its framework."""
    (room / "formats" / "toy_trace.py").write_text(TRACE_FORMAT, encoding="utf-8")
    recording = room / "recordings" / "run.toy"
    recording.parent.mkdir()
    recording.write_text(TOY_TRACE, encoding="utf-8")
    sources = "SELECT format, producer, kind, framework, of_session FROM source"
    with stepscope.open(recording) as trace:
        assert trace.query(sources).rows() == [("toy_trace", "toy", "trace", "pytorch", False)]
        steps = trace.query("SELECT step, recovered_from, dur_ps FROM step ORDER BY step").rows()
        assert steps == [(step, "recorder", 10**9) for step in (1, 2, 3)]
        tracks = (
            "SELECT t.kind, d.name FROM track AS t INNER JOIN device AS d ON d.id = t.device_id ORDER BY t.id"
        )
        assert trace.query(tracks).rows() == [("thread", "CPU"), ("device_stream", "GPU 0")]
    stepscope.ingest([recording], room / "lake")
    with stepscope.open(room / "lake") as trace:
        assert trace.query(sources).rows() == [("toy_trace", "toy", "trace", "pytorch", False)]
    assert main([str(recording), "--all"]) == 0
    said = capsys.readouterr().out
    assert "aten::mm" in said
    assert main(["memory", str(recording)]) == 0
    assert "12.0 KiB" in capsys.readouterr().out
    assert main(["pipeline", str(recording)]) == 2
    assert "DataLoader" in capsys.readouterr().err


STORED_STEPS = """
def steps(pieces):
    return None
"""


def test_a_format_may_store_its_steps_itself(room: Path) -> None:
    """Its slices are added up all the same, so that it has ops."""
    head, _, _ = TRACE_FORMAT.partition("def steps(pieces)")
    (room / "formats" / "toy_trace.py").write_text(head + STORED_STEPS, encoding="utf-8")
    recording = room / "recordings" / "run.toy"
    recording.parent.mkdir()
    recording.write_text(TOY_TRACE, encoding="utf-8")
    with stepscope.open(recording) as trace:
        ops = trace.query("SELECT name, is_op, slices FROM rollup_op WHERE is_op ORDER BY name").rows()
    assert ops == [("aten::mm", True, 3), ("aten::relu", True, 3), ("gemm", True, 1)]


def test_an_analysis_is_one_file(room: Path) -> None:
    (room / "library" / "analyses").mkdir()
    (room / "library" / "analyses" / "toy_letters.sql").write_text(ANALYSIS, encoding="utf-8")
    found = library.entry("toy_letters")
    assert lint.problems(found.sql, COLUMNS) == []
    trace = drawn_trace(draw("cpu/python thread : [aaa][b][aaa]"))
    assert trace.ask(found).rows() == [("aaa", 3), ("b", 1)]


def test_a_finding_is_one_file(room: Path) -> None:
    (room / "library" / "findings").mkdir()
    (room / "library" / "findings" / "toy_nameless.sql").write_text(FINDING, encoding="utf-8")
    tables = draw("cpu/python thread : [a..][b]")
    tables.rows["slice"][1]["name"] = ""
    from stepscope import report

    found = report.build(drawn_trace(tables, "t.pb"))
    (mine,) = [finding for finding in found.findings if finding.slug == "toy-nameless"]
    assert mine.impact == "1 slices have no name."


def test_a_verb_is_one_file(room: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (room / "cli" / "toy_count.py").write_text(VERB, encoding="utf-8")
    path = str(chrome(room / "recordings" / "a.json", count=7))
    assert main(["toy_count", path]) == 0
    assert capsys.readouterr().out == "7\n"
    assert main(["--help"]) == 0
    assert "toy_count how many slices there are" in " ".join(capsys.readouterr().out.split())


def test_an_engine_is_one_file(room: Path) -> None:
    (room / "engines" / "toy_sqlite.py").write_text(ENGINE, encoding="utf-8")
    toy: ModuleType = importlib.import_module("stepscope.engines.toy_sqlite")
    stepscope.ingest([chrome(room / "recordings" / "a.json")], room / "lake")
    question = (
        "SELECT name, COUNT(*) AS slices, SUM(dur_ps) AS total_ps FROM slice GROUP BY name ORDER BY name"
    )
    with stepscope.open(room / "lake") as one, stepscope.open(room / "lake", engine=toy.SQLite) as other:
        assert other.query(question).rows() == one.query(question).rows()
        for name in ("completeness", "op_types", "busy_by_track"):
            assert other.analysis(name).rows() == one.analysis(name).rows()
