"""Runs of a session that a folder has in several forms count once, in the fullest of them."""

import gzip
import itertools
import json
import shutil
import zipfile
from pathlib import Path

import pytest

import stepscope
from stepscope.formats import _session_runs
from stepscope.protobuf import fields
from tests.corpus import SAMPLES
from tests.tiers import some

SESSION = SAMPLES / "tf1" / "session"
FORMS = ("run_meta", "step_stats", "timeline", "merged")
RUNS = (2, 4, 6, 8, 10)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))


def write(folder: Path, form: str) -> None:
    """The runs in one form; no name tells that two files hold the same."""
    folder.mkdir(exist_ok=True)
    merged = []
    for number, run in enumerate(RUNS):
        stats = gzip.decompress((SESSION / f"run_meta_{run}.pb.gz").read_bytes())
        timeline = gzip.decompress((SESSION / f"timeline-{run}.json.gz").read_bytes())
        merged += json.loads(timeline)["traceEvents"]
        if form == "run_meta":
            (folder / f"r{number}.pb").write_bytes(stats)
        elif form == "step_stats":
            inner = next(value for field, _, value, _ in fields(memoryview(stats)) if field == 1)
            (folder / f"s{number}.pb").write_bytes(bytes(inner))
        elif form == "timeline":
            (folder / f"t{number}.json").write_bytes(timeline)
    if form == "merged":
        (folder / "all.json").write_text(json.dumps({"traceEvents": merged}).replace("\n", " "))


def asked(folder: Path) -> tuple[int, float]:
    """Runs, and the part of them that is input."""
    trace = stepscope.open(str(folder))
    ((runs,),) = trace.query("SELECT count(*) FROM step").rows()
    ((share,),) = trace.query(
        "SELECT sum(dur_ps) FILTER (label = 'input') / sum(dur_ps) FROM step_part"
    ).rows()
    return runs, round(share, 3)


@pytest.mark.parametrize(
    "forms",
    [
        FORMS,
        ("timeline", "merged"),
        *(
            pytest.param(pair, marks=pytest.mark.repeats("all four hold each pair"))
            for pair in itertools.combinations(FORMS, 2)
            if pair != ("timeline", "merged")
        ),
    ],
)
def test_forms_of_the_same_runs_count_once(tmp_path, forms):
    for form in forms:
        write(tmp_path / "out", form)
    write(tmp_path / "alone", "run_meta")
    runs, share = asked(tmp_path / "out")
    assert runs == len(RUNS)
    assert share == pytest.approx(asked(tmp_path / "alone")[1], abs=0.002)
    formats = stepscope.open(str(tmp_path / "out")).query("SELECT DISTINCT format FROM source").rows()
    assert formats == (
        [("run_metadata",)] if {"run_meta", "step_stats"} & set(forms) else [("chrome_trace",)]
    )


def test_forms_in_folders_beside_each_other_count_once(tmp_path):
    """A program keeps run metadata in one folder and timelines in another."""
    for form in ("run_meta", "timeline", "merged"):
        (tmp_path / "out" / form).mkdir(parents=True)
        write(tmp_path / "out" / form, form)
    write(tmp_path / "alone", "run_meta")
    assert asked(tmp_path / "out") == asked(tmp_path / "alone")
    trace = stepscope.open(str(tmp_path / "out"))
    assert {Path(path).parent.name for (path,) in trace.query("SELECT path FROM source").rows()} == {
        "run_meta"
    }
    ((runs,),) = trace.query("SELECT count(*) FROM run").rows()
    assert runs == 1


def test_event_files_are_searched_where_other_folders_hold_their_runs(tmp_path, monkeypatch):
    events = SAMPLES / "event_file" / "events.out.tfevents.1795163227.vm"
    for folder in ("logs", "others"):
        (tmp_path / folder).mkdir()
        shutil.copy(events, tmp_path / folder)
    looked = []
    read = _session_runs._read
    monkeypatch.setattr(_session_runs, "_read", lambda source: looked.append(source.name) or read(source))
    assert len(stepscope.open(str(tmp_path)).sources) == 2
    assert looked == []
    (tmp_path / "timelines").mkdir()
    for timeline in (SAMPLES / "profiler_hook").glob("*.json"):
        shutil.copy(timeline, tmp_path / "timelines")
    names = sorted(source.name for source in stepscope.open(str(tmp_path)).sources)
    # It has steps 5 and 10. Event files are two runs, whatever lies beside them.
    assert names == [events.name, events.name, "timeline-15.json", "timeline-20.json"]


def test_a_merge_of_more_runs_is_fuller(tmp_path):
    """The merge has twelve runs, the files beside it six of them."""
    for one in SESSION.glob("*.gz"):
        (tmp_path / one.name.removesuffix(".gz")).write_bytes(gzip.decompress(one.read_bytes()))
    trace = stepscope.open(str(tmp_path))
    assert trace.query("SELECT path FROM source").rows() == [(str(tmp_path / "timeline.json"),)]
    assert len(trace.query("SELECT 1 FROM step").rows()) == 12


def test_packed_files_are_compared_as_well(tmp_path):
    shutil.copytree(SESSION, tmp_path / "packed")
    assert len(stepscope.open(str(tmp_path / "packed")).query("SELECT 1 FROM step").rows()) == 12


@pytest.mark.parametrize("form", some(("zip", "tar", "gztar", "xztar"), ("zip", "gztar"), "four archives"))
def test_an_archive_says_what_its_folder_says_whenever_it_is_opened(tmp_path, form):
    """Members of a packed tar are known when it is opened again, and were not unpacked to look at them."""
    for written in ("run_meta", "timeline"):
        write(tmp_path / "runs", written)
    wanted = asked(tmp_path / "runs")
    assert wanted[0] == len(RUNS)
    path = Path(shutil.make_archive(str(tmp_path / "packed"), form, tmp_path / "runs"))
    assert asked(path) == wanted
    assert asked(path) == wanted
    for entry in (tmp_path / "cache" / "entries").iterdir():
        shutil.rmtree(entry)
    assert asked(path) == wanted


def test_a_short_file_in_a_zip_that_packs_nothing_ends_where_it_ends(tmp_path):
    """The next one begins behind it."""
    write(tmp_path / "runs", "timeline")
    path = tmp_path / "runs.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in sorted((tmp_path / "runs").iterdir()):
            archive.write(file, file.name)
    assert asked(path) == asked(tmp_path / "runs")


def test_other_runs_are_all_read(tmp_path):
    write(tmp_path / "out", "run_meta")
    timeline = gzip.decompress((SESSION / "timeline-0.json.gz").read_bytes())
    (tmp_path / "out" / "other.json").write_bytes(timeline)
    assert asked(tmp_path / "out")[0] == len(RUNS) + 1


def test_named_files_are_read_whatever_is_beside_them(tmp_path):
    write(tmp_path / "out", "run_meta")
    write(tmp_path / "out", "merged")
    paths = [str(tmp_path / "out" / name) for name in ("r0.pb", "all.json")]
    assert len(stepscope.open(paths).query("SELECT 1 FROM source").rows()) == 2


NAMES = ("warm", "before", "spring", "after", "last")


def test_files_without_numbers_are_steps_by_when_they_began(tmp_path):
    write(tmp_path, "run_meta")
    for number, name in enumerate(NAMES):
        (tmp_path / f"r{number}.pb").rename(tmp_path / f"{name}.pb")
    trace = stepscope.open(str(tmp_path))
    rows = trace.query(
        "SELECT step, path, reason FROM step JOIN source USING (source_id) ORDER BY step"
    ).rows()
    assert [(step, Path(path).stem) for step, path, _ in rows] == list(enumerate(NAMES))
    assert all("its name has no number" in reason for *_, reason in rows if "times as long" not in reason)
    assert trace.query("SELECT DISTINCT step FROM slice WHERE step IS NOT NULL ORDER BY 1").rows() == [
        (number,) for number in range(len(NAMES))
    ]
    # Runs that nobody recorded may lie between them.
    assert trace.query("SELECT count(*) FROM run_gap").rows() == [(0,)]


def test_a_file_is_searched_once_until_it_changes(tmp_path, monkeypatch):
    """Whether two files hold the same runs, and in which order they began, is asked of each by itself."""
    write(tmp_path, "run_meta")
    looked = []
    read = _session_runs._read
    monkeypatch.setattr(_session_runs, "_read", lambda source: looked.append(source.name) or read(source))
    names = [f"r{number}.pb" for number in range(len(RUNS))]
    for _ in range(2):
        assert [source.step for source in stepscope.open(str(tmp_path)).sources] == [0, 1, 2, 3, 4]
    assert looked == names
    (tmp_path / "r4.pb").write_bytes((tmp_path / "r0.pb").read_bytes())
    assert len(stepscope.open(str(tmp_path)).sources) == len(RUNS) - 1
    assert looked == [*names, "r4.pb"]


def test_one_name_with_a_number_keeps_the_others_unnumbered(tmp_path):
    write(tmp_path, "run_meta")
    for number, name in enumerate((*NAMES[:4], "run_meta_7")):
        (tmp_path / f"r{number}.pb").rename(tmp_path / f"{name}.pb")
    rows = stepscope.open(str(tmp_path)).query("SELECT step FROM step ORDER BY step").rows()
    assert rows == [(0,)] * 4 + [(7,)]


def test_an_event_that_is_nested_without_end_tells_no_run(tmp_path):
    """What lies around `_SOURCE` is read as strangers' JSON: two timelines, so that they are compared."""
    process = '{"ph":"M","name":"process_name","pid":1,"args":{"name":"/device:CPU:0 Compute"}}'
    event = '{"ph":"X","pid":1,"tid":0,"ts":9,"dur":1,"name":"x","args":{"name":"_SOURCE","a":%s}}'
    folder = tmp_path / "deep"
    folder.mkdir()
    for number in range(2):
        whole = f'{{"traceEvents":[{process},{event % ("[" * 3900)}'
        (folder / f"t{number}.json").write_text(whole)
    assert stepscope.open(str(folder)).query("SELECT count(*) FROM source").rows() == [(2,)]
