"""Programs that run while they are served: what is told of them, and when their recordings are opened."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from stepscope.attach import live
from stepscope.capture import scratch
from stepscope.capture.plan import RecordingPlan
from stepscope.errors import NothingFound, StepscopeError
from stepscope.report.live import lines
from stepscope.server.running_jobs import RunningJobs

MS = 10**6


def say(folder: Path, **more: Any) -> None:
    """live.json of this very process."""
    told = {"format": 1, "pid": os.getpid(), "unix_ns": time.time_ns(), "ended": False, "name": "update"}
    told |= {"step": 7, "recent_ns": [10 * MS, 30 * MS], "median_ns": 10 * MS, "rss_bytes": 3 << 20}
    told |= {"recent_rss_bytes": [1 << 20, 3 << 20], "recent_rss_ns": 1000 * MS, "kept": ["a b", "end"]}
    told |= {"frames": [["main", "train.py", 3, "program"], ["sleep", "time", 0, "python"]]}
    told |= {"stacks": [{"share": 1.0, "ran": 1.0, "frames": [0]}]}
    told["lines"] = [{"file": "train.py", "line": 3, "function": "main", "share": 1.0}]
    folder.mkdir(exist_ok=True)
    (folder / "live.json").write_text(json.dumps(told | more))


def records(folder: Path, ended_unix_ns: int | None, exit: dict[str, Any] | None = None) -> None:
    """capture.json, as far as it tells whether the recording is complete."""
    told = {"format": 1, "plan": {"live": True}, "ended_unix_ns": ended_unix_ns, "exit": exit}
    (folder / "capture.json").write_text(json.dumps(told))


def test_what_runs_is_opened_once_something_is_recorded(tmp_path: Path) -> None:
    rec, other = tmp_path / "rec", tmp_path / "other"
    say(rec)
    records(rec, None)
    paths = [str(rec)]
    jobs = RunningJobs(paths)
    assert jobs.waits
    assert jobs.open == ()
    with pytest.raises(NothingFound, match="Nothing has been recorded yet"):
        jobs.need_something()
    (job,) = jobs.document()["jobs"]
    assert (job["running"], job["began"], job["recording"]) == (True, True, "none")

    records(rec, 5)
    assert jobs.document()["jobs"][0]["recording"] == "new"
    assert jobs.waits, "until somebody opens it"
    paths.append(str(other))
    assert jobs.opened() == (str(rec), str(other))
    assert not jobs.waits
    jobs.need_something()
    assert jobs.document()["jobs"][0]["recording"] == "open"

    say(rec, ended=True)
    records(rec, 5, {"code": 0})
    (job,) = jobs.document()["jobs"]
    assert (job["running"], job["recording"]) == (False, "new")
    assert job["now"] == f"update, process {os.getpid()}: step 7, the program has ended"
    assert jobs.opened() == (str(rec), str(other))
    assert jobs.document() == {"waits": False, "jobs": []}, "a recording like any other"


def test_the_page_is_told_what_the_terminal_shows(tmp_path: Path) -> None:
    say(
        tmp_path, unix_ns=time.time_ns() + 3600 * 1000 * MS
    )  # nothing ended long ago, however long this takes
    (job,) = RunningJobs([str(tmp_path)]).document()["jobs"]
    record = live.read(tmp_path)
    screen = list(lines(record, True, 200, record["unix_ns"], str(tmp_path)))
    said = "No op runs for 100 % of the last 10 s: the program's own Python does, in train.py:3 main."
    assert screen[0] == job["sentence"] == said
    assert job["now"] in screen
    assert f"Step      {job['pace']}" in screen
    assert f"Process   {job['process']}" in screen
    assert [line for line in screen if line.startswith("Kept")] == [f"Kept      {one}" for one in job["kept"]]
    assert list(job["kept"]) == [f"stepscope {tmp_path}/ring/end", f"stepscope '{tmp_path}/ring/a b'"]
    assert [(part["label"], part["share"]) for part in job["parts"]] == [("python", 1.0)]
    assert job["recent_ps"] == (10 * MS * 1000, 30 * MS * 1000)
    assert (job["recent_rss_bytes"], job["recent_rss_ps"]) == ((1 << 20, 3 << 20), 1000 * MS * 1000)
    assert json.dumps(job, allow_nan=False)


def test_what_does_not_run_is_a_path_like_any_other(tmp_path: Path) -> None:
    ended, killed, plain = tmp_path / "ended", tmp_path / "killed", tmp_path / "plain"
    say(ended, ended=True)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    say(killed, pid=gone.pid)
    plain.mkdir()
    given = [str(ended), str(killed), str(plain), str(tmp_path / "none"), "s3://bucket/run", "-"]
    jobs = RunningJobs(list(given))
    assert jobs.document() == {"waits": False, "jobs": []}
    assert jobs.open == tuple(given)
    with pytest.raises(StepscopeError, match="There is nothing to watch"):
        RunningJobs([str(os.getpid())])


def test_a_program_that_starts_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch.tempfile, "tempdir", str(tmp_path))
    rec = tmp_path / "rec"
    with scratch.prepared(RecordingPlan(str(rec), live=True)) as notes:
        scratch.uses(notes, os.getpid())
        jobs = RunningJobs([str(rec)])
        assert jobs.waits
        (job,) = jobs.document()["jobs"]
        assert (job["running"], job["began"]) == (True, False)
        assert job["now"] == "No step has been recorded yet: the program starts, or warms up."
        assert RunningJobs([str(tmp_path / "other")]).open == (str(tmp_path / "other"),)
    (job,) = jobs.document()["jobs"]
    assert (job["running"], job["recording"]) == (False, "none"), "it ended, and nothing was recorded"


def test_a_process_leads_to_the_folder_of_its_recording(tmp_path: Path) -> None:
    rec = tmp_path / "rec"
    plan = RecordingPlan(str(rec), live=True)
    plan.save(tmp_path / "plan.json")
    program = subprocess.Popen(
        [sys.executable, "-c", "input('ready\\n')"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "STEPSCOPE_RECORD": str(tmp_path / "plan.json")},
    )
    program.stdout.readline()  # the system tells no environment before the program has begun
    say(rec, pid=program.pid)
    paths = [str(program.pid)]
    jobs = RunningJobs(paths)
    assert paths == [str(rec)]
    (job,) = jobs.document()["jobs"]
    assert (job["running"], job["folder"]) == (True, str(rec))
    program.communicate(b"\n")
    (job,) = jobs.document()["jobs"]
    assert (job["running"], job["folder"]) == (False, str(rec)), "the folder outlives the process"
