"""The owner of a frame: the program, or a framework."""

import os
import sys
from pathlib import Path
from types import FrameType
from typing import Any, Optional, Tuple

from .environment import relative

_HERE = str(Path(__file__).parent) + os.sep
# TensorFlow 1.15 to 2.1 have their code in tensorflow_core.
_FRAMEWORKS = (
    "tensorflow", "tensorflow_core", "tensorflow_estimator", "keras", "tf_keras", "jax", "jaxlib", "torch",
)  # fmt: skip


def is_framework(path: str) -> bool:
    """True for files of TensorFlow, Keras, JAX, PyTorch, of Python's own import machinery, and for these."""
    return path.startswith(("<frozen", _HERE)) or path.startswith(_roots())


def is_ours(path: str) -> bool:
    """True for the files of this package."""
    return path.startswith(_HERE)


def code_of(function: Any) -> Any:
    """The code of the Python function that is behind a callable; None where there is none."""
    for _ in range(20):
        code = getattr(function, "__code__", None)
        function = getattr(function, "__wrapped__", None) or getattr(function, "func", None)
        if function is None:
            return code
    return None


def caller() -> str:
    """file:line of the innermost frame that is the program's; empty if there is none."""
    frame: Optional[FrameType] = sys._getframe(1)
    while frame is not None and is_framework(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{relative(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else ""


_known: Tuple[int, Tuple[str, ...]] = (-1, ())


def _roots() -> Tuple[str, ...]:
    global _known
    loaded = [sys.modules[name] for name in _FRAMEWORKS if name in sys.modules]
    if _known[0] != len(loaded):
        files = [getattr(module, "__file__", None) for module in loaded]
        roots = {str(Path(file).parent) + os.sep for file in files if file}
        # tensorflow.__file__ is .../tensorflow/__init__.py or, before 2.16, .../tensorflow/_api/v2/...
        roots |= {root.split(os.sep + "_api" + os.sep)[0] + os.sep for root in roots if "_api" in root}
        _known = (len(loaded), tuple(sorted(roots)))
    return _known[1]
