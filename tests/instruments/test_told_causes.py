"""Causes that are told by more than a label: loops in the graph, lines of several labels, bytes that sessions
give back."""

from argparse import Namespace
from collections.abc import Callable
from statistics import fmean
from typing import Any, cast

import pytest

from stepscope.code_lines import CodeLine
from stepscope.instruments.causes.cause import Removal
from stepscope.instruments.causes.compile import CompileCause
from stepscope.instruments.causes.explanation import Explanation
from stepscope.instruments.causes.gain import Left
from stepscope.instruments.causes.graph_loops import GraphLoop, graph_loop, loop_of, unseen_loop
from stepscope.instruments.causes.host_steps import HostSteps
from stepscope.instruments.causes.label_shares import Weighed
from stepscope.instruments.causes.mixed_lines import aside_line, mixed_line
from stepscope.instruments.causes.ranking import judge
from stepscope.instruments.causes.timed_steps import TimedStep
from stepscope.instruments.causes.top_op import TopOp
from stepscope.instruments.pipeline.places import function_in
from stepscope.instruments.pipeline.stages import words, written_as
from stepscope.instruments.step_breakdown import labels, session_runs
from stepscope.instruments.step_breakdown.labels import runs_graph
from tests.draw import draw
from tests.report.recordings import queried

LINE, OTHER = CodeLine("train.py", 31, "main"), CodeLine("train.py", 40, "step")


@pytest.mark.parametrize(
    ("op", "loop"),
    [
        ("map/while/body/_5/map/while/add", "map/while"),
        ("map/while/cond/_0/map/while/Less", "map/while"),
        ("outer/while/body/_1/outer/while/inner/while/body/_9/add", "outer/while/inner/while"),
        ("map/while/loop_counter", None),
        ("encoder/body/dense/MatMul", None),
    ],
)
def test_an_op_tells_its_loop(op: str, loop: str | None) -> None:
    assert loop_of(op) == loop


def _op(name: str, runs: int, op_type: str = "Mul") -> tuple[Any, ...]:
    return ("host", op_type, name, name, "compute", 10, runs)


def test_a_loop_in_the_graph_has_most_of_what_runs() -> None:
    inside = [_op("map/while/cond/_0/Less", 7_700), _op("map/while/body/_5/add", 7_680)]
    assert graph_loop([*inside, _op("MatMul", 30)], 30) == GraphLoop("map/while", 256)
    # Most of what runs lies outside; the loop runs a few times only; no loop at all.
    assert graph_loop([*inside, _op("MatMul", 60_000)], 30) is None
    assert graph_loop([_op("map/while/body/_5/add", 300)], 30) is None
    assert graph_loop([_op("MatMul", 60_000)], 30) is None


def test_a_loop_runs_as_often_as_in_the_step_that_has_all_of_it() -> None:
    """TensorFlow recorded the ops of the loop in one of two steps."""
    train = f"[train{'.' * 800}]"
    call = f"[TFE_Py_Execute{'.' * 791}]"
    tables = draw(
        f"step train : {train}{train}\ncpu/python thread : {call}{call}\n"
        "cpu/pool thread : " + "[a:L]          " * 48
    )
    for row in tables.rows["slice"]:
        if row["op_name"] == "a":
            row |= {"op_name": "map/while/body/_5/map/while/add", "step": 0}
    place = {"file": "model.py", "line": 7, "function": "Net.call"}
    tables.add("op_line", op_name="map/while", told_by="tfprof_log", **place)
    (judged,) = judge(queried(tables))
    assert judged.loop_runs == 48


def test_a_loop_of_tensorflow_1_is_told_by_what_says_whether_it_goes_on() -> None:
    """Ten of eleven steps were recorded with their ops. The loop of gradients has such an op as well."""
    condition, backward = (
        _op(name, 4_010, "LoopCond") for name in ("smooth/while/LoopCond", "gradients/b_count_2")
    )
    inside = [condition, backward, _op("smooth/while/mul", 4_000)]
    assert graph_loop([*inside, _op("MatMul", 10)], 11) == GraphLoop("smooth/while/LoopCond", 400)
    assert graph_loop([*inside, _op("MatMul", 10), *[_op("add", 1_500)] * 9], 11) is None
    assert graph_loop([backward, _op("smooth/while/mul", 4_000), _op("MatMul", 10)], 11) is None
    few = _op("smooth/while/LoopCond", 110, "LoopCond")
    assert graph_loop([few, _op("MatMul", 10)], 11) is None


def test_a_loop_of_ops_too_short_to_be_recorded_is_known_by_its_graph():
    """Executors go through thousands of nodes a step, and the graph has one loop."""
    assert unseen_loop([("while", 270_000, 90)], 30) == GraphLoop("while", 9000)
    assert unseen_loop([("while", 29_999, 90)], 30) is None
    assert unseen_loop([("a/while", 270_000, 90), ("b/while", 270_000, 90)], 30) is None
    # A graph with as many nodes runs them without any loop.
    assert unseen_loop([("while", 270_000, 9000)], 30) is None
    assert unseen_loop([], 30) is None


class _SampledHost(HostSteps):
    """A host with ten steps of 100 ps of which samples tell parts: step, stack, label, time."""

    def __init__(
        self,
        parts: list[tuple[int, int, str, int]],
        stacks: Namespace,
        purposes: dict[str, int] | None = None,
    ) -> None:
        set_here = cast(Any, self)
        set_here.steps = [Namespace(id=number, dur_ps=100) for number in range(10)]
        set_here.stacks = Namespace(stacks={0: stacks}, loops=frozenset(), parts=lambda: parts)
        set_here.ask = lambda _: list((purposes or {}).items())


def _host(parts: list[tuple[int, int, str, int]]) -> HostSteps:
    return _SampledHost(parts, Namespace(paths={1: (LINE,), 2: (OTHER, LINE), 3: (OTHER,)}))


def test_a_line_of_several_labels_is_one_thing_to_mend() -> None:
    parts = [(number, 1, "python", 15) for number in range(10)]
    parts += [(number, 2, "copy", 12) for number in range(10)]
    parts += [(number, 3, "python", 20) for number in range(10)]
    parts += [(number, 1, "compute", 50) for number in range(10)]
    found = mixed_line(_host(parts))
    assert found.line == LINE
    told = [(part.label, part.ps_per_step, part.share) for part in found.parts]
    assert told == [("python", 15, 0.15), ("copy", 12, 0.12)]


def test_a_line_that_takes_little_in_all_is_no_cause() -> None:
    parts = [(number, 1, label, 12) for number in range(10) for label in ("python", "copy")]
    assert mixed_line(_host(parts)) is None
    assert mixed_line(_host([(number, 1, "compute", 90) for number in range(10)])) is None


def test_what_a_session_gives_back_is_copied_as_what_it_is_fed() -> None:
    """Each by the time that a byte of it takes at most."""
    answers = {"fed_to_runs": [("run", "host", 10)], "fetched_from_runs": [("run", "host", 1_000)]}

    def query(asked: Any) -> Namespace:
        text = str(asked)
        name = "fetched_from_runs" if "_Retval" in text else "fed_to_runs"
        return Namespace(rows=lambda: answers[name])

    limits = session_runs.THRESHOLDS
    whole = 10 * limits.copied_byte_ps + 1_000 * limits.fetched_byte_ps
    assert session_runs._copied(cast(Callable[..., Any], query)) == {("run", "host"): whole}
    assert runs_graph("tensorflow/python/client/session.py", "BaseSession._call_tf_sessionrun")
    assert runs_graph("tensorflow_core/python/client/session.py", "__call__")  # the callable of Keras 1
    assert not runs_graph("requests/session.py", "Session.__call__")


def test_steps_are_traced_whole_where_few_of_their_runs_were_not() -> None:
    """Otherwise nothing tells what the other runs do."""
    rows = [("run", "gan", "traced", 30.0), ("run", "gan", "untraced", 1.0)]
    rows += [("run", "one", "traced", 10.0), ("run", "one", "untraced", 20.0)]

    def query(asked: Any) -> Namespace:
        return Namespace(rows=lambda: rows)

    assert session_runs._hosts_traced_whole(cast(Callable[..., Any], query)) == {("run", "gan")}


def test_a_generator_is_told_as_it_is_written() -> None:
    """TensorFlow makes a flat_map of it, whose function makes a stage that calls the generator."""
    assert words("GeneratorDataset:3") == ["from_generator"]
    assert written_as("GeneratorDataset:3", 1) == "from_generator, transformation 1"
    assert written_as("TFRecordDataset:3", 1) == "TFRecordDataset inside transformation 1"


def test_a_function_of_a_framework_is_not_the_users() -> None:
    own = '{"generator": "batches (/home/me/train.py:12)"}'
    keras = '{"generator": "Adapter.get (/x/site-packages/keras/src/trainers/adapter.py:280)"}'
    assert function_in(own) == CodeLine("/home/me/train.py", 12, "batches")
    assert function_in(keras) is None


@pytest.mark.parametrize(
    ("file", "function", "found"),
    [
        ("keras/src/callbacks/callback_list.py", "CallbackList.on_train_batch_end", True),
        ("tf_keras/src/callbacks.py", "CallbackList._call_batch_hook_helper", True),
        ("tensorflow/python/keras/callbacks.py", "CallbackList._call_batch_hook", True),
        ("keras/src/callbacks/callback_list.py", "CallbackList.on_epoch_end", False),
        ("tools/callbacks.py", "CallbackList.on_train_batch_end", False),
    ],
)
def test_callbacks_of_a_batch_are_those_that_keras_runs(file: str, function: str, found: bool) -> None:
    assert labels.runs_hooks(file, function) is found


@pytest.mark.parametrize(
    ("file", "function", "in_training", "in_callback"),
    [
        ("keras/src/trainers/data_adapters/array.py", "Adapter.get_tf_dataset", "input", "dispatch"),
        ("tensorflow/python/framework/func_graph.py", "func_graph_from_py_func", "compile", "compile"),
        ("tensorflow/python/training/saver.py", "Saver.save", "wait", "wait"),
        ("/home/me/train.py", "score", "python", "python"),
    ],
)
def test_batches_of_a_callback_are_no_input_of_the_training(
    file: str, function: str, in_training: str, in_callback: str
) -> None:
    hook = labels.frame_meaning(
        "keras/src/callbacks/callback_list.py", "CallbackList.on_batch_end", "library"
    )
    found = []
    for around in (labels.Meaning("dispatch"), hook):
        called = labels.nested_meaning(around, labels.Meaning("python"))
        code = "program" if in_training == "python" else "library"
        found.append(labels.nested_meaning(called, labels.frame_meaning(file, function, code)).label)
    assert found == [in_training, in_callback]


@pytest.mark.parametrize(
    ("took", "label", "found"),
    [(60, "compute", True), (30, "compute", False), (60, "wait", False)],
    ids=["most of a step", "less than the rest", "it waits"],
)
def test_what_a_callback_does_is_one_thing_where_it_runs_ops(took: int, label: str, found: bool) -> None:
    """Ops and input of an evaluation are the callback's; what Keras itself does in a callback is nobody's."""
    stacks = Namespace(hooks={1: (LINE,), 2: (LINE, OTHER), 3: ()}, paths={}, meanings={}, models={})
    parts = [(number, 1, label, took - 20) for number in range(10)]
    parts += [(number, 2, "input", 20) for number in range(10)]
    parts += [(number, 3, "python", 30) for number in range(10)]
    told = aside_line(_SampledHost(parts, stacks))
    assert (told is not None) is found
    if told is not None:
        assert (told.line, told.by_step) == (LINE, dict.fromkeys(range(10), 60))
        assert [(part.label, part.ps_per_step) for part in told.parts] == [("compute", 40), ("input", 20)]


@pytest.mark.parametrize(
    ("ops", "purpose", "stores"),
    [(40, "summary", "summary"), (5, "summary", None), (40, "log", None)],
    ids=["with ops", "it waits", "for another purpose"],
)
def test_ops_that_make_a_summary_are_part_of_storing_it(ops: int, purpose: str, stores: str | None) -> None:
    meanings = {1: labels.STORES, 2: labels.Meaning("dispatch")}
    stacks = Namespace(hooks={}, paths={1: (LINE,), 2: (OTHER,)}, meanings=meanings, models={})
    parts = [(number, 1, "compute", ops) for number in range(10)]
    parts += [(number, 1, "wait", 50) for number in range(10)]
    parts += [(number, 2, "compute", 10) for number in range(10)]
    told = aside_line(_SampledHost(parts, stacks, {purpose: 900, "checkpoint": 5}))
    assert (told is not None) is (stores is not None)
    if told is not None:
        assert (told.line, told.stores, told.by_step[3]) == (LINE, stores, 90)
        assert told.share == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("file", "function", "label"),
    [
        ("tensorflow/python/autograph/impl/api.py", "converted_call", "compile"),
        ("tensorflow/python/autograph/impl/api.py", "do_not_convert.wrapper", "dispatch"),
        (
            "tensorflow/python/autograph/impl/api.py",
            "call_with_unspecified_conversion_status.wrapper",
            "dispatch",
        ),
        ("tensorflow/python/distribute/mirrored_run.py", "_call_for_each_replica", "dispatch"),
    ],
)
def test_replicas_that_run_op_by_op_compile_nothing(file: str, function: str, label: str) -> None:
    """The thread that made them waits for their launches."""
    around = labels.frame_meaning(file, function, "library")
    waits = labels.frame_meaning("<built-in>", "acquire", "python")
    assert around.label == label
    inner = labels.nested_meaning(around, waits).label
    assert inner == (label if around.whole else "wait")


@pytest.mark.parametrize(
    ("loading", "waiting", "found"),
    [(30, 10, True), (30, 40, False), (20, 10, False)],
    ids=["less than the ops", "less than another label", "little"],
)
def test_a_model_that_steps_load_is_one_thing_whatever_its_labels(
    loading: int, waiting: int, found: bool
) -> None:
    """What compiles elsewhere then compiles for the new model."""
    meanings = dict.fromkeys((1, 2, 3), labels.Meaning("dispatch"))
    paths = {1: (LINE,), 2: (OTHER,), 3: (OTHER,)}
    stacks = Namespace(hooks={}, paths=paths, meanings=meanings, models={1: (LINE,)})
    parts = [(number, 1, label, loading // 2) for number in range(10) for label in ("dispatch", "copy")]
    rest = 100 - loading - waiting
    parts += [(number, 2, "compute", rest - 5) for number in range(10)]
    parts += [(number, 2, "compile", 5) for number in range(10)]
    parts += [(number, 3, "wait", waiting) for number in range(10)]
    told = aside_line(_SampledHost(parts, stacks))
    assert (told is not None) is found
    if told is not None:
        assert (told.line, told.stores, told.share) == (LINE, "model", pytest.approx(0.3))
        assert told.by_step == dict.fromkeys(range(10), 35)
        assert told.goes[2].goes_ps == pytest.approx(5 / rest * told.goes[2].whole_ps)


MS = 10**9


def without_compiling(compiling: set[int]) -> Left:
    """What is left of ten steps, of which others take a tenth of those that compile."""
    steps = [
        TimedStep(
            number, "r", "h", 0, 100 * MS, False, "compile", "recorder", {"compute": MS, "compile": 99 * MS}
        )
        if number in compiling
        else TimedStep(number, "r", "h", 0, 10 * MS, True, "train", "recorder", {"compute": 10 * MS})
        for number in range(10)
    ]
    host = cast(
        HostSteps,
        Namespace(
            all_steps=steps,
            steps=steps,
            mean_ps=round(fmean(step.dur_ps for step in steps)),
            had_cores=1.0,
            paces=None,
            top_op=TopOp(),
            stacks=Namespace(number=lambda: None, stacks={}),
        ),
    )

    class Compiling(CompileCause):
        def removal(self, host: HostSteps, found: Explanation) -> Removal:
            return Removal()

        def untraced(self, host: HostSteps, goes: Removal) -> None:
            return None

    others = Weighed((), "none", 10 - len(compiling), 10 * MS, False)
    return Compiling().step_without(host, Explanation(others=others))


def test_steps_that_compile_are_compared_with_those_that_do_not() -> None:
    """What goes is the rest of a mean step: one that does not compile has nothing to lose."""
    left = without_compiling({1, 3, 5, 6, 7, 9})
    assert (left.ps, left.typical_ps) == (10 * MS, 64 * MS)


def test_one_step_that_does_not_compile_is_no_measure() -> None:
    """Where shapes differ, it may be the shortest of all: what all steps do besides tells more."""
    assert without_compiling(set(range(9))).ps == MS
