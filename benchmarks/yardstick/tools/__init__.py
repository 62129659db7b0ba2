"""The tools that are asked: one module each, with what all share here.

A module has NAME, PACKAGE (its name in Python's package index), ABOUT (how its output is read), KINDS (of
traces that it reads) and `trace(path, python)`, READS_PROGRAMS and `program(made, python)`. `python` is the
interpreter of the environment that has the tool; what runs there is `inside/NAME_answer.py`, which prints an
answer as JSON and imports nothing of this folder.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from benchmarks.yardstick import answer
from benchmarks.yardstick.answer import Answer

NAMES = ("stepscope", "xprof", "tracelens", "hta", "pyinstrument")
INSIDE = Path(__file__).with_name("inside")
_LIMIT_S = 900
"""A tool that takes longer gives no answer."""


class Made(NamedTuple):
    """What a program left to be read."""

    program: Path
    recording: Path
    """The folder that `stepscope record` wrote; XPlanes lie in it."""
    arguments: tuple[str, ...]
    """Those that the program was recorded with."""


def ran(name: str, python: Path, *arguments: str) -> Answer:
    """What the script of a tool answers in its own environment."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "answer.json"
        command = [str(python), str(INSIDE / f"{name}_answer.py"), str(out), *arguments]
        known = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, cwd=scratch, env=known, timeout=_LIMIT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return Answer(problem=f"no answer within {_LIMIT_S} s")
        if not out.exists():
            return Answer(problem=last(done.stderr))
        found: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return answer.of(found)


def last(text: str) -> str:
    """The last line that an unlucky command wrote, without folders."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    words = [
        word.rpartition("/")[2] if word.startswith("/") else word
        for word in (lines or ["no answer"])[-1].split()
    ]
    return " ".join(words)[:200]


def modules() -> dict[str, ModuleType]:
    """The tools by name, in the order of the docs."""
    return {name: importlib.import_module(f"{__name__}.{name}") for name in NAMES}


def version(package: str, python: Path) -> str:
    """The version of a tool in its environment; empty where it has none."""
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()
