"""Loaded by Python itself at its start, because `stepscope record` puts this folder first on PYTHONPATH.

It takes the folder off sys.path again, so that nothing of the program's is shadowed, loads the recorder from
beside it under a private name (stepscope need not be installed in this Python), and goes on to the
sitecustomize that Python would have found without it.

Every Python that the program starts loads this file, so it is written for all of them, Python 2.7 included;
the rest of the recorder needs 3.6. One that the recorder does not know runs its program untouched.
"""

import os
import sys

_HERE = os.path.dirname(os.path.realpath(__file__))
_OLDEST = (3, 6)


def _unfit():
    # type: () -> str
    """Why this Python cannot be recorded; empty when it can."""
    version = ".".join(str(number) for number in sys.version_info[:3])
    needed = ".".join(str(number) for number in _OLDEST)
    if sys.version_info[:2] < _OLDEST:
        return "Python {} is too old: the recorder needs {} or newer".format(version, needed)
    name = sys.implementation.name
    if name != "cpython" or sys.version_info[0] != 3:
        return "{} {} is no Python that the recorder knows".format(name, version)
    return ""


def _note(plan, kind, text):
    # type: (str, str, str) -> None
    """Leaves text for the launcher. It and its folder may be gone; the program does not end for that."""
    try:
        with open(os.path.join(os.path.dirname(plan), kind + "-" + str(os.getpid())), "w") as file:
            file.write(text)
    except (IOError, OSError, ValueError):  # two in Python 2
        return


def _record(plan):
    # type: (str) -> None
    import importlib
    import importlib.util

    package = os.path.dirname(_HERE)
    spec = importlib.util.spec_from_file_location(
        "_stepscope_capture", os.path.join(package, "__init__.py"), submodule_search_locations=[package]
    )
    if spec is None or spec.loader is None:
        raise ImportError("nothing to load in " + package)
    module = importlib.util.module_from_spec(spec)
    sys.modules["_stepscope_capture"] = module
    spec.loader.exec_module(module)
    importlib.import_module("_stepscope_capture.import_watch").start(plan)


def _begin(plan):
    # type: (str) -> None
    unfit = _unfit()
    if unfit:
        _note(plan, "unfit", unfit)
        return
    try:
        _record(plan)
    except Exception as error:  # noqa: BLE001  whatever is wrong with this Python, the program must run
        _note(plan, "failed", "{}: {}".format(type(error).__name__, error))


def _go_on():
    # type: () -> None
    """Runs the sitecustomize of the program, if there is one; what it raises is Python's to tell."""
    if sys.version_info[:2] < (3, 5):
        _go_on_old()
        return
    from importlib.util import module_from_spec

    spec = None
    for finder in list(sys.meta_path):
        find = getattr(finder, "find_spec", None)
        spec = find("sitecustomize", None) if find is not None else None
        if spec is not None:
            break
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _go_on_old():
    # type: () -> None
    import imp

    try:
        file, path, description = imp.find_module("sitecustomize", sys.path)
    except ImportError:
        return
    # A module that sys.modules lets go of loses its names: this one is kept until the other is loaded.
    kept = sys.modules.pop("sitecustomize", None)
    try:
        imp.load_module("sitecustomize", file, path, description)  # type: ignore[arg-type]
    finally:
        if file is not None:
            file.close()
        del kept


sys.path[:] = [folder for folder in sys.path if not folder or os.path.realpath(folder) != _HERE]
_plan = os.environ.get("STEPSCOPE_RECORD")
if _plan and os.path.exists(_plan):
    _begin(_plan)
_go_on()
