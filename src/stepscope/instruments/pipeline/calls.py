"""Calls of a tf.data pipeline: which slice is whose call, and whose work is done where.

TensorFlow records each GetNext of each iterator as a slice `Iterator::Root::…`, with the iterator's id and
the id of the iterator that consumes it. A stage that works ahead (prefetch, parallel map) calls its input
on a thread of its own, inside a `…Produce` slice. The function of a map may run on further threads: the
call of the function (`InstantiatedCapturedFunction::…`) and the executor's slices share an id.

TensorFlow 1 writes no ids, but an iterator's whole way to the root in its name; see tf1_calls.py.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from stepscope import strict_json
from stepscope.instruments.intervals import Interval
from stepscope.instruments.pipeline import tf1_calls

Kind = Literal["next", "ahead", "function", "make", "execute", "python", "fetch"]
"""next: GetNext of an iterator; ahead: a stage fetching its input on its own thread; function: a stage calls
the user's function; make: an iterator is made; execute: an executor runs a function; python: a py_function;
fetch: the consumer takes a batch."""

EXECUTE = "ExecutorState::Process"
"""An executor that runs a function."""
_ID = re.compile(r'\{\s*"id":\s*(-?\d{1,20})\s*[,}]')


@dataclass(slots=True, eq=False)
class StageCall:
    """A slice of interest on its thread."""

    slice_id: int
    track_id: int
    track: str
    ts_ps: int
    end_ps: int
    name: str
    kind: Kind
    args: Mapping[str, Any]
    """Calls with the same text share these."""
    above: StageCall | None = None
    stage: str | None = None
    """Id of the iterator that works in it; for `execute`, of the iterator whose function runs."""
    inside: list[Interval] = field(default_factory=list)
    """Time of the calls directly below it."""
    self_ps: int | None = None
    """For `execute`: its time outside all other slices, and so outside recorded kernels."""
    is_lane: bool = False
    """Its track is a lane into which slices were packed, not a thread."""
    iterator: str | None = field(init=False)
    """The iterator's id as text: ids are unsigned and take 64 bits."""
    consumer: str | None = field(init=False)
    """Id of the iterator that consumes this one; None at the root."""
    is_unnumbered: bool = field(init=False)
    """A call of an iterator without an id: its name stands for it."""

    def __post_init__(self) -> None:
        self.is_unnumbered = self.kind == "next" and "id" not in self.args
        if self.is_unnumbered:
            self.iterator, self.consumer = self.name, tf1_calls.consumer(self.name)
        else:
            self.iterator, self.consumer = _id(self.args.get("id")), _id(self.args.get("parent_id"))

    @property
    def takes_batch(self) -> bool:
        """Whether the program itself makes this call of a root: it fetches a batch, and waits for it."""
        if self.kind != "next" or "::" in self.name.removeprefix("Iterator::"):
            return False
        if self.above is not None:
            return self.above.kind == "fetch"
        return not self.track.startswith("tf_data_")

    @property
    def own(self) -> Iterator[Interval]:
        """Its time without the calls below it."""
        at = self.ts_ps
        for begin, end in self.inside:
            if begin > at:
                yield at, begin
            at = max(at, end)
        if self.end_ps > at:
            yield at, self.end_ps


def kind_of(name: str) -> Kind:
    """The kind of a slice of the view _pipeline_slice, by its name."""
    if name.startswith("Iterator::"):
        return "next"
    if name.endswith("Produce"):
        return "ahead"
    if name.startswith("InstantiatedCapturedFunction::"):
        return "function"
    if name.startswith("MakeIterator::"):
        return "make"
    if name.startswith("IteratorGetNext"):
        return "fetch"
    return "execute" if name == EXECUTE else "python"


def read(rows: Iterable[Sequence[Any]]) -> list[StageCall]:
    """The calls of one source, nested, from the rows of the statement pipeline_events. A slice that outlasts
    the one around it is cut at its end: threads nest, and only clocks differ."""
    calls: list[StageCall] = []
    stack: list[StageCall] = []
    apart: list[StageCall] = []
    args_of = _CallReader().args
    for slice_id, track_id, track, ts_ps, dur_ps, name, text, *more in rows:
        is_lane = len(more) > 1 and more[1] == "lane"
        if is_lane or (name.startswith("Iterator::") and '"id"' not in (text or "")):
            # Lanes, and times in whole microseconds, do not show what is inside what; names do.
            call = StageCall(
                slice_id, track_id, track, ts_ps, ts_ps + dur_ps, name, kind_of(name), args_of(text)
            )
            call.is_lane = is_lane
            apart.append(call)
            continue
        while stack and (stack[-1].track_id != track_id or stack[-1].end_ps <= ts_ps):
            stack.pop()
        above = stack[-1] if stack else None
        end_ps = ts_ps + dur_ps if above is None else min(ts_ps + dur_ps, above.end_ps)
        if name == EXECUTE:  # nine of ten rows; only the id is needed
            call = StageCall(slice_id, track_id, track, ts_ps, end_ps, name, "execute", _only_id(text), above)
            call.self_ps = more[0] if more else None
        else:
            call = StageCall(
                slice_id, track_id, track, ts_ps, end_ps, name, kind_of(name), args_of(text), above
            )
        if above is not None:
            above.inside.append((ts_ps, end_ps))
        calls.append(call)
        stack.append(call)
    if apart:
        tf1_calls.nest([*apart, *(call for call in calls if call.kind == "fetch")])
    calls += apart
    _attribute(calls)
    return calls


_RUNS_ON_THREADS = re.compile(r"::(MapAndBatch|Parallel(Map|Filter))(V\d+)?$")
_RUNS_IN_PLACE = re.compile(r"::(Map|Filter|Generator|Scan|GroupByWindow|GroupByReducer)(V\d+)?$")
"""Iterators that run a function of the user's: on threads of its own, and where they are called."""


def read_function_ops(calls: Sequence[StageCall], rows: Iterable[Sequence[Any]]) -> list[StageCall]:
    """What functions of a source without ids ran, from the rows of the statement function_ops. Nothing names
    the iterator, so there is something only where one of them runs functions, on threads of its own; and
    where none does, the Python that others run within their calls."""
    names = {name for call in calls if call.kind == "next" for name in tf1_calls.way(call.name)}
    runs = [name for name in names if _RUNS_ON_THREADS.search(name)]
    if not runs:
        return _python_in_place(calls, rows)
    if len(runs) != 1 or any(_RUNS_IN_PLACE.search(name) for name in names):
        return []
    found = []
    for slice_id, track_id, track, ts_ps, dur_ps, name in rows:
        kinds: tuple[Kind, ...] = ("execute", "python") if name.endswith(_CALLS_PYTHON) else ("execute",)
        args = {"id": f"slice {slice_id}"}
        for kind in kinds:
            call = StageCall(slice_id, track_id, track, ts_ps, ts_ps + dur_ps, name, kind, args)
            call.stage = runs[0]
            found.append(call)
    return found


def _python_in_place(calls: Sequence[StageCall], rows: Iterable[Sequence[Any]]) -> list[StageCall]:
    """Ops of functions that run Python, each of the innermost iterator that calls its function in place and
    waits for it."""
    taking: defaultdict[str, list[StageCall]] = defaultdict(list)
    for call in sorted(calls, key=lambda call: call.ts_ps):
        if call.kind == "next" and _RUNS_IN_PLACE.search(next(tf1_calls.way(call.name))):
            taking[call.name].append(call)
    found = []
    for slice_id, track_id, track, ts_ps, dur_ps, name in rows:
        if not name.endswith(_CALLS_PYTHON):
            continue
        around = (tf1_calls.enclosing(ts_ps, ts_ps + dur_ps, others) for others in taking.values())
        inner = min(
            (call for call in around if call is not None),
            key=lambda call: call.end_ps - call.ts_ps,
            default=None,
        )
        if inner is not None:
            args = {"id": f"slice {slice_id}"}
            made = StageCall(slice_id, track_id, track, ts_ps, ts_ps + dur_ps, name, "python", args)
            made.stage = inner.stage
            found.append(made)
    return found


_CALLS_PYTHON = (":PyFunc", ":PyFuncStateless", ":EagerPyFunc")


def _attribute(calls: Sequence[StageCall]) -> None:
    """Finds the iterator that each call works for."""
    _attribute_takes(calls)
    functions = _attribute_functions(calls)
    for call in calls:
        if call.kind == "execute":
            call.stage = functions.get(call.iterator or "")
        elif call.kind == "python" and call.above is not None:
            call.stage = call.above.stage


def _attribute_takes(calls: Sequence[StageCall]) -> None:
    """A call that takes an element works for its iterator."""
    for call in calls:
        if call.kind == "next":
            call.stage = call.iterator
            # A thread that works ahead works for the consumer of the iterator that it calls.
            if call.above is not None and call.above.kind == "ahead" and call.above.stage is None:
                call.above.stage = call.consumer


def _attribute_functions(calls: Sequence[StageCall]) -> dict[str, str]:
    """Gives calls that run functions the iterator of their caller; the iterator by function."""
    functions: dict[str, str] = {}
    works_for: dict[int, str] = {}
    bare = not any(call.kind == "ahead" for call in calls)
    for call in calls:
        if bare and call.kind == "next" and call.above is None and call.consumer is not None:
            works_for[call.track_id] = call.consumer
        elif call.kind in ("ahead", "function", "make") and call.stage is None:
            # In TensorFlow 2.3, nothing is around what a thread that works ahead calls: it takes an element
            # of the iterator's input, and then calls the function.
            call.stage = call.above.stage if call.above is not None else works_for.get(call.track_id)
        if call.kind == "function" and call.stage is not None and call.iterator is not None:
            functions[call.iterator] = call.stage
    return functions


def _only_id(text: str | None) -> dict[str, Any]:
    found = _ID.match(text) if text else None
    # Args of other producers may hold anything; without them a call has no id.
    return strict_json.members(text) if found is None else {"id": int(found[1])}


class _CallReader:
    """Args by their text: the calls of an iterator differ only in time."""

    _MOST, _MOST_CHARACTERS = 4096, 2000

    def __init__(self) -> None:
        self._known: dict[str | None, Mapping[str, Any]] = {}

    def args(self, text: str | None) -> Mapping[str, Any]:
        """The args in a text."""
        found = self._known.get(text)
        if found is None:
            found = strict_json.members(text)
            if len(self._known) < self._MOST and len(text or "") <= self._MOST_CHARACTERS:
                self._known[text] = found
        return found


def _id(value: Any) -> str | None:
    """An id as the text of an unsigned number: files write large ids as negative or unsigned."""
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        return None
    return _unsigned(value) if isinstance(value, int) else value or None


@lru_cache(maxsize=4096)
def _unsigned(value: int) -> str:
    return str(value % 2**64)
