"""Traces and compilations: the function, the calling line, and how the call differed from earlier ones.

A call that compiles is compared with earlier calls of the same function that did. The one with the fewest
differences is the one it could have shared a compilation with.
"""

import sys
import threading
import weakref
from collections import deque
from types import FrameType
from typing import Any, Callable, Collection, Deque, Dict, List, Optional, Tuple

from . import arguments
from .arguments import ArgumentChange, Leaves
from .frames import Whose
from .places import is_framework

MOST = 10_000
"""This many are written as lines; later ones are only counted."""
_COMPARED = 16
"""Most earlier calls of a function that are compared."""
_MOST_CHANGES = 5


def _drop_values(what: str, found: List[ArgumentChange]) -> Tuple[str, List[ArgumentChange]]:
    """Changes of values that may not count: they do only where nothing else changed."""
    others = [change for change in found if change.what != "value"]
    if not others:
        return what, found
    return (what if what in ("first", "new_function") else others[0].what), others


class Compilations:
    """Reports each compilation once. write: takes a line of compilations.ndjson."""

    def __init__(self, write: Callable[[Dict[str, Any]], None]) -> None:
        self._write_line = write
        self._written = 0
        self.dropped = 0
        self._lock = threading.Lock()
        self._numbers: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._next = 0
        self._runs = 0
        self._history: Dict[Any, _History] = {}
        self._whose: Optional[Whose] = None

    def saw(
        self,
        framework: str,
        function: Any,
        python: Any,
        code: Any,
        call: Tuple[Tuple[Any, ...], Dict[str, Any]],
        begin_ns: int,
        end_ns: int,
        by_value: Optional[Collection[str]] = None,
        guessed: bool = False,
    ) -> None:
        """A call traced or compiled something. function: display name; python: the Python function behind it,
        and its code, None without one. by_value: the arguments whose values count, None for all. guessed:
        these arguments are unknown, so a changed value counts only where nothing else changed."""
        with self._lock:
            if not self._has_room():
                return
            leaves, around = arguments.described(python, *call), arguments.held(python)
            place = None if code is None else (code.co_filename, code.co_firstlineno, code.co_name)
            is_program = place is not None and not is_framework(place[0])
            key = place if place is not None else ("id", id(function))
            history = self._history.setdefault(key, _History())
            what, found = history.compared(
                self._number(function) if is_program else 0, leaves, around, by_value
            )
            if guessed:
                what, found = _drop_values(what, found)
            record: Dict[str, Any] = {
                "framework": framework,
                "function": _named(python),
                "begin_unix_ns": begin_ns,
                "end_unix_ns": end_ns,
                "number": history.count,
                "what": what,
            }
            if place is not None and is_program:
                record.update(zip(("file", "line"), (self._file(place[0]), place[1])))
            if found:
                record["changes"] = [change._asdict() for change in found[:_MOST_CHANGES]]
                record["more"] = max(len(found) - _MOST_CHANGES, 0)
            self._write(record)

    def saw_run(self, begin_ns: int, end_ns: int, ops_before: Optional[int], ops: int) -> None:
        """A session prepared its graph for a run. ops_before: ops at its last run, ops: ops now; None or the
        same: the run asked for other values."""
        with self._lock:
            if not self._has_room():
                return
            self._runs += 1
            grew = ops_before is not None and ops != ops_before
            record: Dict[str, Any] = {
                "framework": "tensorflow",
                "function": "Session.run",
                "begin_unix_ns": begin_ns,
                "end_unix_ns": end_ns,
                "number": self._runs,
                "what": "graph" if grew else "first",
            }
            if grew:
                change = {"argument": "graph", "what": "graph", "was": str(ops_before), "became": str(ops)}
                record.update(changes=[change], more=0)
            self._write(record)

    def _has_room(self) -> bool:
        """Whether one more is written; counted in either case."""
        if self._written >= MOST:
            self.dropped += 1
            return False
        self._written += 1
        return True

    def _write(self, record: Dict[str, Any]) -> None:
        at = self._caller()
        if at is not None:
            record["call"] = at
        self._write_line(record)

    def _number(self, function: Any) -> int:
        """A number for a function object, never used again."""
        try:
            number = self._numbers.get(function)
            if number is None:
                self._next += 1
                number = self._numbers[function] = self._next
        except TypeError:  # an object without weak references, or without a hash
            return -id(function)
        return number

    def _file(self, path: str) -> str:
        if self._whose is None:
            self._whose = Whose()
        return self._whose.of(path, "")[1]

    def _caller(self) -> Optional[Dict[str, Any]]:
        """The program's line that runs; lines of libraries between it and the framework are skipped."""
        if self._whose is None:
            self._whose = Whose()
        frame: Optional[FrameType] = sys._getframe(1)
        while frame is not None:
            path = frame.f_code.co_filename
            if not is_framework(path):
                code, file = self._whose.of_frame(frame)
                if code == "program":
                    name: str = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
                    function = name.replace(".<locals>.", ".")
                    return {"file": file, "line": frame.f_lineno, "function": function}
            frame = frame.f_back
        return None


class _History:
    """The compiling calls of one function."""

    def __init__(self) -> None:
        self.count = 0
        self._calls: Deque[Tuple[int, Leaves, Leaves]] = deque(maxlen=_COMPARED)

    def compared(
        self, number: int, leaves: Leaves, around: Leaves, by_value: Optional[Collection[str]]
    ) -> Tuple[str, List[ArgumentChange]]:
        """The differences of a call, as one word and one by one; the next call is compared with it, too."""
        self.count += 1
        before = list(self._calls)
        self._calls.append((number, leaves, around))
        if not before:
            return "first", []
        same = [earlier for of, earlier, _ in before if of == number]
        if not same:
            return "new_function", arguments.changes(before[-1][2], around)
        # The latest one with the fewest differences.
        found = min((arguments.changes(earlier, leaves, by_value) for earlier in reversed(same)), key=len)
        return (found[0].what if found else "unknown"), found


def _named(python: Any) -> str:
    name = arguments._name(python)
    return name if name != "function" else type(python).__name__
