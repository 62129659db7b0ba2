"""Files that the server maps and somebody cuts: an error for who asks, never the end of the server."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import stepscope
from tests.core.test_lod import unpack
from tests.corpus import SAMPLES
from tests.server.test_process import Command, start, stop
from tests.tiers import some

RECORDING = SAMPLES / "tf_data" / "map_py_function.xplane.pb"


@pytest.fixture
def lake(tmp_path: Path) -> Path:
    stepscope.ingest([RECORDING], tmp_path / "lake")
    return tmp_path / "lake"


def timeline_of(lake: Path) -> Path:
    (found,) = lake.rglob("*.lod")
    return found


def whole(command: Command, cookie: str, what: str = "timeline") -> tuple[int, bytes]:
    """The answer for a window, or a range, over everything."""
    told = json.loads(command.ask("GET", "/api/catalog", cookie=cookie)[2])
    tracks = ",".join(str(track["track"]) for track in told["tracks"])
    px = "&px=1600" if what == "timeline" else ""
    path = f"/api/{what}?from={told['start_ps']}&to={told['end_ps']}{px}&tracks={tracks}"
    status, _, body = command.ask("GET", path, cookie=cookie)
    return status, body


@pytest.mark.parametrize("left", some([0, 4096, 16384], (4096,), "cut elsewhere"))
def test_the_server_survives_a_timeline_that_is_cut_in_place(lake: Path, left: int) -> None:
    file = timeline_of(lake)
    assert file.stat().st_size > 16384 + 4096
    command = start("--lake", str(lake), "--no-open", "--no-cache")
    try:
        cookie = command.session()
        status, body = whole(command, cookie)
        assert status == 200
        events = unpack(body)[0]["events"]
        assert events > 1_000
        status, body = whole(command, cookie, "range")
        assert (status, json.loads(body)["slices"]) == (200, events)
        os.truncate(file, left)
        for what in ("timeline", "range", "timeline", "range"):
            status, body = whole(command, cookie, what)
            told = json.loads(body)["error"]
            assert status == 409
            assert "while it was read" in told["seen"]
            assert told["what"]
            assert told["to_do"]
        assert command.ask("GET", "/api/catalog", cookie=cookie)[0] == 200
        assert command.process.poll() is None
    finally:
        code, _, _ = stop(command)
    assert code in (0, 130)


CUTS = """
import faulthandler, mmap, os, sys, tempfile
from stepscope import _core
path, bytes_, own = sys.argv[1], int(sys.argv[2]), sys.argv[3]
faulthandler.enable(open(os.devnull, "w"))
lods = [_core.Lod(sources=[((path, bytes_), 0, 0)]) for _ in range(3)]
del lods[0]
tracks = list(lods[0].tracks)
if own == "own":
    with tempfile.TemporaryFile() as file:
        file.truncate(1 << 16)
        mine = mmap.mmap(file.fileno(), 1 << 16)
        file.truncate(0)
        mine[0]
os.truncate(path, 4096)
for lod in lods * 2:
    try:
        lod.cells(tracks, 0, 1 << 60, 1000)
        raise SystemExit("zeros were believed")
    except _core.CoreError as error:
        print(error)
"""
"""Cuts the file under three mappings; with "own", first faults in a mapping that is not the core's."""


@pytest.mark.repeats("the server survives a file that is cut beside it")
def test_every_mapping_of_a_file_tells(lake: Path) -> None:
    file = timeline_of(lake)
    command = [sys.executable, "-c", CUTS, str(file), str(file.stat().st_size), "no"]
    told = subprocess.run(command, capture_output=True, text=True, check=True)
    assert told.stdout.count("was cut") == 4


@pytest.mark.repeats("a process of its own")
def test_faults_in_the_memory_of_others_end_the_process_as_ever(lake: Path) -> None:
    file = timeline_of(lake)
    command = [sys.executable, "-c", CUTS, str(file), str(file.stat().st_size), "own"]
    told = subprocess.run(command, capture_output=True, text=True)
    assert told.returncode == -signal.SIGBUS
