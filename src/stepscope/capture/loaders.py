"""The DataLoaders of a PyTorch program: where they were made, their datasets, and the batches drawn from
them.

They are written as chains in the same form as those of tf.data: the dataset with the line of its
`__getitem__`, and the DataLoader that draws from it.
"""

import contextlib
import inspect
import sys
import weakref
from types import FrameType
from typing import Any, Callable, Dict, List, Optional

from . import clocks
from .callers import WatchedCall
from .datasets import line_of, program_line
from .folder import Folder
from .frames import Whose
from .padding import LOOKS, Padding
from .places import code_of, is_framework
from .recorder import Recorder
from .torch_profiler import is_worker

_MOST = 100
"""Most loaders that are reported."""
_TOLD = ("batch_size", "num_workers", "prefetch_factor", "pin_memory", "persistent_workers", "drop_last")


class Loaders:
    """Follows the DataLoaders of a program."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._places: weakref.WeakKeyDictionary[Any, Dict[str, Any]] = weakref.WeakKeyDictionary()
        self._chains: List[List[Dict[str, Any]]] = []
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        """Loaders that the program drew batches from."""
        self._padded: List[Padding] = []
        self._loaders: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        """By iterator."""
        self._known: Callable[[], Any] = _nothing
        """The iterator that needs no more watching: its loader is reported, and an optimizer steps."""
        self._looks = self._written = 0
        """Loaders and batches that were seen, by now and when they were written."""
        self._whose = Whose()

    def watch(self) -> None:
        """Records every loader from now on, and counts the batches drawn."""
        from torch.utils.data import DataLoader, dataloader

        recorder, iterator = self._recorder, dataloader._BaseDataLoaderIter

        def make(init: Any) -> Any:
            def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
                init(self_, *args, **kwargs)
                if recorder.listening:
                    with contextlib.suppress(Exception):  # without weak references, it gets no line
                        self._places[self_] = self._made_at(sys._getframe(1))

            return __init__

        def make_iterator(init: Any) -> Any:
            def __init__(self_: Any, loader: Any, *args: Any, **kwargs: Any) -> None:
                if recorder.listening:
                    with contextlib.suppress(TypeError):  # as above: its batches count all the same
                        self._loaders[self_] = loader
                init(self_, loader, *args, **kwargs)

            return __init__

        def make_next(next_: Any) -> Any:
            def __next__(self_: Any) -> Any:
                if self_ is self._known() or not recorder.listening:
                    return next_(self_)
                begin_ns = clocks.time_ns()
                batch = next_(self_)
                with recorder.unharmed():
                    self._drew(self_, batch, begin_ns, clocks.time_ns())
                return batch

            return __next__

        recorder.patches.wrap(DataLoader, "__init__", make)
        recorder.patches.wrap(iterator, "__init__", make_iterator)
        recorder.patches.wrap(iterator, "__next__", make_next)

    def _made_at(self, frame: FrameType) -> Dict[str, Any]:
        """The program's line that a loader is made for: Accelerate and Hugging Face's Trainer make their own,
        within a call of the program."""
        at: Optional[FrameType] = frame
        while at is not None:
            if self._whose.of_frame(at)[0] == "program" and not is_framework(at.f_code.co_filename):
                return line_of(at.f_code, at.f_lineno, at.f_globals)
            at = at.f_back
        return program_line(frame)

    def _drew(self, iterator: Any, batch: Any, begin_ns: int, end_ns: int) -> None:
        if is_worker():
            return
        loader = self._loaders.get(iterator)
        if loader is not None and loader not in self._numbers and len(self._chains) < _MOST:
            self._numbers[loader] = len(self._chains)
            self._chains.append(_chain(loader, self._places.get(loader, {})))
            self._padded.append(Padding())
            self._looks += 1
        number = self._numbers.get(loader, -1) if loader is not None else -1
        looked = number < 0 or self._looked(self._padded[number], batch)
        # With an optimizer, steps are the optimizer's, and may take several batches.
        if self._recorder.program.optimizes():
            if looked:
                with contextlib.suppress(TypeError):  # as above
                    self._known = weakref.ref(iterator)
            return
        self._recorder.step(
            WatchedCall(
                "next_batch",
                ("loader", number),
                f"next({type(loader).__name__})",
                begin_ns,
                end_ns,
                site=self._recorder.site(),
            )
        )

    def _looked(self, padded: Padding, batch: Any) -> bool:
        """Looks at a batch; whether enough of the loader's were looked at."""
        if padded.batches < LOOKS:
            with contextlib.suppress(Exception):  # the program's own batch may be anything
                padded.look(batch)
            self._looks += 1
        return padded.batches >= LOOKS

    def datasets(self, folder: Folder, now_ns: int) -> None:
        """Writes pipeline/datasets.json when there is a new loader, or more is known of one."""
        if self._looks > self._written and "tensorflow" not in self._recorder.program.frameworks:
            self._written = self._looks
            for chain, padded in zip(self._chains, self._padded):
                chain[-1]["arguments"].update(padded.arguments())
            rows = [{"iterator": number, "chain": chain} for number, chain in enumerate(self._chains)]
            folder.add_json("pipeline/datasets.json", "datasets", rows)


def _nothing() -> Any:
    """No iterator, like a weak reference to a deleted one."""
    return _nothing


def _chain(loader: Any, place: Dict[str, Any]) -> List[Dict[str, Any]]:
    """The dataset of a loader, and the loader."""
    attributes = {name: getattr(loader, name, None) for name in _TOLD}
    if attributes["batch_size"] is None:  # of a loader that draws by a sampler of batches
        attributes["batch_size"] = getattr(getattr(loader, "batch_sampler", None), "batch_size", None)
    small = {name: value for name, value in attributes.items() if isinstance(value, (bool, int))}
    dataset = loader.dataset
    source = {"position": 0, "inputs": [], "dataset": type(dataset).__name__, **_method(dataset)}
    with contextlib.suppress(Exception):  # the program's own code, and a stream has no length
        source["cardinality"] = len(dataset)
    batches = {"position": 1, "inputs": [0], "dataset": type(loader).__name__, "arguments": small}
    return [source, {**batches, "transformation": "DataLoader", **place}]


def _method(dataset: Any) -> Dict[str, Any]:
    """Where the program makes an element of a dataset: in `__getitem__`, or `__iter__` of a stream."""
    for _ in range(10):  # a Subset, and the like, draws from another dataset
        inner = getattr(dataset, "dataset", None)
        if inner is None or not is_framework(getattr(code_of(_maker(dataset)), "co_filename", "")):
            break
        dataset = inner
    method = _maker(dataset)
    code = code_of(method)
    record: Dict[str, Any] = {"transformation": getattr(method, "__name__", "")}
    if code is not None and not is_framework(code.co_filename):
        record.update(line_of(code, code.co_firstlineno))
    return record


def _maker(dataset: Any) -> Any:
    kind = type(dataset)
    for name in ("__getitems__", "__getitem__", "__iter__"):
        method = inspect.getattr_static(kind, name, None)
        if method is not None and code_of(method) is not None and not _only_refuses(method):
            return method
    return None


def _only_refuses(method: Any) -> bool:
    """True for the methods of PyTorch's own base classes, which raise NotImplementedError."""
    code = code_of(method)
    return "NotImplementedError" in code.co_names and is_framework(code.co_filename)
