"""A process that forks one command after the other, each of which meets a failing disk.

`python -m tests.faults.export_child SHIM FOLDER ERRNO FIRST STEP -- WORDS…` runs `stepscope WORDS` with the
FIRST-th call on the folder failing, then again with the (FIRST + STEP)-th, and so on until a command meets no
failure. It prints a JSON line for each: number, exit code, what was said, and what is left in the folder.
"""

import ctypes
import io
import json
import os
import shutil
import sys
from pathlib import Path

import duckdb  # noqa: F401 - imported once for all children

from stepscope.cli import main
from stepscope.session import trace  # noqa: F401 - imported once for all children


def attempt(shim: str, folder: Path, failure: int, number: int, words: list[str]) -> bool:
    """Runs one command in a child; False when it met no failure."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        sys.stderr = io.StringIO()
        library = ctypes.CDLL(shim)
        library.fault_arm(str(folder).encode(), ctypes.c_long(number), failure)
        code = main(words)
        met = library.fault_count() >= number
        library.fault_arm(b"/nowhere", ctypes.c_long(0), 0)
        told = {"number": number, "code": code, "met": met, "said": sys.stderr.getvalue()}
        os.write(writer, json.dumps(told).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        told = json.loads(pipe.read() or b'{"met": true, "code": null, "said": "it died"}')
    os.wait()
    print(json.dumps({**told, "left": sorted(one.name for one in folder.iterdir())}), flush=True)
    return bool(told["met"])


if __name__ == "__main__":
    shim, folder, failure, first, step, _, *words = sys.argv[1:]
    number = int(first)
    while attempt(shim, Path(folder), int(failure), number, words):
        number += int(step)
