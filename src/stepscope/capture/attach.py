"""Attaches a recorder to the frameworks of a program, as they are imported.

`start` is what the hook of `stepscope record` calls when Python starts; `attach` is for code that runs within
the program already.
"""

from __future__ import annotations

import atexit
import importlib.abc
import importlib.machinery
import sys
from pathlib import Path
from typing import Any, Callable, Sequence

from . import exits, notes
from .folder import Folder
from .pace import Caller
from .places import is_ours
from .plan import Plan
from .recorder import Recorder

FRAMEWORKS = ("tensorflow", "jax", "keras", "tf_keras")


current: list[Recorder] = []
"""The recorders at work, for marks that the program makes itself."""


def start(path: str) -> None:
    """Reads the launcher's plan and waits for a framework to be imported."""
    plan = Plan.load(Path(path))
    notes.process(plan, "python", sys.argv)
    recorder = Recorder(plan)
    current.append(recorder)
    exits.hide_own_frames(is_ours)
    sys.meta_path.insert(0, Watcher(lambda name, module: _imported(recorder, name, module)))


def begin(plan: Plan) -> Recorder:
    """Attaches a recorder to the frameworks that are imported already and to those that will be."""
    recorder = Recorder(plan)
    for name in FRAMEWORKS:
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            _attach(recorder, name, module)
    missing = [name for name in FRAMEWORKS if name not in recorder.frameworks]
    recorder.watcher = Watcher(lambda name, module: _attach(recorder, name, module), missing)
    sys.meta_path.insert(0, recorder.watcher)
    current.append(recorder)
    return recorder


def end(recorder: Recorder, error: BaseException | None) -> None:
    """Detaches what begin attached."""
    if recorder.watcher in sys.meta_path:
        sys.meta_path.remove(recorder.watcher)
    if recorder in current:
        current.remove(recorder)
    text = "" if error is None else f"{type(error).__name__}: {error}"
    if error is not None and recorder.folder is not None:
        recorder.folder.facts["exit"]["error"] = text
        recorder.folder.save()
    recorder.finish(text)


def check_empty(out: str) -> None:
    """ValueError unless a recording can go there: recordings are never mixed or replaced."""
    path = Path(out)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(f"{out} is there already and not an empty folder")


class Watcher(importlib.abc.MetaPathFinder):
    """Finds nothing itself, but calls `imported(name, module)` when a framework has been imported."""

    def __init__(self, imported: Callable[[str, Any], None], names: Sequence[str] = FRAMEWORKS) -> None:
        self._imported = imported
        self._waiting = set(names)

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: Any = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of a framework, with its loader watched once."""
        if name not in self._waiting:
            return None
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                # Whoever only asks whether a framework is there gets this spec, too, and never loads it.
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, lambda module: self._loaded(name, module))
                return spec
        return None

    def _loaded(self, name: str, module: Any) -> None:
        self._waiting.discard(name)
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        self._imported(name, module)


class _Loader(importlib.abc.Loader):
    """Loads as the loader it stands for, which it puts back into the module at once."""

    def __init__(self, loader: Any, loaded: Callable[[Any], None]) -> None:
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


def _imported(recorder: Recorder, name: str, module: Any) -> None:
    if not recorder.frameworks:
        atexit.register(_leave, recorder)
    _attach(recorder, name, module)
    notes.process(recorder.plan, "framework", recorder.frameworks)


def _attach(recorder: Recorder, name: str, module: Any) -> None:
    if not recorder.listening or name in recorder.frameworks:
        return
    recorder.frameworks.append(name)
    try:
        _WATCH[name](recorder, module)
    except Exception as error:  # noqa: BLE001  a framework of another make: the program must go on
        version = getattr(module, "__version__", "")
        recorder.problem(
            f"{name} {version} cannot be watched in every way",
            f"{type(error).__name__}: {error}",
            "mark the steps in the program with stepscope.capture.step(i)",
        )


def _leave(recorder: Recorder) -> None:
    """The last words of the process to its launcher."""
    if recorder.listening:
        notes.seen(recorder.plan, recorder.frameworks, recorder.pace, last=True)
    error = exits.uncaught()
    if error is not None and Path(recorder.plan.state or "?").is_dir():
        notes.process(recorder.plan, "error", error)


def _tensorflow(recorder: Recorder, module: Any) -> None:
    from . import tf1, tf2
    from .iterators import Iterators

    recorder.profilers.watch_tensorflow(recorder.patches)
    tf1.watch(recorder)
    tf2.watch(recorder)
    iterators = Iterators(recorder)
    iterators.watch(recorder.patches)
    recorder.live_iterators = iterators.live
    if recorder.wants("datasets"):
        recorder.sampling.append(iterators.datasets)
    if recorder.wants("model_proto"):
        recorder.sampling.append(iterators.models)
    if recorder.wants("graph"):
        recorder.closing.append(graph)
    if recorder.wants("op_log"):
        recorder.closing.append(op_log)


def _jax(recorder: Recorder, module: Any) -> None:
    from . import jax

    recorder.profilers.watch_jax(recorder.patches)
    jax.watch(recorder)


def _keras(recorder: Recorder, module: Any) -> None:
    from . import keras

    keras.watch(recorder, module)


_WATCH: dict[str, Callable[[Recorder, Any], None]] = {
    "tensorflow": _tensorflow,
    "jax": _jax,
    "keras": _keras,
    "tf_keras": _keras,
}


def graph(folder: Folder, caller: Caller | None, source: Any) -> None:
    """Writes graphs/graph.pb: the session's graph, or that of the function called last."""
    found = _graph_of(source)
    if found is not None:
        data = found.as_graph_def().SerializeToString(deterministic=True)
        folder.add("graphs/graph.pb", "graph", data)


def op_log(folder: Folder, caller: Caller | None, source: Any) -> None:
    """Writes op_log.pb of the same graph."""
    from . import oplog

    found = _graph_of(source)
    if found is not None:
        folder.add("op_log.pb", "op_log", oplog.op_log(found))


def _graph_of(source: Any) -> Any:
    from . import tf2

    if source is None:
        return None
    return tf2.graph_of(source) if hasattr(source, "python_function") else source
