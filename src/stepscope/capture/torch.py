"""Steps of PyTorch: ends of Optimizer.step; where nothing is optimised, batches of a DataLoader, gradients or
calls of a model.

The hooks that PyTorch has for this run inside its own mark around Optimizer.step, and a step would end within
that. So the method of each class is wrapped, outside of the mark, when the first optimizer of it is made.
"""

import sys
import weakref
from typing import Any, Callable, List, Optional, Set

from . import clocks
from .callers import WatchedCall
from .recorder import Recorder
from .torch_profiler import is_worker, synchronize


def watch(recorder: Recorder, module: Any) -> None:
    """Reports the steps of every optimizer. AttributeError or ImportError where this PyTorch has none."""
    _Optimizers(recorder, module).watch()


class _Optimizers:
    """The classes of optimizers whose steps are reported."""

    def __init__(self, recorder: Recorder, module: Any) -> None:
        self._recorder = recorder
        self._compiles: Callable[[], bool] = getattr(
            getattr(module, "compiler", None), "is_compiling", lambda: False
        )
        self._watched: Set[int] = set()
        """Identities of functions that report."""
        self._kept: List[Any] = []
        """The functions, kept alive so that no identity is reused."""
        self._alive: weakref.WeakSet[Any] = weakref.WeakSet()
        self._graphs: Optional[int] = None

    def watch(self) -> None:
        """Watches future optimizers, and existing ones."""
        import torch

        optimizer = torch.optim.Optimizer
        recorder = self._recorder

        def make(init: Any) -> Any:
            def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
                init(self_, *args, **kwargs)
                if recorder.listening:
                    with recorder.unharmed():
                        self._alive.add(self_)
                        self._watch(type(self_))

            return __init__

        recorder.patches.wrap(optimizer, "__init__", make)
        recorder.program.optimizes = lambda: bool(self._alive)
        classes = [optimizer]
        while classes:
            kind = classes.pop()
            classes += kind.__subclasses__()
            # PyTorch itself wraps the method when the first of a class is made: ours goes around that.
            if getattr(kind.__dict__.get("step"), "hooked", False):
                self._watch(kind)

    def _watch(self, kind: Any) -> None:
        """Reports the steps of a class, by the method that it has or inherits."""
        owner = next((base for base in kind.__mro__ if "step" in base.__dict__), None)
        if owner is None or id(owner.__dict__["step"]) in self._watched:
            return
        self._recorder.patches.wrap(owner, "step", self._reporting)
        done = owner.__dict__["step"]
        self._watched.add(id(done))
        self._kept.append(done)

    def _reporting(self, original: Any) -> Any:
        recorder, local, is_compiling = self._recorder, self._recorder.local, self._compiles

        def step(self_: Any, *args: Any, **kwargs: Any) -> Any:
            # torch.compile follows this function, too, and leaves out what is behind the first question.
            if is_compiling() or not recorder.listening or getattr(local, "optimizes", False):
                return original(self_, *args, **kwargs)
            local.optimizes = True
            begin_ns = clocks.time_ns()
            try:
                result = original(self_, *args, **kwargs)
            finally:
                local.optimizes = False
            end_ns = clocks.time_ns()
            with recorder.unharmed():
                self._stepped(self_, begin_ns, end_ns)
            return result

        return step

    def _stepped(self, optimizer: Any, begin_ns: int, end_ns: int) -> None:
        if is_worker():
            return
        graphs = _compiled_graphs()
        if graphs != self._graphs:
            self._recorder.program.compiled += self._graphs is not None
            self._graphs = graphs
        self._recorder.step(
            WatchedCall(
                "optimizer",
                ("optimizer", *self._recorder.identities.of(optimizer, None)),
                f"{type(optimizer).__name__}.step",
                begin_ns,
                end_ns,
                settle=synchronize,
                site=self._recorder.site(),
            )
        )


def _compiled_graphs() -> Optional[int]:
    """How many graphs torch.compile has made so far; None where it was not used."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    if not isinstance(counters, dict) or "stats" not in counters:
        return None
    count = counters["stats"].get("unique_graphs", 0)
    return count if isinstance(count, int) else None
