"""Records and reads with the oldest and the newest TensorFlow and JAX of the registry, on each Python.

    python benchmarks/versions.py [--python 3.11 …] [--framework jax …] [--work DIR]

Each cell of the matrix is a fresh environment: the framework in that version, and this tree. It records a
short program whose cause is known, reads the capture, and counts what it found. Results go to
benchmarks/results/versions-DATE.json, with the cells of earlier runs that were not tried again, and from
there to docs/versions.md. A cell that could not be run says so; nothing is filled in.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import kept

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
PAGE = ROOT / "docs" / "versions.md"
PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
MOST_SECONDS = 600

Cell = dict[str, Any]


class Framework(NamedTuple):
    """A framework, the distribution that has its binaries, and what its program shows."""

    title: str
    package: str
    program: str
    cause: str
    """What limits the steps of the program."""
    finds: tuple[str, ...]
    """What readers find at its best."""


FRAMEWORKS = {
    "tensorflow": Framework(
        "TensorFlow",
        "tensorflow-cpu",
        "tensorflow_loop.py",
        "input",
        (
            "slices",
            "steps",
            "op_types",
            "stages",
            "lines_of_stages",
            "models",
            "lines_of_ops",
            "stacks",
            "compilations",
        ),
    ),
    "jax": Framework(
        "JAX",
        "jaxlib",
        "jax_loop.py",
        "python",
        ("slices", "steps", "lines_of_ops", "stacks", "compilations"),
    ),
}
OF_THEIR_TIME = (
    ("tensorflow-cpu", (2, 12), ("numpy<1.24", "protobuf<3.21")),
    ("tensorflow-cpu", (2, 18), ("numpy<2",)),
    ("jaxlib", (0, 4, 20), ("numpy<2", "scipy<1.12", "ml-dtypes<0.3")),
    ("jaxlib", (0, 4, 26), ("numpy<2", "scipy<1.13")),
)
"""Of old releases, which name no upper bounds: what they need that is of their time, before which version."""
MEANINGS = {
    "slices": "a trace",
    "steps": "steps",
    "op_types": "types of ops",
    "stages": "stages of the input pipeline",
    "lines_of_stages": "the lines on which they are written",
    "models": "tf.data's own model",
    "lines_of_ops": "the lines that made ops",
    "stacks": "stacks of Python",
    "compilations": "calls that compiled",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cells that are asked for and writes results and page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only this version of Python")
    parser.add_argument("--framework", action="append", choices=list(FRAMEWORKS), help="only this framework")
    parser.add_argument("--work", type=Path, help="folder for environments and captures")
    parser.add_argument("--page", action="store_true", help="only write the page from the last results")
    parser.add_argument("--strict", action="store_true", help="exit with 1 when a cell failed or got worse")
    asked = parser.parse_args(arguments)
    cells = {key(cell): cell for cell in last()}
    worse = []
    if not asked.page:
        with tempfile.TemporaryDirectory(dir=asked.work) as work:
            for python in asked.python or PYTHONS:
                for name in asked.framework or FRAMEWORKS:
                    for cell in run(python, name, Path(work)):
                        if is_worse(cell, cells.get(key(cell))):
                            worse.append(key(cell))
                        if cell["status"] != "not run" or key(cell) not in cells:
                            cells[key(cell)] = cell
                        print(f"{cell['framework']} {cell['version']} on Python {python}: {cell['status']}")
                        save(list(cells.values()))
    PAGE.write_text(page(list(cells.values())), encoding="utf-8")
    print(f"wrote {PAGE.relative_to(ROOT)}")
    return 1 if worse and asked.strict else 0


def is_worse(cell: Mapping[str, Any], before: Mapping[str, Any] | None) -> bool:
    """Whether a cell failed, or lacks what it had when it was tried before."""
    if cell["status"] == "not run":
        return False
    if before is None or before["status"] in ("not run", "failed"):
        return bool(cell["status"] == "failed")
    return cell["status"] == "failed" or not set(cell["lacks"]) <= set(before["lacks"])


def key(cell: Mapping[str, Any]) -> tuple[str, str, str]:
    """What there is one cell of."""
    return cell["framework"], cell["python"], cell["which"]


def last() -> list[Cell]:
    """The cells of the newest results; none before the first run."""
    return list(kept.read("versions").get("cells", []))


def save(cells: Sequence[Cell]) -> None:
    """Writes the results of today."""
    ordered = sorted(
        cells, key=lambda cell: (cell["framework"], _numbers(cell["python"]), cell["which"] != "oldest")
    )
    kept.write("versions", {"cells": ordered})


def run(python: str, name: str, work: Path) -> Iterator[Cell]:
    """The oldest and the newest version of a framework on a Python."""
    framework = FRAMEWORKS[name]
    head = {"framework": name, "python": python, "date": kept.today()}
    versions = offered(framework.package, python)
    for which, version in (
        (("oldest", versions[0]), ("newest", versions[-1])) if versions else (("newest", "-"),)
    ):
        cell = {**head, "which": which, "version": version}
        interpreter = find(python)
        if version == "-":
            yield {
                **cell,
                "status": "not run",
                "why": f"the registry has no {framework.package} for Python {python}",
            }
        elif interpreter is None:
            yield {**cell, "status": "not run", "why": f"Python {python} was not there"}
        else:
            yield {**cell, **_cell(framework, version, interpreter, work)}


def offered(package: str, python: str) -> list[str]:
    """Releases of a package that have binaries for a Python, the oldest first."""
    command = [sys.executable, "-m", "pip", "index", "versions", package, "--python-version", python]
    told = subprocess.run([*command, "--only-binary=:all:"], capture_output=True, text=True, check=False)
    found = re.search(r"^Available versions: (.+)$", told.stdout, re.MULTILINE)
    return sorted(found[1].split(", "), key=_numbers) if found else []


def find(python: str) -> str | None:
    """An interpreter: on PATH, or among those of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
    places = [shutil.which(f"python{python}"), *sorted(map(str, pyenv.glob(f"{python}.*/bin/python")))]
    for place in places:
        if place and subprocess.run([place, "-c", "import ensurepip"], capture_output=True).returncode == 0:
            return place
    return None


def _cell(framework: Framework, version: str, interpreter: str, work: Path) -> Cell:
    home = Path(tempfile.mkdtemp(dir=work))
    try:
        own = _install(framework, version, interpreter, home)
        out = home / "capture"
        recorded = _do(
            [
                own,
                "-m",
                "stepscope",
                "record",
                "-o",
                out,
                "--",
                own,
                HERE / "version_programs" / framework.program,
            ],
            home,
        )
        found = json.loads(
            _do([own, HERE / "version_programs" / "probe.py", out], home).stdout.splitlines()[-1]
        )
        lacks = [name for name in framework.finds if not found["rows"][name]]
        if found["cause"] != framework.cause:
            lacks.append(f"cause: {found['cause']}")
        return {
            "status": "partly" if lacks else "all",
            "lacks": lacks,
            "missing": re.findall(r"^  missing: (.+)$", recorded.stderr, re.MULTILINE),
            **found,
        }
    except subprocess.CalledProcessError as error:
        lines = [line.strip() for line in f"{error.stdout}\n{error.stderr}".splitlines() if line.strip()]
        return {
            "status": "failed",
            "why": f"{Path(str(error.cmd[2])).name}: {lines[-1] if lines else error}"[:300],
        }
    except subprocess.TimeoutExpired as error:
        return {"status": "failed", "why": f"took longer than {error.timeout:.0f} s"}
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _install(framework: Framework, version: str, interpreter: str, home: Path) -> str:
    """An environment with the framework and this tree, whose core works on every Python (abi3)."""
    _do([interpreter, "-m", "venv", home / "env"], home)
    own = str(home / "env" / "bin" / "python")
    wanted = [f"{framework.package}=={version}"]
    if framework.package == "jaxlib":
        wanted.append(f"jax=={version.rsplit('.', 1)[0] if version.count('.') > 2 else version}")
    for package, before, more in OF_THEIR_TIME:
        if package == framework.package and _numbers(version) < before:
            wanted += more
            break
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    listed = text.partition("\ndependencies = [")[2].partition("\n]")[0]
    wanted += re.findall(r'"([^"]+)"', listed)
    _do([own, "-m", "pip", "install", "--quiet", "--no-cache-dir", *wanted], home)
    packages = Path(
        _do([own, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], home).stdout.strip()
    )
    (packages / "stepscope.pth").write_text(f"{ROOT / 'src'}\n", encoding="utf-8")
    return own


def _do(command: Sequence[object], home: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "STEPSCOPE_CACHE_DIR": str(home / "cache"),
        "TF_CPP_MIN_LOG_LEVEL": "2",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    environment.pop("PYTHONPATH", None)
    return subprocess.run(
        [str(part) for part in command],
        cwd=home,
        env=environment,
        capture_output=True,
        text=True,
        timeout=MOST_SECONDS,
        check=True,
    )


def page(cells: Sequence[Mapping[str, Any]]) -> str:
    """docs/versions.md."""
    lines = [
        "# Versions of Python, TensorFlow and JAX",
        "",
        "What `stepscope record` and the readers find with the oldest and the newest TensorFlow and JAX that",
        "the registry has for each Python. Each cell records a short program whose cause is known",
        "(`benchmarks/version_programs/`) and counts what the readers find. `make versions` runs the matrix",
        "and writes this page from `benchmarks/results/versions-DATE.json`.",
    ]
    by_key = {key(cell): cell for cell in cells}
    for name, framework in FRAMEWORKS.items():
        lines += [
            "",
            f"## {framework.title}",
            "",
            "| Python | Release | Result | Tried on |",
            "| --- | --- | --- | --- |",
        ]
        for python in PYTHONS:
            for which in ("oldest", "newest"):
                cell = by_key.get((name, python, which))
                if cell is not None:
                    result = _result(framework, cell)
                    lines.append(f"| {python} | {cell['version']} ({which}) | {result} | {cell['date']} |")
                elif not _none_offered(by_key.get((name, python, "newest"))):
                    lines.append(f"| {python} | ({which}) | not tried yet | |")
    lines += [
        "",
        "## What is looked for",
        "",
        *(
            f"- {framework.title}: {_listed([MEANINGS[one] for one in framework.finds])}."
            for framework in FRAMEWORKS.values()
        ),
        "",
        "Releases between these were not tried.",
        "",
        "## Older than the readers",
        "",
        "stepscope itself needs Python 3.10; the recorder runs in the Python of the program, from 3.6 on.",
        "`make test-all` records sessions, a MonitoredTrainingSession and an Estimator with TensorFlow",
        "1.15.5 on Python 3.7, and the first two with TensorFlow 1.1.0 on Python 3.6, and reads them",
        "(`tests/capture/test_tensorflow1.py`): RunMetadata of ten steps, graphs and stacks; from 1.15 also",
        "the lines that made ops and those of the input pipeline. Neither has a profiler that writes a trace",
        "of all threads. Python 2.7 is left alone: the program runs, unrecorded.",
    ]
    return "\n".join(lines) + "\n"


def _none_offered(newest: Mapping[str, Any] | None) -> bool:
    """Whether the registry has no release, so that there is no oldest one either."""
    return newest is not None and newest["version"] == "-"


def _result(framework: Framework, cell: Mapping[str, Any]) -> str:
    if cell["status"] == "not run":
        return f"not run: {cell['why']}"
    if cell["status"] == "failed":
        return f"failed: {cell['why']}".replace("|", "\\|")
    causes = [one.removeprefix("cause: ") for one in cell["lacks"] if one.startswith("cause: ")]
    absent = [MEANINGS[one] for one in cell["lacks"] if one in MEANINGS]
    absent += [f"the cause (`{cause}` instead of `{framework.cause}`)" for cause in causes]
    parts = [f"everything but {_listed(absent)}" if absent else "everything"]
    parts += [f"the recorder says: {one}" for one in cell["missing"]]
    return "; ".join(parts).replace("|", "\\|")


def _listed(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition(".post")[0]))


if __name__ == "__main__":
    sys.exit(main())
