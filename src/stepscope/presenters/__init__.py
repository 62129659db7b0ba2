"""Displays a Report: one module per kind of file, found by listing this folder.

A module that writes files has EXTENSION (".html") and `render(report) -> str`. Presenters choose how a
value looks and how long a bar is; they compute nothing that a reader could take for a result.
"""

import importlib
from collections.abc import Iterable
from pathlib import PurePath
from types import ModuleType

from stepscope.errors import UsageError


def file_presenters() -> dict[str, ModuleType]:
    """The presenters that write files, by the extension they write."""
    import pkgutil

    modules = [
        importlib.import_module(f"{__name__}.{found.name}")
        for found in pkgutil.iter_modules(__path__)
        if not found.name.startswith("_")
    ]
    return {module.EXTENSION: module for module in modules if hasattr(module, "EXTENSION")}


def unknown_kind(
    name: str | None, endings: Iterable[str], todo: str = "give a name that ends in {}"
) -> UsageError:
    """The error for a file whose name does not say what it is to be; no name, where none was given."""
    return UsageError(
        "Nothing says what kind of report to write",
        seen="no -o" if name is None else f"a file name that ends in {PurePath(name).suffix or 'nothing'}",
        todo=todo.format(", ".join(endings)),
    )
