"""Measures the rows of rows.py and keeps what came out, row by row, beside rows of earlier runs.

    python benchmarks/run.py [ROW...] [--rounds N] [--list]

Every figure of one row comes from one run, its routes started in turns as whole processes, start-up
included, with the input in the page cache. Compare within a row; absolute times are this machine's.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import generate_checkpoint
import generate_chrome
import generate_fleet
import generate_graph
import generate_xspace
import kept
import rows
import tfprof_rows
from kept import machine as machine  # for the other scripts that say where they measured
from measure import Measured, in_turns, warm
from rows import DEFAULT, OUT, XPROF, Promise, Row

ROWS = {**rows.ROWS, **tfprof_rows.ROWS}


def main() -> int:
    """Measures, prints a line a route and a line a promise, writes JSON. Exit 1 when a promise broke."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW")
    parser.add_argument("--rounds", type=int, help="rounds per row instead of the row's own number")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{row.name:18} {row.about}" for row in ROWS.values()))
        return 0
    wanted = [ROWS[name] for name in options.rows] if options.rows else [*DEFAULT, *tfprof_rows.DEFAULT]
    if not XPROF.exists() and any("xspace" in row.name for row in wanted):
        install_xprof()
        print("start again: xprof is installed now")
        return 2
    broken = 0
    for row in wanted:
        result = measure(row, options.rounds or row.rounds)
        broken += sum(not promise["kept"] for promise in result["promises"])
        kept.add("rows", "rows", row.name, result)
    shutil.rmtree(OUT, ignore_errors=True)
    print(f"{broken} promises not kept")
    return 1 if broken else 0


def measure(row: Row, rounds: int) -> dict[str, Any]:
    """Runs one row and prints it."""
    OUT.mkdir(parents=True, exist_ok=True)
    for path in row.inputs:
        if not path.exists():
            apart(make, path)
        warm(path)
    print(f"\n{row.name}: {row.about}", flush=True)
    figures, inner = in_turns(row.routes, rounds)
    for name, figure in figures.items():
        line = f"  {name:18} {figure.seconds:8.3f} s  {figure.peak_mb:7.0f} MB  spread {figure.spread:.2f}"
        told = inner.get(name, {})
        if "bytes" in told:
            rate = told["bytes"] / 1e6 / told["seconds"]
            line += f"  inside {told['seconds']:.3f} s, {rate:.0f} MB/s"
            if "events" in told:
                line += f", {told['events'] / 1e6 / told['seconds']:.2f} M events/s"
        print(line, flush=True)
    promises = [{**vars(one), **judge(one, figures, inner)} for one in row.promises]
    for promise in promises:
        print(f"  {'kept  ' if promise['kept'] else 'BROKEN'} {promise['text']}", flush=True)
    return {
        "about": row.about,
        "routes": {name: vars(figure) for name, figure in figures.items()},
        "inside": inner,
        "promises": promises,
    }


def judge(promise: Promise, figures: dict[str, Measured], inner: dict[str, Any]) -> dict[str, Any]:
    """Holds the figures to a promise."""
    ours = figures[promise.ours]
    if promise.part:
        return judge_part(promise, inner)
    if promise.kind in ("times", "memory"):
        other = figures[promise.other]
        own_seconds = inner.get(promise.ours, {}).get("seconds", ours.seconds)
        got = other.seconds / own_seconds if promise.kind == "times" else other.peak_mb / ours.peak_mb
        what = "faster" if promise.kind == "times" else "less memory"
        text = f"{promise.ours} {got:.2f}x {what} than {promise.other}, wanted {promise.wanted:g}x"
        return {"text": text, "got": got, "wanted": promise.wanted, "kept": got >= promise.wanted}
    if promise.kind == "share":
        got = ours.seconds / figures[promise.other].seconds
        text = (
            f"{promise.ours} {got:.2f} times the time of {promise.other}, wanted at most {promise.wanted:g}"
        )
        return {"text": text, "got": got, "wanted": promise.wanted, "kept": got <= promise.wanted}
    got = {"seconds": ours.seconds, "processor": ours.processor_seconds}.get(promise.kind, ours.peak_mb)
    text = f"{promise.ours} {got:.3g} {promise.kind}, wanted at most {promise.wanted:g}"
    return {"text": text, "got": got, "wanted": promise.wanted, "kept": got <= promise.wanted}


def judge_part(promise: Promise, inner: dict[str, Any]) -> dict[str, Any]:
    """Holds a part of the work to a promise: seconds of processor time inside, and the same result."""
    own, other = inner[promise.ours], inner[promise.other]
    got = other["parts"][promise.part] / own["parts"][promise.part]
    texts = own["digests"].get(promise.part), other["digests"].get(promise.part)
    same = texts[0] == texts[1]
    text = (
        f"{promise.part}: {promise.ours} {got:.2f}x faster than {promise.other}, wanted {promise.wanted:g}x"
    )
    if texts != (None, None):
        text += "; the same text, byte for byte" if same else "; BUT ANOTHER TEXT"
    return {"text": text, "got": got, "wanted": promise.wanted, "kept": same and got >= promise.wanted}


def apart(work: Callable[[Path], None], path: Path) -> None:
    """Does it in a process of its own: what a process held at most is handed on to those it starts, and would
    be taken for their own memory."""
    process = multiprocessing.get_context("spawn").Process(target=work, args=(path,))
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"{path} could not be generated")


def make(path: Path) -> None:
    """Generates an input."""
    path.parent.mkdir(parents=True, exist_ok=True)
    print(f"generating {path.name}", flush=True)
    folder = path.parent.name
    if folder.startswith("tfprof-"):
        nodes = int(folder.split("-")[1])
        return generate_graph.write(path.parent, nodes, text=folder.endswith("-text"))
    if folder.startswith("checkpoint-"):
        return generate_checkpoint.write(path.with_suffix(""), int(folder.split("-")[1]))
    if folder.startswith("fleet-"):
        return generate_fleet.write(path.parent, int(folder.split("-")[1]))
    part = path.with_name(path.name + ".part")
    if path.name.endswith(".gz"):
        plain = path.with_suffix("")
        if not plain.exists():
            make(plain)
        with plain.open("rb") as source, gzip.open(part, "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    elif path.name.endswith(".json"):
        megabytes = int(path.stem.rsplit("-", 1)[1])
        generate_chrome.write(part, megabytes, "lines", path.name.startswith("array"), seed=1)
    else:
        millions = int(path.parent.name.removeprefix("xspace-").removesuffix("m"))
        generate_xspace.write(part, millions * 1_000_000, 0)
    part.rename(path)


def install_xprof() -> None:
    """xprof in its own virtual environment."""
    folder = XPROF.parents[1]
    print(f"installing xprof into {folder}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    subprocess.run([str(folder / "bin" / "pip"), "install", "--quiet", "xprof"], check=True)


if __name__ == "__main__":
    sys.exit(main())
