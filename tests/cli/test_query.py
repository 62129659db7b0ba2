"""Where the SQL comes from, and in which form the rows go."""

import io
import json
import sys
from pathlib import Path

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.cli import main, rows_output
from stepscope.cli import query as verb
from stepscope.cli.console import Console
from stepscope.cli.statements import is_blank, split, statements
from stepscope.library import header
from tests.cli.fakes import fake_trace
from tests.tiers import cases

TOP = "SELECT name, sum(dur_ps)::BIGINT AS total_ps FROM slice GROUP BY name ORDER BY name"


def ask(*words: str) -> int:
    return main(["query", *words])


def test_the_forms_of_an_answer(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with fake_trace(monkeypatch):
        assert ask("a", TOP, "--format", "json") == 0
        assert json.loads(capsys.readouterr().out) == {
            "format": 1,
            "rows": [{"name": f"op{i}", "total_ps": 9 + 3 * i} for i in range(3)],
        }
        for words in (("a", TOP), (TOP, "a")):
            assert ask(*words, "--format", "csv") == 0
        rows, again = capsys.readouterr().out.split("name,", 2)[1:]
        assert rows == again
        assert "name," + rows == "name,total_ps\nop0,9\nop1,12\nop2,15\n".replace("\n", "\r\n")
        assert ask("a", TOP, "--format", "md") == 0
        assert capsys.readouterr().out.splitlines()[2] == "| op0 | 9 |"
        assert ask("a", TOP) == 0
        assert capsys.readouterr().out.splitlines()[0] == "name  total_ps"


def test_sql_from_a_file_a_pipe_and_an_argument(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "top.sql"
    file.write_text(f"-- the article's question\n{TOP};\n")
    with fake_trace(monkeypatch) as opened:
        assert ask("a", "b", "-f", str(file)) == 0
        from_file = capsys.readouterr().out
        monkeypatch.setattr(sys, "stdin", io.StringIO(TOP))
        assert ask("a", "b") == 0
        assert capsys.readouterr().out == from_file
        assert ask("a", "b", TOP) == 0
        assert capsys.readouterr().out == from_file
        assert ask("--lake", "l", TOP) == 0
        assert capsys.readouterr().out == from_file
        assert [(trace.paths, trace.options["lake"]) for trace in opened] == [(("a", "b"), None)] * 3 + [
            ((), "l")
        ]


def test_what_counts_as_sql(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "select me.json").write_text("[]")
    assert verb.looks_like_sql("SELECT 1")
    assert verb.looks_like_sql("\n with x AS (SELECT 1) FROM x")
    assert verb.looks_like_sql("@op_types")
    assert verb.looks_like_sql("-- the top\nSELECT 1")
    assert verb.looks_like_sql("SELECT '" + "x" * 10_000 + "'")
    assert not verb.looks_like_sql("select me.json")
    assert not verb.looks_like_sql("missing.json")
    assert not verb.looks_like_sql("my trace.json")


def test_several_statements(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with fake_trace(monkeypatch):
        assert ask("a", "SELECT 1 AS one; SELECT ';' AS two -- ;", "--format", "csv") == 0
        assert capsys.readouterr().out == "one\r\n1\r\ntwo\r\n;\r\n"


def test_a_mistake_in_the_sql(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with fake_trace(monkeypatch):
        assert ask("a", "SELECT nonsense FROM slice") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "nonsense" in captured.err


def test_an_analysis_that_is_not_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_trace(monkeypatch):
        assert ask("a", "@op_typos") == 2
    assert "near it: op_types" in capsys.readouterr().err


def test_an_analysis_has_units_as_a_table_and_is_raw_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from stepscope import library

    text = """-- Made up
--
-- question: what?
-- reads: slice
-- columns:
--   name | text | Name | a name
--   dur_ps | ps | Duration | how long
SELECT name, CAST(1234567890123 AS BIGINT) AS dur_ps FROM slice ORDER BY name, slice.dur_ps LIMIT 1"""
    made_up = header.parse("analysis", "made_up", text)
    monkeypatch.setattr(library, "named", lambda name: made_up)
    with fake_trace(monkeypatch):
        assert ask("a", "@made_up") == 0
        assert capsys.readouterr().out == "name  dur_ps (s)\n────  ──────────\nop0         1.23\n"
        assert ask("a", "@made_up", "--format", "csv") == 0
        assert capsys.readouterr().out == "name,dur_ps\r\nop0,1234567890123\r\n"


def test_an_analysis_without_rows_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from stepscope import library

    comments = "--\n-- question: what?\n-- reads: slice\n-- columns:\n--   name | text | Name | a name\n"
    text = f"-- Made up\n{comments}SELECT name FROM slice WHERE name = 'none' ORDER BY name"
    monkeypatch.setattr(library, "named", lambda name: header.parse("analysis", "made_up", text))
    with fake_trace(monkeypatch):
        assert ask("a", "@made_up") == 0
        assert "(no rows: `stepscope docs made_up` says what it looks at)" in capsys.readouterr().err
        assert ask("a", "@made_up", "--format", "csv") == 0
        assert "no rows" not in capsys.readouterr().err


def test_standard_input_cannot_be_both(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("[]"))
    assert ask("-") == 2
    assert "both" in capsys.readouterr().err


def terminal(width: int = 60) -> Console:
    return Console(io.StringIO(), io.StringIO(), False, False, True, True, width, 24)


def test_a_terminal_is_given_the_first_rows_and_told_so() -> None:
    console = terminal()
    rows_output.write_rows(["n"], ((i,) for i in range(1000)), console, "table")
    assert isinstance(console.out, io.StringIO)
    assert isinstance(console.err, io.StringIO)
    assert len(console.out.getvalue().splitlines()) == rows_output.ROWS_ON_SCREEN + 2
    assert console.err.getvalue() == "(only the first 200 rows; --all shows the rest)\n"


@pytest.mark.parametrize("rows", [199, 200])
def test_a_terminal_is_told_nothing_when_nothing_is_missing(rows: int) -> None:
    console = terminal()
    rows_output.write_rows(["n"], ((i,) for i in range(rows)), console, "table")
    assert isinstance(console.err, io.StringIO)
    assert console.err.getvalue() == ""


def test_all_rows_on_a_terminal() -> None:
    console = terminal()
    rows_output.write_rows(["n"], ((i,) for i in range(1000)), console, "table", everything=True)
    assert isinstance(console.out, io.StringIO)
    assert len(console.out.getvalue().splitlines()) == 1002


# --- statements ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "parts", "rest"),
    [
        ("", [], ""),
        ("SELECT 1", [], "SELECT 1"),
        ("SELECT 1;", ["SELECT 1"], ""),
        ("SELECT ';';x", ["SELECT ';'"], "x"),
        ("SELECT 'it''s;';", ["SELECT 'it''s;'"], ""),
        ('SELECT ";" FROM "a""b;";', ['SELECT ";" FROM "a""b;"'], ""),
        ("SELECT 1 -- ;\n;", ["SELECT 1 -- ;"], ""),
        ("SELECT /* ; */ 1;", ["SELECT /* ; */ 1"], ""),
        ("SELECT $$;$$; SELECT $a$ $$ ; $a$;", ["SELECT $$;$$", "SELECT $a$ $$ ; $a$"], ""),
        (r"SELECT e'\';';", [r"SELECT e'\';'"], ""),
        ("SELECT 'open;", [], "SELECT 'open;"),
        (";;; SELECT 1 ;", ["SELECT 1"], ""),
    ],
)
def test_split(text: str, parts: list[str], rest: str) -> None:
    assert split(text) == (parts, rest)


@settings(max_examples=cases(100, 1000))
@given(st.text(alphabet=";'\"-/*$ae\\\n x1", max_size=40))
def test_splitting_agrees_with_the_engine(text: str) -> None:
    """Where DuckDB can read a text at all, it finds as many statements as we do."""
    import duckdb

    try:
        found = duckdb.extract_statements(text)
    except duckdb.Error:
        return
    assert len(found) == len(statements(text))


@settings(max_examples=cases(40, 400))
@given(st.text(max_size=60))
def test_splitting_loses_nothing(text: str) -> None:
    parts, rest = split(text)
    assert sum(map(len, parts)) + len(rest) <= len(text)
    assert all(part in text for part in parts)
    assert text.endswith(rest)


def test_blank() -> None:
    assert is_blank(" -- a\n/* b */ ")
    assert not is_blank("SELECT 1 -- a")


def test_rows_in_a_parquet_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "top.parquet"
    with fake_trace(monkeypatch):
        assert ask("a", TOP, "-o", str(path)) == 0
        assert capsys.readouterr().err == f"wrote 3 rows to {path}\n"
        assert ask("a", TOP, "--format", "json") == 0
        shown = json.loads(capsys.readouterr().out)["rows"]
        found = duckdb.sql(f"SELECT * FROM '{path}'")
        assert [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()] == shown
        assert ask("a", TOP, "-o", str(path)) == 2
        assert "--force" in capsys.readouterr().err


@pytest.mark.parametrize("ending", [one for one in verb.ENDINGS if one != ".parquet"])
def test_rows_in_a_file(
    ending: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"top{ending}"
    with fake_trace(monkeypatch):
        assert ask("a", TOP, "-o", str(path)) == 0
        captured = capsys.readouterr()
        assert (captured.out, captured.err) == ("", f"wrote 3 rows to {path}\n")
        written = path.read_bytes().decode()
        if ending != ".ndjson":
            assert ask("a", TOP, "--format", ending[1:]) == 0
            assert capsys.readouterr().out == written
        else:
            assert [json.loads(line)["total_ps"] for line in written.splitlines()] == [9, 12, 15]
        assert ask("a", TOP, "-o", str(path)) == 2
        assert "--force" in capsys.readouterr().err
        assert ask("a", TOP, "-o", str(path), "--force") == 0
        assert path.read_bytes().decode() == written
        path.unlink()
        assert ask("a", "SELECT nonsense FROM slice", "-o", str(path)) == 2
        assert not list(tmp_path.iterdir()), "a query that fails leaves nothing behind"


@pytest.mark.parametrize(
    ("words", "seen"),
    [
        ((TOP, "-o", "x.xlsx"), "ends in .xlsx"),
        ((TOP, "-o", "x"), "ends in nothing"),
        ((TOP, "-o", "x.csv", "--format", "json"), "--format json"),
        (("SELECT 1; SELECT 2", "-o", "x.csv"), "2 statements"),
    ],
)
def test_what_a_file_cannot_be(
    words: tuple[str, ...], seen: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with fake_trace(monkeypatch):
        assert ask("a", *words) == 2
    assert seen in capsys.readouterr().err


def test_a_file_never_reads_other_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """SQL that goes to a file is as shut in as SQL that goes to the screen."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    sample = str(Path(__file__).parents[1] / "samples" / "chrome" / "viztracer.json")
    out = tmp_path / "out.csv"
    assert ask(sample, f"SELECT * FROM read_csv('{secret}')", "-o", str(out)) == 2
    assert not out.exists()
    assert capsys.readouterr().err.startswith("error: ")
