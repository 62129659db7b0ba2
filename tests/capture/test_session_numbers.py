"""Sessions of TensorFlow 1 that go on where closed ones ended."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from stepscope.capture import arrays, metadata_tracer, session_signatures, tf1
from stepscope.capture.callers import WatchedCall
from stepscope.capture.course import DONE, METADATA, RECORDING
from stepscope.capture.folder import Folder
from stepscope.capture.loops import NOWHERE, Site
from stepscope.capture.plan import RecordingPlan
from stepscope.capture.recorder import Recorder


class Session:
    """A session as far as the recorder asks it."""

    _closed = False

    def __init__(self) -> None:
        self.graph = SimpleNamespace(version=10)


def test_a_session_goes_on_where_a_closed_one_ended() -> None:
    sessions, first, second = session_signatures.Sessions(), Session(), Session()
    number = sessions.number(first, "[train]")
    assert sessions.number(first, "[train]") == number
    first._closed = True
    assert sessions.number(second, "[train]") == number
    assert sessions.number(second, "[loss]") != number


def test_bytes_of_arrays_are_counted_wherever_they_lie() -> None:
    fed = {"a": np.zeros((10, 25), np.float32), "b": np.float64(1), "c": [1.0] * 9, "d": "text"}
    assert arrays.array_bytes((fed, None)) == 1008
    fetched = [None, (np.zeros(3, np.int8), {"e": np.zeros(4, np.int8)})]
    assert arrays.array_bytes((fetched,)) == 7
    assert arrays.array_bytes(([np.int8(1)] * (arrays.MOST_FED + 1),)) == 0


def test_a_session_that_is_gone_is_closed() -> None:
    sessions, first = session_signatures.Sessions(), Session()
    number = sessions.number(first, "[train]")
    del first
    assert sessions.number(Session(), "[train]") == number


def test_sessions_side_by_side_are_two() -> None:
    """And stay so when one is closed."""
    sessions, first, second = session_signatures.Sessions(), Session(), Session()
    numbers = [sessions.number(session, "[train]") for session in (first, second, first, second)]
    assert numbers[:2] == numbers[2:]
    assert numbers[0] != numbers[1]
    second._closed = True
    assert sessions.number(first, "[train]") == numbers[0]


def test_more_fetches_than_are_remembered_are_told_by_their_session() -> None:
    sessions, session = session_signatures.Sessions(), Session()
    for number in range(session_signatures.MOST_SIGNATURES):
        sessions.number(session, str(number))
    assert sessions.number(session, "another") == id(session)


def test_a_run_that_fetches_what_the_loop_made_is_the_step_that_it_runs_with() -> None:
    graphs, session = session_signatures.Graphs(), Session()

    def asked(*fetches: str, made: int = 0, site: Site = NOWHERE) -> str:
        session.graph.version += made
        told = graphs.asked(session, list(fetches), site)
        graphs.prepared(session, list(fetches), None)
        return told

    assert asked("train", "gradients") == "[train,gradients]"
    assert asked("train", "gradients_1", made=5) == "[train,gradients]"
    assert asked("train", "summary") == "[train,summary]"
    assert asked("assign_1", made=5) == "[assign_1]"
    assert asked("train", "gradients_2", made=5, site=Site(((1, 2),), ())) == "[train,gradients_2]"


class Callable:
    """A callable of a session, as TensorFlow makes it."""

    def __init__(self, session: Session, options: Any) -> None:
        self._session, self._options = session, options

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        taken = kwargs.get("run_metadata")
        return (*args, self._options.run_options.trace_level if taken is not None else None)


def test_callables_of_a_session_are_its_runs() -> None:
    """Keras 1 does not call Session.run."""
    seen: list[WatchedCall] = []
    recorder = Recorder(RecordingPlan("unused"))
    recorder.step = seen.append  # type: ignore[method-assign]
    runs = tf1.WatchedRuns(recorder)
    recorder.patches.wrap(Callable, "__init__", runs.made)
    recorder.patches.wrap(Callable, "__call__", runs.of_callables)
    try:
        options = SimpleNamespace(
            feed=["x:0"], fetch=["loss:0"], target=["train"], run_options=SimpleNamespace(trace_level=0)
        )
        step = Callable(Session(), options)
        assert [step(7), step(8)] == [(7, None), (8, None)]
        recorder.course.state = DONE
        assert step(9) == (9, None)
    finally:
        recorder.patches.undo()
    assert [(call.how, call.name) for call in seen] == [("session_run", "run([loss:0,train])")] * 2
    assert seen[0].key == seen[1].key


class Taken:
    """RunMetadata, as far as it is kept."""

    def __init__(self, *runs: bytes) -> None:
        self.runs = list(runs)
        self.partition_graphs: list[Any] = []

    def MergeFrom(self, other: Taken) -> None:
        self.runs += other.runs

    def SerializeToString(self) -> bytes:
        return b"".join(self.runs)


def test_all_runs_of_a_step_are_one_file(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "out"), {"files": []})
    tracer = metadata_tracer.Tracer()
    tracer.save_kept(folder)
    for step, run in ((4, b"a"), (4, b"b"), (5, b"c")):
        if run == b"c":
            tracer.save_kept(folder)
        tracer.keep(step, Taken(run))
    tracer.save_kept(folder)
    tracer.save_kept(folder)
    written = {path.name: path.read_bytes() for path in (tmp_path / "out" / "run_metadata").iterdir()}
    assert written == {"step_4.pb": b"ab", "step_5.pb": b"c"}


def test_traced_runs_are_the_recording_where_the_program_ends_after_them(tmp_path: Path) -> None:
    """A loop of so many steps that none was left to time: all that was traced was said to be nothing."""
    recorder = Recorder(RecordingPlan(str(tmp_path / "out"), pieces=("run_metadata",)))
    traced = 0
    for at in range(200):
        metadata = recorder.course.metadata
        if recorder.course.state == METADATA:
            metadata.traced, traced = 1, traced + 1
        recorder.step(WatchedCall("session_run", ("train",), "run(train)", 10 * at, 10 * at + 5))
        if metadata.taken_before:
            break
    assert recorder.course.state == RECORDING
    recorder.finish()
    facts = json.loads((tmp_path / "out" / "capture.json").read_text())
    assert facts["recorded"] == {"steps": traced, "sessions": 1}
    assert [session["steps"] for session in facts["sessions"]] == [traced]
    assert traced == 10
    assert [problem["seen"].partition(" when ")[0] for problem in facts["problems"]] == [
        "0 recorded beside those that were traced"
    ]
