"""Wheels that strangers can install: build one, check what it is, and try it where there is nothing else.

    python packaging/wheel.py build --target x86_64-unknown-linux-gnu --tag manylinux_2_28 --out dist
    python packaging/wheel.py check --tag manylinux_2_28 dist
    python packaging/wheel.py smoke dist
    python packaging/wheel.py sdist --out dist
    python packaging/wheel.py offline --target x86_64-unknown-linux-gnu --tag manylinux_2_28 dist

All steps need Python; those that build need Rust. `offline` builds from the source distribution what `build`
builds from a checkout. For Linux, zig links against the symbols of the glibc that the tag names, however new
that of the machine is. Exit code 1 says what is wrong.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MATURIN = "maturin==1.16.0"
ZIG = ("ziglang==0.17.1", "cargo-zigbuild==0.24.0")
MOST_WHEEL_BYTES = 16 << 20
MOST_INSTALLED_BYTES = 70 << 20
"""Of everything that pip installs for stepscope, without DuckDB."""
SAMPLE = ROOT / "tests" / "samples" / "capture" / "slow_map"
_GLIBC = re.compile(rb"GLIBC_(\d+)\.(\d+)")
_WHEEL = re.compile(r"stepscope-(?P<version>[^-]+)-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
_NEEDED = (
    "stepscope/py.typed",
    "stepscope/lake/schema.sql",
    "stepscope/library/findings/input_wait.sql",
    "stepscope/server/assets/",
    "stepscope/capture/_start/sitecustomize.py",
    "stepscope_start/__init__.py",
)


class Wrong(Exception):
    """What is wrong with a wheel, in a sentence."""


def build(target: str, tag: str, out: Path) -> None:
    """Builds the wheel of a target. Wrong when it fails."""
    with tempfile.TemporaryDirectory() as folder:
        _build(_builder(Path(folder), target), target, tag, out)


def _builder(folder: Path, target: str) -> Path:
    """The Python of a new environment with what builds a wheel for a target."""
    return _environment(folder, [MATURIN, *(ZIG if "linux" in target else ())])


def _build(python: Path, target: str, tag: str, out: Path, *options: str, cwd: Path = ROOT) -> None:
    words = [
        "-m",
        "maturin",
        "build",
        "--release",
        "--locked",
        "--target",
        target,
        "--out",
        str(out.resolve()),
    ]
    if "linux" in target:
        words += ["--zig", "--compatibility", tag]
    _run([str(python), *words, *options], cwd=cwd, path=python.parent)


def sdist(out: Path) -> None:
    """Builds the source distribution."""
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(Path(folder), [MATURIN])
        _run([str(python), "-m", "maturin", "sdist", "--out", str(out)], path=python.parent)


def offline(dist: Path, target: str, tag: str) -> None:
    """Builds the wheel of a target from the source distribution in a folder, into that folder.

    Only the crates of its Cargo.lock are fetched first; the build itself has no network.
    """
    (archive,) = dist.glob("stepscope-*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        python = _builder(Path(folder, "environment"), target)
        with tarfile.open(archive) as packed:
            if sys.version_info >= (3, 12):
                packed.extractall(folder, filter="data")
            else:
                packed.extractall(folder)
        (source,) = Path(folder).glob("stepscope-*")
        if not (source / "Cargo.lock").is_file():
            raise Wrong("the source distribution lacks Cargo.lock")
        _run(["cargo", "fetch", "--locked"], cwd=source)
        _build(python, target, tag, dist, "--offline", cwd=source)


def check(wheels: Sequence[Path], tag: str) -> None:
    """Holds wheels against what their names must say and what must be in them. Wrong when one fails."""
    if not wheels:
        raise Wrong("there is no wheel")
    for wheel in wheels:
        match = _WHEEL.fullmatch(wheel.name)
        if match is None:
            raise Wrong(f"{wheel.name}: not the name of a wheel of stepscope")
        if (match["python"], match["abi"]) != ("cp310", "abi3"):
            raise Wrong(f"{wheel.name}: not cp310-abi3, so it serves one Python only")
        if not any(one.startswith(tag) for one in match["platform"].split(".")):
            raise Wrong(f"{wheel.name}: not {tag}; built against the libraries of this machine?")
        if wheel.stat().st_size > MOST_WHEEL_BYTES:
            raise Wrong(f"{wheel.name}: {wheel.stat().st_size:,} bytes; are there symbols in it?")
        with zipfile.ZipFile(wheel) as packed:
            _check_contents(wheel.name, packed, tag)
        print(f"{wheel.name}: {wheel.stat().st_size:,} bytes, {tag}")


def _check_contents(name: str, packed: zipfile.ZipFile, tag: str) -> None:
    names = packed.namelist()
    licences = (f".dist-info/licenses/{name}" for name in ("LICENSE", "THIRD-PARTY-NOTICES"))
    for needed in (*_NEEDED, *licences):
        if not any(one.endswith(needed) or one.startswith(needed) for one in names):
            raise Wrong(f"{name}: lacks {needed}")
    cores = [one for one in names if re.fullmatch(r"stepscope/_core\.(abi3\.so|pyd)", one)]
    if len(cores) != 1:
        raise Wrong(f"{name}: has {len(cores)} cores")
    needs = glibc(packed.read(cores[0]))
    match = re.fullmatch(r"manylinux_(\d+)_(\d+)", tag)
    if match and needs > (int(match[1]), int(match[2])):
        raise Wrong(f"{name}: needs glibc {needs[0]}.{needs[1]}, which {tag} does not promise")


def glibc(data: bytes) -> tuple[int, int]:
    """The newest version of glibc that a library asks for; 0.0 when it asks for none."""
    return max(((int(major), int(minor)) for major, minor in _GLIBC.findall(data)), default=(0, 0))


def smoke(dist: Path) -> None:
    """Installs the wheel into an empty environment, with nothing else on PATH, and does the main job."""
    (wheel,) = dist.glob("stepscope-*.whl")
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(Path(folder, "environment"), [str(wheel)])
        scripts = str(python.parent)
        command = str(python.parent / ("stepscope.exe" if os.name == "nt" else "stepscope"))
        alone = {"PATH": scripts, "XDG_CACHE_HOME": str(Path(folder, "cache")), "PYTHONUTF8": "1"}
        version = _run([command, "--version"], only=alone)
        told = _run([command, str(SAMPLE)], only=alone)
        again = _run([command, str(SAMPLE)], only=alone)
        asked = _run(
            [command, "query", str(SAMPLE), "SELECT count(*) AS steps FROM step", "--format", "csv"],
            only=alone,
        )
        report = Path(folder, "r.html")
        _run([command, "report", str(SAMPLE), "-o", str(report)], only=alone)
        if "Waiting for input takes" not in told or told != again or asked.split() != ["steps", "16"]:
            raise Wrong(f"the main job went wrong: {told[:300]!r}, {asked!r}")
        if report.stat().st_size < 10_000:
            raise Wrong("the report is empty")
        total, duckdb = installed(python)
        if total - duckdb > MOST_INSTALLED_BYTES:
            raise Wrong(f"{(total - duckdb) >> 20} MB are installed beyond DuckDB")
        beyond = (total - duckdb) / 1e6
        print(f"{version.strip()} works; {beyond:.1f} MB beyond the {duckdb / 1e6:.1f} MB of DuckDB")


def installed(python: Path) -> tuple[int, int]:
    """Bytes that pip installed into an environment beyond pip itself, and DuckDB's share."""
    place = Path(_run([str(python), "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]).strip())
    total = duckdb = 0
    for path in place.rglob("*"):
        first = path.relative_to(place).parts[0].lower()
        if path.is_file() and not first.startswith(("pip", "setuptools", "_distutils_hack")):
            total += path.stat().st_size
            duckdb += path.stat().st_size if "duckdb" in first else 0
    return total, duckdb


def _environment(folder: Path, packages: Sequence[str]) -> Path:
    """A new environment with some packages; its Python."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    _run([str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages])
    return python


def _run(
    words: Sequence[str],
    *,
    cwd: Path = ROOT,
    path: Path | None = None,
    only: dict[str, str] | None = None,
    **more: str,
) -> str:
    """Runs a command; what it prints. Wrong when it fails. only: the whole environment."""
    environment = {**(os.environ if only is None else only), **more}
    if only is not None and os.name == "nt":
        environment["SYSTEMROOT"] = os.environ["SYSTEMROOT"]
    if path is not None:
        environment["PATH"] = f"{path}{os.pathsep}{environment['PATH']}"
    shown = subprocess.PIPE if only is not None or "-c" in words else None
    done = subprocess.run(
        words, cwd=cwd, env=environment, stdout=shown, text=True, encoding="utf-8", check=False
    )
    if done.returncode != 0:
        raise Wrong(f"{' '.join(words)} ended with {done.returncode}")
    return done.stdout or ""


def main() -> int:
    """Runs one step."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    steps = parser.add_subparsers(dest="step", required=True)
    for name, arguments in (
        ("build", ("--target", "--tag", "--out")),
        ("sdist", ("--out",)),
        ("check", ("--tag", "dist")),
        ("smoke", ("dist",)),
        ("offline", ("--target", "--tag", "dist")),
    ):
        step = steps.add_parser(name)
        for argument in arguments:
            kind = Path if argument in ("--out", "dist") else str
            step.add_argument(argument, type=kind, **({"required": True} if argument.startswith("-") else {}))
    given = parser.parse_args()
    try:
        if given.step == "build":
            build(given.target, given.tag, given.out)
        elif given.step == "sdist":
            sdist(given.out)
        elif given.step == "check":
            wheels = [given.dist] if given.dist.suffix == ".whl" else sorted(given.dist.glob("*.whl"))
            check(wheels, given.tag)
        elif given.step == "smoke":
            smoke(given.dist)
        else:
            offline(given.dist, given.target, given.tag)
    except Wrong as wrong:
        print(f"error: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
