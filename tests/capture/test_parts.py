"""The parts of the recorder that need no framework."""

import ast
import inspect
import io
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from stepscope.capture import machine, torch_profiler
from stepscope.capture.folder import Folder
from stepscope.capture.launch import START
from stepscope.capture.log_filter import quiet
from stepscope.capture.loops import Site
from stepscope.capture.pace import StepWatcher
from stepscope.capture.plan import PIECES, RecordingPlan

FILES = sorted(START.parent.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_syntax_of_python_3_6(path: Path) -> None:
    """Real ones read these files in test_unharmed.py, where there are any."""
    tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 6))
    # Annotations that are not evaluated came with 3.7; ruff (FA102) holds these to what older Pythons have.
    assert not any(isinstance(node, ast.ImportFrom) and node.module == "__future__" for node in tree.body)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_imports_only_itself_and_what_it_watches(path: Path) -> None:
    allowed = set(sys.stdlib_module_names) | {"tensorflow", "jax", "keras", "torch", "_stepscope_capture"}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {name.name.split(".")[0] for name in node.names} <= allowed
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            assert str(node.module).split(".")[0] in allowed
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 1


def test_the_folder_on_the_path_shadows_nothing() -> None:
    # A Python 2 that is recorded in another test leaves sitecustomize.pyc there.
    assert {path.stem for path in START.iterdir()} - {"__pycache__"} == {"sitecustomize"}


def feed(pace: StepWatcher, calls: list[tuple[str, str, int, bool]]) -> int | None:
    """Tells calls of (how, name, length, settled) until the pace is ready; how many it took."""
    now = 0
    for count, (how, name, length, settled) in enumerate(calls, 1):
        pace.saw(how, (how, name), name, now, now, now + length, settled)
        now += length
        if pace.ready():
            return count
    return None


def test_one_long_call_makes_no_step_of_a_hook() -> None:
    """A hook asks now and then for the global step; building that run takes longer than all steps so far."""
    pace = StepWatcher(3)
    step, hook = ("session_run", "train", 200, True), ("session_run", "step", 150, True)
    slow = ("session_run", "step", 90_000, True)
    assert feed(pace, [step, slow, step, hook, step, hook, step]) == 5
    assert pace.anchor == ("session_run", "train")


def test_a_thread_that_fills_a_queue_makes_no_steps() -> None:
    """It waits in its runs while the queue is full, so that they take longer than those of the step."""
    pace, main = StepWatcher(3), threading.main_thread().ident
    for number in range(9):
        for name, thread, length in (("enqueue", 1, 8_000), ("train", main, 3_000)):
            call = (number * 10_000, number * 10_000, number * 10_000 + length)
            pace.saw("session_run", ("session_run", name, thread), name, *call, True)
    assert pace.ready()
    assert pace.anchor == ("session_run", "train", main)
    # The main thread may as well look now and then how far the others are.
    watched = StepWatcher(3)
    for number in range(12):
        for name, thread in (("train", 1), *([("step", main)] if number % 3 == 0 else [])):
            call = (number * 10_000, number * 10_000, number * 10_000 + 5_000)
            watched.saw("session_run", ("session_run", name, thread), name, *call, True)
    assert watched.ready()
    assert watched.anchor == ("session_run", "train", 1)


def test_all_runs_of_a_step_give_its_ops() -> None:
    """A hook reads the global step after each run: that marks the steps as well, and takes nothing."""
    pace = StepWatcher(3)
    lengths = {("train", 1): 900, ("step", 1): 5, ("queue", 2): 5_000}
    for _ in range(6):
        for (name, thread), length in lengths.items():
            pace.saw("session_run", ("session_run", name, thread), name, 0, 0, length, True)
    pace.saw("session_run", ("session_run", "restore", 1), "restore", 0, 0, 90_000, True)
    assert pace.made_each_step() == frozenset()
    pace.anchor = ("session_run", "step", 1)
    each = {("session_run", "step", 1), ("session_run", "train", 1)}
    assert pace.made_each_step() == each
    # Of a loop that makes thousands of runs a step, the heaviest are enough.
    for _ in range(6 * 100):
        pace.saw("session_run", ("session_run", "value", 1), "value", 0, 0, 1, True)
    assert pace.made_each_step() == each


def test_runs_after_the_one_that_marks_a_step_give_its_ops() -> None:
    """A loop trains, then fetches the loss: of the step that has just been marked, that is still to come."""
    pace = StepWatcher(1)
    names = ["restore", "train", "loss", "train", "loss", "train"]
    for now, name in enumerate(names):
        pace.saw("session_run", ("session_run", name, 1), name, now, now, now + 1, True)
    pace.anchor = ("session_run", "train", 1)
    assert pace.made_each_step() == {("session_run", "train", 1), ("session_run", "loss", 1)}
    # A recording forgets when the anchor ended last, and setting up is not repeated.
    pace.callers[pace.anchor].last_end_ns = None
    assert pace.made_each_step() == {("session_run", "train", 1), ("session_run", "loss", 1)}


def test_a_run_that_sets_up_gives_no_ops_of_a_step() -> None:
    """A restored model is restored once, as often as the loop has gone round."""
    pace = StepWatcher(1)
    for now, name in enumerate(["restore", "train", "train"]):
        pace.saw("session_run", ("session_run", name, 1), name, 2 * now, 2 * now, 2 * now + 1, True)
    pace.anchor = ("session_run", "train", 1)
    assert pace.made_each_step() == {("session_run", "train", 1)}


def test_runs_of_some_steps_do_not_give_the_ops_of_a_step() -> None:
    """A checkpoint after every second step takes longer than the step, and says nothing of its ops."""
    pace = StepWatcher(3)
    for now, name in enumerate(["train", "train", "save"] * 4):
        pace.saw("session_run", ("session_run", name, 1), name, now, now, now + 1, True)
    pace.anchor = ("session_run", "train", 1)
    assert pace.made_each_step() == {("session_run", "train", 1)}


def test_what_sets_up_is_waited_for_by_nobody() -> None:
    """Long runs that ask what is not initialised are over before the first step."""
    setup, step = ("session_run", "setup", 60_000, True), ("session_run", "train", 200, True)
    assert feed(StepWatcher(3), [setup] * 2 + [step] * 9) == 2 + 3
    # Beside the loop, a long run that has not settled yet is waited for.
    short, long = ("session_run", "short", 10, True), ("session_run", "long", 10_000, True)
    pace = StepWatcher(3)
    assert feed(pace, [short, long] * 3) == 6
    assert pace.anchor == ("session_run", "long")


def test_the_first_settled_call_that_takes_the_time_is_the_step() -> None:
    pace = StepWatcher(3)
    step = [("function_call", "augment", 1, True), ("function_call", "train", 50, True)]
    first = [("function_call", "augment", 9, False), ("function_call", "train", 900, False)]
    assert feed(pace, first + 10 * step) == 2 + 6
    assert pace.anchor == ("function_call", "train")


def test_a_surer_mark_of_a_step_goes_before() -> None:
    pace = StepWatcher(2)
    step = [("function_call", "train", 50, True), ("keras_batch", "train batch", 60, True)]
    assert feed(pace, 10 * step) is not None
    assert pace.anchor == ("keras_batch", "train batch")


def test_compiling_again_begins_the_warm_up_anew() -> None:
    pace = StepWatcher(3)
    calls = [("jax", "train", 5, settled) for settled in (False, True, True, False, True, True, True)]
    assert feed(pace, calls) == 7


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["keras_batch", "session_run", "function_call", "next_element", "jax"]),
            st.sampled_from("abc"),
            st.integers(0, 1000),
            st.booleans(),
        ),
        max_size=60,
    ),
    st.integers(0, 4),
)
def test_pace_waits_for_settled_calls(calls: list[tuple[str, str, int, bool]], warmup: int) -> None:
    pace = StepWatcher(warmup)
    if feed(pace, calls) is None:
        assert pace.anchor is None
        return
    assert pace.anchor is not None
    anchor = pace.callers[pace.anchor]
    assert anchor.settled >= warmup
    told = [call[3] for call in calls if (call[0], call[1]) == pace.anchor][: anchor.count]
    assert all(told[len(told) - warmup :]) if warmup else True


def test_plan() -> None:
    default = RecordingPlan("out")
    assert not default.enough(9, 30)
    assert not default.enough(10, 0.5)
    assert default.enough(10, 1)
    assert default.enough(1, 61)
    assert not default.enough(0, 1000)
    assert RecordingPlan("out", steps=2).enough(2, 0)
    assert RecordingPlan("out", seconds=3).enough(1, 3)
    assert not RecordingPlan("out", seconds=3).enough(0, 9)
    assert RecordingPlan("out", every=100).enough(10, 0)


@pytest.mark.parametrize(
    "wrong",
    [
        {"warmup": -1},
        {"steps": 0},
        {"every": 0},
        {"seconds": 0},
        {"steps": 1, "seconds": 1},
        {"pieces": ("x",)},
    ],
)
def test_plans_that_make_no_sense(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        RecordingPlan("out", **wrong)


def test_plan_survives_its_file(tmp_path: Path) -> None:
    plan = RecordingPlan("out", 1, seconds=2.5, pieces=PIECES[:2], state="s", version="1", allocations=True)
    plan.save(tmp_path / "plan.json")
    assert vars(RecordingPlan.load(tmp_path / "plan.json")) == vars(plan)
    assert plan.asked()["allocations"] is True
    assert "allocations" not in RecordingPlan("out").asked()


def test_folder_takes_any_text(tmp_path: Path) -> None:
    folder = Folder(str(tmp_path / "a" / "b"), {"argv": ["\ud800", "é"]})
    folder.line("steps.ndjson", "steps", {"x": "\udcff"})
    folder.add_json("pipeline/datasets.json", "datasets", [{"a": object}])
    folder.save()
    folder.close()
    assert {path.name for path in (tmp_path / "a" / "b").iterdir()} == {
        "capture.json",
        "steps.ndjson",
        "pipeline",
    }
    assert (tmp_path / "a" / "b" / "capture.json").read_text(encoding="utf-8")


def test_machine() -> None:
    values, ticks = machine.sample(None)
    assert "cores" not in values
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    later, _ = machine.sample(ticks)
    assert len(later["cores"]) == os.cpu_count()
    assert max(later["cores"]) > 0
    assert later["process_cpu_ns"] - values["process_cpu_ns"] > 50e6
    assert later["threads"] >= 1
    assert later["available_bytes"] > later["rss_bytes"] > 1 << 20


def test_machine_tells_what_processes_take_that_the_program_started() -> None:
    """While they run, with those that these started, and after they ended."""
    begin = machine.sample(None)[0]
    code = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True); input()"
    nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {code!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", nested], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        child.stdout.readline()
        running = machine.sample(None)[0]
        child.communicate(b"\n")
    for later in (running, machine.sample(None)[0]):
        assert later["children_cpu_ns"] - begin["children_cpu_ns"] > 200e6
        assert later["process_cpu_ns"] - begin["process_cpu_ns"] < 200e6


def test_machine_costs_little() -> None:
    taken: list[dict[str, Any]] = []
    sampler = machine.Sampler(taken.append)
    sampler.start()
    while len(taken) < 3:  # pytest-timeout ends what hangs
        time.sleep(0.01)
    sampler.stop()
    assert sampler.samples == len(taken)
    cost = sampler.cost_ns / (sampler.samples + 1)
    print(f"a sample costs {cost / 1e6:.2f} ms of a core")
    assert cost < 0.02 * machine.INTERVAL_S * 1e9 * 10  # 20 ms in a second, on a busy machine


def test_quiet_keeps_all_but_the_lines_of_profilers(tmp_path: Path) -> None:
    code = (
        "import os; from stepscope.capture.log_filter import quiet\n"
        "with quiet(None):\n"
        "    os.write(2, b'I0000 00:00:1 7 profiler_session.cc:117] Started.\\nmine\\nlast')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert done.stderr == b"mine\nlast"
    with quiet(str(tmp_path)):
        assert list(tmp_path.glob("stderr-*"))
    assert not list(tmp_path.glob("stderr-*"))


def test_what_never_settles_is_recorded_all_the_same() -> None:
    """Tracing or compiling in every step is what the program is to be told, and no reason to wait."""
    pace = StepWatcher(3)
    for count in range(1, 30):
        pace.saw("function_call", ("train",), "train", count, count, count + 5, False)
        if pace.ready():
            break
    assert count == 3 + 10
    # One that compiles now and then still settles.
    pace = StepWatcher(3)
    for count, settled in enumerate([False, True] * 10, 1):
        pace.saw("function_call", ("train",), "train", count, count, count + 5, settled)
        assert not pace.ready()


def test_functions_made_anew_for_each_call_are_one() -> None:
    """By their code, once there are some of them and each was called once, or many; a few of one code that
    are called again are several functions."""
    from stepscope.capture.callers import Identities

    for again, first in ((False, 3), (True, 8)):
        identities = Identities()
        kept = [(lambda value: value) for _ in range(20)]
        numbers = []
        for function in kept:
            numbers.append(identities.of(function, function.__code__))
            if again and len(numbers) == 2:
                identities.of(function, function.__code__)
        assert len(set(numbers[:first])) == first
        assert len(set(numbers[first:])) == 1
        assert identities.of(kept[0], kept[0].__code__) == numbers[8]
    other = [(lambda: None), (lambda: None)]
    assert identities.of(other[0], other[0].__code__) != identities.of(other[1], other[1].__code__)
    assert identities.of(5, None) == ("id", id(5))


def test_models_that_are_loaded_for_each_call_are_one() -> None:
    """Those of an ensemble, and the layers of a network, are still there when the next is called."""
    from stepscope.capture.callers import Identities

    class Model:
        pass

    identities = Identities()
    keys = []
    for _ in range(5):
        model = Model()
        keys.append(identities.of_model(model, Site(((1, 2),), ())))
        del model
    assert [len(set(keys)), len(set(keys[2:]))] == [3, 1]
    ensemble = [Model() for _ in range(5)]
    keys = [identities.of_model(model, Site(((1, 9),), ())) for _ in range(3) for model in ensemble]
    assert keys == keys[:5] * 3
    assert len(set(keys)) == 5


@given(st.lists(st.sampled_from(['"ab"', "cd", '"', "a"])).map("".join), st.integers(1, 9))
@example('"ab"cd"ab', 5)
def test_a_name_is_found_wherever_it_was_cut(text: str, size: int) -> None:
    target = io.BytesIO()
    torch_profiler._copy_renamed(io.BytesIO(text.encode()), target, b'"ab"', b'"longer"', size)
    assert target.getvalue() == text.encode().replace(b'"ab"', b'"longer"')


def test_memory_is_looked_at_a_few_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of a millisecond would otherwise hand over the interpreter's lock a thousand times."""
    looks, now_ns = [], iter(range(10**12, 2 * 10**12, 10**6))
    monkeypatch.setattr(torch_profiler, "resident_bytes", lambda: looks.append(1) or 1 << 30)
    monkeypatch.setattr(torch_profiler.clocks, "monotonic_ns", lambda: next(now_ns))
    profiler = torch_profiler.TorchProfiler(lambda: None, None)
    full = [profiler.is_full() for _ in range(1000)]
    assert (full[0], sum(full), len(looks)) == (True, 10, 10)


@pytest.mark.parametrize("kind", ["jax", "jax_op"])
def test_what_steps_call_often_has_its_fast_path(kind: str) -> None:
    """Once it is known that another function, or op, marks the steps; what is called a few times is still
    watched."""
    from stepscope.capture.jax import _JittedCalls

    cleared: list[int] = []
    recorder: Any = SimpleNamespace(pace=SimpleNamespace(anchor=None), in_doubt=False, local=None)
    pjit = SimpleNamespace(_cpp_pjit_cache=SimpleNamespace(clear=lambda: cleared.append(1)))
    signature = inspect.signature(lambda fun: None)
    calls = _JittedCalls(recorder, None, pjit, cast("Any", None), signature, bool, cast("Any", None))
    step, token, seldom = (kind, "number", 0), (kind, "number", 1), (kind, "number", 2)

    def often(key: tuple[Any, ...], times: int) -> int:
        return sum(calls._is_often_beside(*key) for _ in range(times))

    assert (often(token, 9), cleared) == (0, []), "nobody knows yet what marks the steps"
    recorder.pace.anchor = (*step, (), threading.get_ident())
    for _ in range(9):
        assert (often(seldom, 3), often(step, 1)) == (0, 0)
    assert (often(token, 9), cleared) == (5, [1])
    assert (often(step, 1), often(token, 1), cleared) == (0, 1, [1])
    found = recorder.pace.anchor
    for anchor in ((*found[:-1], -1), ("other", *found[1:])):
        recorder.pace.anchor = anchor
        assert often(token, 9) == 0, "another thread, and another kind of call, may have steps of its own"
