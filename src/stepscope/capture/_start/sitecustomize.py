"""Loaded by Python itself at its start, because `stepscope record` puts this folder first on PYTHONPATH.

It takes the folder off sys.path again, so that nothing of the program's is shadowed, loads the recorder from
beside it under a private name (stepscope need not be installed in this Python), and goes on to the
sitecustomize that Python would have found without it.
"""

from __future__ import annotations

import contextlib
import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent


def _record(plan: str) -> None:
    package = _HERE.parent
    spec = importlib.util.spec_from_file_location(
        "_stepscope_capture", package / "__init__.py", submodule_search_locations=[str(package)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"nothing to load in {package}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["_stepscope_capture"] = module
    spec.loader.exec_module(module)
    importlib.import_module("_stepscope_capture.watch").start(plan)


def _go_on() -> None:
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


sys.path[:] = [folder for folder in sys.path if not folder or Path(folder).resolve() != _HERE]
_plan = os.environ.get("STEPSCOPE_RECORD")
if _plan and Path(_plan).exists():
    try:
        _record(_plan)
    except Exception as error:  # noqa: BLE001  whatever is wrong with this Python, the program must run
        with contextlib.suppress(OSError):  # the launcher and its folder may be gone
            _note = Path(_plan).with_name(f"failed-{os.getpid()}")
            _note.write_text(f"{type(error).__name__}: {error}", "utf-8")
_go_on()
