"""Asks tools about programs or traces, scores what they say, and keeps the scores.

    python -m benchmarks.yardstick programs [FOLDER] [--tool NAME=PYTHON ...] [--only NAME ...]
    python -m benchmarks.yardstick traces FOLDER ... [--tool NAME=PYTHON ...] [--only NAME ...]
    python -m benchmarks.yardstick read FILE
    python -m benchmarks.yardstick page

NAME is a tool of `tools`, PYTHON the interpreter of the environment that has it. `read` prints what
traces.json says of a trace of PyTorch, `page` writes docs/yardstick.md. README.md has the rules.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from benchmarks import kept
from benchmarks.yardstick import page, reading, runs, score, tools, truth
from benchmarks.yardstick.answer import Answer

FAMILY = "yardstick"
Asked = Mapping[str, tuple[ModuleType, Path]]
"""Tools that are asked, with their interpreters, by name."""


def main() -> int:
    """Asks, prints a line an answer, and writes results."""
    options = _parser().parse_args()
    if options.what == "read":
        print(json.dumps(reading.truth(options.file), indent=1))
    elif options.what == "page":
        page.PAGE.write_text(page.text(), encoding="utf-8")
    elif options.what == "traces":
        ask_traces(_tools(options.tool), options.folders, options.only)
    else:
        ask_programs(_tools(options.tool), options)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.yardstick", description=_first(__doc__))
    verbs = parser.add_subparsers(dest="what", required=True)
    programs = verbs.add_parser("programs", help="programs with a planted cause")
    programs.add_argument("folder", type=Path, nargs="?", default=truth.PROGRAMS)
    programs.add_argument("--steps", type=int, default=30, help="steps to record")
    programs.add_argument("--keep", type=Path, help="folder of recordings; those that are there are used")
    programs.add_argument(
        "--torch", type=Path, metavar="PYTHON", help="interpreter for programs of PyTorch, else left out"
    )
    programs.add_argument("--turns", type=int, default=5, help="runs of each form of a program; 0: no gain")
    traces = verbs.add_parser("traces", help="traces of other projects")
    traces.add_argument("folders", type=Path, nargs="+", help="where they lie, under any name")
    for verb in (programs, traces):
        verb.add_argument("--tool", nargs="+", default=["stepscope"], metavar="NAME=PYTHON")
        verb.add_argument("--only", nargs="*", help="names; all when not given")
    verbs.add_parser("read", help="what arithmetic tells of a trace").add_argument("file", type=Path)
    verbs.add_parser("page", help="write docs/yardstick.md")
    return parser


def _first(text: str | None) -> str:
    return (text or "").splitlines()[0]


def _tools(chosen: list[str]) -> Asked:
    modules = tools.modules()
    asked = {}
    for one in chosen:
        name, _, python = one.partition("=")
        if name not in modules:
            raise SystemExit(f"no tool {name}: there are {', '.join(modules)}")
        asked[name] = (modules[name], Path(python or sys.executable))
    return asked


def ask_programs(asked: Asked, options: argparse.Namespace) -> None:
    """Every tool about every program, which is recorded and timed once."""
    folder = options.folder.resolve()
    results: dict[str, list[dict[str, Any]]] = {name: [] for name in asked}
    with tempfile.TemporaryDirectory() as scratch:
        for program in truth.programs(folder):
            if options.only and program.name not in options.only:
                continue
            known = program.truth
            interpreter = options.torch if known.get("needs") == "torch" else Path(sys.executable)
            if interpreter is None:
                print(f"left out: {program.name} needs an interpreter with PyTorch: --torch PYTHON")
                continue
            made, problem = runs.recorded(
                program.path, (options.keep or Path(scratch)) / program.name, options.steps, interpreter
            )
            if options.turns and known["cause"] != "healthy":
                known |= runs.timed(program.path, options.turns, interpreter)
            for name, (module, python) in asked.items():
                answer = Answer(problem=problem or "reads no recording of programs")
                if module.READS_PROGRAMS and not problem:
                    answer = module.program(made, python)
                found = {"id": program.name, "cause": known["cause"], **score.program(known, answer)}
                found["places"] = [_in_folder(place, folder) for place in found["places"]]
                results[name].append({**found, "problem": answer.problem})
                _print(name, program.name, found, answer)
    for name, (module, python) in asked.items():
        shares = score.shares(results[name])
        print(name, json.dumps(shares))
        if name == "stepscope" and not options.only:
            family = "culprits" if folder == truth.PROGRAMS else "culprits-elsewhere"
            kept.write(family, {"machine": kept.machine(), "shares": shares, "programs": results[name]})
        if folder == truth.PROGRAMS:
            _keep("programs", name, _version(module, python), {one["id"]: one for one in results[name]})


def ask_traces(asked: Asked, folders: list[Path], only: list[str] | None) -> None:
    """Every tool about every trace of a kind that it reads."""
    wanted = [trace for trace in truth.traces() if not only or trace.name in only]
    paths = truth.locate(wanted, folders)
    for trace in wanted:
        if trace.name not in paths:
            print(f"missing: {trace.name}: {trace.project} {trace.file}, SHA-256 {trace.sha256}")
    for name, (module, python) in asked.items():
        found = {}
        for trace in wanted:
            if trace.name not in paths:
                continue
            answer = Answer(problem=f"does not read {trace.kind}")
            if trace.kind in module.KINDS:
                answer = module.trace(paths[trace.name], python)
            found[trace.name] = {**score.trace(trace.truth, answer), "problem": answer.problem}
            _print(name, trace.name, found[trace.name], answer)
        _keep("traces", name, _version(module, python), found)


def _in_folder(place: dict[str, Any], folder: Path) -> dict[str, Any]:
    """The place, its file relative to the folder of the programs, or else as a bare name."""
    path = Path(place["file"])
    inside = path.is_absolute() and path.is_relative_to(folder)
    return {**place, "file": os.fspath(path.relative_to(folder)) if inside else path.name}


def _version(module: ModuleType, python: Path) -> str:
    return tools.version(module.PACKAGE, python)


def _keep(part: str, tool: str, version: str, found: Mapping[str, Any]) -> None:
    """Adds to the results, in place of earlier ones of the same tool and the same things."""
    known = kept.read(FAMILY)
    about = {"version": version, "date": kept.today(), "machine": kept.machine()}
    one = known.setdefault(part, {}).setdefault(tool, {"found": {}})
    one.update(about)
    one["found"].update(found)
    kept.write(FAMILY, known)


def _print(tool: str, name: str, found: Mapping[str, Any], answer: Answer) -> None:
    marks = {True: "right", False: "WRONG", None: "-"}
    parts = ("right", "placed") if "right" in found else ("limit", "cause", "busy", "step", "longest")
    told = " ".join(f"{part}:{marks[found[part]]}" for part in parts)
    print(f"{tool:12} {name:28} {told} {answer.problem or answer.said[:100]}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
