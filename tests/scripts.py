"""Scripts outside of the package, as modules."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def load(path: Path) -> ModuleType:
    """A script as a module of its own name, which others find as well: dataclasses look it up."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.parent))  # as Python does for a script that it runs
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(path.parent))
    return module
