"""Steps of PyTorch where no optimizer steps: gradients of updates that the program makes itself; where there
are none, calls of a model, as inference makes them."""

from typing import Any, Callable

from . import clocks
from .callers import WatchedCall
from .recorder import Recorder
from .torch_profiler import is_worker, synchronize


def watch(recorder: Recorder, module: Any) -> None:
    """Reports calls of a backward pass and of models. AttributeError where this PyTorch has none."""
    calls = _Calls(recorder, module)
    for name in ("backward", "grad"):
        recorder.patches.wrap(module.autograd, name, calls.of_gradients(name))
    recorder.patches.wrap(module.nn.Module, "__call__", calls.of_model)


class _Calls:
    """Outermost calls, as those that may be steps."""

    def __init__(self, recorder: Recorder, module: Any) -> None:
        self._recorder = recorder
        self._module = module.nn.Module
        self._plain: Any = None
        """What calls a module, without the wrapper."""
        self._compiles: Callable[[], bool] = getattr(
            getattr(module, "compiler", None), "is_compiling", lambda: False
        )

    def of_gradients(self, name: str) -> Callable[[Any], Any]:
        """Makes a wrapper of a function that computes gradients."""

        def make(original: Any) -> Any:
            def gradients(*args: Any, **kwargs: Any) -> Any:
                if self._is_part():
                    return original(*args, **kwargs)
                return self._watched("backward", None, f"autograd.{name}", original, *args, **kwargs)

            return gradients

        return make

    def of_model(self, original: Any) -> Any:
        """The wrapper of a call of a module. Modules within it are part of it."""

        self._plain = original

        def __call__(self_: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_part():
                return original(self_, *args, **kwargs)
            return self._watched("module", self_, type(self_).__name__, original, self_, *args, **kwargs)

        return __call__

    def _is_part(self) -> bool:
        """Whether a call is within another one, or cannot be a step."""
        recorder = self._recorder
        # torch.compile follows these functions, too, and leaves out what is behind the first question.
        if self._compiles() or getattr(recorder.local, "calls_model", False) or not recorder.listening:
            return True
        if recorder.program.optimizes():
            # The steps are the optimizer's: from here on, no module pays for being watched.
            if getattr(self._module.__call__, "__wrapped__", None) is self._plain:
                self._module.__call__ = self._plain
            return True
        return is_worker()

    def _watched(self, how: str, model: Any, name: str, original: Any, *args: Any, **kwargs: Any) -> Any:
        """Makes a call, and reports it. model: None where none is called."""
        local, recorder = self._recorder.local, self._recorder
        local.calls_model = True
        begin_ns = clocks.time_ns()
        try:
            result = original(*args, **kwargs)
        finally:
            local.calls_model = False
        end_ns = clocks.time_ns()
        with recorder.unharmed():
            site = recorder.site()
            key = (how, name) if model is None else (how, *recorder.identities.of_model(model, site))
            recorder.step(WatchedCall(how, key, name, begin_ns, end_ns, settle=synchronize, site=site))
        return result
