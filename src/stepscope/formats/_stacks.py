"""stacks.ndjson of a capture folder: looks at stacks of threads, as rows of frame, stack and stack_sample;
those in steps that no profiler recorded as rows of untraced_stack. The recorder goes on looking when the last
of these steps has ended: what the program does then is no part of a step, and left out.

A look is one moment. The time that it stands for reaches half way to the looks beside it; but what kept the
recorder from looking when it wanted to (the interpreter lock, held by a long call) is time of the later look,
which then shows that call.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

Row = dict[str, Any]

NAME = "stacks.ndjson"
MOST_DEPTH = 1000
"""A stack with more frames is not one that the recorder wrote."""
_PS = 1000
"""Picoseconds in a nanosecond."""
_CODE = ("program", "library", "python", "native")
_FITS = 2**63 - 1
_MOST_NS = 1 << 49
"""Six days. Longer than any look stands for; ten times as many picoseconds still fit into 63 bits."""


class _StackMoment(NamedTuple):
    at_ns: int
    late_ns: int
    threads: list[Any]


class _Spans:
    """Spans of time, in nanoseconds."""

    def __init__(self, spans: Iterable[tuple[int, int]]) -> None:
        self._begins: list[int] = []
        self._ends: list[int] = []
        self._before: list[int] = []
        """The time of all spans before each."""
        total = 0
        for begin, end in sorted(spans):
            begin = max(begin, self._ends[-1] if self._ends else begin)
            if begin < end:
                self._begins.append(begin)
                self._ends.append(end)
                self._before.append(total)
                total += end - begin

    def hold(self, moment_ns: int) -> bool:
        """Whether it is in one of them."""
        at = bisect_right(self._begins, moment_ns) - 1
        return at >= 0 and moment_ns < self._ends[at]

    def within_ns(self, begin_ns: int, end_ns: int) -> int:
        """How much of the time between two moments they cover."""
        return self._until(end_ns) - self._until(begin_ns)

    def _until(self, moment_ns: int) -> int:
        at = bisect_right(self._begins, moment_ns) - 1
        return 0 if at < 0 else self._before[at] + min(moment_ns, self._ends[at]) - self._begins[at]


class StackRows:
    """The rows of the four tables, without ids of their own; `odd` lines could not be used."""

    def __init__(self, untraced_steps: Sequence[tuple[int, int]] = ()) -> None:
        """untraced_steps: begin and end of each step that no profiler recorded, in Unix nanoseconds."""
        self._untraced_steps = _Spans(untraced_steps)
        self.frames: list[Row] = []
        self.stacks: list[Row] = []
        self.samples: list[Row] = []
        self.untraced: dict[int, Row] = {}
        """By stack of the thread that runs the steps."""
        self._is_untraced = False
        self.odd = 0
        self.dropped = 0
        """Looks at a thread that the recorder did not keep."""
        self._frame: dict[int, int] = {}
        self._stack: dict[int, int] = {}
        self._threads: dict[int, tuple[str | None, bool]] = {}
        self._spent: dict[int, tuple[int, int | None, int | None]] = {}
        """Of each thread: the last look at it, and what it had spent then on a core and waiting for one."""
        self._looks = 0
        self._begin_ns: int | None = None
        """Where the time of the look begins that was read last, as far as lines before told."""
        self._last: _StackMoment | None = None

    def read(self, lines: Iterable[Mapping[str, Any]], time: Callable[[int | None], int | None]) -> StackRows:
        """Reads the lines in order. time: picoseconds from the capture's origin, of Unix nanoseconds."""
        for line in lines:
            if not self._line(line, time):
                self.odd += 1
        self._close(None, time)
        return self

    def _line(self, line: Mapping[str, Any], time: Callable[[int | None], int | None]) -> bool:
        if "function" in line:
            return self._add_frame(line)
        if "stack" in line:
            return self._add_stack(line)
        if "thread" in line:
            number, name = _whole(line.get("thread")), line.get("name")
            if number is None:
                return False
            self._threads[number] = (name if isinstance(name, str) else None, line.get("main") is True)
            self._spent.pop(number, None)
            return True
        if "on" in line:
            at, on = _whole(line.get("unix_ns")), line["on"]
            if at is None or not isinstance(on, list):
                return False
            look = _StackMoment(at, max(_whole(line.get("late_ns")) or 0, 0), on)
            if self._last is not None:
                wanted = max(at - look.late_ns, self._last.at_ns)
                between = (self._last.at_ns + wanted) // 2
                self._close(between, time)
                self._begin_ns = between
            self._last = look
            return True
        if "begin_unix_ns" in line or "end_unix_ns" in line:
            self._close(_whole(line.get("end_unix_ns")), time)
            self._begin_ns = _whole(line.get("begin_unix_ns"))
            self._is_untraced = line.get("untraced") is True
            self._spent.clear()
            return True
        if (dropped := _whole(line.get("dropped"))) is not None and dropped >= 0:
            self.dropped = min(self.dropped + dropped, _FITS)
            return True
        return False

    def _add_frame(self, line: Mapping[str, Any]) -> bool:
        number, function = _whole(line.get("frame")), line["function"]
        if number is None or number in self._frame or not isinstance(function, str):
            return False
        code, line_number = line.get("code"), _whole(line.get("line"))
        self._frame[number] = len(self.frames)
        self.frames.append(
            {
                "function": function,
                "file": _text(line.get("file")),
                "line": line_number if line_number is not None and 0 < line_number < 2**31 else None,
                "module": _text(line.get("module")),
                "code": code if code in _CODE else "unknown",
                "has_loop": loop if isinstance(loop := line.get("loop"), bool) else None,
            }
        )
        return True

    def _add_stack(self, line: Mapping[str, Any]) -> bool:
        number, frame = _whole(line.get("stack")), self._frame.get(_whole(line.get("frame")))
        if number is None or number in self._stack or frame is None:
            return False
        parent, above = None, line.get("in")
        if above is not None:
            parent = self._stack.get(above) if isinstance(above, int) else None
            if parent is None or self.stacks[parent]["depth"] >= MOST_DEPTH:
                return False
        place = None if parent is None else self.stacks[parent]["place_id"]
        if self.frames[frame]["code"] == "program":
            place = frame
        self._stack[number] = len(self.stacks)
        depth = 0 if parent is None else self.stacks[parent]["depth"] + 1
        self.stacks.append({"parent_id": parent, "frame_id": frame, "depth": depth, "place_id": place})
        return True

    def _close(self, end_ns: int | None, time: Callable[[int | None], int | None]) -> None:
        """Makes rows of the look read last, whose time ends there, or with the look itself."""
        look, self._last = self._last, None
        if look is None:
            return
        end_ns = look.at_ns if end_ns is None else max(end_ns, look.at_ns)
        begin_ns = look.at_ns if self._begin_ns is None else min(self._begin_ns, look.at_ns)
        ts_ps, end_ps = time(begin_ns), time(end_ns)
        # A look that came late shows what held it up, so it is of the moment when it was wanted.
        seen_ps = time(max(look.at_ns - look.late_ns, begin_ns))
        self._looks += 1
        if ts_ps is None or end_ps is None or end_ns - begin_ns > _MOST_NS:
            self.odd += 1
            return
        good = True
        for row in look.threads:
            entry = row if isinstance(row, list) and 2 <= len(row) <= 4 else (None, None)
            thread, stack = _whole(entry[0]), self._stack.get(_whole(entry[1], -1))
            if thread is None or thread not in self._threads or stack is None:
                good = False
                continue
            name, main = self._threads[thread]
            spent, waited = [*map(_whole, entry[2:]), None, None][:2]
            cpu, queued = self._times_since(thread, spent, waited, end_ps - ts_ps)
            if self._is_untraced:
                if main and self._untraced_steps.hold(max(look.at_ns - look.late_ns, begin_ns)):
                    weight_ps = self._untraced_steps.within_ns(begin_ns, end_ns) * _PS
                    self._add_untraced(stack, weight_ps, cpu, queued)
                continue
            self.samples.append(
                {
                    "track_id": None,
                    "thread_name": name,
                    "is_main": main,
                    "ts_ps": ts_ps,
                    "weight_ps": end_ps - ts_ps,
                    "seen_ps": seen_ps,
                    "cpu_ps": cpu,
                    "queued_ps": queued,
                    "stack_id": stack,
                }
            )
        self.odd += not good

    def _times_since(
        self, thread: int, spent: int | None, waited: int | None, most_ps: int
    ) -> tuple[int | None, int | None]:
        """Time that a thread had a core, and waited for one, since the look before, in picoseconds, at
        most most_ps. None where that is not known."""
        looks, ran_before, waited_before = self._spent.get(thread, (-1, None, None))
        self._spent[thread] = (self._looks, spent, waited)
        if looks != self._looks - 1:
            return None, None
        # They were spent between two moments, which are not quite where the time begins and ends.
        cpu = _advance_ps(ran_before, spent, most_ps)
        return cpu, None if cpu is None else _advance_ps(waited_before, waited, most_ps - cpu)

    def _add_untraced(self, stack: int, weight_ps: int, cpu_ps: int | None, queued_ps: int | None) -> None:
        row = self.untraced.setdefault(
            stack, {"stack_id": stack, "looks": 0, "weight_ps": 0, "active_ps": None}
        )
        row["looks"] += 1
        # Sums of damaged lines must fit as well.
        row["weight_ps"] = min(row["weight_ps"] + weight_ps, _FITS)
        if cpu_ps is not None:
            row["active_ps"] = min((row["active_ps"] or 0) + cpu_ps + (queued_ps or 0), _FITS)


def _advance_ps(before_ns: int | None, now_ns: int | None, most_ps: int) -> int | None:
    """By how much a clock went on, in picoseconds."""
    if before_ns is None or now_ns is None:
        return None
    return min(max(now_ns - before_ns, 0) * _PS, most_ps)


def _whole(value: Any, default: Any = None) -> Any:
    good = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= _FITS
    return value if good else default


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
