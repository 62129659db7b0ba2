"""The profilers that a recorder may use."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from stepscope.capture.profiler import Profilers


def test_a_profiler_that_writes_no_xplane_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """TensorFlow 2.2's writes JSON alone, and its session takes no options: to start it as a newer one ended
    the recording."""
    packages = "tensorflow", "tensorflow.python", "tensorflow.python.profiler"
    for name in (*packages, f"{packages[-1]}.profiler_v2"):
        module = ModuleType(name)
        module.__path__ = []  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, name, module)
    profiler = sys.modules["tensorflow.python.profiler.profiler_v2"]
    sys.modules["tensorflow.python.profiler"].profiler_v2 = profiler  # type: ignore[attr-defined]
    profiler._pywrap_profiler = SimpleNamespace()  # type: ignore[attr-defined]
    put: list[str] = []
    patches = SimpleNamespace(put=lambda place, name, value: put.append(name))
    profilers = Profilers()
    with pytest.raises(ImportError):
        profilers.watch_tensorflow(patches)  # type: ignore[arg-type]
    assert (profilers.of_tensorflow, put) == (False, [])
    profiler.ProfilerOptions = tuple  # type: ignore[attr-defined]
    profilers.watch_tensorflow(patches)  # type: ignore[arg-type]
    assert (profilers.of_tensorflow, put) == (True, ["_pywrap_profiler"])
