"""SQL is in files of the library, where the linter sees it and other engines run it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import stepscope

SOURCE = Path(stepscope.__file__).parent
SQL = re.compile(
    r"\b(SELECT\s+\S|FROM (read_parquet|\{?[a-z_]+\}?)\b.*\b(WHERE|GROUP BY|ORDER BY)\b)", re.DOTALL
)

ALLOWED = {
    "exporters/chrome_trace.py": "writes the text of a file with DuckDB's COPY, which has no second engine",
    "exporters/events.py": "the same",
    "exporters/track_ids.py": "the same: the part of these two that numbers rows",
    "exporters/memory_rows.py": "the same: the blocks of memory",
    "exporters/own_marks.py": "the same: the devices of these rows",
    "exporters/crossings.py": "one pass over all slices in DuckDB's order of rows, a column for each depth",
    "exporters/csv.py": "wraps the statement that it is given, whose columns it does not know",
    "exporters/duckdb.py": "fills a database of DuckDB",
    "cli/memory.py": "an example in the help",
    "formats/_database.py": "formats that are databases of SQLite: what they share",
    "formats/ascend_db.py": "the format is a database of SQLite",
    "formats/nsys.py": "the same",
    "formats/rocpd.py": "the same",
    "instruments/tfprof/__init__.py": "a command to try, in an error",
}
"""Files, or folders, that may hold SQL, and why."""


def statements(text: str) -> Iterator[tuple[int, str]]:
    """Line and text of each string of a module that holds a SELECT; docstrings do not count."""
    if "SELECT" not in text and "FROM" not in text:
        return  # most modules: parsing them takes most of the time
    tree = ast.parse(text)
    said = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        whole = "".join(
            part.value if isinstance(part, ast.Constant) and isinstance(part.value, str) else "{x}"
            for part in parts
            if isinstance(node, (ast.JoinedStr, ast.Constant))
        )
        if id(node) not in said and SQL.search(whole):
            yield getattr(node, "lineno", 0), whole.strip()


def test_python_holds_no_sql() -> None:
    found = {
        path.relative_to(SOURCE).as_posix(): [f"{line}: {sql[:60]}" for line, sql in held]
        for path in sorted(SOURCE.rglob("*.py"))
        if "engines" not in path.relative_to(SOURCE).parts
        and (held := list(statements(path.read_text(encoding="utf-8"))))
    }
    assert {name: held for name, held in found.items() if not name.startswith(tuple(ALLOWED))} == {}
    unused = [place for place in ALLOWED if not any(name.startswith(place) for name in found)]
    assert not unused, "ALLOWED names places without SQL"


@pytest.mark.parametrize(
    ("code", "number"),
    [
        ('rows = query("SELECT name FROM slice")', 1),
        ('rows = query(f"SELECT {name} FROM {table}")', 1),
        ('rows = query(f"FROM {table} WHERE a = 1")', 1),
        ('def f():\n    """Runs one SELECT."""\n', 0),
        ('SQL = """\nSELECT a\nFROM b"""\n', 1),
        ("say('select a file FROM there')", 0),
    ],
)
def test_it_is_found(code: str, number: int) -> None:
    assert len(list(statements(code))) >= number
    assert bool(list(statements(code))) == bool(number)


def test_a_statement_lies_in_the_folder_that_asks_it() -> None:
    """What a folder asks for itself has a name of its own, which nothing else asks."""
    files = sorted(SOURCE.rglob("reads/*.sql"))
    assert len({path.stem for path in files}) == len(files) > 150
    own = {path.stem: path.parents[1] for path in files if path.parents[1].name != "library"}
    for path in SOURCE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "statement(" not in text and "text(" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
                asked = getattr(node.func, "id", getattr(node.func, "attr", "")) in ("statement", "text")
                if asked and node.args[0].value in own:
                    assert path.is_relative_to(own[str(node.args[0].value)]), node.args[0].value
