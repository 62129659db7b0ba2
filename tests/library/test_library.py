"""Every file of the library: its header, its columns, its SQL."""

import functools
from pathlib import Path

import pytest

from stepscope import library, messages
from stepscope.engines.duckdb.parser import parse
from stepscope.lake.schema import schema
from stepscope.library import header, macros, statements, templates
from tests.draw import Tables
from tests.each import each
from tests.library import lint

SAMPLES = {"text": "x", "texts": ("x", "y"), "ints": (1, 2)}
"""Values of parameters; those of other units are 1."""


def _asked(found: library.Entry) -> library.Entry:
    """A statement of the folder reads with values for its parameters."""
    values = {one.name: SAMPLES.get(one.unit, 1) for one in found.parameters}
    return found._replace(sql=statements.filled(found, values))


READS = tuple(map(_asked, statements.reads()))
ENTRIES = (*library.entries(), *READS)
COLUMNS = {t.name: set(t.names) for t in schema().tables} | {
    view.name: {field.name for field in view.columns} for view in library.views()
}
TYPES = {
    "text": ("VARCHAR",),
    "int": ("BIGINT", "INTEGER"),
    "float": ("DOUBLE",),
    "bool": ("BOOLEAN",),
    "ps": ("BIGINT",),
    "bytes": ("BIGINT", "DOUBLE"),
    "flop": ("DOUBLE",),
    "ratio": ("DOUBLE",),
    "unix_ns": ("BIGINT",),
}

every = each("entry", ENTRIES)


@functools.cache
def empty():
    """A lake with nothing in it, about which there is nothing to optimize."""
    connection = Tables().connect()
    connection.execute("PRAGMA disable_optimizer")
    return connection


@functools.cache
def answer(sql):
    """The columns and the rows that it has for a statement."""
    asked = empty().execute(sql)
    return asked.description, asked.fetchall()


@functools.cache
def kinds(table):
    """The types of the columns of one of its tables or views, by name."""
    return {name: kind for name, kind, *_ in empty().execute(f"FROM {table} LIMIT 0").description}


def test_there_is_something():
    assert len(library.names("analysis")) >= 17
    assert len(library.names("finding")) >= 18
    assert len(READS) >= 60
    assert library.sql("op_types").startswith("WITH types")
    assert library.entry("input-wait") is library.entry("input_wait")


@every
def test_columns_are_those_of_the_header(entry):
    """Names, order and types; nothing comes out wider than the schema's types."""
    described, _ = answer(entry.sql)
    assert [column[0] for column in described] == [field.name for field in entry.columns]
    for (name, kind, *_), field in zip(described, entry.columns, strict=True):
        assert str(kind) in (TYPES[field.unit] if field.unit else _types_read(entry, name)), name


def _types_read(entry, name):
    """The types of a column in the tables and views that a statement reads."""
    tables = [table for table in entry.reads if name in COLUMNS[table]]
    return {str(kinds(table)[name]) for table in tables}


@every
def test_quiet_without_data(entry):
    _, rows = answer(entry.sql)
    if (
        (entry.kind == "read" and ("COUNT(*)" in entry.sql or "ORDER BY" not in entry.sql))
        or entry.name.endswith("_span")
        or "DISTINCT" in entry.sql
    ):
        rows = [row for row in rows if row[-1] not in (None, 0)]
    assert rows == []


@every
def test_the_header_and_the_words_tell_what_it_reads(entry):
    """The engine takes the library at its word: what its own parser finds must be among the words."""
    parsed = parse(empty(), entry.sql).reads
    said = entry.statement.reads
    assert not parsed.star
    assert parsed.tables & COLUMNS.keys() == said.tables == set(entry.reads)
    assert parsed.columns <= said.columns


@every
def test_portable(entry):
    problems = lint.problems(entry.sql, COLUMNS)
    assert not problems, "\n".join(problems)
    assert entry.kind == "read" or "LIMIT" not in entry.sql


@every
def test_reads_what_it_says(entry):
    assert lint.tables(entry.sql) == set(entry.reads)


@every
def test_lines_are_short(entry):
    assert max(len(line) for line in entry.sql.splitlines()) <= 120


@every
def test_weakened_by_known_slugs(entry):
    slugs = set(entry.weakened_by) - set(header.EFFECTS)
    assert slugs <= messages.NOTES.keys()


@every
def test_all_but_views_have_a_total_order(entry):
    """A single row needs none, nor do rows that go to the core."""
    if entry.unordered:  # what a window looks at may have an order
        assert "ORDER BY" not in entry.sql.rpartition("FROM")[2]
    elif entry.kind == "read" and "ORDER BY" not in entry.sql:
        assert len(empty().execute(entry.sql).fetchall()) == 1
    else:
        assert (entry.kind == "base") == ("ORDER BY" not in entry.sql.rpartition("FROM")[2])


def test_reads_are_asked_for_by_somebody():
    """By their names as literals, or as literals that begin them."""
    folder = Path(library.__path__[0]).parent
    code = "\n".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    unused = [one.name for one in READS if f'"{one.name}"' not in code]
    assert [name for name in unused if not name.startswith("memory_peak_")] == []


def test_both_name_the_same_events():
    """What counts the events of pipelines in the rollups looks for the names that the view has."""
    view = library.sql("_pipeline_slice").partition("WHERE")[2].rpartition("\n)")[0]
    counts = next(one.sql for one in READS if one.name == "pipeline_event_counts").partition("WHERE")[2]
    assert counts.partition("GROUP BY")[0].split() == view.replace("s.", "r.").split()


READ = """-- What?
--
-- reads: slice
-- parameters:
--   source_id | int | source
--   names | texts | names
-- columns:
--   id, name
--   length | int | characters of the name
SELECT s.id, s.name, LENGTH(s.name) AS length
FROM slice AS s
WHERE s.source_id = $source_id AND s.name IN $names
"""


def test_values_become_literals():
    found = header.parse("read", "some_read", READ)
    assert found.question == "What?"
    assert found.columns == (
        header.Field("id", "", "id", ""),
        header.Field("name", "", "name", ""),
        header.Field("length", "int", "length", "characters of the name"),
    )

    def where(**values):
        return statements.filled(found, values).partition("WHERE ")[2]

    assert where(source_id=-7, names=["a'b", "$source_id"]) == (
        "s.source_id = (-7) AND s.name IN ('a''b', '$source_id')"
    )
    assert where(source_id=None, names=()) == "s.source_id = NULL AND s.name IN ('')"
    for wrong in (
        {"source_id": "7", "names": ()},
        {"source_id": True, "names": ()},
        {"source_id": 7},
        {"source_id": 7, "names": "ab"},
        {"source_id": 7, "names": [1]},
        {"source_id": 7, "names": (), "more": 1},
    ):
        with pytest.raises(TypeError):
            where(**wrong)
    with pytest.raises(KeyError):
        statements.statement("no_such_read")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("--   names | texts | names\n", ""),
        ("IN $names", "IN $others"),
        ("--   length | int |", "--   length | int | Length |"),
        ("--   length | int", "--   length | ints"),
        ("--   id, name", "--   id, id"),
        ("-- parameters:", "-- severity: high\n-- parameters:"),
    ],
)
def test_headers_of_reads_are_strict(old, new):
    assert old in READ
    with pytest.raises(header.HeaderError):
        header.parse("read", "some_read", READ.replace(old, new, 1))


def test_views_come_after_what_they_read():
    seen: set[str] = set(schema().names)
    for view in library.views():
        assert set(view.reads) <= seen
        seen.add(view.name)


HEADER = """-- Title
--
-- question: What?
-- reads: slice
-- columns:
--   name | text | Name | the name
SELECT s.name FROM slice AS s
"""


def test_header_is_read():
    found = header.parse("analysis", "some_name", HEADER.replace("What?", "What\n--   and why?"))
    assert (found.title, found.question, found.reads) == ("Title", "What and why?", ("slice",))
    assert found.columns == (header.Field("name", "text", "Name", "the name"),)
    assert found.sql == "SELECT s.name FROM slice AS s"
    assert found.slug == "some-name"
    text = HEADER.replace("columns:", "columns:\n--   run_id, host_id")
    shared = header.parse("analysis", "some_name", text)
    assert shared.columns == (*map(header.SHARED_COLUMNS.get, ("run_id", "host_id")), *found.columns)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("-- Title\n--\n", "-- Title\n"),
        ("-- question: What?\n", ""),
        ("-- question: What?", "-- question: What?\n-- question: Again?"),
        ("-- question: What?", "-- wuestion: What?"),
        ("text | Name", "texts | Name"),
        (" | the name", ""),
        ("-- reads: slice", "reads: slice"),
        ("-- columns:", "-- chart: pie x=name y=name\n-- columns:"),
        ("-- columns:", "-- chart: bar x=other y=name\n-- columns:"),
        ("-- columns:", "-- severity: high\n-- columns:"),
        ("--   name | text | Name | the name", "--   a | int | A | one\n--   a | int | A | two"),
        ("--   name | text | Name | the name", "--   run_id, name"),
        ("-- columns:", "-- columns:\n--   run_id, run_id"),
        ("SELECT s.name", "DELETE"),
        ("AS s\n", "AS s;\n"),
        ("-- columns:", "-- weakened_by: Lost\n-- columns:"),
    ],
)
def test_header_is_strict(old, new):
    assert old in HEADER
    with pytest.raises(header.HeaderError):
        header.parse("analysis", "some_name", HEADER.replace(old, new, 1))


@pytest.mark.parametrize("missing", ["severity", "impact", "action", "reasoning", "formula"])
def test_findings_need_more(missing):
    text = HEADER.replace(
        "-- columns:\n",
        "-- severity: high\n-- impact: {name}\n-- action: act\n-- reasoning: why\n-- formula: how\n"
        "-- columns:\n"
        "--   impact_ps | ps | I | i\n",
    )
    header.parse("finding", "f", text)
    broken = "\n".join(line for line in text.splitlines() if missing not in line)
    with pytest.raises(header.HeaderError):
        header.parse("finding", "f", broken)
    lines = text.splitlines()
    at = lines.index("--   impact_ps | ps | I | i")
    header.parse("finding", "f", "\n".join(lines[:at] + lines[at + 1 :]))  # of programs, which have no time
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    with pytest.raises(header.HeaderError, match="impact_ps"):
        header.parse("finding", "f", "\n".join(lines))


def test_what_is_unknown_is_left_out():
    template = "{name} has {n} {n:case|cases}[, in {file}:{line}]."
    shown = {"name": "[a]", "n": "2", "file": "f.py", "line": "3"}
    whole = templates.fill(template, {"name": "[a]", "n": 2.0, "file": "f.py", "line": 3}, shown)
    assert whole == "[a] has 2 cases, in f.py:3."
    assert (
        templates.fill(template, {"name": "[a]", "n": 1, "file": "f.py", "line": None}, shown)
        == "[a] has 2 case."
    )


def test_a_type_that_is_the_name_is_said_once():
    template = "{op} ({op_type}) runs."
    both = {"op": "PyFunc", "op_type": "PyFunc"}
    assert templates.fill(template, both, both) == "PyFunc runs."
    other = {"op": "load", "op_type": "PyFunc"}
    assert templates.fill(template, other, other) == "load (PyFunc) runs."


def test_templates_name_columns():
    text = HEADER.replace(
        "-- columns:\n",
        "-- severity: high\n-- impact: {other}\n-- action: act\n-- reasoning: why\n-- formula: how\n"
        "-- columns:\n"
        "--   impact_ps | ps | I | i\n",
    )
    with pytest.raises(header.HeaderError, match="other"):
        header.parse("finding", "f", text)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM slice",
        "SELECT s.name, SUM(s.dur_ps) FROM slice AS s GROUP BY 1",
        "SELECT SUM(s.dur_ps) FILTER (WHERE s.depth = 0) AS t FROM slice AS s",
        "SELECT s.dur_ps / 2 AS half FROM slice AS s",
        "SELECT MAX(s.dur_ps) AS dur_ps FROM slice AS s",
        "SELECT GREATEST(s.dur_ps, 1) AS g FROM slice AS s",
        "SELECT s.name FROM slice AS s ORDER BY s.name",
        "SELECT s.name FROM slice AS s ORDER BY s.name DESC",
        "SELECT s.name FROM slice AS s ORDER BY 1 NULLS LAST",
        "SELECT SUM(s.dur_ps) OVER (ORDER BY s.id NULLS LAST) AS t FROM slice AS s",
        "SELECT name FROM slice",
        "SELECT CAST(CAST(s.dur_ps AS DOUBLE) / 2 AS BIGINT) AS h FROM slice AS s",
        "SELECT s.name FROM slice AS s WHERE s.name LIKE 'a\\_b'",
        "SELECT s.name FROM nowhere AS s",
        "SELECT REGEXP_EXTRACT(s.name, 'a(b)', 1) AS x FROM slice AS s",
        "SELECT s.name FROM slice AS s LIMIT 3",
        "SELECT s.name FROM (SELECT t.name FROM slice AS t LIMIT 3) AS s ORDER BY s.name NULLS LAST",
        "SELECT s.name FROM slice AS s QUALIFY ROW_NUMBER() OVER (ORDER BY s.id NULLS LAST) = 1",
        "SELECT JSON_EXTRACT_STRING(s.args_json, '$[0]') AS x FROM slice AS s",
        "SELECT DISTINCT s.name FROM slice AS s",
    ],
)
def test_lint_refuses(sql):
    assert lint.problems(sql, COLUMNS)


def test_views_stand_on_three_others_at_most():
    """One on the other: whoever reads a view follows it down to the tables in three steps."""
    below: dict[str, int] = dict.fromkeys(schema().names, -1)
    for view in library.views():
        below[view.name] = 1 + max(below[name] for name in view.reads)
    assert {name for name, views in below.items() if views > 3} == set()


def test_macros_are_replaced_by_their_text():
    """The innermost first; what is in quotes or brackets is one argument, and long lists break."""
    assert macros.expanded("SELECT share!(SUM(a.x), COALESCE(a.y, 1)) AS s") == (
        "SELECT CAST(SUM(a.x) AS DOUBLE) / NULLIF(COALESCE(a.y, 1), 0) AS s"
    )
    larger = "CASE WHEN a > b THEN a ELSE b END"
    assert macros.expanded("least!(greatest!(a, b), f(',)'))") == (
        f"CASE WHEN {larger} < f(',)') THEN {larger} ELSE f(',)') END"
    )
    names = [f"t.column_{number}" for number in range(9)]
    assert macros.expanded(
        f"  ORDER BY nulls_last!(\n    {', '.join(names)}\n  )"
    ) == "  ORDER BY " + ",".join(f"\n    {name} NULLS LAST" for name in names)
    assert macros.expanded("  covered!(t.end_ps, t.ts_ps, t.id, t.a, t.b) AS x").splitlines() == [
        "  MAX(t.end_ps) OVER (",
        "    PARTITION BY t.a, t.b",
        "    ORDER BY t.ts_ps NULLS LAST, t.id NULLS LAST",
        "    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING",
        "  ) AS x",
    ]
    assert macros.expanded("  columns!(t,\n    a, b\n  ), t.c") == "  t.a,\n  t.b, t.c"
    assert macros.expanded("GROUP BY columns!(t, a, b)") == "GROUP BY t.a, t.b"


@pytest.mark.parametrize(
    "wrong", ["tallest!(a)", "share!(a)", "share!(a, b, c)", "covered!(a, b, c)", "sum!(a"]
)
def test_macros_are_strict(wrong):
    with pytest.raises(macros.MacroError):
        macros.expanded(f"SELECT {wrong} FROM t")


def test_macros_are_used_and_explained():
    """By files, not by their definitions."""
    folder = Path(library.__path__[0]).parent
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.rglob("*.sql")}
    del files["macros.sql"]
    assert len(macros.macros()) == 26
    for name, macro in macros.macros().items():
        assert any(f"{name}!(" in text for text in files.values()), name
        assert macro.about
