"""What a program's own log says of its compiles: lines as JAX, ptxas and AMD's backend write them."""

import gzip
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from stepscope.formats.xla import program_log
from tests.later import installed

_PTXAS = (
    "I0000 subprocess_compilation.cc:346] ptxas warning : Registers are spilled to local memory in function"
)
SPILLS = f"""{_PTXAS} 'loop_add_fusion_3', 16 bytes spill stores, 20 bytes spill loads
{_PTXAS} 'loop_add_fusion_3', 292 bytes spill stores, 300 bytes spill loads
{_PTXAS} 'gemm_fusion_dot_9', 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Function properties for quiet
ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Function properties for loud
ptxas         .     224 bytes stack frame, 284 bytes spill stores, 532 bytes spill loads
amdgpu_backend.cc:448] Module: triton_softmax
amdgpu_backend.cc:450] VGPR spill count: 194
amdgpu_backend.cc:451] Private segment size: 780 bytes
"""
REFUSED = (
    "/lib/mlir.py:1365: UserWarning: Some donated buffers were not usable: float32[128,512], bool[3].\n"
    "an older one: Some donated buffers were not usable: ShapedArray(bfloat16[1024,1024]).\n"
)


def test_lines_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "a.log.gz"
    log.write_bytes(gzip.compress((SPILLS + REFUSED).encode()))
    missing = str(tmp_path / "none.log")
    said, unread = program_log.read([str(log), missing])
    assert unread == {missing: "No such file or directory"}
    assert [(one.kind, one.name, one.value, one.at) for one in said] == [
        ("spilled", "loop_add_fusion_3", 592, 2),
        ("spilled", "gemm_fusion_dot_9", 16, 3),
        ("spilled", "loud", 816, 7),
        ("spilled", "triton_softmax", 780, 10),
        ("refused", "float32[128,512]", 128 * 512 * 4, 11),
        ("refused", "bool[3]", 3, 11),
        ("refused", "bfloat16[1024,1024]", 2 << 20, 12),
    ]


def test_a_log_that_ends_early_tells_what_it_has_and_that_there_is_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cut, long = tmp_path / "cut.log.gz", tmp_path / "long.log"
    cut.write_bytes(gzip.compress((REFUSED + SPILLS).encode() + os.urandom(100_000))[:-50_000])
    long.write_text(REFUSED + SPILLS)
    monkeypatch.setattr(program_log, "MOST_LINES", 2)
    said, unread = program_log.read([str(long)])
    assert {one.kind for one in said} == {"refused"}
    assert unread == {str(long): "it has more than 2 lines"}
    monkeypatch.undo()
    said, unread = program_log.read([str(cut)])
    assert "spilled" in {one.kind for one in said}
    assert "end" in unread[str(cut)]
    long.unlink()
    _dump(tmp_path, "jit_f", "f32[8]")
    assert main([str(tmp_path), "--format", "json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note["slug"] == "log-unread"
    assert note["detail"].startswith("1 log could not be read to the end: ")
    assert "cut.log.gz" in note["detail"]


def _dump(folder: Path, name: str, shape: str) -> None:
    body = f"HloModule {name}\n\nf {{\n  a = {shape} parameter(0)\n  ROOT r = {shape} negate(a)\n}}\n\n"
    body += f"ENTRY m {{\n  a = {shape} parameter(0)\n"
    body += f"  ROOT loop_add_fusion.3 = {shape} fusion(a), kind=kLoop, calls=f\n}}\n"
    (folder / f"module_0001.{name}.sm_9.0_gpu_after_optimizations.txt").write_text(body)


def _findings(folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main([str(folder), "--format", "json"]) == 0
    return {one["slug"]: one for one in json.loads(capsys.readouterr().out)["findings"]}


def test_spills_meet_their_fusions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _dump(tmp_path, "jit_f", "f32[128,512]{1,0}")
    assert "fusions-spill-registers" not in _findings(tmp_path, capsys)
    (tmp_path / "program.log").write_text(SPILLS)
    found = _findings(tmp_path, capsys)["fusions-spill-registers"]
    rows = {row["instruction"]: (row["program"], row["spilled_bytes"]) for row in found["evidence"]["rows"]}
    assert rows == {
        "loop_add_fusion.3": ("jit_f (1)", 592),
        "gemm_fusion_dot_9": (None, 16),
        "loud": (None, 816),
        "triton_softmax": (None, 780),
    }
    assert found["impact"].startswith("loud spills 816 B in each thread, program.log:7. 3 more cases like it")


@pytest.mark.parametrize(
    ("names", "program"), [(["jit_f"], "jit_f (1)"), (["jit_f", "jit_g"], None), ([], None)]
)
def test_a_refused_argument_belongs_to_the_only_function_that_takes_one(
    names: list[str], program: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in names:
        _dump(tmp_path, name, "f32[128,512]{1,0}")
    _dump(tmp_path, "jit_other", "f32[512]{0}")
    (tmp_path / "program.log").write_text(REFUSED.splitlines()[0])
    found = _findings(tmp_path, capsys)["donated-buffers-not-used"]
    rows = {row["argument"]: row["program"] for row in found["evidence"]["rows"]}
    assert rows["float32[128,512]"] == program
    assert "program.log:1" in found["impact"]


PROGRAM = """
import sys, jax, jax.numpy as jnp
def f(p, x):
    return (p @ x).sum()
jax.jit(f, donate_argnums=0)(jnp.ones((256, 256)), jnp.ones((256, 8)))
print("a result")
sys.exit(3)
"""


def test_a_run_keeps_its_messages(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The warning of JAX, whose argument belongs to the only function that has such a parameter."""
    installed("jax")
    folder = tmp_path / "dumps"
    assert main(["xla", "run", "--dump", str(folder), "--", sys.executable, "-c", PROGRAM]) == 3
    out, err = capfd.readouterr()
    kept = (folder / "program.log").read_text()
    assert "Some donated buffers were not usable: float32[256,256]" in kept
    assert kept in err
    assert "a result" in out
    assert f"next: stepscope {folder}" in err
    found = _findings(folder, capfd)["donated-buffers-not-used"]
    (row,) = found["evidence"]["rows"]
    assert row["program"].startswith("jit_f (")
    assert row["given_bytes"] == 256 * 256 * 4


def test_a_terminal_stays_a_terminal(tmp_path: Path) -> None:
    code = "import sys; sys.stderr.write(f'{sys.stderr.isatty()}\\n')"
    command = ["-m", "stepscope", "xla", "run", "--dump", "dumps", "--", sys.executable, "-c", code]
    for terminal in (True, False):
        ours, theirs = pty.openpty() if terminal else os.pipe()
        child = subprocess.Popen(
            [sys.executable, *command], cwd=tmp_path, stderr=theirs, stdout=subprocess.DEVNULL
        )
        os.close(theirs)
        told = b""
        while piece := _read(ours):
            told += piece
        os.close(ours)
        assert child.wait(250) == 0
        assert told.startswith(f"{terminal}\r\n".encode() if terminal else f"{terminal}\n".encode())
        assert (tmp_path / "dumps" / "program.log").read_text() == f"{terminal}\n"


def _read(ours: int) -> bytes:
    try:
        return os.read(ours, 4096)
    except OSError:  # how a terminal ends
        return b""


def test_messages_that_something_holds_open_do_not_hold_the_run(tmp_path: Path) -> None:
    code = "import subprocess; print(subprocess.Popen(['sleep', '600'], stdout=subprocess.DEVNULL).pid)"
    command = ["-m", "stepscope", "xla", "run", "--dump", "dumps", "--", sys.executable, "-c", code]
    with (tmp_path / "err").open("wb") as err:
        ran = subprocess.run(
            [sys.executable, *command], cwd=tmp_path, stdout=subprocess.PIPE, stderr=err, timeout=250
        )
    os.kill(int(ran.stdout), signal.SIGKILL)
    assert ran.returncode == 0
    assert b"nothing was dumped" in (tmp_path / "err").read_bytes()
