"""The verbs on recordings that ship with the project."""

import csv
import gzip
import io
import itertools
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from tests.corpus import SAMPLES
from tests.tiers import ALL, cases, some

XPLANE = str(SAMPLES / "tf_data" / "map_py_function.xplane.pb")
TIMELINES = str(SAMPLES / "profiler_hook")

ARTICLE = (
    "SELECT op_name, sum(dur_ps) / 1e6 AS total_us,"
    " avg(dur_ps) / 1e6 AS mean_us, min(dur_ps) / 1e6 AS min_us,"
    " max(dur_ps) / 1e6 AS max_us FROM slice GROUP BY op_name ORDER BY total_us DESC, op_name LIMIT 20"
)


@pytest.fixture(autouse=True, scope="module")
def tracebacks() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STEPSCOPE_TRACEBACK", "1")
        yield


def run(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    code = main(list(words))
    captured = capsys.readouterr()
    assert code == 0, captured.err
    return captured.out


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    answer = json.loads(run(capsys, "query", *words, "--format", "json"))
    assert answer["format"] == 1
    found: list[dict[str, Any]] = answer["rows"]
    return found


def test_the_summary_says_where_why_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, XPLANE)
    assert "20 steps" in shown
    assert "Waiting for input takes" in shown
    assert "Steps wait for input." in shown
    assert "EagerPyFunc" in shown
    assert "6,791 of 6,791 events stored" in shown
    assert shown.count("→ ") >= 2
    commands = [line.removeprefix("Next").strip() for line in shown.splitlines() if " stepscope " in line]
    assert len(commands) == 2


def test_the_commands_to_try_next_work(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = json.loads(run(capsys, XPLANE, "--format", "json"))
    monkeypatch.chdir(tmp_path)
    for command in read["next_commands"]:
        program, *words = shlex.split(command)
        assert program == "stepscope"
        run(capsys, *words)


@pytest.mark.repeats("each analysis is asked in library/test_library.py")
def test_every_number_of_the_summary_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    read = json.loads(run(capsys, XPLANE, "--format", "json"))
    section = next(one for one in read["sections"] if one["name"] == "op_types")
    asked = rows(capsys, XPLANE, section["sql"])
    shown = section["table"]["rows"]
    assert [row for row in asked if row in shown] == shown
    assert section["table"]["total"] == len(asked)


def test_the_articles_question_against_plain_python(capsys: pytest.CaptureFixture[str]) -> None:
    durations: dict[str, list[int]] = {}
    for path in sorted(Path(TIMELINES).glob("*.json")):
        for event in json.loads(path.read_text())["traceEvents"]:
            if event["ph"] == "X":
                durations.setdefault(event["args"]["name"], []).append(event["dur"])
    wanted = sorted(
        ((name, sum(d), sum(d) / len(d), min(d), max(d)) for name, d in durations.items()),
        key=lambda row: (-row[1], row[0]),
    )[:20]
    found = [tuple(row.values()) for row in rows(capsys, TIMELINES, ARTICLE)]
    assert [row[0] for row in found] == [row[0] for row in wanted]
    for one, other in zip(found, wanted, strict=True):
        assert one[1:] == pytest.approx(other[1:])


@pytest.mark.parametrize(
    "form", some(["table", "json", "csv", "md"], ("csv",), "the form comes after the rows, cached or not")
)
def test_no_cache_keeps_nothing_and_says_the_same(
    form: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    words = (
        "query",
        XPLANE,
        "SELECT name, count(*) AS n FROM slice GROUP BY name ORDER BY name",
        "--format",
        form,
    )
    without = run(capsys, *words, "--no-cache")
    assert not (tmp_path / "cache").exists()
    assert run(capsys, *words) == without
    assert run(capsys, *words) == without


def test_ingest_says_what_it_left_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(4):
        (folder / f"note{number}.txt").write_text("words\n")
    (folder / "a.csv").write_text("a,b\n1,2\n")
    (folder / "timeline-5.json").write_bytes(Path(TIMELINES, "timeline-5.json").read_bytes())
    (folder / "timeline-5.json.gz").write_bytes(
        gzip.compress(Path(TIMELINES, "timeline-5.json").read_bytes())
    )
    words = ["ingest", str(folder), "--lake", str(tmp_path / "lake")]
    assert main(words) == 0
    told = capsys.readouterr()
    assert "no recordings: 5 files (" in told.err
    assert f": {folder}/a.csv, {folder}/note0.txt, {folder}/note1.txt, …\n" in told.err
    assert "note0" not in told.out
    listed = json.loads(run(capsys, *words, "--format", "json"))["rows"]
    skipped = {Path(row["source"]).name: row["skipped"] for row in listed if row["skipped"]}
    assert len(listed) == 7
    assert set(skipped) == {"a.csv", "timeline-5.json.gz", *(f"note{number}.txt" for number in range(4))}
    assert skipped["timeline-5.json.gz"] == "packed copy of timeline-5.json"
    assert all(row["error"] is None for row in listed)


FLEETS = [
    (kind, *fleet)
    for kind, fleet in itertools.product(
        ("packed", "deep", "noise", "empty"), ((3, 1, 0), (2, 2, 2), (1, 4, 2))
    )
]
ONCE = (("packed", 2), ("deep", 3))
"""Half that is packed, and less than half that is not: once with exit code 2, once with 0."""


@pytest.mark.parametrize(
    ("kind", "good", "bad", "code"),
    [
        pytest.param(
            *fleet,
            marks=() if fleet[:2] in ONCE else pytest.mark.repeats("other damage, other numbers of files"),
        )
        for fleet in FLEETS
    ],
)
def test_half_of_a_fleet_is_unreadable(
    kind: str, good: int, bad: int, code: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """What can be read is in the lake, and a script notices that the rest is not."""
    packed = bytearray(gzip.compress(Path(TIMELINES, "timeline-5.json").read_bytes()))
    packed[60:90] = bytes(30)
    deep = b'{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "args": ' + b"[" * 100_000
    for host in range(good + bad):
        folder = tmp_path / "logs" / "run=r" / f"host=h{host}"
        folder.mkdir(parents=True)
        if host < good:
            (folder / "t.json").write_bytes(Path(TIMELINES, "timeline-5.json").read_bytes())
        elif kind == "packed":
            (folder / "t.json.gz").write_bytes(packed)
        elif kind in ("noise", "empty"):
            (folder / "t.xplane.pb").write_bytes(bytes(range(256)) * 9 if kind == "noise" else b"")
        else:
            (folder / "t.json").write_bytes(deep)
    words = ["ingest", str(tmp_path / "logs"), "--lake", str(tmp_path / "lake")]
    for _ in range(2):
        assert main(words) == code
        told = capsys.readouterr()
        assert ("error: Half of the sources, or more, could not be read." in told.err) == bool(code)
        if code:
            assert f"host=h{good}/t." in told.err
            assert f"seen:  {bad} of {good + bad}; of the first: " in told.err
            assert "to do: copy these files again" in told.err
    sql = "SELECT count(DISTINCT host_id) AS n FROM slice"
    assert json.loads(run(capsys, "query", str(tmp_path / "lake"), sql, "--format", "json"))["rows"] == [
        {"n": good}
    ]


@pytest.mark.repeats("lake/test_lake.py shows it within one process")
def test_a_lake_is_ingested_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lake = str(tmp_path / "lake")
    words = ("ingest", XPLANE, TIMELINES, "--lake", lake, "--format", "json")
    first = json.loads(run(capsys, *words))["rows"]
    assert sum(row["stored"] for row in first) > 6791
    assert len(first) == 5
    assert all(row["seen"] == row["stored"] + row["lost"] for row in first)
    before = sorted(str(path) for path in Path(lake).rglob("*") if path.is_file())
    assert json.loads(run(capsys, *words))["rows"] == first
    assert sorted(str(path) for path in Path(lake).rglob("*") if path.is_file()) == before
    (count,) = rows(capsys, "--lake", lake, "SELECT count(*) AS sources FROM source")
    assert count == {"sources": 5}
    assert "2 runs" in run(capsys, lake)


def test_export_merges(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    merged = tmp_path / "merged.json"
    run(capsys, "export", TIMELINES, "-o", str(merged))
    parts = [json.loads(path.read_text())["traceEvents"] for path in Path(TIMELINES).glob("*.json")]
    whole = json.loads(merged.read_text())["traceEvents"]
    for phase in "Xst":
        assert sum(e["ph"] == phase for e in whole) == sum(e["ph"] == phase for part in parts for e in part)
    assert main(["export", TIMELINES, "-o", str(merged)]) == 2
    assert "--force" in capsys.readouterr().err


@pytest.mark.repeats("cli/test_formats.py reads a report that the verb wrote")
def test_a_report_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for ending in ("html", "md"):
        target = tmp_path / f"r.{ending}"
        run(capsys, "report", XPLANE, "-o", str(target))
        text = target.read_text(encoding="utf-8")
        assert "EagerPyFunc" in text
        assert "Traceback" not in text
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == ["r.html", "r.md"]


@pytest.mark.repeats("each analysis is asked in library/test_library.py")
def test_all_analyses_run_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """All where all tests run; the page's tests ask them all of one open trace, which takes a tenth."""
    from stepscope import library

    every = [
        name for name in (*library.names("analysis"), *library.names("finding")) if not name.startswith("_")
    ]
    few = ("op_types", "step_times", "input_wait", "python_in_pipeline")
    assert set(few) <= set(every)
    for name in every if ALL else few:
        raw = run(capsys, "query", XPLANE, f"@{name}", "--format", "csv")
        (head,) = csv.reader(io.StringIO(raw.splitlines()[0]))
        assert tuple(head) == tuple(field.name for field in library.entry(name).columns)
        if name in ("op_types", "step_times", "input_wait"):
            table = run(capsys, "query", XPLANE, f"@{name}")
            assert len(table.splitlines()) - 1 == len(list(csv.reader(io.StringIO(raw))))


def test_nothing_to_read_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no trace")
    assert main([str(tmp_path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "stepscope docs nothing-found" in captured.err
    assert main([str(tmp_path / "missing")]) == 2
    assert "error: " in capsys.readouterr().err


def test_standard_input(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with Path(XPLANE).open("rb") as file:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "stepscope",
                "query",
                "-",
                "SELECT count(*) AS n FROM slice",
                "--format",
                "csv",
            ],
            stdin=file,
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
    assert (done.returncode, done.stdout, done.stderr) == (0, "n\n6791\n", "")


@pytest.mark.parametrize("word", ["DROP TABLE slice", "COPY slice TO 'x.csv'", "PRAGMA enable_profiling"])
def test_sql_that_writes_is_refused_as_sql(capsys: pytest.CaptureFixture[str], word: str) -> None:
    assert main(["query", XPLANE, word]) == 2
    assert "Queries only read" in capsys.readouterr().err


def test_ending_early_never_aborts(tmp_path: Path) -> None:
    """A mistake told while the engine is still being imported ends in an exit code, not in a signal."""
    for _ in range(cases(1, 5)):
        command = [sys.executable, "-m", "stepscope", str(tmp_path / "missing.json")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2, done.stderr


def test_a_path_that_looks_like_an_option(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "-x.json").write_bytes((SAMPLES / "chrome" / "phases.json").read_bytes())
    monkeypatch.chdir(tmp_path)
    assert main(["-x.json"]) == 2
    assert "is written ./-x.json" in capsys.readouterr().err
    assert "./-x.json" in run(capsys, "./-x.json")


def test_an_export_says_in_json_what_it_wrote(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "events.csv"
    told = json.loads(run(capsys, "export", XPLANE, "-o", str(out), "--table", "slice", "--format", "json"))
    assert told["format"] == 1
    assert told["path"] == str(out)
    with out.open(encoding="utf-8", newline="") as file:
        assert told["rows"] == {"slice": sum(1 for _ in csv.reader(file)) - 1}
    assert main(["export", XPLANE, "-o", "-", "--to", "json", "--format", "json"]) == 2
    assert "stdout takes either the export or the report on it" in capsys.readouterr().err
