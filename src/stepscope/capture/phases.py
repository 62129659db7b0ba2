"""What an Estimator of TensorFlow runs a session for: it trains, evaluates, predicts or exports.

An Estimator that evaluates while it trains does so between two of its steps, for hundreds of runs of another
session.
"""

import os
import sys
from types import FrameType
from typing import Any, Callable, Dict, Optional

from .callers import WatchedCall

NAME = "phases.ndjson"
_METHODS = {
    "train": "train",
    "fit": "train",
    "evaluate": "eval",
    "predict": "predict",
    "_export_all_saved_models": "export",
    "export_savedmodel": "export",
}
"""Phases by the method of an Estimator."""
_FILE = os.sep + "estimator.py"
"""The end of the names of the files that have them, since TensorFlow 1.0."""


def phase(frame: Optional[FrameType] = None) -> str:
    """The phase of the innermost method of an Estimator on the stack; empty where there is none."""
    frame = frame or sys._getframe(1)
    while frame is not None:
        found = _METHODS.get(frame.f_code.co_name)
        if found is not None and frame.f_code.co_filename.endswith(_FILE):
            return found
        frame = frame.f_back
    return ""


class Phases:
    """Finds what lies between steps because the Estimator does something else. write: takes a line of
    phases.ndjson."""

    over_ns = 0
    """When the last of them was over."""

    def __init__(self, write: Callable[[Dict[str, Any]], None]) -> None:
        self._write = write
        self._of_steps = ""
        self._begun: Optional[Dict[str, Any]] = None
        self._last_end_ns: Optional[int] = None

    def saw(self, call: WatchedCall, is_step: bool) -> bool:
        """Counts a run in the thread of the steps. Whether the Estimator makes it for something else."""
        if is_step:
            self._of_steps = call.phase
        beside = bool(self._of_steps and call.phase) and call.phase != self._of_steps
        if self._begun is not None and self._begun["phase"] != (call.phase if beside else ""):
            self._close((beside and self._last_end_ns) or call.call_ns)
        if beside:
            if self._begun is None:
                begin_ns = self._last_end_ns or call.call_ns
                self._begun = {"phase": call.phase, "begin_unix_ns": begin_ns, "runs": 0}
            self._begun["runs"] += 1
        self._last_end_ns = call.end_ns
        return beside

    def _close(self, end_ns: int) -> None:
        assert self._begun is not None
        self._write({**self._begun, "end_unix_ns": end_ns})
        self._begun, self.over_ns = None, end_ns
