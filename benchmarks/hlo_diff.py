"""Measures how well and how fast `stepscope xla diff` matches instructions.

    python benchmarks/hlo_diff.py [--dumps DIR] [--own]

Well: precision and recall over consecutive passes of the dumps in the corpus and, with --own, of programs
that JAX compiles for this (hlo_programs.py), held against names, which the matching never reads; with the
framework's names of ops and without. Fast: two modules of 100,000 instructions, one renamed and changed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.formats.test_hlo import unpacked  # noqa: E402  the tests' corpus and measure, found beside this folder
from tests.instruments.match_scores import scores, together  # noqa: E402
from tests.instruments.test_xla_diffs import generated  # noqa: E402

import kept  # noqa: E402
from stepscope import _core  # noqa: E402

PROGRAMS = ("attention", "convolution", "dropout", "lstm", "odd")


def row(name: str, folder: Path, *, named: bool) -> dict[str, Any] | None:
    """What came out for the passes of a folder."""
    found = list(scores(folder, named=named))
    if not found:
        return None
    every = together([one for *_, one in found])
    passed, worst = min(
        ((passed, min(one.precision, one.recall)) for _, passed, one in found), key=lambda pair: pair[1]
    )
    return {
        "program": name,
        "metadata": named,
        "passes": len(found),
        "truth": every.truth,
        "precision": round(every.precision, 5),
        "recall": round(every.recall, 5),
        "worst": round(worst, 4),
        "worst_pass": passed,
    }


def compiled(name: str, into: Path) -> Path:
    """Dumps of a program that JAX compiles in a process of its own."""
    folder = into / name
    flags = f"--xla_dump_to={folder} --xla_dump_hlo_pass_re=.* --xla_dump_hlo_as_proto"
    subprocess.run(
        [sys.executable, str(HERE / "hlo_programs.py"), name],
        env={**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        check=True,
        capture_output=True,
    )
    return folder


def speed(into: Path) -> dict[str, Any]:
    """Seconds of the processor for two modules of 100,001 instructions, of which 1 in 100,000 is gone."""
    a, b = into / "a.txt", into / "b.txt"
    a.write_text(generated(5_000, 3))
    b.write_text(generated(5_000, 3, prefix="renamed", without=50_000))
    taken = []
    for _ in range(3):
        started = time.process_time()
        said = _core.hlo_diff([str(a), str(b)])
        taken.append(round(time.process_time() - started, 3))
    return {"instructions": said["a"]["instructions"], "removed": len(said["removed"]), "seconds": taken}


def main() -> None:
    """Measures, prints and writes down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--dumps", type=Path, help="a folder of dumps instead of the corpus")
    parser.add_argument("--own", action="store_true", help="compile programs with JAX, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        if options.dumps:
            folders = {options.dumps.name: options.dumps}
        else:
            folders = {path.parent.name: path for path in sorted(unpacked().glob("*/dump"))}
        if options.own:
            folders.update((f"own {name}", compiled(name, Path(scratch))) for name in PROGRAMS)
        rows = [row(name, folder, named=named) for named in (True, False) for name, folder in folders.items()]
        told = {
            "machine": kept.machine(),
            "matching": [one for one in rows if one is not None],
            "speed": speed(Path(scratch)),
        }
    for one in told["matching"]:
        print(*one.values(), sep="\t")
    print(told["speed"])
    kept.write("hlo-diff", told)


if __name__ == "__main__":
    main()
