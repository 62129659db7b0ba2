"""Recording asked for by the program itself: a context manager, and marks for steps that nothing shows."""

import functools
import sys
import warnings
from pathlib import Path
from types import TracebackType
from typing import Any, Callable, Iterable, Iterator, List, Optional, Sequence, Type, TypeVar

from . import attach, clocks
from .callers import WatchedCall
from .plan import PIECES, WARMUP, RecordingPlan
from .recorder import Recorder

T = TypeVar("T")
Function = TypeVar("Function", bound=Callable[..., Any])


class record:
    """`with record(out):` watches the frameworks while it lasts and records as `stepscope record` does.

    out: a folder, new or empty. warmup, steps, seconds, every: see `stepscope record --help`. pieces: what to
    record, of plan.PIECES. Iterators that are alive already are followed; lines are known of datasets made
    within. A RuntimeWarning says why, if nothing was recorded. ValueError for options that make no sense.
    """

    def __init__(
        self,
        out: str,
        warmup: int = WARMUP,
        steps: Optional[int] = None,
        seconds: Optional[float] = None,
        every: Optional[int] = None,
        pieces: Sequence[str] = PIECES,
    ) -> None:
        self.plan = RecordingPlan(str(out), warmup, steps, seconds, every, tuple(pieces))
        attach.check_empty(self.plan.out)
        self._recorder: Optional[Recorder] = None

    @property
    def recorded_steps(self) -> int:
        """How many steps have been recorded so far."""
        folder = self._recorder.folder if self._recorder is not None else None
        return int(folder.facts["recorded"]["steps"]) if folder is not None else 0

    def __enter__(self) -> "record":
        self._recorder = attach.begin(self.plan)
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.stop(error)

    def stop(self, error: Optional[BaseException] = None) -> None:
        """Ends the recording before its time. error: what ended the program, for the capture."""
        recorder, self._recorder = self._recorder, self._recorder
        if recorder is None or recorder.stopped:
            return
        recorder.stopped = True
        attach.end(recorder, error)
        folder = recorder.folder
        if folder is not None and folder.path != Path(self.plan.out).absolute():
            reasons = [fact["todo"] for fact in folder.facts["problems"] if str(folder.path) in fact["todo"]]
            warnings.warn(
                f"the recording is not in {self.plan.out}: {reasons[-1]}", RuntimeWarning, stacklevel=3
            )
        if not self.recorded_steps:
            warnings.warn(f"nothing was recorded: {recorder.why()}", RuntimeWarning, stacklevel=3)


def step(number: int) -> None:
    """Says that step `number` of the program begins, and the one before ends. Costs about a microsecond when
    nothing is recorded; `stepscope record` sees it, too."""
    for recorder in _listening():
        recorder.own_step(number, clocks.time_ns())


def steps(elements: Iterable[T]) -> Iterator[T]:
    """The elements, with a step from one to the next."""
    number = -1
    for number, element in enumerate(elements):
        step(number)
        yield element
    if number >= 0:
        step(number + 1)


def step_function(function: Function) -> Function:
    """A function every call of which is a step; for functions that JAX had jitted and called before anything
    watched, whose calls go unseen. A result of JAX is waited for where a recording begins and ends."""
    count = [0]

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        recorders = _listening()
        begin_ns = clocks.time_ns()
        result = function(*args, **kwargs)
        end_ns = clocks.time_ns()
        for recorder in recorders:
            name = getattr(function, "__name__", type(function).__name__)
            key = ("own", id(function))
            recorder.step(
                WatchedCall("own", key, name, begin_ns, end_ns, settle=lambda: _wait(result), number=count[0])
            )
        count[0] += 1
        return result

    return called  # type: ignore[return-value]


def _wait(result: Any) -> None:
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.block_until_ready(result)


def _listening() -> List[Recorder]:
    """The recorders that listen: of this copy of the package, and of the one that the hook loaded."""
    hook = sys.modules.get("_stepscope_capture.attach")
    places = [attach] if hook is None or hook is attach else [attach, hook]
    return [session for place in places for session in place.current if session.listening]
