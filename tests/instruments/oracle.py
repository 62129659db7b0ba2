"""TensorFlow's own tfprof engine as a process: built once, asked many lines at a time.

It needs a C++ compiler, the tensorflow package and the source beside the corpus; whoever lacks one of them
skips, visibly.
"""

import hashlib
import importlib.util
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "../shared/tools/tfprof_oracle.cc"


def build() -> Path:
    """The program; skips the test when it cannot be had."""
    compiler = shutil.which("g++")
    package = importlib.util.find_spec("tensorflow")
    if not SOURCE.exists() or compiler is None or package is None or not package.submodule_search_locations:
        pytest.skip("TensorFlow's engine cannot be built here: compiler, tensorflow or its source is missing")
    folder = Path(package.submodule_search_locations[0])
    key = hashlib.sha256(SOURCE.read_bytes() + str(folder).encode()).hexdigest()[:16]
    program = Path(tempfile.gettempdir()) / f"stepscope-tfprof-oracle-{key}"
    if program.exists():
        return program
    with tempfile.TemporaryDirectory() as scratch:
        part = Path(scratch) / "oracle"
        libraries = ["-l:libtensorflow_cc.so.2", "-l:libtensorflow_framework.so.2"]
        line = [compiler, "-std=c++17", "-w", f"-I{folder}/include", str(SOURCE), "-o", str(part)]
        done = subprocess.run(
            [*line, f"-L{folder}", *libraries, f"-Wl,-rpath,{folder}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            pytest.skip(f"TensorFlow's engine cannot be built here: {done.stderr[-300:]}")
        shutil.move(part, program)
    return program


def ask(
    program: Path,
    graph: Path,
    steps: Sequence[Path],
    op_log: Path | None,
    checkpoint: Path | None,
    lines: Sequence[str],
) -> list[str]:
    """What the engine prints for each line, up to one that it dies of."""
    arguments = [str(graph), ",".join(map(str, steps)) or "-", str(op_log or "-"), str(checkpoint or "-")]
    done = subprocess.run(
        [str(program), *arguments],
        input="".join(f"{line}\n" for line in lines).encode(),
        capture_output=True,
        check=False,
        timeout=250,
    )
    text = done.stdout.decode("utf-8", "replace")
    answers = []
    rest = text
    for line in lines:
        begin, end = f"@@@BEGIN {line}\n", "\n@@@END\n"
        if not rest.startswith(begin) or end not in rest:
            break
        answer, _, rest = rest.removeprefix(begin).partition(end)
        answers.append(answer)
    return answers
