"""Steps are taken apart: every instant has one label, and no label comes without evidence.

Past 400 lines because it is a list: a kind of evidence, and the label that it gives."""

import json
from typing import Any

import pyarrow
import pytest

import stepscope
from stepscope import _core
from stepscope.capture import c_functions
from stepscope.instruments.step_breakdown import driver, labels, part_tables
from stepscope.instruments.step_breakdown.labels import LABELS, NUMBER
from stepscope.instruments.step_breakdown.stack_samples import SampleSpan
from stepscope.instruments.step_breakdown.stack_sums import StackSums
from stepscope.instruments.step_breakdown.sweep import NumberedSegments, Segment, StepPiece, kept
from stepscope.library.statements import statement
from tests.draw import UNIT_PS, args, draw
from tests.each import each
from tests.instruments.step_drawings import asked, drawn, parts, sample


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


@each(
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
        ("wait until the copy begins", "wait"),
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
    assert labels.slice_meaning(name, None, False, False).label == label


def test_calls_that_are_all_long_do_not_use_a_device_first():
    """Each of 77 launches takes 67 ms while counters are collected."""
    launch = "cudaLaunchKernel", "cuda_runtime", False
    kinds = driver.slice_meanings([(1, *launch, False), (2, *launch, True)])
    dispatch, setup = (labels.NUMBER[label] for label in ("dispatch", "setup"))
    assert kinds[1][:2] == ((dispatch, False), (setup, False))
    assert kinds[2][:2] == ((dispatch, False), (dispatch, False))


@each(
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
        ("tensorflow_core/python/framework/op_def_library.py", "_apply_op_helper", "library", "compile"),
        ("tensorflow_core/python/ops/gradients_util.py", "_GradientsHelper", "library", "compile"),
        ("tensorflow_core/python/framework/graph_io.py", "write_graph", "library", "wait"),
        ("triton/compiler/compiler.py", "compile", "library", "compile"),
        ("triton/backends/nvidia/compiler.py", "make_ttir", "library", "compile"),
        ("triton/backends/amd/compiler.py", "get_arg_specialization", "library", "dispatch"),
        ("triton/compiler/compiler.py", "launch_metadata", "library", "dispatch"),
        ("torch/_functorch/_aot_autograd/codegen.py:codegen(f)", "_compiled_forward", "library", "dispatch"),
        ("torch/_functorch/_aot_autograd/graph_compile.py", "aot_stage2_compile", "library", "compile"),
        ("torch/_inductor/runtime/autotune_cache.py", "Bundler.has_active_compile", "library", "dispatch"),
        ("torchinductor_me/vl/cvlo.py", "Runner.call", "library", "dispatch"),
        ("transformers/image_transforms.py", "normalize", "library", "python"),
        ("transformers/models/vivit/image_processing_vivit.py", "preprocess", "library", "python"),
        ("transformers/pipelines/base.py", "run_single", "library", "dispatch"),
        ("transformers/pipelines/video_classification.py", "preprocess", "library", "python"),
        ("transformers/pipelines/video_classification.py", "_forward", "library", "dispatch"),
        ("transformers/generation/utils.py", "generate", "library", "dispatch"),
        ("jax/_src/array.py", "__array__", "library", "copy"),
        ("jax/_src/lib/__init__.py", "_xla_gc_callback", "library", None),
    ],
)
def test_frames_of_python(file, function, code, label):
    assert labels.frame_meaning(file, function, code).label == label


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


def test_collecting_garbage_is_python_in_whatever_call_it_begins():
    """A call that launches holds 3 units of a collection, and 2 of another that began before an op did."""
    tables = drawn(
        """
step       train  : [0..................]
cpu/python thread : [launch.............]
cpu/pool   thread :           [a:MatMul]
""",
        launch="FunctionRun",
    )
    first_ps = min(row["ts_ps"] for row in tables.rows["slice"])
    for at, took in ((2, 3), (8, 4)):
        facts = {"name": "garbage collection", "series": "generation 2"}
        tables.add("counter", **facts, ts_ps=first_ps + at * UNIT_PS, value=took * UNIT_PS / 1000)
    assert parts(tables) == {0: {"python": 3 + 2, "compute": 10, "dispatch": 6}}


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
    session = ("tensorflow/python/client/session.py", "_run", "library")
    sample(tables, 1, 22, session, (c_functions.FILE, "array", "python"))
    assert parts(tables) == {0: {"copy": 9, "input": 12}}


@pytest.mark.parametrize(
    "called", ["_run", "_do_run", "_run_fn", "_call_tf_sessionrun", "BaseSession._do_run"]
)
def test_a_session_that_is_fed_nothing_copies_nothing(called):
    """`run(train_op)` neither feeds nor fetches an array; a stack that ends in the call that runs the graph
    is not a sign of a copy, nor is one that ends in Python's share of the call."""
    tables = drawn("""
step       train  : [0..................]
cpu/python thread : [SessionRun.........]
cpu/pool   thread :     [a:MatMul]
""")
    session = "tensorflow/python/client/session.py"
    sample(tables, 1, 22, (session, "run", "library"), (session, called, "library"))
    assert parts(tables) == {0: {"compute": 10, "dispatch": 11}}


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


@pytest.mark.parametrize(("dots", "label"), [(40, "compute"), (80, "copy")])
def test_a_program_of_xla_that_does_little_but_copy_copies_where_no_slice_tells(dots: int, label: str):
    """Copies run in pieces, too: with 80 dots, more than nine tenths of the time of slices are a copy."""
    ops = f"[b:copy{'.' * dots}]                [a:add]"
    tables = drawn(
        f"""
step       train  : [0{"." * len(ops)}]
cpu/python thread : [call{"." * len(ops)}]
cpu/pool   thread : {ops}
cpu/pool   other  : [wait{"." * len(ops)}]
""",
        call="PjitFunction(train)",
        wait="ThunkExecutor::Execute (wait for completion)",
    )
    for row in tables.rows["slice"]:
        if "Pjit" not in row["name"]:
            row["args_json"] = args(run_id=1)
    found = parts(tables)[0]
    assert max(found, key=lambda name: found[name]) == label


@pytest.mark.parametrize(("mark", "label"), [("gloo:all_reduce", "communication"), ("other", "dispatch")])
def test_who_waits_while_gloo_exchanges_waits_for_other_processes(mark: str, label: str):
    """PyTorch's collectives on processors run on threads of their own; the backward pass waits for them."""
    tables = drawn(
        """
step       train  : [0...........................................]
cpu/python thread : [call........................................]
cpu/python other  :      [exchange.............................]
cpu/python third  : [a:MatMul]
""",
        call="FunctionRun",
        exchange=mark,
    )
    assert parts(tables)[0][label] >= 34


def _listed(found: dict[int, NumberedSegments]) -> dict[int, list[Segment]]:
    return {track: list(segments) for track, segments in found.items()}


def test_a_program_of_xla_computes_nothing_while_it_calls_python():
    tables = drawn(
        """
step       train  : [0...........................................]
cpu/python thread : [call.......................................]
cpu/python thread :    [program...................................]
cpu/python thread :      [a:pure_callback]   [b:pure_callback..]
""",
        call="PjitFunction(train)",
        program="ThunkExecutor::Execute",
    )
    assert parts(tables) == {0: {"compute": 7, "dispatch": 3, "python": 36}}


def test_converting_is_copying_when_it_takes_long():
    """A constant of a few numbers belongs to the launch of its op."""
    kinds = driver.slice_meanings(
        [(1, "TFE_Py_Execute", None, False, False), (2, "tf.constant", None, False, True)]
    )
    slices = pyarrow.table(
        {
            "begin_ps": [0, 0, labels.LONG_PS],
            "end_ps": [9 * labels.LONG_PS, labels.LONG_PS - 1, 3 * labels.LONG_PS],
            "rollup_id": [1, 2, 2],
            "track_id": [5, 5, 5],
        }
    )
    everything = (0, 9 * labels.LONG_PS)
    assert _listed(driver.segments(slices, {5: everything}, kinds)) == {
        5: [
            Segment(0, labels.LONG_PS, "dispatch"),
            Segment(labels.LONG_PS, 3 * labels.LONG_PS, "copy"),
            Segment(3 * labels.LONG_PS, 9 * labels.LONG_PS, "dispatch"),
        ]
    }


def test_threads_that_are_read_together_are_told_apart():
    """Each has the slices of its own stretch of time; one of them may have none."""
    kinds = driver.slice_meanings(
        [(1, "TFE_Py_Execute", None, False, False), (2, "$time sleep", None, False, True)]
    )
    slices = pyarrow.table(
        {
            "track_id": [5, 5, 6, 6, 8],
            "begin_ps": [0, 100, 0, 100, 0],
            "end_ps": [50, 200, 50, 200, 50],
            "rollup_id": [1, 1, 2, 2, 3],
        }
    )
    assert _listed(driver.segments(slices, {5: (0, 60), 6: (60, 300), 7: (0, 300)}, kinds)) == {
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


def test_the_thread_that_drives():
    """The one that steps begin on; else the program's by name; else the one with most calls."""

    def chosen(*threads: tuple[Any, ...]) -> int | None:
        return driver.choose(driver.DrivingCandidate(*thread) for thread in threads)

    assert chosen((1, "python", 0, 9), (2, "worker", 3, 1)) == 2
    assert chosen((1, "worker", 0, 90), (2, "python", 0, 9)) == 2
    assert chosen((1, "a", 0, 2), (2, "b", 0, 9)) == 2
    assert chosen((1, "a", 0, 0)) is None
    # The thread of an engine has the name of the program's, and often more calls.
    assert chosen((1, "python", 0, 90, True), (2, "python", 0, 9)) == 2
    assert chosen((1, "python", 0, 90, True)) == 1


def test_an_engine_that_is_called_for_gradients_drives_nothing(tmp_path):
    """It has more calls than the thread of the program, whose launching is then not seen."""
    program, engine = {"pid": 9, "tid": 1}, {"pid": 9, "tid": 2}
    events = [{"name": "aten::conv2d", "cat": "cpu_op", "ts": 0, "dur": 30, **program}]
    for number in range(4):
        node = {"ts": 40 + 4 * number, "dur": 3, **engine}
        events += [
            {"name": "autograd::engine::evaluate_function: MulBackward0", "cat": "cpu_op", **node},
            {"name": "aten::mul", "cat": "cpu_op", **node},
        ]
    events.append(
        {"name": "k", "cat": "kernel", "ts": 56, "dur": 4, "pid": 0, "tid": 7, "args": {"device": 0}}
    )
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"traceEvents": [{"ph": "X", "args": {}, **event} for event in events]}))
    with stepscope.open(path) as trace:
        found = dict(trace.query("SELECT label, dur_ps FROM step_part").rows())
    assert found["dispatch"] == 30_000_000


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


def test_several_devices_count_by_their_mean():
    """Two devices compute for 6 and for 2 of 10; one that hardly takes part in a step is no part of it."""
    number = len(LABELS)

    def own(compute: int) -> list[int]:
        sums = [0] * (2 * number)
        sums[NUMBER["compute"]], sums[NUMBER["idle"]] = compute, 10 - compute
        return sums

    (mean,) = part_tables.means_of_devices([[own(6)], [own(2)], [own(0)]])
    assert (mean[NUMBER["compute"]], mean[NUMBER["idle"]]) == (4, 6)
    odd = part_tables.means_of_devices([[own(6), own(3)], [own(6), own(2)]])
    assert [sum(step[:number]) for step in odd] == [10, 10]


def test_stacks_have_of_several_devices_what_their_mean_has():
    """As the parts of the steps: what the first device leaves idle is not hidden by what the second does."""
    spans = [(0, 10)]
    look = SampleSpan(0, 10, 7, None)
    sums, stacks = [], []
    for busy in (6, 2, 0):
        pieces = [StepPiece(0, busy, "compute", ()), StepPiece(busy, 10, "idle", ())]
        whole, by_stack = _core.StepSums(spans, len(LABELS)), StackSums(spans)
        whole.add(kept(pieces))
        by_stack.add(pieces, [look])
        sums.append(whole.finish())
        stacks.append(by_stack)
    (mean,) = part_tables.means_of_devices(sums)
    found = dict(part_tables.means_of_stacks(stacks, sums))
    assert found == {(0, 7, "compute"): 4, (0, 7, "idle"): 6}
    assert all(mean[NUMBER[label]] == ps for (_, _, label), ps in found.items())
    assert dict(part_tables.means_of_stacks(stacks[:1], sums[:1])) == dict(stacks[0].sums())
