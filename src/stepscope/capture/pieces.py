"""Pieces of a recording that look at the program: now and then while it is recorded, and once at the end."""

from typing import Any, Callable, List, Optional

from . import clocks
from .callers import Caller
from .folder import Folder
from .observers import Observers
from .output import Output
from .profiler import now_ns


class RecordingPieces:
    """Runs the pieces. A failure is recorded as a problem, and the others go on."""

    sampled_ns = 0
    """When `sampling` was run last."""
    source: Any = None
    """The callee, for `closing`."""

    def __init__(self, output: Output, observers: Observers) -> None:
        self._output = output
        self._observers = observers
        self.sampling: List[Callable[[Folder, int], None]] = []
        """Run as a recording begins, now and then during it, and as it ends."""
        self.closing: List[Callable[[Folder, Caller, Any], None]] = []
        """Run once, after the last recording, with the callee."""
        self._closed = False
        self._complete = False
        """Whether everything but the steps after the recording has been written."""

    def sample(self, folder: Folder) -> None:
        """Runs those of `sampling`."""
        begin = clocks.perf_counter_ns()
        for piece in self.sampling:
            try:
                piece(folder, now_ns())
            except Exception as error:  # noqa: BLE001  one piece must not cost the others
                self._output.failed(piece.__name__, error)
        self.sampled_ns = now_ns()
        self._output.charge("sampling_ns", begin)

    def close(self, folder: Folder, caller: Optional[Caller]) -> None:
        """Runs those of `closing`, the first time that a caller is known, and says that all is complete."""
        if caller is not None and not self._closed:
            self._closed = True
            for piece in self.closing:
                begin = clocks.perf_counter_ns()
                try:
                    piece(folder, caller, self.source)
                except Exception as error:  # noqa: BLE001  one piece must not cost the others
                    self._output.failed(piece.__name__, error)
                self._output.charge(f"{piece.__name__}_ns", begin)
        self.source = None
        if self._output.plan.mode == "code" or folder.facts["recorded"]["sessions"]:
            folder.facts["ended_unix_ns"] = now_ns()
        self._output.save()

    def rest(self, folder: Folder, caller: Optional[Caller]) -> None:
        """Runs the pieces that run once, when recording has ended."""
        if not self._complete:
            self._complete = True
            self._observers.rest(folder)
            self.close(folder, caller)

    def start_again(self) -> None:
        """Lets those of `closing` run again: another loop turned out to be the steps."""
        self._closed = self._complete = False
