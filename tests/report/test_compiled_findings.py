"""Findings on dump folders: programs whose truth is known, compiled here or written by hand."""

import json
import os
import random
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from stepscope import report
from stepscope.cli import main
from stepscope.errors import UnreadableSource
from stepscope.formats.xla import cases
from stepscope.presenters import json as as_json
from stepscope.session import trace
from tests import tiers
from tests.corpus import SAMPLES

SAMPLE = SAMPLES / "xla_dump"
PROGRAMS = """
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_enable_x64", True)
table = np.linspace(0, 1, 1 << 19, dtype=np.float32)
square = np.ones((1024, 1024), np.float32)
def run(function, *values):
    jax.block_until_ready(jax.jit(function)(*values))
def wide(x):
    return (x * np.float64(2)).sum()
def narrow(x):
    return (x * 2).sum()
def turned(a, b):
    return a.T + 1, b.T
def kept(a, b):
    return a + 1, b * 2
def calling(x):
    return jax.lax.fori_loop(0, 3, lambda i, c: jax.pure_callback(np.sin, c, c), x)
def closing(x):
    return x * table
def given(x, y):
    return x * y
def looping(x):
    return jax.lax.scan(lambda c, _: (jnp.tanh(c @ c), None), x, None, length=9)[0]
run(wide, square[0]), run(narrow, square[0])
run(turned, square, square), run(kept, square, square)
run(calling, square[0])
run(closing, table), run(given, table, table)
run(looping, square[:400, :400])
"""


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dump")
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_as_proto"
    subprocess.run(
        [sys.executable, "-c", PROGRAMS],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        check=True,
        timeout=300,
    )
    return folder


@pytest.fixture(scope="module")
def findings(dumped: Path) -> dict[str, Any]:
    """What is found in the programs of JAX, by slug."""
    with trace.open(str(dumped), cache=False) as opened:
        document = json.loads(as_json.render(report.build(opened)))
    return {one["slug"]: one for one in document["findings"]}


@pytest.mark.parametrize(
    ("slug", "module"),
    [
        ("doubles-not-asked-for", "jit_wide"),
        ("copies-between-layouts", "jit_turned"),
        ("host-calls-in-program", "jit_calling"),
        ("custom-calls-without-cost", "jit_calling"),
        ("large-constants", "jit_closing"),
        ("loop-dominates", "jit_looping"),
    ],
)
def test_programs_of_jax(slug: str, module: str, findings: dict[str, Any]) -> None:
    """Each is found in the program that has it, and not in its twin that has not."""
    found = findings[slug]
    assert {row["program"].partition(" ")[0] for row in found["evidence"]["rows"]} == {module}
    assert module in found["impact"]


def test_the_figures_of_programs_of_jax(findings: dict[str, Any]) -> None:
    found = {slug: one["evidence"]["rows"] for slug, one in findings.items()}
    assert [row["calls"] for row in found["host-calls-in-program"]] == [3]
    assert [row["held_bytes"] for row in found["large-constants"]] == [4 << 19]
    assert [row["moved_bytes"] for row in found["copies-between-layouts"]] == [8 << 20, 8 << 20]
    (loop,) = found["loop-dominates"]
    assert loop["trips"] == 9
    assert 0.9 < loop["share"] <= 1
    assert {row["line"] for row in found["doubles-not-asked-for"]} >= {9}


def _cases(folder: Path) -> list[tuple[Any, ...]]:
    """Rows of hlo_case: kind, instruction, what, value and share."""
    with trace.open(str(folder), cache=False) as opened:
        asked = "SELECT kind, instruction, what, value, share FROM hlo_case ORDER BY id"
        return opened.query(asked).rows()


def _text(folder: Path, name: str, body: str, header: str = ", is_scheduled=true") -> Path:
    path = folder / name
    path.write_text(f"HloModule jit_f{header}\n\nadd {{\n{_ADD}}}\n\nENTRY m {{\n{body}}}\n")
    return path


_ADD = "  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT z = f32[] add(x, y)\n"
_BEGIN = "  a = f32[99]{0} parameter(0)\n  s = (f32[99]{0}, f32[99]{0}) all-reduce-start(a), to_apply=add\n"
_WORK = "  w = f32[99]{0} negate(a)\n"
_END = "  d = f32[99]{0} all-reduce-done(s)\n"
_ROOT = "  ROOT r = (f32[99]{0}, f32[99]{0}) tuple(d, a)\n"
_GPU = "module_0000.jit_f.sm_8.0_gpu_after_optimizations.txt"
_CPU = "module_0000.jit_f.cpu_after_optimizations.txt"
_WHOLE = "  a = f32[99]{0} parameter(0)\n  d = f32[99]{0} all-reduce(a), to_apply=add\n" + _ROOT


@pytest.mark.parametrize(
    ("name", "body", "header", "exposed"),
    [
        (_GPU, _BEGIN + _END + _ROOT, ", is_scheduled=true", ["s"]),
        (_GPU, _BEGIN + _WORK + _END + _ROOT, ", is_scheduled=true", []),
        (_GPU, _BEGIN + _END + _WORK + _ROOT, ", is_scheduled=true", ["s"]),
        (_GPU, _BEGIN + _END + _ROOT, "", []),
        (_GPU, _WHOLE, ", is_scheduled=true", ["d"]),
        (_CPU, _WHOLE, ", is_scheduled=true", []),
    ],
    ids=["bare", "hidden", "work after it", "no schedule", "one instruction", "on the CPU"],
)
def test_collectives_that_nothing_hides(
    name: str, body: str, header: str, exposed: list[str], tmp_path: Path
) -> None:
    _text(tmp_path, name, body, header)
    found = [(one[1], one[3]) for one in _cases(tmp_path) if one[0] == "collective"]
    assert found == [(it, 396) for it in exposed]


@pytest.mark.parametrize(
    ("source", "target", "told"),
    [
        ("{1,0}", "{0,1}", True),
        ("{1,0}", "{1,0}", False),
        ("{1,0:T(8,128)}", "{1,0:T(8,128)S(1)}", False),
        ("{1,0}", "{1,0:S(5)}", False),
        ("{1,0:T(8,128)}", "{1,0:T(4,128)}", True),
    ],
)
def test_copies_into_another_layout(source: str, target: str, told: bool, tmp_path: Path) -> None:
    """A copy into the same layout, or into another memory, is none between layouts."""
    body = f"  a = f32[512,512]{source} parameter(0)\n  ROOT c = f32[512,512]{target} copy(a)\n"
    _text(tmp_path, "module_0000.jit_f.tpu_after_optimizations.txt", body)
    found = [(one[0], one[3], one[4]) for one in _cases(tmp_path)]
    assert found == [("layout_copy", 2 << 20, 1.0)] * told


def test_functions_without_a_name_are_not_one_function(tmp_path: Path) -> None:
    for number, shapes in enumerate((["f32[2]"], ["f32[2]", "f32[3]"])):
        lines = "".join(f"  p{at} = {shape}{{0}} parameter({at})\n" for at, shape in enumerate(shapes))
        lines += "".join(f"  n{at} = f32[2]{{0}} negate(p0)\n" for at in range(8))
        for at, name in enumerate(("jit__lambda", "jit_f")):
            path = tmp_path / f"module_000{2 * number + at}.{name}.cpu_after_optimizations.txt"
            path.write_text(f"HloModule {name}\n\nENTRY m {{\n{lines}  ROOT r = f32[2]{{0}} negate(p0)\n}}\n")
    with trace.open(str(tmp_path), cache=False) as opened:
        asked = "SELECT c.kind, m.function FROM hlo_case AS c JOIN hlo_module AS m ON m.id = c.module_id"
        assert opened.query(asked).rows() == [("types", "f")]


@pytest.mark.repeats("cli/test_main.py has the limits")
def test_a_limit_on_findings(capsys: pytest.CaptureFixture[str]) -> None:
    sample = str(SAMPLE)
    assert main([sample, "--fail-on", "compiled-for-other-shapes"]) == 1
    assert "over the limit of --fail-on: compiled-for-other-shapes (medium)" in capsys.readouterr().err
    assert main([sample, "--fail-on", "high"]) == 0
    assert main([sample, "--fail-on", "host-calls-in-program"]) == 0


def test_programs_that_are_not_searched_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _text(tmp_path, _CPU, _WHOLE)
    monkeypatch.setattr(cases, "_LARGEST", 2)
    assert _cases(tmp_path) == []
    assert main([str(tmp_path)]) == 0
    assert "the instructions of 1 program were not searched" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("seed", range(tiers.cases(4, 40)))
def test_damaged_programs_end_in_a_report(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    for path in SAMPLE.glob("*after_optimizations.*"):
        data = bytearray(path.read_bytes())
        for _ in range(chance.choice((1, 3, 20))):
            at = chance.randrange(len(data))
            how = chance.randrange(4)
            if how == 0:
                data[at] = chance.randrange(256)
            elif how == 1:
                del data[at : at + 1 + chance.randrange(40)]
            elif how == 2:
                start = chance.randrange(len(data))
                data[at:at] = data[start : start + chance.randrange(300)]
            else:
                data[at:at] = b"9" * chance.randrange(25)
        (tmp_path / path.name).write_bytes(data)
    # Where no program is left, nothing can be read.
    with trace.open(str(tmp_path), cache=False) as opened, suppress(UnreadableSource):
        found = report.build(opened, all=True)
        assert "findings" in as_json.render(found)
        assert all(one.evidence.rows and one.impact and one.action for one in found.findings)
