"""Whether anything grows faster than its work: every verb and every answer of the page, at several sizes.

    python benchmarks/growth.py [--sizes 10000,100000] [--forms kineto,xplane] [--shapes wide,deep,long]
                                [--only PART,PART] [--limit 60]

Recordings come from generate_growth.py. A cell is processor time (all threads, the system on their behalf)
and peak memory of one question: a verb's first look in a process of its own, or an answer of the page, asked
in the order of its routes, so that the first one that needs something makes it. One beyond the limit is ended
and shown as over. The slope is that of log(time) over log(events) between neighbouring sizes, the fixed cost
of a tiny recording taken off: 1 grows as the work does, 2 is quadratic. Where the larger time is less than
half a second, no slope is given: it would measure noise. Each kind of recording is kept when it is done;
with --only, its cells are kept beside those of earlier runs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import shutil
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import generate_growth
import kept
from measure import MILLION, MOST_MB, MOST_SLOPE, TINY, Outcome, of_a_million, run_limited
from run import apart
from stepscope.cli import verbs

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "growth"
LEAST_S, NOISE_S = 0.5, 0.2
"""Processor seconds from which on a slope is told; what is taken for nothing at the smaller size."""
FORMATS = (".json", ".parquet", ".ndjson", ".csv", ".duckdb", ".pb", ".collapsed", ".speedscope.json")
"""Extensions that `export` is asked for; others need a service, or libraries of their own."""
QUERY = "SELECT name, count(*) AS n, sum(dur_ps) AS ps FROM slice GROUP BY name ORDER BY ps DESC LIMIT 20"

Words = dict[str, list[str]]


def words_of(path: str, out: Path) -> dict[str, Words]:
    """The command lines of each verb that reads recordings, by what to call them."""
    lake = str(out / "lake")
    return {
        "summary": {"summary": [path]},
        "pipeline": {"pipeline": ["pipeline", path]},
        "whatif": {"whatif": ["whatif", path]},
        "roofline": {"roofline": ["roofline", path]},
        "memory": {"memory": ["memory", path], "memory --all": ["memory", path, "--all"]},
        "diff": {"diff": ["diff", path, path]},
        "check": {"check --counts": ["check", "--counts", "--baseline", path, "--candidate", path]},
        "query": {"query": ["query", path, QUERY]},
        "ingest": {"ingest": ["ingest", path, "--lake", lake]},
        "compact": {"compact": ["compact", lake]},
        "verify": {"verify": ["verify", lake]},
        "export": {f"export {form}": ["export", path, "-o", str(out / f"export{form}")] for form in FORMATS},
        "report": {
            f"report .{form}": ["report", path, "-o", str(out / f"report.{form}")]
            for form in ("html", "json")
        },
        "tfprof": {
            f"tfprof {view}": ["tfprof", view, path] for view in ("scope", "graph", "op", "code", "advise")
        },
        "graph": {"graph": ["graph", path]},
    }


WITHOUT = {
    "record": "runs a program", "serve": "its routes are measured one by one", "open": "as serve",
    "xla": "reads dumps and programs", "attach": "reads a running program", "top": "as attach",
    "capture": "asks a server",
    "mcp": "talks to an agent", "docs": "reads nothing", "completions": "reads nothing",
    "version": "reads nothing", "cache": "reads no recording",
}  # fmt: skip
"""Verbs that are not measured, and why."""
NOTHING_THERE = 2
"""Exit code of a verb that a recording has nothing for."""


class Cell:
    """One question to one recording."""

    def __init__(self, seconds: float | None, wall_s: float, peak_mb: float, about: str = "") -> None:
        """seconds: of the processor, None beyond the limit. about: how it ended, when not well."""
        self.seconds, self.wall_s, self.peak_mb, self.about = seconds, wall_s, peak_mb, about

    def told(self) -> dict[str, Any]:
        """As JSON."""
        cell = {
            "processor_s": None if self.seconds is None else round(self.seconds, 3),
            "wall_s": round(self.wall_s, 3),
            "peak_mb": round(self.peak_mb),
        }
        return {**cell, "ended": self.about} if self.about else cell

    @classmethod
    def of(cls, told: dict[str, Any]) -> Cell:
        """What told() made."""
        return cls(told["processor_s"], told["wall_s"], told["peak_mb"], told.get("ended", ""))


def by_verbs(path: Path, limit_s: float, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Cell]]:
    """Cells of the command line. Each is a first look: nothing is kept from one to the next but the lake."""
    with tempfile.TemporaryDirectory(prefix="stepscope-growth-") as folder:
        out = Path(folder)
        known = words_of(str(path), out)
        for verb in verbs():
            if verb in WITHOUT:
                continue
            for name, words in known[verb].items():
                if not wanted(name) and verb != "ingest":
                    continue
                shutil.rmtree(out / "cache", ignore_errors=True)
                command = [sys.executable, "-m", "stepscope", *words]
                found = run_limited(command, {"STEPSCOPE_CACHE_DIR": str(out / "cache")}, limit_s)
                yield name, _cell(found, path.parent, out)


def _cell(found: Outcome, *folders: Path) -> Cell:
    """folders: of this machine, which nobody else has."""
    over = found.exit_code in (-signal.SIGXCPU, -signal.SIGKILL)
    said = found.last_words.decode("utf-8", "replace")
    for folder in folders:
        said = said.replace(f"{folder}/", "")
    words = said.strip().splitlines()
    about = f"exit {found.exit_code}: {words[-1][:80] if words else ''}" if found.exit_code else ""
    if found.exit_code == NOTHING_THERE and words:
        about = f"exit 2: {words[0][:80]}"
    return Cell(None if over else found.processor_s, found.seconds, found.peak_mb, about)


def by_routes(path: Path, limit_s: float, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Cell]]:
    """Cells of the page, whose recording is decoded already."""
    with tempfile.TemporaryDirectory(prefix="stepscope-growth-") as folder:
        environment = {"STEPSCOPE_CACHE_DIR": str(Path(folder, "cache"))}
        run_limited([sys.executable, "-m", "stepscope", "query", str(path), QUERY], environment, 10 * limit_s)
        first = 0
        while True:
            program = [sys.executable, str(HERE / "growth_page.py"), str(path), str(limit_s), str(first)]
            found = run_limited(program, environment, None)
            lines = [json.loads(line) for line in found.output.splitlines() if line.startswith(b"{")]
            for told in lines:
                if "status" in told and wanted(f"page {told['name']}"):
                    about = "" if told["status"] == 200 else f"status {told['status']}"
                    cell = Cell(told["processor_s"], told["wall_s"], found.peak_mb, about)
                    yield f"page {told['name']}", cell
            if lines and "done" in lines[-1]:
                return
            if not lines or "status" in lines[-1]:
                words = found.last_words.decode("utf-8", "replace")[-300:]
                raise RuntimeError(f"{path}: the page ended with {found.exit_code}: {words}")
            yield f"page {lines[-1]['name']}", Cell(None, limit_s, found.peak_mb, "over the limit")
            first = lines[-1]["number"] + 1


def slope(small: tuple[int, Cell], large: tuple[int, Cell], fixed_s: float) -> float | None:
    """How the time grows with the events; None where that cannot be told, infinite over the limit."""
    (few, before), (many, after) = small, large
    if before.seconds is None:
        return None
    if after.seconds is None:
        return math.inf
    if after.seconds - fixed_s < LEAST_S:
        return None
    grown = (after.seconds - fixed_s) / max(before.seconds - fixed_s, NOISE_S)
    return math.log(grown) / math.log(many / few)


Rows = dict[str, dict[int, Cell]]


def measured(form: str, shape: str, sizes: Sequence[int], options: argparse.Namespace) -> Rows:
    """All cells of one kind of recording. What is over the limit at one size is not asked at larger ones."""
    rows: Rows = defaultdict(dict)
    wanted = partial(_is_asked, options.only)
    over: set[str] = set()
    for events in sizes:
        folder = DATA
        apart(partial(_written, form, shape, events), folder)
        path = generate_growth.place(folder, form, shape, events)
        todo = lambda name: wanted(name) and name not in over  # noqa: E731
        of_page = options.only is None or "page" in options.only
        for asked in (by_verbs, by_routes) if of_page else (by_verbs,):
            for name, cell in asked(path, options.limit, todo):
                rows[name][events] = cell
                if cell.seconds is None:
                    over.add(name)
    return rows


def _is_asked(only: str | None, name: str) -> bool:
    return only is None or any(part in name for part in only.split(","))


def _written(form: str, shape: str, events: int, folder: Path) -> None:
    generate_growth.write(folder, form, shape, events)


def add_earlier(rows: Rows, kind: str) -> None:
    """Adds the cells that are kept of earlier runs, where this one has none. Those of another day or
    processor are not: all cells of a kind are said to be of one."""
    known = kept.read("growth").get("kinds", {}).get(kind, {"rows": {}})
    if known["rows"] and (known["date"], known["machine"]["cpu"]) != (kept.today(), kept.machine()["cpu"]):
        return
    for name, row in known["rows"].items():
        for events, told in row["cells"].items():
            rows[name].setdefault(int(events), Cell.of(told))


def judged(rows: Rows) -> dict[str, Any]:
    """The cells with their slopes."""
    told = {}
    for name, cells in rows.items():
        fixed = cells[TINY].seconds if TINY in cells and cells[TINY].seconds is not None else 0.0
        pairs = itertools.pairwise(sorted(size for size in cells if size != TINY))
        slopes = [slope((few, cells[few]), (many, cells[many]), fixed or 0.0) for few, many in pairs]
        told[name] = {
            "cells": {str(events): cell.told() for events, cell in cells.items()},
            "slopes": [
                None if one is None else "over" if one == math.inf else round(one, 2) for one in slopes
            ],
        }
    return told


def show(title: str, told: dict[str, Any], sizes: Sequence[int]) -> None:
    """The table: rows that grow fastest first."""
    print(f"\n{title}\n{'':34}" + "".join(f"{events:>12,}" for events in (TINY, *sizes)) + "    MB  slopes")
    for name, row in sorted(told.items(), key=lambda one: -_steepest(one[1]["slopes"])):
        cells = [row["cells"].get(str(events)) for events in (TINY, *sizes)]
        if not any(cells[1:]):
            continue  # of an earlier run
        times = "".join(f"{_seconds(cell):>12}" for cell in cells)
        peak = max(cell["peak_mb"] for cell in cells if cell)
        slopes = " ".join("-" if one is None else str(one) for one in row["slopes"])
        ended = next((cell["ended"] for cell in reversed(cells) if cell and "ended" in cell), "")
        print(f"{name[:33]:34}{times}{peak:>6}  {slopes}  {ended}", flush=True)


def _steepest(slopes: Sequence[Any]) -> float:
    return max((math.inf if one == "over" else one for one in slopes if one is not None), default=-1.0)


def _seconds(cell: dict[str, Any] | None) -> str:
    return "" if cell is None else "over" if cell["processor_s"] is None else f"{cell['processor_s']:.2f}"


def broken(kind: str, rows: dict[str, Any]) -> list[str]:
    """What misses its target."""
    found = []
    for name, row in rows.items():
        steepest = _steepest(row["slopes"])
        if steepest > MOST_SLOPE:
            found.append(f"{kind}: {name} grows with the power {steepest:g} of the events")
        million, most = row["cells"].get(str(MILLION)), row["cells"].get(str(10 * MILLION))
        limit = of_a_million(name)
        if million and (million["processor_s"] is None or million["processor_s"] > limit):
            found.append(f"{kind}: {name} takes {_seconds(million)} s of a million events, wanted {limit:g}")
        if most and most["peak_mb"] > MOST_MB:
            found.append(f"{kind}: {name} takes {most['peak_mb']} MB of ten million events")
    return found


def main() -> int:
    """Measures, prints a table for each kind of recording, keeps it. Exit 1 when a target was missed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="10000,100000", help="events, the smallest first")
    parser.add_argument("--forms", default=",".join(generate_growth.FORMS))
    parser.add_argument("--shapes", default=",".join(generate_growth.SHAPES))
    parser.add_argument(
        "--only", help="questions with one of these in their name, separated by commas; page for the page"
    )
    parser.add_argument("--limit", type=float, default=60, help="processor seconds of a cell")
    options = parser.parse_args()
    sizes = sorted(int(one) for one in options.sizes.split(","))
    missed: list[str] = []
    for form in options.forms.split(","):
        # Tiny recordings of all shapes cost the same: what starting takes.
        tiny = measured(form, generate_growth.SHAPES[0], (TINY,), options)
        for shape in options.shapes.split(","):
            cells = measured(form, shape, sizes, options)
            for name, cell in tiny.items():
                cells[name] |= cell
            if options.only is not None:
                add_earlier(cells, f"{form} {shape}")
            rows = judged(cells)
            show(f"{form}, {shape}", rows, sizes)
            missed += broken(f"{form} {shape}", rows)
            kept.add("growth", "kinds", f"{form} {shape}", {"limit_s": options.limit, "rows": rows})
    print("\n" + "\n".join([*missed, f"{len(missed)} targets missed"]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
