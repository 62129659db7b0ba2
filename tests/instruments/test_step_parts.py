"""Steps are taken apart: every instant has one label, and no label comes without evidence."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from itertools import pairwise

import pyarrow
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope import _core, library
from stepscope.instruments.step_parts import driver, labels, reading, stacks
from stepscope.instruments.step_parts.by_stack import ByStack
from stepscope.instruments.step_parts.labels import EXECUTION, LABELS
from stepscope.instruments.step_parts.stacks import Look, Sample
from stepscope.instruments.step_parts.sweep import Evidence, Segment, kept, pieces_of, sweep
from stepscope.lake.schema import schema
from stepscope.library.statements import statement
from tests.asked import Asked
from tests.draw import UNIT_PS, Tables, args, draw
from tests.library.worlds import worlds

CONNECTION = Tables().connect()
"""One for all drawn tables: making tables and views anew would take most of the time."""


def asked(tables: Tables) -> Asked:
    """Queries of drawn tables, as a trace answers them."""
    tables.fill(CONNECTION)
    return Asked(CONNECTION)


def rows(tables: Tables) -> reading.Found:
    ask = asked(tables)
    return reading.rows(ask, ask.stream)


def parts(tables: Tables) -> dict[int, dict[str, float]]:
    """Units of time by step and label, what is hidden with a `+` before it."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    for row in rows(tables).step_part:
        for key, sign in (("dur_ps", ""), ("hidden_ps", "+")):
            if row[key]:
                found[row["step_id"]][sign + row["label"]] = row[key] / UNIT_PS
    return dict(found)


def drawn(text: str, **names: str) -> Tables:
    """A drawing, in which slices called as a key get the name behind it, and ops the type."""
    tables = draw(text)
    for row in tables.rows["slice"]:
        row["name"] = names.get(row["name"], row["name"])
    return tables


def test_a_step_on_a_processor():
    """Ops on any thread decide first; then what the program's thread does; the rest is unknown."""
    tables = drawn(
        """
step       train  : [0...................................]
cpu/python thread : [0...................................]
cpu/python thread :   [take.......]     [FunctionRun.]
cpu/pool   thread :                        [a:MatMul]
""",
        take="IteratorGetNextOp::DoCompute",
    )
    assert parts(tables) == {0: {"unknown": 2 + 5 + 4, "input": 13, "dispatch": 3 + 1, "compute": 10}}


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("Iterator::Root::Prefetch", "input"),
        ("EagerLocalExecute: IteratorGetNext", "input"),
        ("EagerLocalExecute: SaveV2", "wait"),
        ("EagerLocalExecute: MatMul", "dispatch"),
        ("KernelAndDeviceFunc::Run", "dispatch"),
        ("PjitFunction(step)", "dispatch"),
        ("TfrtCpuClient::Compile", "compile"),
        ("backend_compile", "compile"),
        ("cudaMemcpyAsync", "copy"),
        ("TransferLiteralToDevice", "copy"),
        ("cudaDeviceSynchronize", "idle"),
        ("$time sleep", "wait"),
        ("$train.py:12 tokens", "python"),
        ("$api.py:2479 block_until_ready", "idle"),
        ("$dataloader.py:700 __next__", "input"),
        ("a mark of the program", None),
        ("$builtins isinstance", None),
    ],
)
def test_names_of_slices(name, label):
    assert labels.of_slice(name, None, False, False).label == label


@pytest.mark.parametrize(
    ("file", "function", "code", "label"),
    [
        ("train.py", "tokens", "program", "python"),
        ("numpy/core/fromnumeric.py", "sum", "library", None),
        ("json/decoder.py", "decode", "python", None),
        ("threading.py", "wait", "python", "wait"),
        ("queue.py", "Queue.get", "python", "input"),
        ("multiprocessing/queues.py", "get", "python", "input"),
        ("queue.py", "Queue.put", "python", None),
        ("tensorflow/python/eager/execute.py", "quick_execute", "library", "dispatch"),
        ("jax/_src/lax/lax.py", "mul", "library", "dispatch"),
        ("tensorflow/python/checkpoint/checkpoint.py", "save", "library", "wait"),
        ("tensorflow/python/data/ops/iterator_ops.py", "__next__", "library", "input"),
        ("tensorflow/python/framework/func_graph.py", "capture", "library", "compile"),
        ("jax/_src/compiler.py", "backend_compile", "library", "compile"),
        ("jax/_src/array.py", "__array__", "library", "copy"),
        ("jax/_src/lib/__init__.py", "_xla_gc_callback", "library", None),
    ],
)
def test_frames_of_python(file, function, code, label):
    assert labels.of_frame(file, function, code).label == label


def test_a_purpose_holds_for_all_within():
    """A checkpoint is made of ops and Python; it stays waiting. A launch is made of what is known inside
    it."""
    tables = drawn(
        """
step       train  : [0....................]
cpu/python thread : [save.....][launch....]
cpu/python thread :   [launch]   [copy]
""",
        save="$checkpoint.py:7 save",
        launch="FunctionRun",
        copy="TransferLiteralToDevice",
    )
    assert parts(tables) == {0: {"wait": 11, "copy": 6, "dispatch": 6}}


def test_ops_of_the_input_pipeline_are_no_compute():
    """Neither on tf.data's threads, nor where an executor runs a function of the pipeline on another one."""
    tables = drawn(
        """
step                  train  : [0.........................]
cpu/python            thread : [take......................]
cpu/tf_data_iterator  thread : [call]
cpu/tf_data_iterator  thread :       [a:DecodeJpeg]
cpu/pool              thread :         [execute...]
cpu/pool              thread :           [b:Resize]
cpu/other             thread :                     [execute]
cpu/other             thread :                      [c:Mat]
""",
        take="Iterator::Root",
        call="InstantiatedCapturedFunction::Run",
        execute="ExecutorState::Process",
    )
    for row in tables.rows["slice"]:
        if row["name"].startswith(("Instantiated", "Executor")):
            pool = tables.rows["track"][row["track_id"]]["name"]
            row["args_json"] = args(id=8 if pool == "other" else 7)
    assert parts(tables) == {0: {"input": 21, "compute": 7}}


def test_an_accelerator_decides_first():
    """On a device what its streams run; the ops of the host only launch."""
    tables = drawn("""
step       train         : [0.................................]
cpu/python thread        : [0.................................]
cpu/python thread        : [a:MatMul][cudaDeviceSynchronize]
gpu/s1     device_stream :    [MatMul.....]
gpu/s2     device_stream :          [ncclAllReduce]
""")
    assert parts(tables) == {
        0: {"compute": 13, "communication": 8, "+communication": 7, "dispatch": 3, "idle": 12}
    }


def sample(
    tables: Tables,
    begin: int,
    end: int,
    *frames: tuple[str, str, str],
    cpu: float | None = None,
    queued: float | None = None,
) -> None:
    """A sample of the main thread's stack, outermost frame first."""
    parent = None
    for file, function, code in frames:
        frame = tables.add("frame", file=file, function=function, code=code, line=1)
        parent = tables.add("stack", parent_id=parent, frame_id=frame["id"])["id"]
    weight = (end - begin) * UNIT_PS
    tables.add(
        "stack_sample",
        is_main=True,
        ts_ps=begin * UNIT_PS,
        weight_ps=weight,
        stack_id=parent,
        **({} if cpu is None else {"cpu_ps": round(cpu * weight)}),
        **({} if queued is None else {"queued_ps": round(queued * weight)}),
    )


@pytest.mark.skipif("stack_sample" not in schema().names, reason="no table of samples")
def test_samples_of_stacks_tell_python_from_waiting():
    """Code of the program is Python; when its thread did not run it waits; a library is what calls it."""
    tables = drawn("""
step       train  : [0...........................]
cpu/python thread : [FunctionRun]
""")
    main = ("train.py", "main", "program")
    sample(tables, 14, 21, main, ("train.py", "count", "program"), cpu=0.9)
    sample(tables, 21, 26, main, ("train.py", "pause", "program"), cpu=0.01)
    sample(tables, 26, 28, main, ("jax/_src/lax/lax.py", "mul", "library"))
    sample(tables, 28, 29, main, ("numpy/core/x.py", "sum", "library"))
    assert parts(tables) == {0: {"dispatch": 13 + 2, "python": 7 + 1, "wait": 5, "unknown": 2}}


def test_a_sample_of_a_short_burst_beside_a_wait_holds_both():
    """The part in which the thread ran is Python. From a quarter on, others kept it from running."""
    tables = drawn("""
step       train  : [0......................................]
cpu/python thread : [FunctionRun..]
""")
    main = ("train.py", "main", "program")
    sample(tables, 16, 36, main, cpu=0.1)
    sample(tables, 36, 41, main, cpu=0.3)
    assert parts(tables) == {0: {"dispatch": 15, "python": 2 + 5, "wait": 18, "unknown": 1}}


def test_python_without_a_core_does_not_wait():
    """It would run if other programs left it a core; what it has neither is a wait."""
    tables = drawn("""
step       train  : [0......................................]
cpu/python thread : [FunctionRun..]
""")
    main = ("train.py", "main", "program")
    sample(tables, 16, 36, main, cpu=0.1, queued=0.85)
    sample(tables, 36, 41, main, cpu=0.01, queued=0.01)
    assert parts(tables) == {0: {"dispatch": 15, "python": 20, "wait": 5, "unknown": 1}}


@given(st.sampled_from((*LABELS, None)), st.none() | st.floats(0, 1))
def test_a_sample_is_shared_out_wholly(label, ran):
    assert sum(share for _, share in labels.shares(label, ran)) == pytest.approx(1)


def test_a_call_that_converts_waits_for_input_all_the_same():
    """The stack of a session's run ends in a call that copies; inside, an op waits for the next batch."""
    tables = drawn(
        """
step       train  : [0..................]
cpu/python thread : [SessionRun.........]
cpu/pool   thread :     [take......]
""",
        take="IteratorGetNextOp::DoCompute",
    )
    sample(tables, 1, 22, ("tensorflow/python/client/session.py", "_call_tf_sessionrun", "library"))
    assert parts(tables) == {0: {"copy": 9, "input": 12}}


def test_a_jitted_call_that_compiles_does_nothing_else():
    """JAX traces the function first, in slices without a name for it; a later call only launches."""
    tables = drawn(
        """
step       train  : [0.................................]
cpu/python thread : [outer.................][again.....]
cpu/python thread :  [call...............]
cpu/python thread :         [compile]
""",
        outer="a span of the program",
        call="PjitFunction(train_step)",
        compile="backend_compile_and_load",
        again="PjitFunction(train_step)",
    )
    assert parts(tables) == {0: {"unknown": 3, "compile": 21, "dispatch": 12}}


@pytest.mark.parametrize(
    "text", ['{"tf_function_call":"traced-nonXla"}', '{"tf_function_call": "traced-xla"}']
)
def test_a_function_that_is_traced_compiles_however_its_arguments_are_spaced(text):
    tables = drawn("""
step       train  : [0.................]
cpu/python thread : [call.............]
cpu/python thread :    [TFE_Py_Exec]
""")
    tables.rows["slice"][0 if tables.rows["slice"][0]["name"] == "call" else 1]["args_json"] = text
    assert parts(tables) == {0: {"compile": 19, "unknown": 1}}


def test_a_call_of_a_function_is_no_op():
    """TensorFlow names the kernel that runs a function after it; XLA compiles and runs its ops within."""
    tables = drawn(
        """
step       train  : [0......................................]
cpu/python thread : [EagerExecute...........................]
cpu/python thread :   [__inference_train_48:__inference_train_48]
cpu/python thread :     [compile..........]
cpu/python thread :                         [a:dot....]
""",
        compile="CpuCompiler::RunBackend",
    )
    assert parts(tables) == {0: {"compile": 19, "compute": 11, "dispatch": 11}}


def test_an_op_that_is_run_eagerly_computes_when_it_takes_long():
    """TensorFlow records no kernel of it. A short one is launched, and so is a function."""
    text = """
step       train  : [0...................................]
cpu/python thread : [long.....][short..][function.......]
cpu/python thread :  [Run...]   [Run]    [Run..........]
"""
    names = {"Run": "KernelAndDeviceFunc::Run", "function": "EagerLocalExecute: __inference_train_7"}
    tables = drawn(text, long="EagerLocalExecute: MatMul", short="EagerLocalExecute: Mul", **names)
    for row in (*tables.rows["slice"], *tables.rows["step_stored"]):
        row["ts_ps"], row["dur_ps"] = row["ts_ps"] * 21, row["dur_ps"] * 21
    assert parts(tables) == {0: {"compute": 11 * 21, "dispatch": 26 * 21, "unknown": 21}}


def test_an_op_that_is_run_eagerly_copies_when_all_it_does_is_move():
    """`variable.numpy()` and `assign` of a big table compute nothing; a product does."""
    text = """
step       train  : [0...................................]
cpu/python thread : [read.....][assign.][product.........]
"""
    kinds = {"read": "ReadVariableOp", "assign": "AssignVariableOp", "product": "MatMul"}
    tables = drawn(text, **{name: f"EagerLocalExecute: {kind}" for name, kind in kinds.items()})
    for row in (*tables.rows["slice"], *tables.rows["step_stored"]):
        row["ts_ps"], row["dur_ps"] = row["ts_ps"] * 25, row["dur_ps"] * 25
    assert parts(tables) == {0: {"copy": (11 + 9) * 25, "compute": 18 * 25}}


def test_a_program_of_xla_runs_on_processors_until_it_is_complete():
    """Bigger ops run in pieces on threads without slices; a program that only copies is a copy."""
    tables = drawn(
        """
step       train  : [0...........................................]
cpu/python thread : [call..............................][call.]
cpu/pool   thread :   [a:dot][wait....]   [b:copy][wait...]
""",
        call="PjitFunction(train)",
        wait="ThunkExecutor::Execute (wait for completion)",
    )
    number = {"a:dot": 1, "b:copy": 2}
    run = 0
    for row in sorted(tables.rows["slice"], key=lambda row: row["ts_ps"]):
        run = number.get(f"{row['name']}:{row.get('op_type')}", number.get(row["name"], run))
        if "Pjit" not in row["name"]:
            row["args_json"] = args(run_id=run)
    assert parts(tables) == {0: {"compute": 17, "copy": 17, "dispatch": 9, "unknown": 3}}


def test_converting_is_copying_when_it_takes_long():
    """A constant of a few numbers belongs to the launch of its op."""
    kinds = driver.kinds([(1, "TFE_Py_Execute", None, False), (2, "tf.constant", None, False)])
    slices = pyarrow.table(
        {
            "begin_ps": [0, 0, labels.LONG_PS],
            "end_ps": [9 * labels.LONG_PS, labels.LONG_PS - 1, 3 * labels.LONG_PS],
            "rollup_id": [1, 2, 2],
            "track_id": [5, 5, 5],
        }
    )
    everything = (0, 9 * labels.LONG_PS)
    assert driver.segments(slices, {5: everything}, kinds) == {
        5: [
            Segment(0, labels.LONG_PS, "dispatch"),
            Segment(labels.LONG_PS, 3 * labels.LONG_PS, "copy"),
            Segment(3 * labels.LONG_PS, 9 * labels.LONG_PS, "dispatch"),
        ]
    }


def test_threads_that_are_read_together_are_told_apart():
    """Each has the slices of its own stretch of time; one of them may have none."""
    kinds = driver.kinds([(1, "TFE_Py_Execute", None, False), (2, "$time sleep", None, False)])
    slices = pyarrow.table(
        {
            "track_id": [5, 5, 6, 6, 8],
            "begin_ps": [0, 100, 0, 100, 0],
            "end_ps": [50, 200, 50, 200, 50],
            "rollup_id": [1, 1, 2, 2, 3],
        }
    )
    assert driver.segments(slices, {5: (0, 60), 6: (60, 300), 7: (0, 300)}, kinds) == {
        5: [Segment(0, 50, "dispatch")],
        6: [Segment(100, 200, "wait")],
        7: [],
    }


def test_spans_of_sources_are_told_apart():
    rows = pyarrow.table(
        {
            "source_id": [1, 2, 1, 1, 2],
            "layer": ["copy", "copy", "compute", "copy", "copy"],
            "begin_ps": [0, 5, 0, 8, 20],
            "end_ps": [10, 15, 4, 12, 30],
        }
    )
    spans = _core.Spans([rows])
    assert spans.within(1, 0, 100) == {"copy": [(0, 12)], "compute": [(0, 4)]}
    assert spans.within(2, 10, 25) == {"copy": [(10, 15), (20, 25)]}
    assert spans.within(3, 0, 100) == {}


def test_parts_by_stack():
    """What decides an instant is its label; the stack of that instant has it, whatever the stack says."""
    tables = drawn("""
step       train  : [0...........................]
cpu/python thread : [FunctionRun]
cpu/pool   thread :     [a:MatMul]
""")
    main = ("train.py", "main", "program")
    sample(tables, 1, 8, main, ("tensorflow/python/eager/execute.py", "quick_execute", "library"))
    sample(tables, 20, 32, main, ("train.py", "count", "program"))
    found = [
        (row["step_id"], row["stack_id"], row["label"], row["dur_ps"] / UNIT_PS)
        for row in rows(tables).stack_part
    ]
    assert found == [(0, 1, "compute", 3), (0, 1, "dispatch", 4), (0, 3, "python", 11)]


# The sweep, once more by brute force.

SPAN = 24
_intervals = st.sets(st.integers(0, SPAN), max_size=6).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)
_segments = st.tuples(_intervals, st.lists(st.sampled_from(LABELS[:-1]), min_size=3, max_size=3)).map(
    lambda drawn: [Segment(*span, label) for span, label in zip(*drawn, strict=False)]
)


@given(_segments, _segments)
def test_short_copies_between_calls_are_launching(stacks, slices):
    """Cell by cell; a gap between two calls is short here when it has one or two cells."""
    unit = driver.SHORT_PS // 2
    scaled = [
        [one._replace(from_ps=one.from_ps * unit, to_ps=one.to_ps * unit) for one in part]
        for part in (stacks, slices)
    ]
    found = driver.launching(*scaled)
    for cell in range(SPAN):
        was = next((s.label for s in stacks if s.from_ps <= cell < s.to_ps), None)
        now = next((s.label for s in found if s.from_ps <= cell * unit < s.to_ps), None)
        before = max((s.to_ps for s in slices if s.to_ps <= cell), default=None)
        after = min((s.from_ps for s in slices if s.from_ps > cell), default=None)
        free = not any(s.from_ps <= cell < s.to_ps for s in slices)
        short = free and before is not None and after is not None and after - before <= 2
        assert now == ("dispatch" if was == "copy" and short else was)


@st.composite
def evidence(draw: st.DrawFn) -> Evidence:
    return Evidence(
        {label: draw(_intervals) for label in draw(st.sets(st.sampled_from(EXECUTION), max_size=4))},
        draw(_intervals),
        draw(_intervals),
        draw(_intervals),
        draw(_segments),
        draw(_segments),
        draw(st.booleans()),
    )


def at_cell(known: Evidence, cell: int) -> tuple[str, set[str]]:
    """The label of the time from cell to cell + 1, by asking one thing after the other."""

    def within(spans) -> bool:
        return any(span[0] <= cell < span[1] for span in spans)

    runs = [label for label in EXECUTION if within(known.executing.get(label, ()))]
    also = set(runs) | ({"input"} if within(known.input_work) else set())
    if runs:
        return runs[0], also - {runs[0]}
    by_slice = next((s.label for s in known.slices if s.from_ps <= cell < s.to_ps), None)
    by_stack = next((s.label for s in known.stacks if s.from_ps <= cell < s.to_ps), None)
    says = by_slice or by_stack
    if by_slice == "dispatch" and by_stack in {"compile", "input", "wait", "copy"}:
        says = by_stack
    if says in {None, "dispatch", "idle"} or (by_slice == "dispatch" and says == "copy"):
        if within(known.input_waits):
            says = "input"
        elif within(known.peer_waits):
            says = "communication"
    if says in {None, "idle"}:
        says = "idle" if known.accelerator else "unknown"
    return says, also - {says}


@settings(max_examples=200, deadline=None)
@given(known=evidence(), spans=st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)), max_size=4))
def test_the_sweep_agrees_with_its_twin(known, spans):
    steps = [(min(span), max(span)) for span in spans if span[0] != span[1]]
    totals = _core.StepSums(steps, len(LABELS))
    totals.add(sweep(steps, known))
    for (begin, end), sums in zip(steps, totals.finish(), strict=True):
        wanted = [0] * (2 * len(LABELS))
        for cell in range(begin, end):
            label, also = at_cell(known, cell)
            wanted[LABELS.index(label)] += 1
            for other in also:
                wanted[len(LABELS) + LABELS.index(other)] += 1
        assert sums == wanted
        assert sum(sums[: len(LABELS)]) == end - begin


_looks = st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN), st.integers(0, 2)), max_size=4)


@settings(max_examples=200, deadline=None)
@given(
    known=evidence(),
    spans=st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)), max_size=4),
    seen=_looks,
)
def test_parts_by_stack_agree_with_their_twin(known, spans, seen):
    """Cell by cell, counted to the step that began last; of those that began at once, to the first."""
    steps = [(min(span), max(span)) for span in spans if span[0] != span[1]]
    samples = [Sample(min(a, b), max(a, b), a, stack, ((None, 1.0),)) for a, b, stack in seen]
    looks = [Look(one.from_ps, one.to_ps, one.stack_id, None) for one in stacks.disjoint(samples)]
    found = ByStack(steps)
    pieces = pieces_of(sweep(steps, known))
    assert pieces_of(kept(pieces)) == pieces
    found.add(pieces, looks)
    wanted: dict[tuple, int] = defaultdict(int)
    for cell in range(SPAN):
        around = [n for n, (begin, end) in enumerate(steps) if begin <= cell < end]
        for look in looks:
            if around and look.from_ps <= cell < look.to_ps:
                step = max(around, key=lambda n: (steps[n][0], -n))
                wanted[step, look.stack_id, at_cell(known, cell)[0]] += 1
    assert dict(found.sums()) == wanted


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds())
def test_parts_add_up(tables):
    """To the picosecond, in any recording; a label is only there where something says so."""
    sums: dict[int, int] = defaultdict(int)
    seen = {row["name"] for row in tables.rows["slice"]} | {row["op_type"] for row in tables.rows["slice"]}
    for row in rows(tables).step_part:
        assert row["dur_ps"] >= 0
        assert row["hidden_ps"] >= 0
        sums[row["step_id"]] += row["dur_ps"]
        if row["label"] == "compile":
            assert any(name and "Compile" in name for name in seen)
        if row["label"] == "input" and row["dur_ps"]:
            assert any(name and "Iterator" in name for name in seen)
    for step_id, dur_ps in CONNECTION.execute("SELECT id, dur_ps FROM step").fetchall():
        assert sums[step_id] == dur_ps


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds(), seed=st.integers(0, 99))
def test_the_order_of_sources_changes_nothing(tables, seed):
    """Sources get other numbers, rows come in another order: the parts of each step stay."""

    def told(of: Tables) -> list[tuple]:
        steps = {row["id"]: (row["ts_ps"], row["dur_ps"], row["run_id"]) for row in of.rows["step_stored"]}
        return sorted(
            (steps[r["step_id"]], r["label"], r["dur_ps"], r["hidden_ps"]) for r in rows(of).step_part
        )

    before = told(tables)
    for table in tables.rows.values():
        for row in table:
            row["source_id"] = 9 - row["source_id"]
        random.Random(seed).shuffle(table)
    assert told(tables) == before


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds())
def test_reading_bit_by_bit_changes_nothing(tables):
    at_once = rows(tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stepscope.instruments.step_parts.evidence.at_once", lambda: 2)
        assert rows(tables) == at_once


def test_the_thread_that_drives():
    """The one that steps begin on; else the program's by name; else the one with most calls."""
    assert driver.choose([(1, "python", 0, 9), (2, "worker", 3, 1)]) == 2
    assert driver.choose([(1, "worker", 0, 90), (2, "python", 0, 9)]) == 2
    assert driver.choose([(1, "a", 0, 2), (2, "b", 0, 9)]) == 2
    assert driver.choose([(1, "a", 0, 0)]) is None


def test_samples_reach_to_the_next_at_most():
    samples = [
        Sample(5, 9, 7, 1, (("wait", 1.0),)),
        Sample(0, 6, 6, 2, (("python", 1.0),)),
        Sample(9, 10, 9, 3, (("wait", 1.0),)),
        Sample(12, 16, 12, 4, ((None, 0.5), ("python", 0.5))),
    ]
    found = stacks.disjoint(samples)
    assert [one[:4] for one in found] == [(0, 5, 4, 2), (5, 9, 7, 1), (9, 10, 9, 3), (12, 16, 12, 4)]
    looks = [look for one in found for look in stacks.looks(one, one.from_ps, one.to_ps)]
    assert stacks.segments(looks) == [
        Segment(0, 5, "python"),
        Segment(5, 10, "wait"),
        Segment(14, 16, "python"),
    ]


def test_no_samples_no_stacks():
    ask = asked(draw("cpu/a thread : [b]"))
    shifts = stacks.shifts(ask, [0])
    assert shifts == {}
    assert stacks.of_hosts(ask, shifts, {0: (0, 9)}) == {}
    assert stacks.loading(ask, shifts, {0: (0, 9)}) == {0: []}


def test_writing_ops_are_those_that_python_knows():
    """The list is in SQL, too."""
    listed = next(view for view in library.views() if view.name == "_evidence_label").sql
    found = re.search(r"IN \(([^()]*)\) THEN 'wait'", listed)
    assert found
    assert set(re.findall(r"'(\w+)'", found[1])) == set(labels.STORES)


def test_what_the_core_does_not_take():
    slices = pyarrow.table({"track_id": [1], "begin_ps": [0], "end_ps": [1], "rollup_id": [7]})
    with pytest.raises(ValueError, match="unknown kind"):
        driver.segments(slices, {1: (0, 1)}, {})
    sums = _core.StepSums([(0, 5)], len(LABELS))
    with pytest.raises(ValueError, match="higher number"):
        sums.add(_core.Pieces([(0, 5, len(LABELS), 0)]))
    assert sums.finish() == [[0] * 2 * len(LABELS)]
    with pytest.raises(ValueError, match="were taken"):
        sums.finish()


def test_slices_that_are_called_alike_and_are_not():
    """An op and a function of the same name: what else is known of them tells them apart."""
    tables = drawn("""
step       train  : [0...........................]
cpu/pool   thread :     [a:MatMul]  [b]
""", b="a:MatMul")  # fmt: skip
    assert parts(tables) == {0: {"compute": 10, "unknown": 20}}


_SEGMENTS = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from([None, "dispatch", "python", "wait", "input"])), max_size=9
)
_CALLS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=5)


@given(_SEGMENTS, _CALLS)
def test_calls_that_compile_do_so_from_begin_to_end_but_for_their_waits(lengths, gaps):
    """Held against the label of each unit of time."""
    at, found, doing = 0, [], {}
    for length, label in lengths:
        if label is not None:
            found.append(Segment(at, at + length, label))
            doing.update(dict.fromkeys(range(at, at + length), label))
        at += length
    at, calls = 0, []
    for gap, length in gaps:
        calls.append((at + gap, at + gap + length))
        at += gap + length
    for begin, end in calls:
        for unit in range(begin, end):
            if doing.get(unit) not in ("wait", "input"):
                doing[unit] = "compile"
    told = driver.compiling(found, calls)
    assert {unit: label for begin, end, label in told for unit in range(begin, end)} == doing
    assert all(a.to_ps <= b.from_ps for a, b in pairwise(told))


def test_a_call_that_jax_records_twice_is_one_launch():
    tables = drawn(
        """
cpu/python thread : [mul..........][mul...][add...]
cpu/python thread :  [mul........]         [mul..]
cpu/python thread :   [Execute]
""",
        mul="PjitFunction(mul)",
        add="PjitFunction(add)",
    )
    launches = statement("launch_count", run_id="r", host_id="h")
    assert asked(tables)(launches).rows() == [(4,)]
    assert asked(draw("cpu/python thread : [Execute]"))(launches).rows() == [(None,)]
