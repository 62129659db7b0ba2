"""Files appear whole or not at all; what is there is not overwritten; stdout is a stream."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from stepscope import exporters
from stepscope.errors import OutputError, StepscopeError, UsageError
from stepscope.exporters.clocks import distinguish
from stepscope.exporters.staging import pumped, staged
from tests import corpus
from tests.draw import Tables
from tests.fakes import FakeTrace, drawn_trace
from tests.tiers import some

ENDINGS = [".json", ".json.gz", ".ndjson", ".jsonl.gz", ".csv", ".parquet", "/", ".duckdb"]


def drawn() -> FakeTrace:
    tables = Tables()
    tables.source(0)
    tables.add("track", kind="thread", records="execution", process="p", name="t")
    tables.slices(0, [{"track_id": 0, "name": "a", "ts_ps": 5, "dur_ps": 7}])
    return drawn_trace(tables)


@pytest.mark.parametrize("ending", some(ENDINGS, (".json", ".parquet", "/"), "every ending"))
def test_every_ending_is_written_once(tmp_path: Path, ending: str) -> None:
    out = f"{tmp_path}/out{ending}"
    written = exporters.write(drawn(), out)
    assert written.path == out
    assert sum(written.rows.values()) > 0
    assert len(list(tmp_path.iterdir())) == 1, "nothing is left beside it"
    with pytest.raises(OutputError) as caught:
        exporters.write(drawn(), out)
    assert caught.value.slug == "output-exists"
    exporters.write(drawn(), out, force=True)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("ending", some(ENDINGS, (".json", ".parquet", "/"), "every ending"))
def test_failure_leaves_what_was_there(tmp_path: Path, ending: str) -> None:
    trace = drawn()
    trace.connection.execute("DROP TABLE slice")
    trace.connection.execute("CREATE VIEW slice AS SELECT error('the disk is on fire') AS id")
    out = tmp_path / f"out{ending}".rstrip("/")
    if ending == "/":
        out.mkdir()
    else:
        out.write_bytes(b"before")
    with pytest.raises(Exception, match=r"fire|not found|does not have"):
        exporters.write(trace, f"{tmp_path}/out{ending}", force=True)
    assert list(tmp_path.iterdir()) == [out]
    assert out.is_dir() or out.read_bytes() == b"before"


def test_a_folder_with_other_things_is_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    with pytest.raises(OutputError, match="not replaced"):
        exporters.write(drawn(), f"{folder}/", force=True)
    assert (folder / "thesis.tex").exists()


@pytest.mark.parametrize(
    ("out", "options", "slug"),
    [
        ("out.docx", {}, "unknown-ending"),
        ("out.duckdb.gz", {}, "unknown-ending"),
        ("out.csv", {"table": "slices"}, "unknown-table"),
        ("-", {}, "no-format"),
        ("-", {"format": "parquet"}, "not-text"),
        ("no/such/folder/out.csv", {}, "no-folder"),
    ],
)
def test_mistakes_are_explained(tmp_path: Path, out: str, options: dict[str, str], slug: str) -> None:
    from stepscope.messages import MESSAGES

    with pytest.raises(StepscopeError) as caught:
        exporters.write(drawn(), out if out == "-" else tmp_path / out, **options)  # type: ignore[arg-type]
    assert caught.value.slug == slug
    assert slug in MESSAGES
    assert isinstance(caught.value, UsageError | OutputError)


@pytest.mark.repeats("every ending as a process")
def test_stdout_gets_the_same_bytes_as_a_file(tmp_path: Path) -> None:
    sample = corpus.SAMPLES / "profiler_hook"
    command = [sys.executable, "-m", "stepscope", "export", str(sample), "--no-cache"]
    for form in ("json", "ndjson", "csv"):
        file = tmp_path / f"out.{form}"
        subprocess.run([*command, "-o", str(file)], check=True, capture_output=True)
        piped = subprocess.run([*command, "-o", "-", "--to", form], check=True, capture_output=True).stdout
        assert piped == file.read_bytes()
    packed = subprocess.run([*command, "-o", "-", "--to", "json.gz"], check=True, capture_output=True).stdout
    assert gzip.decompress(packed) == (tmp_path / "out.json").read_bytes()


def test_a_reader_that_goes_away_is_no_error() -> None:
    sample = corpus.SAMPLES / "tf_data" / "map_py_function.xplane.pb"
    command = f"{sys.executable} -m stepscope export {sample} --no-cache -o - --to ndjson | head -n 1"
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"], capture_output=True, timeout=250, check=False
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr
    assert b"error" not in done.stderr


def test_a_pipe_that_nobody_writes_to_does_not_hang() -> None:
    class Sink:
        def write(self, data: bytes, /) -> None:
            raise AssertionError("nothing was written")

    with pytest.raises(ZeroDivisionError), pumped(Sink()):
        raise ZeroDivisionError


def test_the_error_of_a_sink_comes_out() -> None:
    class Full:
        def write(self, data: bytes, /) -> None:
            raise OSError(28, "No space left on device")

    def write_much() -> None:
        with pumped(Full()) as pipe, pipe.open("wb", buffering=0) as file:
            for _ in range(100):
                file.write(bytes(1 << 16))

    with pytest.raises(OSError, match="No space"):
        write_much()


def test_a_file_made_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    out = tmp_path / "out.csv"

    def write_slowly() -> None:
        with staged(out, force=False) as part:
            part.write_text("ours")
            out.write_text("theirs")

    with pytest.raises(OutputError, match="there already"):
        write_slowly()
    assert out.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize(
    ("paths", "labels"),
    [
        (["a/b/trace.json"], ["trace.json"]),
        (["x/timeline-5.json", "x/timeline-10.json"], ["timeline-5", "timeline-10"]),
        (["r/d1/vm.xplane.pb", "r/d2/vm.xplane.pb"], ["d1", "d2"]),
        (["r/d1/a.pb", "r/d2/b.pb"], ["d1/a", "d2/b"]),
        (["r/a.json", "r/a.pb"], ["a.json", "a.pb"]),
        (["a.zip!x/1.json", "a.zip!x/2.json"], ["1", "2"]),
        (["-", "-"], ["- #1", "- #2"]),
        (["r/x.json", "r/deep/x.json"], ["x", "deep/x"]),
    ],
)
def test_labels_tell_sources_apart(paths: list[str], labels: list[str]) -> None:
    assert distinguish(paths) == labels
