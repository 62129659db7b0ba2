"""Waits for a framework to be imported. Programs that import none load only this file, so it is small."""

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Optional

from .processes import identity

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

FRAMEWORKS = ("tensorflow", "jax", "keras", "tf_keras", "torch")


def start(path: str) -> None:
    """Called by the hook when Python starts: leaves a note for the launcher, and waits. path: of the plan."""
    # In the launcher's own words on who uses its folder: see scratch.py.
    _leave(path, "python", identity(os.getpid()))

    def imported(name: str, module: Any) -> None:
        # The program only wants to import something: a Python that the recorder does not know, or a missing
        # launcher, must not stop it.
        try:
            from . import attach

            attach.imported(path, name, module)
        except Exception as error:  # noqa: BLE001
            _leave(path, "failed", f"{type(error).__name__}: {error}")

    sys.meta_path.insert(0, Watcher(imported))


def _leave(path: str, kind: str, text: str) -> None:
    with contextlib.suppress(OSError):  # the launcher and its folder are gone, or the disk is full
        Path(path).with_name(f"{kind}-{os.getpid()}").write_text(text, encoding="utf-8")


class Watcher:
    """Finds no modules itself, but calls `imported(name, module)` when a framework has been imported."""

    def __init__(self, imported: "Callable[[str, Any], None]", names: "Sequence[str]" = FRAMEWORKS) -> None:
        self._imported = imported
        self._waiting = set(names)

    def find_spec(self, name: str, path: "Optional[Sequence[str]]" = None, target: Any = None) -> Any:
        """The spec of a framework, with its loader wrapped once."""
        if name not in self._waiting:
            return None
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                # Code that only tests whether a framework exists gets this spec, too, and never loads it.
                if hasattr(spec.loader, "exec_module"):
                    loader: Any = _Loader(spec.loader, lambda module: self._loaded(name, module))
                    spec.loader = loader
                return spec
        return None

    def _loaded(self, name: str, module: Any) -> None:
        self._waiting.discard(name)
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        self._imported(name, module)


class _Loader:
    """Loads like the original loader, which it restores in the module at once."""

    def __init__(self, loader: Any, loaded: "Callable[[Any], None]") -> None:
        self._loader = loader
        self._loaded = loaded

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        self._loaded(module)
