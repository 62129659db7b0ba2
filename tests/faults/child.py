"""A process that forks one ingest after the other, lets it fail or die, and looks at what is left.

Imports cost more than an ingest, so they are paid once: this process imports everything, opens nothing,
and forks. Commands come as JSON lines on stdin, answers go as JSON lines to stdout:

    {"do": "fail", "at": n, "errno": e}   the n-th call on the lake fails (0: kills), in a new lake
    {"do": "kill", "after": seconds}      SIGKILL after so long
    {"do": "harm", "after": s, "seed": n, "run": r, "known": [runs]}
                                          SIGKILL after so long, in the lake of the command before; what is
                                          left in its stage is then damaged

After each the lake is checked: what it announces is whole, the next start sweeps all leftovers, and
with "again": true the same ingest then succeeds. An answer has "problem" when that is not so.
"""

import ctypes
import json
import os
import random
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any

from stepscope import _core
from stepscope.errors import LakeError, StepscopeError
from stepscope.lake import leftovers, reader, writer
from stepscope.lake.decoded_source import Decoded
from stepscope.sources.source import ByteLocation, Source
from stepscope.sources.user_paths import is_lake
from tests import odd_json


def source(name: str) -> Source:
    """A source whose bytes are made from its name."""
    return Source(f"{name}.json", f"{name}.json", ByteLocation(""), 1, "chrome_trace", run_id=name)


def ingest(lake: Path, name: str) -> None:
    """What stepscope.session.ingest.ingest_one does, from bytes in memory."""
    events = [{"ph": "X", "name": f"{name}{i % 7}", "ts": i, "dur": 1, "pid": 1, "tid": 1} for i in range(50)]
    text = json.dumps({"traceEvents": events}).encode()
    writer.create(lake)
    with writer.staged(lake) as stage:
        try:
            store = _core.decode("chrome_trace", _core.Input.bytes(text), str(stage / "store"), threads=1)
        except _core.CoreError as error:
            raise LakeError("Not kept.", seen=error.seen, todo="") from error
        facts = {**store.facts, "decoder_version": _core.DECODER_VERSION}
        writer.write(lake, stage, Decoded(source(name), store, facts, None))


def in_child(work: Any) -> int:
    """Runs work in a fork: 0 done, 3 a stepscope error, 4 anything else."""
    pid = os.fork()
    if pid == 0:
        code = 4
        try:
            work()
            code = 0
        except StepscopeError:
            code = 3
        except BaseException:  # noqa: BLE001 - told by the exit code, printed for whoever debugs
            traceback.print_exc()
        os._exit(code)
    return pid


def wait(pid: int) -> int:
    """The exit code of a fork, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def left(lake: Path) -> list[str]:
    """Files that nothing announces."""
    found = [path.name for path in (lake / leftovers.STAGE).iterdir() if path.name != "commit.lock"]
    listed = {str(path) for paths in reader.open_lake(lake).files().values() for path in paths}
    there = [*lake.rglob("*.parquet"), *lake.rglob("*.lod")]
    return found + [str(path) for path in there if str(path) not in listed]


def check(lake: Path, done: bool, again: bool) -> None:
    """Raises AssertionError unless the lake is whole, sweeps itself, and (again) takes the source in."""
    if is_lake(lake):
        found = reader.open_lake(lake)
        found.verify(contents=True)
        runs = {one.source.run_id for one in found.manifests}
        assert "first" in runs, "what was there before is gone"
        assert not done or "second" in runs, "what was announced is not there"
    writer.create(lake)
    assert left(lake) == [], f"not swept: {left(lake)}"
    if not again:
        return
    code = wait(in_child(lambda: ingest(lake, "second")))
    assert code == 0, f"the next ingest ended with {code}"
    runs = {one.source.run_id for one in reader.open_lake(lake).manifests}
    assert runs == {"first", "second"}, f"runs {runs}"
    assert left(lake) == [], f"left by a good ingest: {left(lake)}"


def fail(shim: Any, folder: Path, at: int, errno: int) -> dict[str, Any]:
    """One ingest with one failing call."""
    lake = folder / "lake"

    def work() -> None:
        shim.fault_arm(str(lake).encode(), at, errno)
        try:
            ingest(lake, "second")
        finally:
            (folder / "count").write_text(str(shim.fault_count()), encoding="ascii")

    (folder / "count").unlink(missing_ok=True)
    code = wait(in_child(work))
    count = (folder / "count").read_text(encoding="ascii") if (folder / "count").exists() else "0"
    return {"code": code, "calls": int(count)}


def kill(folder: Path, after: float) -> dict[str, Any]:
    """One ingest killed after a time."""
    pid = in_child(lambda: ingest(folder / "lake", "second"))
    time.sleep(after)
    os.kill(pid, signal.SIGKILL)
    return {"code": wait(pid)}


def harm(lake: Path, chance: random.Random) -> int:
    """Damages what a dead writer left: each file of the stage may be flipped, cut, exchanged or lost."""
    done = 0
    for path in sorted((lake / leftovers.STAGE).rglob("*")):
        if path.name == "commit.lock" or path.is_symlink() or chance.random() < 0.3:
            continue
        done += 1
        if path.is_dir():
            if chance.random() < 0.3:
                shutil.rmtree(path)
            continue
        if not path.exists():
            continue
        data = bytearray(path.read_bytes())
        how = chance.randrange(6)
        if how == 0 and data:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            path.write_bytes(data)
        elif how == 1 and data:
            path.write_bytes(data[: chance.randrange(len(data))])
        elif how == 2:
            listed = [file.path for one in reader.read_manifests(lake) for file in one.files]
            names = [*listed, "../victim", "slice/../../victim", str(lake.parent / "victim")]
            told = {"manifest": "0000000000000000001.json", "files": chance.sample(names, 3)}
            path.write_text(json.dumps(told), encoding="utf-8")
        elif how == 3:
            path.write_bytes(chance.choice(odd_json.WHOLE + odd_json.ODD))
        elif how == 4:
            path.unlink()
            path.symlink_to(lake.parent / "victim")
        else:
            path.unlink()
    for path in (lake / leftovers.STAGE).glob("old-*.json"):
        os.utime(path, (0, 0), follow_symlinks=False)
    return done


def ingest_harmed(lake: Path, command: dict[str, Any]) -> dict[str, Any]:
    """One ingest killed after a time, what it left damaged, and the lake looked at before and after the next
    start. The answer has the runs that the lake has."""
    victim = lake.parent / "victim"
    victim.write_text("precious", encoding="utf-8")
    pid = in_child(lambda: ingest(lake, command["run"]))
    begin = time.monotonic()
    end = begin + command["after"]
    while time.monotonic() < end and os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(0.001)
    took = time.monotonic() - begin
    os.kill(pid, signal.SIGKILL)
    code = wait(pid)
    assert code in (0, -signal.SIGKILL), f"the ingest ended with {code}"
    runs = checked_runs(lake) if is_lake(lake) else set()
    assert runs >= set(command["known"]), f"lost: {set(command['known']) - runs}"
    assert code != 0 or command["run"] in runs, "what was announced is not there"
    harmed = harm(lake, random.Random(command["seed"])) if is_lake(lake) else 0
    assert wait(in_child(lambda: writer.create(lake))) == 0, "the next start failed"
    assert checked_runs(lake) == runs, "the sweep changed what was announced"
    assert victim.read_text(encoding="utf-8") == "precious"
    assert sorted(path.name for path in lake.parent.iterdir()) == ["kept", "template", "victim"]
    return {"code": code, "runs": sorted(runs), "harmed": harmed, "took": took}


def checked_runs(lake: Path) -> set[str]:
    """The runs of a lake whose files are all as they were written."""
    found = reader.open_lake(lake)
    found.verify(contents=True)
    return {one.source.run_id for one in found.manifests}


def main() -> None:
    """Answers commands until stdin ends."""
    folder = Path(sys.argv[1])
    shim = ctypes.CDLL(sys.argv[2]) if len(sys.argv) > 2 else None
    template, lake = folder / "template", folder / "lake"
    if not template.exists():
        assert wait(in_child(lambda: ingest(template, "first"))) == 0
    for line in sys.stdin:
        command = json.loads(line)
        answer: dict[str, Any] = {}
        try:
            if command["do"] == "harm":
                answer = ingest_harmed(folder / "kept", command)
                print(json.dumps(answer), flush=True)
                continue
            shutil.rmtree(lake, ignore_errors=True)
            shutil.copytree(template, lake)
            if command["do"] == "fail":
                answer = fail(shim, folder, command["at"], command["errno"])
            elif command["do"] == "kill":
                answer = kill(folder, command["after"])
            check(lake, answer.get("code") == 0, command["again"])
        except (AssertionError, StepscopeError, OSError) as error:
            answer["problem"] = f"{type(error).__name__}: {error}"
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
