"""How `make` comes by Rust: what is there, what it installs, and what it says when it cannot."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEW, DEBIAN_12 = "rustc 1.88.0 (6b00bc388 2025-06-23)", "rustc 1.63.0 (4b91a6ea7 2022-08-08)"


def program(folder: Path, name: str, *lines: str) -> None:
    """A shell script that stands in for a program."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def toolchain(path: Path, version: str) -> None:
    """A cargo and a rustc of some version."""
    program(path, "cargo", "exit 0")
    program(path, "rustc", f"echo '{version}'")


@pytest.fixture
def bin_(tmp_path: Path) -> Path:
    """A PATH that has a C compiler and nothing else."""
    program(tmp_path / "bin", "cc", "exit 0")
    return tmp_path / "bin"


def find(bin_: Path) -> tuple[int, str, str]:
    """The exit code, the lines for recipes to source, and what was said; without PyPI and rustup's host."""
    out = bin_.parent / "toolchain"
    environment = {
        "PATH": str(bin_),
        "HOME": str(bin_.parent),
        "PIP_NO_INDEX": "1",
        "RUSTUP_UPDATE_ROOT": "http://127.0.0.1:9",
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
    }
    ran = subprocess.run(
        [sys.executable, ROOT / "crates" / "toolchain.py", out],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.stdout == ""
    return ran.returncode, out.read_text() if out.exists() else "", ran.stderr


def test_cargo_on_the_path_is_used_as_it_is(bin_: Path) -> None:
    toolchain(bin_, NEW)
    assert find(bin_) == (0, "", "")


def test_rustup_installs_where_rust_is_too_old(bin_: Path) -> None:
    toolchain(bin_, DEBIAN_12)
    stable = bin_.parent / "stable"
    toolchain(stable, NEW)
    program(bin_, "rustup", f'echo "$@" >>"{bin_.parent}/log"', f'[ "$1" != which ] || echo "{stable}/cargo"')
    code, written, said = find(bin_)
    assert code == 0
    assert "1.63.0" in said
    assert "rustup installs its stable toolchain" in said
    assert (bin_.parent / "log").read_text().startswith("toolchain install stable")
    sourced = subprocess.run(
        ["/bin/sh", "-c", f". {bin_.parent}/toolchain && rustc --version"],
        env={"PATH": str(bin_)}, capture_output=True, text=True,
    )  # fmt: skip
    assert sourced.stdout.strip() == NEW
    assert str(stable) in written


def test_without_rust_and_without_a_network_it_says_how_to_get_one(bin_: Path) -> None:
    toolchain(bin_, DEBIAN_12)
    program(bin_, "rustup", "echo 'error: could not download' >&2", "exit 1")
    code, written, said = find(bin_)
    assert (code, written) == (1, "")
    assert "seen:  rustc 1.63.0" in said
    assert "rustup: error: could not download" in said
    assert "puccinialin (from PyPI): " in said
    assert "to do: install rustup" in said
    assert "Debian's own rustc is too old" in said
    assert "Traceback" not in said


def test_a_linker_is_asked_for_first(bin_: Path) -> None:
    (bin_ / "cc").unlink()
    code, _, said = find(bin_)
    assert code == 1
    assert "apt-get install gcc libc6-dev" in said
