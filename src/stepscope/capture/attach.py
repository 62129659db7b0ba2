"""Attaches a recorder to the frameworks of a program, as they are imported.

The hook of `stepscope record` calls `imported`; code within the program calls `begin` and `end`.
"""

import atexit
import contextlib
import sys
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Callable, Dict, List, Optional

from . import exits, notes
from .callers import Caller
from .folder import Folder
from .import_watch import FRAMEWORKS, Watcher
from .places import is_ours
from .plan import RecordingPlan
from .program import Program
from .recorder import Recorder

current: List[Recorder] = []
"""Active recorders, for marks that the program sets itself."""


def imported(path: str, name: str, module: Any) -> None:
    """Called by the hook when a framework was imported; the launcher's plan is in the file `path`."""
    if not current:
        recorder = Recorder(RecordingPlan.load(Path(path)))
        current.append(recorder)
        exits.hide_own_frames(is_ours)
        atexit.register(_leave, recorder)
    _attach(current[0], name, module)
    notes.process(current[0].plan, "framework", current[0].program.frameworks)


def begin(plan: RecordingPlan) -> Recorder:
    """Attaches a recorder to the frameworks that are imported now or later."""
    recorder = Recorder(plan)
    for name in FRAMEWORKS:
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            _attach(recorder, name, module)
    missing = [name for name in FRAMEWORKS if name not in recorder.program.frameworks]
    recorder.watcher = Watcher(lambda name, module: _attach(recorder, name, module), missing)
    sys.meta_path.insert(0, recorder.watcher)
    current.append(recorder)
    return recorder


def end(recorder: Recorder, error: Optional[BaseException]) -> None:
    """Detaches the recorder that begin attached."""
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
    """ValueError unless a recording fits there: recordings are never mixed or replaced."""
    path = Path(out)
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise ValueError(f"{out} is there already and not an empty folder")


def _attach(recorder: Recorder, name: str, module: Any) -> None:
    if not recorder.listening or name in recorder.program.frameworks:
        return
    recorder.program.frameworks.append(name)
    try:
        _WATCH[name](recorder, module)
    except Exception as error:  # noqa: BLE001  a framework of another make: the program must go on
        named = f"{name} {getattr(module, '__version__', '')}".strip()
        recorder.problem(
            f"{named} cannot be watched in every way",
            f"{type(error).__name__}: {error}",
            "mark the steps in the program with stepscope.capture.step(i)",
        )


def _leave(recorder: Recorder) -> None:
    """The last report of the process to its launcher."""
    if recorder.listening:
        notes.seen(recorder.plan, recorder.program.frameworks, recorder.pace, last=True)
    error = exits.uncaught()
    if error is not None and Path(recorder.plan.state or "?").is_dir():
        notes.process(recorder.plan, "error", error)


def _tensorflow(recorder: Recorder, module: Any) -> None:
    """Watches the entry points of this version. All versions have sessions; any other may be missing."""
    from . import tf1, tf2
    from .iterators import Iterators

    version = getattr(module, "__version__", "")
    tf1.watch(recorder)
    try:
        recorder.profilers.watch_tensorflow(recorder.patches)
    except ImportError:
        recorder.problem(
            "no XPlane",
            f"TensorFlow {version} has no profiler that writes one",
            "RunMetadata has the ops of sessions; TensorFlow 2.3 and newer write an XPlane",
        )
    iterators = Iterators(recorder)
    for what, watch in (
        ("calls of tf.function", partial(tf2.watch, recorder)),
        ("datasets and their iterators", partial(iterators.watch, recorder.patches)),
    ):
        try:
            watch()
        except Exception as error:  # noqa: BLE001  a version that has them elsewhere
            if version.startswith("1.") and isinstance(error, ImportError):
                continue  # a version without them
            recorder.problem(
                f"{what} of TensorFlow {version} cannot be watched",
                f"{type(error).__name__}: {error}",
                "sessions are recorded; mark other steps in the program with stepscope.capture.step(i)",
            )
    recorder.program.live_iterators = iterators.live
    if recorder.wants("datasets"):
        recorder.course.pieces.sampling.append(iterators.datasets)
    if recorder.wants("model_proto"):
        recorder.course.pieces.sampling.append(iterators.models)
    if recorder.wants("graph"):
        recorder.course.pieces.closing.append(graph)
    if recorder.wants("op_log") and not _is_there("tensorflow.core.profiler.tfprof_log_pb2"):
        recorder.problem(
            "no op log",
            f"TensorFlow {version} has no format for the lines that made ops",
            "ops are known by their names; TensorFlow 1.4 and newer have one",
        )
    elif recorder.wants("op_log"):
        recorder.course.pieces.closing.append(writer_of_op_logs(recorder.program))


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # nor the package that would contain it
        return False


def _jax(recorder: Recorder, module: Any) -> None:
    from . import jax

    recorder.profilers.watch_jax(recorder.patches)
    jax.watch(recorder)


def _keras(recorder: Recorder, module: Any) -> None:
    from . import keras, metrics

    keras.watch(recorder, module)
    with contextlib.suppress(AttributeError):  # a Keras without this class: lines of metrics are not known
        metrics.watch(recorder, module)


def _torch(recorder: Recorder, module: Any) -> None:
    """Watches the functions of this version. Another module of the same name has none of them."""
    from . import torch, torch_calls
    from .loaders import Loaders

    loaders = Loaders(recorder)
    torch.watch(recorder, module)
    for missing, watch in (
        ("no trace of ops", partial(recorder.profilers.watch_torch, recorder.patches)),
        ("DataLoaders are not watched", loaders.watch),
        ("calls of models are not watched", partial(torch_calls.watch, recorder, module)),
    ):
        try:
            watch()
        except (ImportError, AttributeError) as error:
            version = getattr(module, "__version__", "")
            recorder.problem(
                missing,
                f"PyTorch {version}: {type(error).__name__}: {error}",
                "stacks of Python and times of steps are recorded; PyTorch 1.9 and newer have it all",
            )
    if recorder.wants("datasets"):
        recorder.course.pieces.sampling.append(loaders.datasets)


_WATCH: Dict[str, Callable[[Recorder, Any], None]] = {
    "tensorflow": _tensorflow,
    "jax": _jax,
    "keras": _keras,
    "tf_keras": _keras,
    "torch": _torch,
}


def graph(folder: Folder, caller: Optional[Caller], source: Any) -> None:
    """Writes graphs/graph.pb: the graph of the session, or of the function called last."""
    found = _graph_of(source)
    if found is not None:
        made = found.as_graph_def()
        _say_shapes_of_variables(found, made)
        folder.add("graphs/graph.pb", "graph", made.SerializeToString(deterministic=True))


def _say_shapes_of_variables(graph: Any, made: Any) -> None:
    """Gives inputs that are variables the variables' shapes, as VarHandleOp has them: a handle itself is a
    scalar, and would count as one parameter."""
    shapes = {}
    for outer, inner in getattr(graph, "captures", ()):
        known: Any = getattr(getattr(outer, "_handle_data", None), "shape_and_type", ())
        if len(known) == 1:
            shapes[inner.op.name] = known[0].shape
    for node in made.node:
        if node.name in shapes:
            node.attr["shape"].shape.CopyFrom(shapes[node.name])


def writer_of_op_logs(program: Program) -> Callable[[Folder, Optional[Caller], Any], None]:
    """What writes op_log.pb for the same graph."""

    def op_log(folder: Folder, caller: Optional[Caller], source: Any) -> None:
        from . import oplog

        found = _graph_of(source)
        if found is not None:
            folder.add("op_log.pb", "op_log", oplog.op_log(found, program.metric_made_at))

    return op_log


def _graph_of(source: Any) -> Any:
    from . import tf2

    if source is None:
        return None
    return tf2.graph_of(source) if hasattr(source, "python_function") else source
