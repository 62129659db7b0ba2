"""Programs for several devices, and arguments that are donated in vain: compiled here, their truth known."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from stepscope import _core
from stepscope.cli import main
from stepscope.formats.xla import dumps
from tests.later import installed

PROGRAMS = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
mesh = Mesh(np.array(jax.devices()), ("d",))
rows = NamedSharding(mesh, PartitionSpec("d", None))
def given():
    return jax.device_put(jnp.ones((4096, 64)), rows)
def kept(p, x):
    return p + x.sum(), (p * x).mean()
def lost(p, x):
    return (p * x).sum()
def half(p, q, x):
    return p + 1, (q * x).sum()
def alone(p):
    return p.reshape(64, 4096) * 2
jax.jit(kept, donate_argnums=0)(given(), given())
jax.jit(lost, donate_argnums=0)(given(), given())
jax.jit(half, donate_argnums=(0, 1))(given(), given(), given())
jax.jit(alone, donate_argnums=0)(jnp.ones((4096, 64)))
"""
BYTES = 1024 * 64 * 4
"""Of an argument on one of four devices."""


@pytest.fixture(scope="module")
def dumped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    installed("jax")
    folder = tmp_path_factory.mktemp("dump")
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_as_proto --xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*"
    flags += " --xla_force_host_platform_device_count=4"
    subprocess.run(
        [sys.executable, "-c", PROGRAMS],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        check=True,
        timeout=300,
    )
    return folder


def _report(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    assert main([str(folder), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_arguments_that_are_donated_in_vain(dumped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`lost` wastes its only argument and `half` its second; `kept` and `alone` use what they are given."""
    found = {one["slug"]: one for one in _report(dumped, capsys)["findings"]}["donated-buffers-not-used"]
    rows = found["evidence"]["rows"]
    assert {(row["program"].partition(" ")[0], row["argument"], row["given_bytes"]) for row in rows} == {
        ("jit_lost", "p", BYTES),
        ("jit_half", "q", BYTES),
    }
    assert "256 KiB that no result takes (parameter " in found["impact"]


def test_text_and_proto_say_the_same_of_devices_and_donors(dumped: Path) -> None:
    protos = sorted(dumped.glob("*.hlo.pb"))
    texts = [path.with_name(path.name.replace(".hlo.pb", ".txt")) for path in protos]
    both = [_core.hlo_summaries([str(path) for path in paths]) for paths in (protos, texts)]
    keys = ("replicas", "partitions", "donors")
    for proto, text in zip(*both, strict=True):
        assert isinstance(proto, dict)
        assert isinstance(text, dict)
        assert {key: text[key] for key in keys} == {key: proto[key] for key in keys}
    said = [one for one in both[0] if isinstance(one, dict)]
    assert {one["partitions"] for one in said} == {1, 4}
    assert {len(one["donors"]) for one in said} == {0, 1, 2}


def test_figures_of_one_device_are_told_from_those_of_all(dumped: Path) -> None:
    rows = [row for row in dumps.read([str(dumped)], fold=False).rows if row["function"] == "lost"]
    split = [row for row in rows if row["per_device"]]
    whole = rows[: len(rows) - len(split)]
    assert rows == [*whole, *split]
    assert {row["per_device"] for row in whole} == {False}
    assert {row["parameters"].count("f32[4096,64]") for row in whole} == {2}
    assert {row["parameters"].count("f32[1024,64]") for row in split} == {2}
    alone = [row for row in dumps.read([str(dumped)]).rows if row["function"] == "alone"]
    assert {(row["partitions"], row["per_device"]) for row in alone} == {(1, None)}


def test_sentences_say_what_figures_are_of(dumped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "a run on each of 4 devices, " in _report(dumped, capsys)["headline"][1]
    assert main(["xla", "dumps", str(dumped), "--module", "jit_lost"]) == 0
    told = capsys.readouterr().err
    assert "jit_lost is split over 4 devices: from pipeline-start on, its figures are of one of them" in told
    command = ["xla", "diff", str(dumped), "--module", "jit_lost"]
    assert main([*command, "--stage", "before..after"]) == 0
    told = capsys.readouterr().out
    assert "split over 4 devices: the first figures are of all, the others of one" in told
    assert main([*command, "--stage", "after..before"]) == 0
    assert "split over 4 devices: the second figures are of all" in capsys.readouterr().out


def test_two_processes_in_one_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their programs have the same numbers, unless names begin with the time of the process."""
    for folder, clock in (("mixed", ""), ("apart", "1700000000.")):
        (tmp_path / folder).mkdir()
        for name, start in (("jit_f", ""), ("jit_g", clock)):
            path = tmp_path / folder / f"{start}module_0004.{name}.cpu_after_optimizations.txt"
            path.write_text(f"HloModule {name}\n\nENTRY m {{\n  ROOT a = f32[8]{{0}} parameter(0)\n}}\n")
    slugs = [one["slug"] for one in _report(tmp_path / "apart", capsys)["findings"]]
    assert "folder-of-several-processes" not in slugs
    found = {one["slug"]: one for one in _report(tmp_path / "mixed", capsys)["findings"]}
    (row,) = found["folder-of-several-processes"]["evidence"]["rows"]
    assert (row["program"], row["programs"], row["named"]) == ("jit_f (4)", 2, "jit_f and jit_g")


def test_a_change_of_the_number_of_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for devices in (2, 4):
        body = f"HloModule jit_f, num_partitions={devices}, replica_count={devices // 2}\n\nENTRY m {{\n"
        body += "  a = f32[8]{0} parameter(0)\n  ROOT r = f32[8]{0} negate(a)\n}\n"
        (tmp_path / f"{devices}.txt").write_text(body)
    assert main(["xla", "diff", str(tmp_path / "2.txt"), str(tmp_path / "4.txt")]) == 0
    assert "replicas 1 → 2, devices 2 → 4" in capsys.readouterr().out
