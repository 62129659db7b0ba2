"""Displays a Report: one module per kind of file, found by listing this folder.

A module that writes files has EXTENSION (".html") and `render(report) -> str`. Presenters choose how a
value looks and how long a bar is; they compute nothing that a reader could take for a result.
"""

from __future__ import annotations

import importlib
from types import ModuleType


def file_presenters() -> dict[str, ModuleType]:
    """The presenters that write files, by the extension they write."""
    import pkgutil

    modules = [
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
        if not found.name.startswith("_")
    ]
    return {module.EXTENSION: module for module in modules if hasattr(module, "EXTENSION")}
