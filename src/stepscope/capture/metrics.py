"""The lines of a program that made metrics of Keras: their ops are in no scope of their own, and the program
gives all of them to one call."""

import dis
import inspect
import sys
from types import FrameType
from typing import Any, List, Optional, Tuple

from .frames import Whose
from .places import code_of, is_framework
from .recorder import Recorder

Place = Tuple[str, int, str]
"""File, line and function."""
_UPDATES = "update_state"
_MOST = 1000
"""Most metrics that are kept."""


class Metrics:
    """The metrics that were made, by the code that updates them."""

    def __init__(self) -> None:
        self._made: List[Tuple[Any, Place]] = []
        self._whose = Whose()

    def made(self, kind: Any, frame: Optional[FrameType]) -> None:
        """Keeps the class of a metric, and the program's line around the frame that makes it."""
        while frame is not None:
            code = frame.f_code
            if self._whose.of_frame(frame)[0] == "program" and not is_framework(code.co_filename):
                break
            frame = frame.f_back
        if frame is not None and len(self._made) < _MOST:
            place = (frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
            self._made.append((code_of(inspect.unwrap(getattr(kind, _UPDATES))), place))

    def place_of(self, path: str, line: int, function: str) -> Optional[Place]:
        """Where the program made the metric that a frame updates; None for other frames, and where several
        lines made metrics that share the code."""
        if function != _UPDATES or not self._made:
            return None
        places = {place for code, place in self._made if code is not None and _has(code, path, line)}
        return places.pop() if len(places) == 1 else None


def _has(code: Any, path: str, line: int) -> bool:
    """Whether a line of a file belongs to a code object."""
    if code.co_filename != path or line < code.co_firstlineno:
        return False
    return line <= max((number for _, number in dis.findlinestarts(code) if number), default=0)


def watch(recorder: Recorder, module: Any) -> None:
    """Follows the metrics of a Keras. AttributeError where it has none."""
    metrics = Metrics()
    recorder.program.metric_made_at = metrics.place_of

    def make(init: Any) -> Any:
        def __init__(self_: Any, *args: Any, **kwargs: Any) -> None:
            init(self_, *args, **kwargs)
            if recorder.listening:
                with recorder.unharmed():
                    metrics.made(type(self_), sys._getframe(1))

        return __init__

    recorder.patches.wrap(module.metrics.Metric, "__init__", make)
