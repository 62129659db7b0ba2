"""Profiles of samples of stacks: collapsed text, speedscope and pprof agree with the tables."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from stepscope.session.trace import open as open_trace
from tests.exporters.test_pprof import PROFILE
from tests.formats.capture_folder import line, stacks, write

MS_US, MS_NS = 1000, 1_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "capture")


def exported(folder: Path, name: str, *more: str) -> Path:
    out = folder.parent / name
    assert main(["export", str(folder), "-o", str(out), *more]) == 0
    return out


def collapsed(text: str) -> dict[str, int]:
    return {path: int(number) for path, _, number in (one.rpartition(" ") for one in text.splitlines())}


def test_collapsed_text(folder: Path) -> None:
    told = collapsed(exported(folder, "x.collapsed").read_text())
    assert told == {
        "MainThread;<module> (train.py:9);load (train.py:4)": 30 * MS_US,
        "MainThread;<module> (train.py:9)": 10 * MS_US,
        "(no name);Thread.wait (threading.py:300)": 40 * MS_US,
    }
    packed = exported(folder, "x.folded.gz")
    assert collapsed(gzip.decompress(packed.read_bytes()).decode()) == told


def test_names_end_neither_frames_nor_lines(tmp_path: Path) -> None:
    odd = stacks() + line(frame=9, function="a;b\nc \u2028d", file="x y.py", line=1) + line(stack=9, frame=9)
    odd += line(unix_ns=1_795_000_000_900_000_000, on=[[0, 9]])
    odd = odd.replace(b'"dropped": 2', b'"begin_unix_ns": 1795000000800000000')
    folder = write(tmp_path / "c", **{"stacks.ndjson": odd})
    told = collapsed(exported(folder, "x.collapsed").read_text())
    assert told["MainThread;a,b c d (x y.py:1)"] == 100 * MS_US
    assert len(told) == 4


def test_speedscope(folder: Path) -> None:
    told = json.loads(exported(folder, "x.speedscope.json").read_text())
    assert told["$schema"].startswith("https://www.speedscope.app/")
    frames = told["shared"]["frames"]
    assert frames[1] == {"name": "load", "file": "train.py", "line": 4}
    found: dict[str, Counter[Any]] = {}
    for profile in told["profiles"]:
        assert (profile["type"], profile["unit"]) == ("sampled", "nanoseconds")
        assert len(profile["samples"]) == len(profile["weights"])
        assert sum(profile["weights"]) == profile["endValue"] - profile["startValue"]
        times = found.setdefault(profile["name"], Counter())
        for sample, weight in zip(profile["samples"], profile["weights"], strict=True):
            times[tuple(frames[frame]["name"] for frame in sample)] += weight
    assert found == {
        "MainThread": {("<module>", "load"): 30 * MS_NS, ("<module>",): 10 * MS_NS},
        "(no name)": {("Thread.wait",): 40 * MS_NS},
    }


def test_pprof_of_samples_has_files_and_lines(folder: Path) -> None:
    out = exported(folder, "x.pb.gz", "--table", "stack_sample")
    profile = PROFILE.FromString(gzip.decompress(out.read_bytes()))
    text = profile.string_table
    functions = {one.id: text[one.name] for one in profile.function}
    lines = {one.id: (functions[one.line[0].function_id], one.line[0].line) for one in profile.location}
    found = Counter[tuple[Any, ...]]()
    for sample in profile.sample:
        assert [text[one.key] for one in sample.label] == ["thread"]
        found[tuple(lines[one] for one in sample.location_id)] += sample.value[1]
    assert found == {
        (("load", 4), ("<module>", 9)): 30 * MS_NS,
        (("<module>", 9),): 10 * MS_NS,
        (("Thread.wait", 300),): 40 * MS_NS,
    }
    assert text[profile.sample_type[1].type] == text[profile.default_sample_type] == "time"


def test_without_samples_slices_are_stacks(tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    events = [{"ph": "X", "name": name, "ts": ts, "dur": dur, "pid": 1, "tid": 1}
              for name, ts, dur in (("step", 0, 10), ("a", 1, 3), ("a", 5, 2))]  # fmt: skip
    trace.write_text(json.dumps({"traceEvents": events}))
    told = collapsed(exported(trace, "x.collapsed").read_text())
    assert {path.split(";", 1)[1]: number for path, number in told.items()} == {"step": 5, "step;a": 5}
    with open_trace(trace) as opened:
        busy = opened.query("SELECT sum(self_ps) FROM slice").rows()[0][0]
    speedscope = json.loads(exported(trace, "x.speedscope.json").read_text())
    assert sum(profile["endValue"] for profile in speedscope["profiles"]) * 1000 == busy


def test_other_tables_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("x.collapsed", "x.speedscope.json", "x.pb.gz"):
        assert main(["export", str(folder), "-o", str(folder.parent / name), "--table", "frame"]) == 2
        assert "--table stack_sample" in capsys.readouterr().err
        assert not (folder.parent / name).exists()
