"""A Trace from paths to rows: every way in gives the same answers."""

import gzip
import io
import itertools
import subprocess
import sys
import tarfile
import textwrap
import zipfile
from pathlib import Path

import pytest

import stepscope
from stepscope import _core
from stepscope.errors import NothingFound, OutputError, QueryError, UnreadableSource, UsageError
from stepscope.session.decoding import NEEDS, needs_of
from stepscope.session.trace import open as open_trace
from tests.lake.recordings import chrome
from tests.tiers import some

ALIKE = pytest.mark.repeats("a question with the same needs")
COUNT = "SELECT count(*), sum(dur_ps), sum(self_ps), count(args_json), count(DISTINCT id) FROM slice"


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))


def ask(sql: str, *paths: Path, **options: bool) -> list[tuple[object, ...]]:
    with open_trace(*paths, **options) as trace:  # type: ignore[arg-type]
        return trace.query(sql).rows()


def packed(path: Path, kind: str) -> Path:
    """The file packed in some way."""
    data = path.read_bytes()
    out = path.with_name(f"{path.name}.{kind}")
    if kind == "gz":
        out.write_bytes(gzip.compress(data))
    elif kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("in/trace.json", data)
    elif kind == "gz.zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("in/trace.json.gz", gzip.compress(data))
    else:
        with tarfile.open(out, f"w:{kind.partition('.')[2]}") as archive:
            info = tarfile.TarInfo("in/trace.json")
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out


@pytest.mark.parametrize(
    "kind",
    some(
        ["gz", "zip", "gz.zip", "tar.", "tar.gz", "tar.bz2", "tar.xz"],
        ("gz.zip", "tar.xz"),
        "tests/sources reads every kind",
    ),
)
@pytest.mark.parametrize("cache", [True, False])
def test_packed_or_not_the_rows_are_the_same(tmp_path: Path, kind: str, cache: bool) -> None:
    plain = chrome(tmp_path / "trace.json")
    wanted = ask(COUNT, plain, cache=False)
    path = packed(plain, kind)
    for _ in range(2):
        assert ask(COUNT, path, cache=cache) == wanted


def test_second_look_into_a_packed_tar_survives_the_loss_of_the_entry(tmp_path: Path) -> None:
    path = packed(chrome(tmp_path / "trace.json"), "tar.gz")
    wanted = ask(COUNT, path)
    for entry in (tmp_path / "cache" / "entries").iterdir():
        for file in entry.iterdir():
            file.unlink()
        entry.rmdir()
    assert ask(COUNT, path) == wanted


def test_order_of_paths_does_not_matter(tmp_path: Path) -> None:
    paths = [
        chrome(tmp_path / "a.json", "a"),
        chrome(tmp_path / "b.json", "b", count=7),
        chrome(tmp_path / "timeline-3.json", "c"),
    ]
    sql = "SELECT source_id, run_id, id, name, track_id, parent_id, step FROM slice ORDER BY id"
    wanted = ask(sql, *paths)
    for order in itertools.permutations(paths):
        assert ask(sql, *order, cache=False) == wanted


def test_ids_are_unique_and_join_over_sources(tmp_path: Path) -> None:
    paths = [chrome(tmp_path / f"{name}.json", name, count=5) for name in "abc"]
    found = ask(
        "SELECT count(*), count(DISTINCT s.id), count(DISTINCT t.id), bool_and(s.run_id = t.run_id) "
        "FROM slice s JOIN track t ON t.id = s.track_id",
        *paths,
    )
    assert found == [(15, 15, 6, True)]


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT count(*) FROM slice", set()),
        pytest.param("SELECT name, sum(dur_ps) FROM slice GROUP BY name", set(), marks=ALIKE),
        ("SELECT args_json FROM slice", {"args"}),
        ("SELECT self_ps FROM slice", {"nesting"}),
        ("SELECT depth, args_json FROM slice", {"args", "nesting"}),
        pytest.param("SELECT op_name, count(*) FROM slice GROUP BY op_name", {"ops"}, marks=ALIKE),
        ("SELECT name FROM slice WHERE correlation_id = 1 AND op_type = 'MatMul'", {"ops"}),
        pytest.param(
            "SELECT s.name, t.name FROM slice s JOIN track t ON t.id = s.track_id", set(), marks=ALIKE
        ),
        ("SELECT step FROM slice", set(NEEDS)),
        pytest.param("SELECT * FROM slice", set(NEEDS), marks=ALIKE),
        pytest.param("SELECT count(*) FROM counter", set(NEEDS), marks=ALIKE),
        ("SELECT * FROM op_sum", set(NEEDS)),
        ("SUMMARIZE slice", set(NEEDS)),
    ],
)
def test_one_question_decodes_what_it_needs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sql: str, wanted: set[str]
) -> None:
    asked: list[set[str]] = []
    real = _core.decode

    def watching(*arguments: object, **options: object) -> object:
        needs = options["needs"]
        asked.append(set(NEEDS) if needs is None else set(needs))  # type: ignore[call-overload]
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "decode", watching)
    path = chrome(tmp_path / "a.json")
    with open_trace(path, cache=False) as trace:
        rows = sorted(trace.query(sql).rows(), key=repr)
        assert asked == [wanted]
        # A second question that needs more gets it, and the first answer stays true.
        assert trace.query(COUNT).rows() == [(20, 40_000_000, 40_000_000, 20, 20)]
        assert sorted(trace.query(sql).rows(), key=repr) == rows
        assert len(asked) <= 2
    assert sorted(ask(sql, path), key=repr) == rows
    assert needs_of(frozenset({"slice"}), frozenset({"step"}), False) == NEEDS


def test_every_table_is_there_with_its_columns(tmp_path: Path) -> None:
    with open_trace(chrome(tmp_path / "a.json")) as trace:
        for table in trace.schema.tables:
            found = trace.query(f"SELECT * FROM {table.name}")
            assert found.columns == table.names
            assert found.types == tuple(column.type for column in table.columns)
            assert len(found.rows()) >= (table.name in ("run", "capture", "source", "host", "slice"))


def test_what_can_be_read_is_read_and_the_rest_told(tmp_path: Path) -> None:
    good = chrome(tmp_path / "good.json")
    bad = tmp_path / "bad.json.gz"
    bad.write_bytes(gzip.compress(b'{"traceEvents":[')[:14] + b"\x00" * 30)
    with open_trace(good, bad) as trace:
        rows = trace.query("SELECT path, events_stored, complete FROM source ORDER BY path").rows()
    assert rows[-1] == (str(good), 20, True)
    assert all(not complete for _, _, complete in rows[:-1])


def test_nothing_but_unreadable_sources_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*arguments: object, **options: object) -> object:
        error = _core.CoreError("damaged", 12, "no end")
        error.kind, error.offset, error.seen = error.args
        raise error

    monkeypatch.setattr(_core, "decode", damaged)
    with open_trace(chrome(tmp_path / "a.json")) as trace, pytest.raises(UnreadableSource) as caught:
        trace.query("SELECT 1")
    assert caught.value.path == str(tmp_path / "a.json")
    assert "no end (byte 12)" in caught.value.seen


def test_a_question_may_be_asked_while_the_rows_of_another_are_read() -> None:
    """The second one attaches a table, which the connection cannot while a result is open."""
    sample = Path(__file__).parents[1] / "samples" / "tf_data" / "map_py_function.xplane.pb"
    with open_trace(sample, cache=False) as trace:
        (count,) = trace.query("SELECT count(*) FROM slice").rows()[0]
        slices = trace.query("SELECT * FROM slice")
        first = next(slices.batches(3))
        assert trace.query("SELECT count(*) > 0 FROM track").rows() == [(True,)]
        trace.keep(["track_place"])
        assert len(first) + len(slices.rows()) == count


@pytest.mark.repeats("cli/test_end_to_end.py runs the commands")
def test_what_was_given_is_remembered_for_commands_to_try_next(tmp_path: Path) -> None:
    folder = Path(__file__).parents[1] / "samples" / "profiler_hook"
    with open_trace(folder, cache=False) as trace:
        assert trace.given == (str(folder),)
        assert len(trace.sources) == 4
    stepscope.ingest([folder], tmp_path / "lake")
    for opened in (open_trace(lake=tmp_path / "lake"), open_trace(tmp_path / "lake")):
        with opened as trace:
            assert trace.given == (str(tmp_path / "lake"),)


def test_nothing_found_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing here")
    with pytest.raises(NothingFound, match="1 x text file"):
        open_trace(tmp_path)


def test_copy_keep_define_and_close(tmp_path: Path) -> None:
    with open_trace(chrome(tmp_path / "a.json")) as trace:
        trace.define({"longest": "SELECT max(dur_ps) AS dur_ps FROM slice"})
        trace.keep(["longest"])
        assert trace.query("SELECT dur_ps FROM longest").rows() == [(2_000_000,)]
        out = tmp_path / "out.csv"
        assert trace.copy("SELECT name FROM slice, longest", str(out), "csv") == 20
        assert len(out.read_text().splitlines()) == 21
        with pytest.raises(OutputError):
            trace.copy("SELECT 1", str(tmp_path / "no" / "out.csv"), "csv")
        with pytest.raises(QueryError, match="disabled"):
            trace.query(f"SELECT * FROM '{out}'")
    trace.close()
    with pytest.raises(UsageError, match="closed"):
        trace.query("SELECT 1")


def test_progress_counts_packed_bytes(tmp_path: Path) -> None:
    paths = [chrome(tmp_path / f"{name}.json", name, count=60_000) for name in "ab"]
    seen: list[tuple[str, int, int]] = []
    with open_trace(*paths, cache=False, progress=lambda *told: seen.append(told)) as trace:
        trace.query(COUNT).rows()
    total = sum(path.stat().st_size for path in paths)
    assert seen
    assert all(0 <= done <= total == all_of_it for _, done, all_of_it in seen)


def run(program: str, *arguments: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.repeats("a process of its own")
@pytest.mark.parametrize(
    "end", some(["", "trace.close()", "raise SystemExit(3)", "1 / 0"], ("", "1 / 0"), "other ends")
)
def test_nothing_is_said_at_the_end_of_the_process(tmp_path: Path, end: str) -> None:
    done = run(
        f"""
        import sys
        import stepscope
        trace = stepscope.open(sys.argv[1])
        print(next(trace.query("SELECT name FROM slice ORDER BY id").batches(1)))
        {end}
        """,
        chrome(tmp_path / "a.json"),
    )
    assert done.stdout == "[('op0',)]\n"
    assert "nanobind" not in done.stderr
    assert (done.stderr == "") == (end != "1 / 0")


def test_importing_loads_neither_engine_nor_core() -> None:
    done = run(
        """
        import sys
        import stepscope
        print([name for name in sys.modules if name in ("duckdb", "stepscope._core", "rich")])
        """
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_spooled_files_are_gone_in_the_end(tmp_path: Path) -> None:
    path = packed(chrome(tmp_path / "trace.json"), "tar.xz")
    (tmp_path / "tmp").mkdir()
    program = f"""
        import os, sys, tempfile
        tempfile.tempdir = {str(tmp_path / "tmp")!r}
        import stepscope
        trace = stepscope.open(sys.argv[1], cache=False)
        assert os.listdir(tempfile.tempdir)
        print(trace.query("SELECT count(*) FROM slice").rows())
    """
    done = run(program, path)
    assert (done.stdout, done.stderr) == ("[(20,)]\n", "")
    assert list((tmp_path / "tmp").iterdir()) == []


@pytest.mark.parametrize("name", ["a" * 5000, "loop/trace.json", "a\0b"], ids=["long", "loop", "null"])
def test_a_path_that_cannot_be_looked_up(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(UsageError) as raised:
        open_trace(name, cache=False)
    assert raised.value.path == name
    with pytest.raises(UsageError):
        stepscope.ingest([name], tmp_path / "lake")
    assert not (tmp_path / "lake").exists()
