"""The command `stepscope`, whatever else is called so.

Python looks into PYTHONPATH before it looks where stepscope is installed. The command is often given another
program's, as in `PYTHONPATH=. stepscope record -- python train.py`, and a stepscope.py in there, or another
release of a package that stepscope needs, is that program's and not ours. So this has a name of its own, puts
PYTHONPATH last for this process, and loads the stepscope that lies beside it. Programs that are started get
PYTHONPATH as it was.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path


def main() -> int:
    """Runs the command line of `sys.argv` and returns its exit code."""
    _put_last(os.environ.get("PYTHONPATH", ""))
    _load("stepscope")
    from stepscope.cli import main

    return main()


def _put_last(folders: str) -> None:
    """Has Python look into these folders only for what is nowhere else."""
    if sys.flags.ignore_environment or not folders:
        return
    last_folders = {os.path.realpath(path) for path in folders.split(os.pathsep)}
    last = [path for path in sys.path if os.path.realpath(path) in last_folders]
    sys.path[:] = [path for path in sys.path if path not in last] + last


def _load(name: str) -> None:
    """Loads a package from beside this one. ImportError when it is not there."""
    folder = Path(__file__).resolve().parents[1] / name
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"there is no package {folder}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
