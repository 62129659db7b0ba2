"""What is true of the programs and of the traces that tools are asked about.

A program says it itself: TRUTH, and `# culprit` at the end of the lines that are slow (programs/harness.py).
A folder of programs that each have `program.py` and `truth.json` is read, too. What is true of a trace is a
line of traces.json, which has no trace: a trace is found by its SHA-256 in folders that hold its project.
"""

from __future__ import annotations

import ast
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE / "programs"
TRACES = HERE / "traces.json"
MARK = "# culprit"
"""Ends a line that is slow."""
LIMITS = ("compute", "communication", "copy", "idle")
"""What limits a device: its own kernels, collectives or copies that no kernel hides, or a lack of work."""


class Program(NamedTuple):
    """A program and what is known of it."""

    name: str
    path: Path
    truth: dict[str, Any]


class Trace(NamedTuple):
    """A trace and what is known of it."""

    name: str
    project: str
    """OWNER/NAME on GitHub."""
    file: str
    """Path in the project; empty where only the project is known."""
    licence: str
    sha256: str
    bytes: int
    kind: str
    """What wrote it: kineto, xplane or nsys."""
    about: str
    """What ran, on which device."""
    truth: dict[str, Any]
    """Of: limit (list of LIMITS, each right), cause (list), busy_ms (of each device, a list of right values),
    step_ms, longest (names of ops, each right)."""


def programs(folder: Path = PROGRAMS) -> list[Program]:
    """The programs of a folder that have a truth, by name."""
    found = [
        Program(path.parent.name, path.with_name("program.py"), json.loads(path.read_text()))
        for path in folder.glob("*/truth.json")
    ]
    for path in folder.glob("*.py"):
        truth = stated(path)
        if truth is not None:
            found.append(Program(path.stem, path, truth))
    return sorted(found, key=lambda program: program.name)


def stated(path: Path) -> dict[str, Any] | None:
    """The TRUTH of a program, with the place of its marked lines; None for a module that states none."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "TRUTH":
            unsaid: dict[str, Any] = {"also_acceptable": [], "op_type": None, "stage": None, "place": None}
            truth = unsaid | ast.literal_eval(node.value)
            break
    else:
        return None
    marked = [number for number, line in enumerate(text.splitlines(), 1) if line.endswith(MARK)]
    if marked:
        within = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.lineno <= marked[0] <= (node.end_lineno or 0)
        ]
        truth["place"] = {
            "file": path.name,
            "line_from": marked[0],
            "line_to": marked[-1],
            "function": within[-1].name if within else "<module>",
        }
    return truth


def traces() -> list[Trace]:
    """The traces that have a truth, in the order of traces.json."""
    return [Trace(**one) for one in json.loads(TRACES.read_text(encoding="utf-8"))]


def locate(wanted: Sequence[Trace], folders: Sequence[Path]) -> dict[str, Path]:
    """Where those of the traces lie that folders hold, by name. Only files of a right size are read."""
    sizes = {trace.bytes for trace in wanted}
    by_hash = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.stat().st_size in sizes:
                by_hash.setdefault(hashlib.sha256(path.read_bytes()).hexdigest(), path)
    return {trace.name: by_hash[trace.sha256] for trace in wanted if trace.sha256 in by_hash}
