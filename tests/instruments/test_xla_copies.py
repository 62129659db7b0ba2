"""A program that a recording and a dump both keep counts once, and has two rows in the table."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from stepscope import library
from stepscope.report import section_text
from stepscope.server.catalog import dicts
from stepscope.session import trace
from tests.formats.test_hlo import unpacked

DUMPED = {"jax": "jit_train_step", "tf": "a_inference_train_step"}


def modules(*paths: Path) -> list[dict[str, Any]]:
    with trace.open(*map(str, paths), cache=False) as opened:
        return dicts(opened.ask(library.entry("hlo_modules")))


def kept(rows: list[dict[str, Any]], name: str) -> list[tuple[str, bool]]:
    return sorted((row["kept_by"], row["is_copy"]) for row in rows if row["module"].startswith(DUMPED[name]))


def said(rows: list[dict[str, Any]]) -> list[str]:
    return list(section_text.answer("hlo_modules", {"hlo_modules": rows}))


@pytest.fixture
def apart(tmp_path: Path) -> tuple[Path, Path]:
    """A recording of JAX and its dump, in two folders."""
    logs, dump = tmp_path / "logs", tmp_path / "dump"
    logs.mkdir()
    shutil.copytree(unpacked("traces/jax"), dump)
    (dump / "vm.xplane.pb").rename(logs / "vm.xplane.pb")
    return logs, dump


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("name", ["jax", "tf"])
def test_a_program_that_both_have_counts_once(name: str) -> None:
    rows = modules(unpacked(f"traces/{name}"))
    assert kept(rows, name) == [("dump", False), ("recording", True)]
    alone = sum(not row["is_copy"] for row in rows)
    assert alone == len(rows) - 1
    told = said(rows)
    assert told[0].startswith(
        f"XLA compiled {alone} modules of " if alone > 1 else "XLA compiled 1 module of "
    )
    assert "The table also lists 1 copy that recordings keep." in told


@pytest.mark.repeats("reads recordings that do not ship")
def test_a_dump_elsewhere_is_of_the_only_run(apart: tuple[Path, Path]) -> None:
    rows = modules(*apart)
    assert len({row["run_id"] for row in rows}) == 2
    assert kept(rows, "jax") == [("dump", False), ("recording", True)]


@pytest.mark.repeats("reads recordings that do not ship")
def test_nobody_knows_which_of_two_runs_was_dumped(apart: tuple[Path, Path], tmp_path: Path) -> None:
    logs, dump = apart
    shutil.copytree(logs, tmp_path / "again")
    again = tmp_path / "again" / "vm.xplane.pb"
    again.write_bytes(again.read_bytes() + b"\x12\x00")  # another recording of the same, to a hash
    rows = modules(logs, tmp_path / "again", dump)
    assert kept(rows, "jax") == [("dump", False), ("recording", False), ("recording", False)]


@pytest.mark.repeats("reads recordings that do not ship")
@pytest.mark.parametrize("change", ["number", "name", "parameters"])
def test_another_program_is_none(apart: tuple[Path, Path], change: str) -> None:
    dump = apart[1]
    (text,) = dump.glob("*cpu_after_optimizations.txt")
    (proto,) = dump.glob("*cpu_after_optimizations.hlo.pb")
    proto.unlink()
    name = text.name
    if change == "number":
        name = name.replace("module_0008", "module_0010")
    elif change == "name":
        text.write_text(text.read_text().replace("HloModule jit_train_step", "HloModule jit_other"))
        name = name.replace("jit_train_step", "jit_other")
    else:
        said = text.read_text()
        entry = said.index("ENTRY ")
        at = said.index(" parameter(0)", entry)
        shape = said[said.rindex("= ", entry, at) + 2 : at]
        text.write_text(
            said[:entry] + said[entry:].replace(f"{shape} parameter(0)", "f32[3]{0} parameter(0)")
        )
    text.rename(dump / name)
    rows = modules(*apart)
    assert [row["is_copy"] for row in rows] == [False] * len(rows)


@pytest.mark.repeats("reads recordings that do not ship")
def test_the_text_of_a_program_is_the_program(apart: tuple[Path, Path]) -> None:
    logs, dump = apart
    (proto,) = dump.glob("*cpu_after_optimizations.hlo.pb")
    proto.unlink()
    assert kept(modules(logs, dump), "jax") == [("dump", False), ("recording", True)]
