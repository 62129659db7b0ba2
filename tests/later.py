"""What takes seconds to import, when a test needs it: never while the tests are collected.

tf = Later("tensorflow")          # imported when it is first asked for something; without it, tests skip
graph_pb2 = proto("core.framework.graph_pb2")  # a generated module of TensorFlow's, without TensorFlow
installed("jax")                  # for a test that starts a program which imports it
"""

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest


class Later:
    """A module that is imported when it is first asked for something."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # pytest asks this of whatever a file of tests has
            raise AttributeError(name)
        return getattr(pytest.importorskip(self._name), name)


def is_there(name: str) -> bool:
    """True where a package is installed. Imports nothing but the packages around it."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # one around it is not there
        return False


def installed(name: str) -> None:
    """Skips the test where a package that its program imports is not there."""
    if not is_there(name):
        pytest.skip(f"{name} is not installed")


_protos: dict[str, ModuleType] = {}
"""What was imported under `protos_only`, by the names of the real modules."""


@contextlib.contextmanager
def protos_only() -> Iterator[None]:
    """TensorFlow's generated modules can be imported within, and nothing else of it: in no time.

    They import each other from the package, whose own import takes seconds: an empty one stands in for it.
    Messages are of the same classes as TensorFlow's, for protobuf makes one class of a description. Without
    TensorFlow, the module that asks is skipped.
    """
    package = importlib.util.find_spec("tensorflow")
    if package is None or package.submodule_search_locations is None:
        pytest.skip("TensorFlow's protobuf classes are the reference", allow_module_level=True)
    real = _of_tensorflow()
    stand_in = ModuleType("tensorflow")
    stand_in.__path__ = list(package.submodule_search_locations)
    sys.modules.update({"tensorflow": stand_in, **_protos})
    try:
        yield
    finally:
        _protos.update(_of_tensorflow())
        del _protos["tensorflow"]
        sys.modules.update(real)


def proto(name: str) -> Any:
    """A generated module, named without the package."""
    with protos_only():
        return importlib.import_module(f"tensorflow.{name}")


def _of_tensorflow() -> dict[str, ModuleType]:
    """Takes TensorFlow's modules out of those that are imported."""
    names = [name for name in sys.modules if name.partition(".")[0] == "tensorflow"]
    return {name: sys.modules.pop(name) for name in names}
