"""Measures how fast and in how much memory dump folders of XLA are read.

    python benchmarks/hlo_index.py [--largest MB]

Folders: the largest of the corpus, and 3,000 files made of copies of it; seconds of the processor for
`xla dumps` and for the tables. Protos: all of a folder, on one thread, against the generated classes of
TensorFlow (hlo_pb2), which are parsed, and counted in Python, but work out no cost. Text: generated
ones of one long computation, with the memory that they take.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from tests.formats.test_hlo import unpacked  # noqa: E402  the tests' corpus, found beside this folder
from tests.formats.test_hlo_memory import NAMED, peak_of, write_text  # noqa: E402

import kept  # noqa: E402
from stepscope import _core  # noqa: E402
from stepscope.formats.xla import dumps  # noqa: E402
from stepscope.session import trace  # noqa: E402

FILES = 3_000


def seconds(work: Callable[[], Any], times: int = 3) -> list[float]:
    """Seconds of the processor, of all threads."""
    taken = []
    for _ in range(times):
        started = time.process_time()
        work()
        taken.append(round(time.process_time() - started, 3))
    return taken


def copies(of: Path, into: Path) -> Path:
    """A folder of so many files: those of another, under ever new numbers of modules."""
    into.mkdir()
    files = sorted(path for path in of.iterdir() if path.is_file() and path.name.startswith("module_"))
    for number in range(FILES):
        head, _, rest = files[number % len(files)].name.partition(".")
        module = int(head.removeprefix("module_")) + 1000 * (number // len(files))
        shutil.copy(files[number % len(files)], into / f"module_{module:04}.{rest}")
    return into


def folder(path: Path) -> dict[str, Any]:
    """Seconds for a folder."""

    def tables() -> None:
        with trace.open(str(path), cache=False) as opened:
            opened.query("SELECT COUNT(*) FROM hlo_instruction").rows()

    files = [one for one in path.rglob("*") if one.is_file()]
    return {
        "files": len(files),
        "megabytes": round(sum(one.stat().st_size for one in files) / 1e6, 1),
        "index_seconds": seconds(lambda: dumps.read([str(path)])),
        "tables_seconds": seconds(tables),
    }


_PARSED = """
import collections, math, sys, time
from tensorflow.compiler.xla.service import hlo_pb2
data = [open(path, "rb").read() for path in sys.argv[1:]]
started = time.process_time()
read = [hlo_pb2.HloProto.FromString(one) for one in data]
parsed = time.process_time() - started
opcodes, elements = collections.Counter(), 0
for proto in read:
    for computation in proto.hlo_module.computations:
        for one in computation.instructions:
            opcodes[one.opcode] += 1
            elements += math.prod(one.shape.dimensions)
print(opcodes.total(), parsed, time.process_time() - started)
"""


def protos(path: Path) -> dict[str, Any] | None:
    """Our summary of each proto (opcodes, costs, memory, hash) against what Python takes to parse them, and
    to count opcodes and elements; None without TensorFlow."""
    paths = [str(one) for one in sorted(path.glob("*.hlo.pb"))]
    done = subprocess.run([sys.executable, "-c", _PARSED, *paths], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-300:], file=sys.stderr)
        return None
    count, parsed, counted = map(float, done.stdout.split())
    ours = min(seconds(lambda: _core.hlo_summaries(paths, 1)))
    found = _core.hlo_summaries(paths, 1)
    assert sum(one["instructions"] for one in found if isinstance(one, dict)) == count
    return {
        "files": len(paths),
        "instructions": int(count),
        "ours_seconds": ours,
        "hlo_pb2_parses_ratio": round(parsed / ours, 2),
        "hlo_pb2_counts_ratio": round(counted / ours, 2),
    }


def texts(into: Path, largest: int) -> list[dict[str, Any]]:
    """Memory and time of texts."""
    made = []
    path = into / "module_0000.m.before_optimizations.txt"
    for megabytes in (100, 300, 1000):
        if megabytes > largest:
            break
        write_text(path, NAMED, megabytes * 1_000_000)
        started = time.perf_counter()
        instructions, peak = peak_of(path)
        made.append(
            {
                "text": "one computation",
                "megabytes": round(path.stat().st_size / 1e6),
                "instructions": instructions,
                "seconds": round(time.perf_counter() - started, 2),
                "peak_megabytes": round(peak / 1e6, 1),
                "times_its_size": round(peak / path.stat().st_size, 3),
            }
        )
    path.unlink(missing_ok=True)
    return made


def main() -> None:
    """Measures, prints and writes down."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--largest", type=int, default=300, metavar="MB", help="of the texts (300)")
    options = parser.parse_args()
    of = unpacked("jax_resnet/dump")
    with tempfile.TemporaryDirectory() as scratch:
        told = {
            "machine": kept.machine(),
            "folders": {"jax_resnet": folder(of), "copies": folder(copies(of, Path(scratch, "copies")))},
            "protos": protos(of),
            "texts": texts(Path(scratch), options.largest),
        }
    print(json.dumps(told, indent=1))
    kept.write("hlo-index", told)


if __name__ == "__main__":
    main()
