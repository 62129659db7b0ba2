"""Recordings that cannot be drawn: files without time, several hosts, damage, stacks, compilations,
pipelines.

Past 400 lines because it is a list: a recording for each sentence. Those of laws, programs and ranks lie
beside it."""

import json
from collections.abc import Callable, Iterator

from tests.draw import UNIT_PS, Row, Tables, draw
from tests.report import made_laws, made_paces, made_programs, made_ranks, made_tables

MS = 10**9
STEPS = "step train : [train.....][train.....][train.....]\n"
"""Three steps of 12 µs."""
PYTHON = "cpu/python thread : [train.....][train.....][train.....]\n"
INPUT = STEPS + PYTHON + "cpu/python thread :  [IteratorGetNextOp::DoCompute......]"


def nothing_recorded() -> Tables:
    tables = Tables()
    tables.source()
    return tables


def an_event_file_of_scalars() -> Tables:
    tables = nothing_recorded()
    said = "361 records and in none of them run metadata or a graph: 1 file_version, 360 summary scalars"
    tables.add("source_note", slug="no-trace-in-events", effect="info", events=361, detail=said)
    return tables


def a_pipeline_beside_the_program() -> Tables:
    """A function of the pipeline runs on the thread on which the program's ops run."""
    tables = draw(
        """
step           train  : [0.........................................]
cpu/tf_data_a  thread : [InstantiatedCapturedFunction::Run]
cpu/tf_data_a  thread :  [a:DecodeJpeg]
cpu/pool       thread : [ExecutorState::Process][ExecutorState::Process]
cpu/pool       thread : [a:Mat.................][a:Mat.][b:Exp........]
"""
    )
    calls = [row for row in tables.rows["slice"] if "::" in row["name"]]
    for number, row in zip((7, 7, 8), calls, strict=True):
        row["args_json"] = json.dumps({"id": number})
    return tables


def a_graph() -> Tables:
    tables = Tables()
    tables.source(format="graph", producer="unknown", events_seen=7, events_stored=7)
    return tables


def graphs_beside_a_recording() -> Tables:
    tables = draw("cpu/t thread : [a:Add]")
    for number in (1, 2):
        tables.source(number, format="graph", producer="unknown", events_seen=7, events_stored=7)
    return tables


def _tensor(tables: Tables, source_id: int, name: str, role: str, elements: int) -> None:
    facts = {"dtype": "float32", "elements": elements, "bytes": 4 * elements, "slices": 1}
    tables.add("checkpoint_tensor", source_id=source_id, name=name, role=role, **facts)


def a_checkpoint() -> Tables:
    tables = Tables()
    facts = {"path": "a/model-7.index", "format": "checkpoint", "producer": "unknown"}
    tables.source(events_seen=5, events_stored=5, **facts)
    kept = (("w", "weight", 100), ("w/Adam/m", "slot", 100), ("step", "optimizer", 2), ("all/0", "copy", 100))
    for name, role, elements in (*kept, ("bn/moving_mean", "statistic", 8)):
        _tensor(tables, 0, name, role, elements)
    return tables


def checkpoints_and_a_graph() -> Tables:
    tables = a_graph()
    tables.add("node", graph="graph", name="a", op_type="Add", args_json='{"_XlaCluster": "cluster_0"}')
    for number in range(1, 6):
        facts = {"path": f"a/model-{number}.index", "format": "checkpoint", "producer": "unknown"}
        tables.source(number, events_seen=1, events_stored=1, **facts)
        _tensor(tables, number, "w", "weight", 1)
    return tables


def a_dump() -> Tables:
    tables = Tables()
    tables.source(
        format="xla_dump", producer="xla", path="dump", events_seen=3, events_stored=2, events_lost=1
    )
    for number, flops in enumerate((7.0, 78_000.0)):
        figures = {"run_flops": flops, "flops": flops, "run_bytes": 64.0, "allocated_bytes": 4096}
        split = {"temp_bytes": 1024, "partitions": 4, "passes": 4, "changing_passes": 3}
        made_programs.module(tables, number, instructions=9, **figures, **split)
    for number, instructions in enumerate((12, 9)):
        tables.add(
            "hlo_pass", module="jit_f0", pass_number=number, pass_name="dce", instructions=instructions
        )
    made_programs.module(tables, 2, problem="the text ends too early")
    return tables


def a_dump_and_its_recording() -> Tables:
    tables = a_dump()
    tables.source(1, events_seen=3, events_stored=3)
    made_programs.module(tables, 0, source_id=1, stages=0, instructions=9)
    return tables


def _host(tables: Tables, host: str, dur_ps: int, steps: int = 3, **facts: str) -> None:
    """A host with steps of one length."""
    source_id = len(tables.rows["source"])
    tables.source(source_id, host_id=host, events_seen=steps, events_stored=steps)
    told = {"kind": "train", "recovered_from": "marker", "averaged": True, **facts}
    for i in range(steps):
        span = {"ts_ps": i * 2 * dur_ps, "dur_ps": dur_ps}
        tables.add("step_stored", source_id=source_id, host_id=host, step=i, **told, **span)


def _slow_host() -> Tables:
    tables = Tables()
    _host(tables, "a", 10 * UNIT_PS)
    _host(tables, "b", 15 * UNIT_PS)
    return tables


def two_hosts_alike() -> Tables:
    tables = draw(INPUT)
    for table in ("source", "capture", "device", "track", "slice", "step_stored"):
        for row in list(tables.rows[table]):
            own = {key: value for key, value in row.items() if key != "id"}
            for key in ("source_id", "capture_id"):
                own |= {key: 1} if key in own else {}
            for key, of in (("device_id", "device"), ("track_id", "track")):
                if own.get(key) is not None:
                    own[key] += len(tables.rows[of]) // (2 if table != of else 1)
            tables.add(table, **{**own, "host_id": "w1"})
    for row in (row for rows in tables.rows.values() for row in rows):
        row |= {"host_id": "unknown"} if row.get("host_id") == "h" else {}
    return tables


def two_hosts_unlike() -> Tables:
    tables = draw(INPUT)
    _host(tables, "b", 20 * UNIT_PS)
    return tables


def different_programs_in_a_folder() -> Tables:
    tables = two_hosts_unlike()
    tables.rows["source"][1] |= {"producer": "kineto", "framework": "pytorch"}
    tables.rows["capture"][1]["producer"] = "kineto"
    return tables


def runs_of_several_hosts() -> Tables:
    """Two runs, each with steps, ops and a device of its own."""
    tables = _slow_host()
    devices = "gpu/s1 device_stream : [a:MatMul]\ngpu/s2 device_stream : [a:MatMul]"
    tables.add_run("other", draw(STEPS + PYTHON + devices))
    return tables


def many_groups_of_steps() -> Tables:
    """Eight ways in which steps were found, on a host each, and one more: more than get a sentence."""
    tables = Tables()
    ways = ("profiler_step", "optimizer_step", "session_run", "function_run", "function_call", "get_next",
            "recorder", "marker")  # fmt: skip
    for number, way in enumerate((*ways, "marker")):
        _host(tables, f"h{number}", (10 - number) * UNIT_PS, recovered_from=way, kind="unknown")
    return tables


def a_file_for_each_step() -> Tables:
    tables = Tables()
    _host(tables, "h", 10 * UNIT_PS, recovered_from="file")
    return tables


def runs_apart(between_us: int = 5, runs: int = 3) -> Tables:
    """Runs of a session of 10 µs, each a recording of its own, so far apart."""
    tables = Tables()
    for number in range(runs):
        tables.source(number, format="run_metadata", producer="step_stats", of_session=True)
        began = 1_700_000_000 * 10**9 + number * (10 + between_us) * 1000
        tables.add("capture", source_id=number, clock="unix", origin_unix_ns=began)
        facts = {"kind": "unknown", "recovered_from": "file", "averaged": True, "reason": ""}
        facts["name"] = f"step {number}"
        tables.add("step_stored", source_id=number, step=number, ts_ps=0, dur_ps=10 * UNIT_PS, **facts)
    return tables


def runs_of_two_kinds(order: str = "ABABAB") -> Tables:
    """Runs of a session that update other variables: those of A take 10 µs, those of B 25."""
    tables = runs_apart(runs=len(order))
    for row, kind in zip(tables.rows["step_stored"], order, strict=True):
        row["work"] = f"updates with Adam_{kind}/update_w/ApplyAdam ({kind})"
        row["dur_ps"] = (10 if kind == "A" else 25) * UNIT_PS
        source = row["source_id"]
        device = tables.add("device", source_id=source, name="cpu", kind="cpu")["id"]
        facts = {"kind": "thread", "records": "execution", "device_id": device}
        track = tables.add("track", source_id=source, name="t", process="cpu", **facts)["id"]
        op = {"name": "MatMul", "op_name": "m", "op_type": "MatMul", "track_id": track}
        tables.slices(source, [{**op, "ts_ps": 0, "dur_ps": row["dur_ps"]}])
    tables.assign_steps()
    return tables


def runs_of_two_kinds_in_no_order() -> Tables:
    return runs_of_two_kinds("AABABB")


def runs_of_two_kinds_in_turns_of_three() -> Tables:
    return runs_of_two_kinds("AABAABAAB")


def rounds_of_an_estimator(kind: str = "eval", rounds: int = 3) -> Tables:
    """Steps of 10 µs, and after each, an Estimator does something else for 30 µs."""
    tables = Tables()
    tables.source(format="capture", producer="stepscope")
    for number in range(rounds):
        facts = {"source_id": 0, "step": number, "name": "step", "reason": ""}
        step = {"kind": "train", "recovered_from": "recorder", "averaged": True}
        beside = {"kind": kind, "recovered_from": "estimator", "averaged": False}
        ts_ps = number * 40 * UNIT_PS
        tables.add("step_stored", **facts, **step, ts_ps=ts_ps, dur_ps=10 * UNIT_PS)
        tables.add("step_stored", **facts, **beside, ts_ps=ts_ps + 10 * UNIT_PS, dur_ps=30 * UNIT_PS)
    return tables


def runs_apart_of_a_recorder() -> Tables:
    """The program ended while its runs were traced in full."""
    tables = runs_apart()
    tables.source(format="capture", producer="stepscope")
    return tables


def tensors_of_other_processes(tensor: str | None = None, sent: int = 0) -> Tables:
    """Steps that take a tensor of so many bytes from other processes, while nothing computes."""
    tables = draw(STEPS + "cpu/t lane : [a:MatMul][RecvTensor..]")
    for row in tables.rows["slice"]:
        if tensor is not None and row["name"] == "RecvTensor":
            row["args_json"] = json.dumps({"bytes": sent, "tensor": tensor})
    return tables


def a_cluster_that_compiles_again() -> Tables:
    """Steps of which two compile the same cluster of TensorFlow; in the others the op finds a program."""
    steps = "step train : [s0]    [s2]    \nstep ~compile :     [s1]    [s3]\n"
    tables = draw(f"{steps}cpu/t lane : {'[c/xla_compile:_XlaCompile]' * 4}")
    for number, row in enumerate(tables.rows["slice"]):
        row["dur_ps"] = row["self_ps"] = (MS, 46 * MS)[number % 2]
    return tables


def a_table_that_is_updated_whole() -> Tables:
    """A sparse gradient adds few rows, and the optimizer works on the whole variable."""
    adding, whole = "[Adam/update_e/ScatterAdd:ScatterAdd]", f"[Adam/update_e/Sqrt_1:Sqrt{'.' * 400}]"
    return draw(f"{STEPS}cpu/t thread : {adding}{whole}[b:Add]")


def a_cluster_of_many_shapes(*lengths: int) -> Tables:
    """Recorded runs of a cluster that are fed so many rows each."""
    tables = draw(f"{STEPS}cpu/t thread : [cluster:XlaLaunch........][b:Add]")
    for length in lengths or (500, 510, 520):
        tables.add("tensor", op_run_id=0, op_name="_arg_x_0_0", dtype="DT_FLOAT", shape=f"[{length},64]")
    return tables


def batches_of_padding(alike: int = 888) -> Tables:
    """Four batches of 256 columns, of which so many in all hold nothing but zeros."""
    tables = draw(f"{STEPS}cpu/pool thread : [a:MatMul........................]")
    known = f'{{"batch_size": 16, "padded_columns": {alike}, "columns": 1024, "looked_at": 4}}'
    made = {"file": "train.py", "line": 19, "function": "Trainer.__init__"}
    tables.add("user_stage", iterator=0, transformation="DataLoader", args_json=known, **made)
    return tables


def rows_of_wild_lengths() -> Tables:
    """One batch of tf.data, padded to the longest of its rows."""
    tables = draw(f"{STEPS}cpu/pool thread : [a:MatMul........................]")
    known = '{"padded_columns": 0, "columns": 600, "padded_cells": 17600, "cells": 19200, "looked_at": 1}'
    made = {"file": "train.py", "line": 19, "function": "main"}
    tables.add("user_stage", iterator=0, transformation="padded_batch", args_json=known, **made)
    return tables


def damage_and_caps() -> Tables:
    tables = draw(STEPS + PYTHON)
    tables.rows["source"][0] |= {"events_seen": 100, "events_stored": 97, "events_lost": 3, "complete": False}
    tables.rows["source"][0]["events_repaired"] = 2
    tables.source(1, complete=False, error="not a trace")
    tables.source(2, complete=False, events_capped=4)
    tables.add("source_note", slug="truncated", effect="lost", events=3, detail="the file ends early")
    return tables


def switches_on(names: str = "jax_debug_nans", number: int = 1) -> Tables:
    """Steps of a program with switches for debugging."""
    tables = draw(STEPS + PYTHON)
    tables.add("source_note", slug="debugging-switches", effect="info", events=number, detail=names)
    return tables


def one_event_lost() -> Tables:
    tables = draw(STEPS + PYTHON)
    tables.rows["source"][0] |= {"events_seen": 100, "events_stored": 99, "events_lost": 1, "complete": False}
    tables.source(1, complete=False, events_capped=1)
    return tables


Frame = tuple[str, str, int, str, str]
"""Function, file, line, module, and whose code it is."""


TOKEN_F1: Frame = ("token_f1", "train.py", 31, "__main__", "program")
MAIN: Frame = ("main", "train.py", 40, "__main__", "program")
_SAVE = "tensorflow/python/checkpoint/checkpoint.py"


def stacks(*frames: Frame) -> Tables:
    """Two steps of 10 ms in which the main thread always has the same stack, the outermost frame first."""
    tables = Tables()
    tables.source(events_seen=20, events_stored=20)
    for i in range(2):
        facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
        tables.add("step_stored", step=i, ts_ps=i * 10 * MS, dur_ps=10 * MS, **facts)
    parent = place = None
    for function, file, line, module, code in frames or (TOKEN_F1,):
        of = {"function": function, "file": file, "line": line, "module": module, "code": code}
        frame = tables.add("frame", **of)["id"]
        place = frame if code == "program" else place
        parent = tables.add("stack", parent_id=parent, frame_id=frame, place_id=place)["id"]
    for i in range(20):
        facts = {"ts_ps": i * MS, "weight_ps": MS, "cpu_ps": MS, "thread_name": "MainThread", "is_main": True}
        tables.add("stack_sample", stack_id=parent, **facts)
    return tables


def _add_stacks(tables: Tables, *frames: Frame) -> list[Row]:
    """Adds the frames and stacks of `stacks`; its samples, which are not added."""
    sampled = stacks(*frames)
    for table in ("frame", "stack"):
        tables.rows[table] = sampled.rows[table]
    return sampled.rows["stack_sample"]


def a_line_of_the_loop_that_calls() -> Tables:
    """All time goes to one function, and the recorder saw the loop of steps that calls it."""
    tables = stacks(MAIN, TOKEN_F1)
    tables.rows["frame"][0]["has_loop"] = True
    return tables


def storing_in_the_loop() -> Tables:
    module = "tensorflow.python.checkpoint.checkpoint"
    return stacks(MAIN, ("Checkpoint.save", _SAVE, 9, module, "library"))


def summaries_in_the_loop() -> Tables:
    folder = "tensorboard/summary/writer/event_file_writer"
    return stacks(MAIN, ("EventFileWriter.flush", f"{folder}.py", 9, "tensorboard.summary.writer", "library"))


def a_model_loaded_in_the_loop() -> Tables:
    load = ("load", "torch/serialization.py", 1400, "torch.serialization", "library")
    return stacks(MAIN, TOKEN_F1, load)


_HOOKS = "keras/src/callbacks/callback_list.py"
ON_BATCH_END: Frame = ("CallbackList.on_train_batch_end", _HOOKS, 171, "keras.src.callbacks", "library")


def a_callback_that_evaluates() -> Tables:
    """What it calls is launching: an evaluation runs ops of its own."""
    best = ("Best.on_train_batch_end", "callbacks.py", 14, "callbacks", "program")
    module = "tensorflow.python.eager.execute"
    execute = ("quick_execute", "tensorflow/python/eager/execute.py", 53, module, "library")
    return stacks(MAIN, ON_BATCH_END, best, execute)


_LOADER = "torch/utils/data/dataloader"
NEXT: Frame = ("_BaseDataLoaderIter.__next__", f"{_LOADER}.py", 725, "torch.utils.data.dataloader", "library")
_AUTOGRAD = "torch.autograd.graph"
BACKWARD: Frame = ("_engine_run_backward", "torch/autograd/graph.py", 9, _AUTOGRAD, "library")
GET: Frame = ("Queue.get", "multiprocessing/queues.py", 122, "multiprocessing.queues", "python")


def unpickling_batches() -> Tables:
    return stacks(MAIN, NEXT, GET)


def starting_workers() -> Tables:
    starts = ("DataLoader._get_iterator", f"{_LOADER}.py", 438, "torch.utils.data.dataloader", "library")
    return stacks(MAIN, starts, ("Popen._launch", "multiprocessing/popen_fork.py", 66, "popen", "python"))


def waiting_for_a_lock(holders: int = 20) -> Tables:
    """Beside all 20 samples, or some, another thread of the program signs what is kept under the lock."""
    return _beside(stacks(MAIN, ("__enter__", "<built-in>", 0, None, "python")), holders)


def launching_beside_python(holders: int = 20) -> Tables:
    """The main thread launches; beside all 20 samples, or some, another thread of the program signs."""
    module = "tensorflow.python.eager.execute"
    return _beside(
        stacks(MAIN, ("quick_execute", "tensorflow/python/eager/execute.py", 53, module, "library")), holders
    )


def _beside(tables: Tables, samples: int) -> Tables:
    """The same with another thread of the program that runs in so many samples."""
    facts = {
        "function": "Ledger.sign",
        "file": "ledger.py",
        "line": 30,
        "module": "ledger",
        "code": "program",
    }
    frame = tables.add("frame", **facts)["id"]
    stack = tables.add("stack", frame_id=frame, place_id=frame)["id"]
    for i in range(samples):
        times = {"ts_ps": i * MS, "weight_ps": MS, "cpu_ps": MS}
        tables.add("stack_sample", stack_id=stack, thread_name="signer", is_main=False, **times)
    return tables


def waiting_for_the_device() -> Tables:
    tables = stacks(MAIN, ("block_until_ready", "jax/_src/api.py", 9, "jax._src.api", "library"))
    tables.add("device", name="gpu", kind="gpu")
    return tables


def copying_in_the_loop() -> Tables:
    return stacks(MAIN, ("device_put", "jax/_src/api.py", 9, "jax._src.api", "library"))


def waiting_in_the_loop() -> Tables:
    return stacks(MAIN, ("Event.wait", "threading.py", 9, "threading", "python"))


def waiting_for_an_op_that_prints() -> Tables:
    """The main thread waits in its loop, and an op writes tensors to the terminal."""
    tables = waiting_in_the_loop()
    track = tables.add("track", kind="lane", name="ops")["id"]
    op = {"name": "Print", "op_name": "dense/Print", "op_type": "Print"}
    tables.add("slice", track_id=track, ts_ps=MS, dur_ps=MS, self_ps=MS, parent_id=None, **op)
    return tables


def printing_in_the_graph() -> Tables:
    """An op writes tensors to the terminal; nothing else waits."""
    tables = draw(f"{STEPS}cpu/t thread : [dense/Print:Print...................][a:MatMul]")
    place = {"file": "model.py", "line": 15, "function": "rater"}
    tables.add("op_line", op_name="dense/Print", told_by="tfprof_log", **place)
    return tables


def many_launches() -> Tables:
    """A step in which Python launches 24 ops, none of which is recorded itself."""
    return draw(f"step train : [train{'.' * 92}]\ncpu/python thread : " + "[EagerExecute]" * 24)


def launching_beside_computing() -> Tables:
    """A step that computes for slightly longer than it launches."""
    return draw(
        f"step train : [train{'.' * 92}]\ncpu/python thread : {'[EagerExecute]' * 3}\n"
        f"cpu/pool thread : {' ' * 42}[a:MatMul{'.' * 36}]"
    )


def launching_beside_ops_of_many_types() -> Tables:
    """The same with four types of op, of which none has most of the time."""
    ops = "".join(f"[{op.lower()}:{op}..]" for op in ("Add", "Mul", "Sub", "Div"))
    return draw(
        f"step train : [train{'.' * 92}]\ncpu/python thread : {'[EagerExecute]' * 3}\n"
        f"cpu/pool thread : {' ' * 43}{ops}"
    )


def ops_of_many_types_beside_the_input() -> Tables:
    """A step in which nothing stands out, and a batch is waited for in a fifth of it."""
    ops = "".join(f"[{op.lower()}:{op}{'.' * 9}]" for op in ("Add", "Mul", "Sub", "Div"))
    return draw(
        f"step train : [train{'.' * 92}]\ncpu/python thread : [IteratorGetNext....]\n"
        f"cpu/pool thread : {' ' * 23}{ops}"
    )


def one_type_of_op(types: int = 1) -> Tables:
    return draw(STEPS + "cpu/pool thread : [a:MatMul.................]" + "[b:MatMul]" * (types - 1))


def one_layer() -> Tables:
    """Several types of op, most of them of one layer."""
    return draw(STEPS + "cpu/pool thread : [wide/a:Mul....][wide/b:Add..][wide/c:Exp...][top/d:Tanh]")


def runs_of_a_session() -> Tables:
    """A step in which Python runs a session 24 times, with nothing to do."""
    train = f"[train{'.' * 281}]"
    thread = "cpu/python thread"
    return draw(f"step train : {train}\n{thread} : {train}\n{thread} : " + "[SessionRun]" * 24)


def one_run_of_a_session() -> Tables:
    """A step in which Python runs a session once, in which nothing computes."""
    return draw(f"step train : [train{'.' * 20}]\ncpu/python thread : [SessionRun{'.' * 14}]")


def a_run_of_a_session_that_is_fed() -> Tables:
    """The same of a recorder that counted what is fed and fetched."""
    tables = one_run_of_a_session()
    for series, value in (("fed", 100 << 20), ("fetched", 2 << 20)):
        tables.add("counter", name="bytes of a session in a step", series=series, value=value)
    return tables


def a_run_of_a_session_that_takes_a_batch() -> Tables:
    """The same in which the run takes a batch, and hardly waits for it."""
    batch = "cpu/pool thread :  [IteratorGetNextOp::DoCompute]"
    return draw(f"step train : [train{'.' * 600}]\ncpu/python thread : [SessionRun{'.' * 590}]\n{batch}")


def an_op_on_the_host() -> Tables:
    """A step of 282 µs in which an op of PyTorch computes on the host for 230, and a kernel runs for 40."""
    step = f"[s0{'.' * 278}]"
    launch = f"{' ' * 232}[aten::mm]"
    tables = draw(
        f"step train : {step}\ncpu/python thread : [aten::normal_{'.' * 216}]\ncpu/python thread : {launch}\n"
        f"gpu/stream:1 device_stream : {' ' * 236}[sgemm{'.' * 33}]"
    )
    rows = {row["name"].rstrip("."): row for row in tables.rows["slice"]}
    host = {"category": "cpu_op", "op_name": None}
    rows["aten::normal_"].update(host, op_type="aten::normal_")
    rows["aten::mm"].update(host, op_type="aten::mm")
    rows["sgemm"].update(category="kernel", op_type="sgemm", op_name=None, correlation_id=1)
    around = {"track_id": rows["aten::mm"]["track_id"], "parent_id": rows["aten::mm"]["id"]}
    at = {"ts_ps": rows["aten::mm"]["ts_ps"] + UNIT_PS, "dur_ps": UNIT_PS}
    tables.add("slice", name="cudaLaunchKernel", category="cuda_runtime", correlation_id=1, **around, **at)
    return tables


def one_launch_in_a_gap() -> Tables:
    """An accelerator that has nothing to do while one op is launched for long."""
    launch = "gpu/compute lane! : [a:Conv2D.............]\n"
    return draw(f"{STEPS}{launch}gpu/stream:1 device_stream : {' ' * 24}[b:MatMul.]")


def launches_in_a_gap() -> Tables:
    """The same while many are."""
    launches = "gpu/compute lane! : [a:Mul..][b:Add..][c:Exp..]\n"
    return draw(f"{STEPS}{launches}gpu/stream:1 device_stream : {' ' * 24}[d:MatMul.]")


def calls_in_a_gap() -> Tables:
    """The same while the host is in calls of a runtime, which its tracer draws by their own names."""
    tables = launches_in_a_gap()
    for row in tables.rows["slice"]:
        if row.get("op_name") in ("a", "b", "c"):
            row.update(op_name=None)
    return tables


def waiting_for_what_is_not_recorded() -> Tables:
    """Samples tell the line, and nothing executes meanwhile."""
    return stacks(MAIN, ("block_until_ready", "jax/_src/api.py", 9, "jax._src.api", "library"))


def launching_without_a_core() -> Tables:
    module = "tensorflow.python.eager.execute"
    tables = busy_machine(5.0)
    sampled = stacks(MAIN, ("quick_execute", "tensorflow/python/eager/execute.py", 53, module, "library"))
    for table in ("frame", "stack", "stack_sample"):
        tables.rows[table] = sampled.rows[table]
    for row in tables.rows["stack_sample"]:
        row |= {"cpu_ps": row["weight_ps"] // 10, "queued_ps": row["weight_ps"] * 8 // 10}
    return tables


def launches_on_one_line() -> Tables:
    return _launching(draw(STEPS + PYTHON + "cpu/python thread :  [EagerExecute][EagerExecute]"), MAIN)


def launches_for_each_example() -> Tables:
    """A step launches 24 ops in a function that another one calls, which the loop of steps calls."""
    frames = [("accumulated", "train.py", 21, "__main__", "program"), TOKEN_F1]
    tables = _launching(many_launches(), MAIN, *frames)
    tables.rows["frame"][0]["has_loop"] = True
    return tables


def ops_that_are_launching(long_us: int = 20, python_us: int = 0) -> Tables:
    """A step of 1,080 ops of PyTorch: most take 1.5 µs, and some longer. Then Python runs for a while."""
    ops = "[m]" * 1000 + f"[s{'.' * (2 * long_us - 2)}]" * 80
    units = len(ops) + 2 * python_us
    tables = draw(f"step train : [train{'.' * (units - 7)}]\ncpu/python thread : {ops}", "kineto")
    for row in (*tables.rows["slice"], *tables.rows["step_stored"]):
        for column in {"ts_ps", "dur_ps", "self_ps"} & row.keys():
            row[column] //= 2
    for row in tables.rows["slice"]:
        name = {"m": "aten::mul", "s": "aten::sum"}[row["name"]]
        row |= {"name": name, "category": "cpu_op", "op_name": name, "op_type": name}
    if python_us:
        _add_stacks(tables, MAIN)
        begins_ps, took_ps = len(ops) * UNIT_PS // 2, python_us * UNIT_PS
        facts = {"ts_ps": begins_ps, "weight_ps": took_ps, "cpu_ps": took_ps, "is_main": True, "stack_id": 0}
        tables.add("stack_sample", thread_name="MainThread", **facts)
    return tables


def a_layer_with_its_gradients(recomputed: bool = False) -> Tables:
    """A step of PyTorch: a layer computes for 100 µs and its gradient, to which an arrow leads, for 200.
    recomputed: the layer is computed again in half of that time."""
    names = ("aten::mm", "aten::sum", "aten::pow", "MmBackward0")
    ops = "".join(f"[{'op'[: n % 2 + 1]}{'.' * (97 + n % 2)}]" for n in range(3)) + f"[b{'.' * 197}]"
    tables = draw(f"step train : [train{'.' * 494}]\ncpu/python thread : {ops}", "kineto")
    for row, name in zip(tables.rows["slice"], names, strict=True):
        row |= {"name": name, "category": "cpu_op", "op_name": name, "op_type": name}
    forward, *_, gradient = tables.rows["slice"]
    for phase, row in (("start", forward), ("end", gradient)):
        facts = {"phase": phase, "slice_id": row["id"], "category": "fwdbwd", "ts_ps": row["ts_ps"]}
        tables.add("flow", flow_id=1, **facts)
    _add_stacks(tables, MAIN, ("Net.forward", "net.py", 21, "net", "program"))
    again = (
        "_checkpoint_hook.__init__.unpack_hook",
        "torch/utils/checkpoint.py",
        9,
        "torch.utils",
        "library",
    )
    parent = 0
    for function, file, line, module, code in (BACKWARD, again):
        frame = tables.add("frame", function=function, file=file, line=line, module=module, code=code)["id"]
        parent = tables.add("stack", parent_id=parent, frame_id=frame, place_id=0)["id"]
    asks, computes_again = parent - 1, parent
    last = computes_again if recomputed else asks
    for begin, to, stack in ((1, 301, 1), (301, 401, asks), (401, 501, last)):
        times = {"ts_ps": begin * UNIT_PS, "weight_ps": (to - begin) * UNIT_PS}
        facts = {"stack_id": stack, "thread_name": "MainThread", "is_main": True}
        tables.add("stack_sample", cpu_ps=times["weight_ps"], **times, **facts)
    return tables


def positions_computed_again(more: int = 4, steps: int = 7) -> Tables:
    """Steps of PyTorch, each with a product that has so many rows more than that of the step before."""
    tables = draw(
        f"step train : {'[train....]' * steps}\ncpu/python thread : {'[mm.......]' * steps}", "kineto"
    )
    for number, row in enumerate(tables.rows["slice"]):
        dims = {"Input Dims": [[more * (number + 2), 8], [8, 8]]}
        row |= {"category": "cpu_op", "op_name": "aten::mm", "op_type": "aten::mm", "name": "aten::mm"}
        row |= {"step": number, "args_json": json.dumps(dims)}
    return tables


def ops_beside_python() -> Tables:
    """Another thread of the program signs while the ops of a step run."""
    tables = _beside(a_layer_with_its_gradients(), 0)
    facts = {"stack_id": tables.rows["stack"][-1]["id"], "thread_name": "signer", "is_main": False}
    for row in [*tables.rows["stack_sample"]]:
        times = {"ts_ps": row["ts_ps"], "weight_ps": row["weight_ps"], "cpu_ps": row["weight_ps"]}
        tables.add("stack_sample", **times, **facts)
    return tables


def only_calls_of_python() -> Tables:
    """As JAX's profiler records a program of TensorFlow: no op is in it."""
    tables = draw(STEPS + PYTHON)
    for row in tables.rows["slice"]:
        row["name"] = "$model.py:9 build"
    return tables


def _launching(tables: Tables, *frames: Frame) -> Tables:
    """The tables, with samples of the main thread that launches from frames of the program."""
    module = "tensorflow.python.eager.execute"
    execute = ("quick_execute", "tensorflow/python/eager/execute.py", 53, module, "library")
    samples = tables.rows["stack_sample"] = _add_stacks(tables, *frames, execute)
    for row in samples:
        row |= {"ts_ps": row["ts_ps"] // MS * UNIT_PS * 2, "weight_ps": 2 * UNIT_PS, "cpu_ps": 2 * UNIT_PS}
    return tables


def a_loop_in_the_graph() -> Tables:
    """A call of a compiled function, in which an op of a loop runs 24 times."""
    tables = draw(
        f"step train : [train{'.' * 400}]\ncpu/python thread : [TFE_Py_Execute{'.' * 391}]\n"
        "cpu/pool thread : " + "[a:L]          " * 24
    )
    for row in tables.rows["slice"]:
        if row["op_name"] == "a":
            row["op_name"] = "map/while/body/_5/map/while/add"
    place = {"file": "model.py", "line": 7, "function": "Net.call"}
    tables.add("op_line", op_name="map/while", told_by="tfprof_log", **place)
    return tables


def a_loop_of_ops_too_short_to_be_recorded() -> Tables:
    """Executors go through a thousand nodes of a graph with one loop."""
    tables = draw(
        f"step train : [train{'.' * 4000}]\ncpu/python thread : [TFE_Py_Execute{'.' * 3991}]\n"
        "cpu/pool thread : " + "[e] " * 1000
    )
    for row in tables.rows["slice"]:
        if row["name"] == "e":
            row["name"] = "ExecutorState::Process"
    tables.add("node", graph="graph", name="while", op_type="While")
    place = {"file": "model.py", "line": 7, "function": "Net.call"}
    tables.add("op_line", op_name="while", told_by="tfprof_log", **place)
    return tables


def ops_without_a_core() -> Tables:
    """Ops of a processor while others have its cores."""
    return _short_of_cores(one_type_of_op(), "all")


def _short_of_cores(tables: Tables, owner: str) -> Tables:
    for series, value in ((f"{owner} running", 0.2), (f"{owner} waiting", 1.8)):
        tables.add("counter", name="threads during recording", series=series, ts_ps=0, value=value)
    return tables


def more_threads_than_cores() -> Tables:
    """Six threads of the program want the two cores."""
    tables = ops_without_a_core()
    next(row for row in tables.rows["counter"] if row["series"] == "all waiting")["value"] = 5.8
    for core in "01":
        tables.add("counter", name="core busy", series=core, ts_ps=0, value=1.0)
    return tables


def ops_beside_processes() -> Tables:
    """The program started some, and they have cores that its ops wait for."""
    tables = ops_without_a_core()
    tables.add("counter", name="children cpu", series="cores", ts_ps=0, value=1.5)
    return tables


def ops_beside_a_pipeline() -> Tables:
    """Its threads compute, or wait to, all the time."""
    tables = draw(
        STEPS + "cpu/pool thread : [a:MatMul.................]\ncpu/tf_data_1 thread : [f:EagerPyFunc]"
    )
    return _short_of_cores(tables, "later")


def ops_that_wait_a_while_beside_processes() -> Tables:
    """Its ops have cores for most of the time in which they want some."""
    tables = ops_beside_processes()
    next(row for row in tables.rows["counter"] if row["series"] == "all waiting")["value"] = 0.1
    return tables


def python_on_two_lines() -> Tables:
    """The main thread is on one line in 20 samples, and on another one in the last five of them."""
    tables = stacks()
    frame = {**tables.rows["frame"][0], "line": 12}
    del frame["id"]
    number = tables.add("frame", **frame)["id"]
    stack = tables.add("stack", frame_id=number, place_id=number)["id"]
    for row in tables.rows["stack_sample"][15:]:
        row["stack_id"] = stack
    return tables


def a_line_of_several_labels() -> Tables:
    """Ops run for most of a step; a line computes in Python for a fifth of it, and copies for a fifth."""
    tables = draw(f"step train : [train{'.' * 93}]\ncpu/pool thread : [a:MatMul{'.' * 51}]")
    _add_stacks(tables, MAIN, ("device_put", "jax/_src/api.py", 9, "jax._src.api", "library"))
    for number, stack in enumerate([0, 0, 1, 1]):
        facts = {"weight_ps": 10 * UNIT_PS, "cpu_ps": 10 * UNIT_PS, "is_main": True, "stack_id": stack}
        tables.add("stack_sample", ts_ps=(61 + 10 * number) * UNIT_PS, thread_name="MainThread", **facts)
    return tables


def an_op_with_its_line() -> Tables:
    tables = draw(STEPS + PYTHON + "cpu/pool thread : [a:MatMul........................]")
    place = {"file": "model.py", "line": 7, "function": "Net.call"}
    tables.add("op_line", op_name="a", told_by="tfprof_log", **place)
    return tables


def compiling(steps: int) -> Tables:
    """Steps in each of which a function is traced and compiled."""
    tables = draw(
        f"step ~compile : {'[train_step]' * steps}\ncpu/python thread : {'[train_step]' * steps}\n"
        f"cpu/python thread : {' [XlaCompile]' * steps}"
    )
    for row in tables.rows["slice"]:
        if row["name"] == "train_step":
            row["args_json"] = '{"tf_function_call": "traced-nonXla"}'
    return tables


def compiling_again(steps: int) -> Tables:
    """The first steps run a compiled function; the last two of them are left out, because they compile."""
    tables = compiling(steps)
    for row in tables.rows["step_stored"][:-2]:
        row["kind"], row["averaged"] = "train", True
    return tables


def compilations(change: str, argument: str | None = "x", was: str | None = "1", line: int = 9) -> Tables:
    """Two steps in each of which the recorder saw a call compile."""
    tables = compiling(2)
    for i in range(3):
        facts = {
            "ts_ps": max(i - 1, 0) * 12 * UNIT_PS, "dur_ps": 12 * UNIT_PS, "framework": "tensorflow",
            "function": "train_step", "call_file": "train.py", "call_line": line, "call_function": "main",
            "number": i + 1, "changes_json": "[]",
        }  # fmt: skip
        new = {"argument": argument, "was": was, "became": None if was is None else "2"}
        tables.add("compilation", change=change if i else "first", **facts, **(new if i else {}))
    return tables


def one_compilation() -> Tables:
    tables = compilations("value")
    tables.rows["step_stored"] = tables.rows["step_stored"][:1]
    tables.rows["compilation"] = tables.rows["compilation"][:2]
    return tables


def compilations_beside_unseen_ops() -> Tables:
    """Runs of a session that compile, and of which no slice tells what they run."""
    tables = compilations(*CHANGES["graph that grows"])
    for table in ("slice", "rollup_op"):
        tables.rows[table] = []
    return tables


CHANGES: dict[str, tuple[str, str | None, str | None]] = {
    "value": ("value", "rate", "0.1"),
    "shape": ("shape", "x", "f32[32,8]"),
    "dtype": ("dtype", "x", "float32"),
    "type": ("type", None, "int"),
    "structure": ("structure", "batch", None),
    "function": ("function", "loss", "f"),
    "object": ("object", "config", "Config"),
    "new function": ("new_function", "rate", "0.1"),
    "graph that grows": ("graph", "graph", "1"),
    "nothing seen": ("unknown", None, None),
}


def busy_machine(waiting: float = 2.5) -> Tables:
    tables = stacks()
    for series, value in (("all running", 0.5), ("all waiting", waiting)):
        tables.add("counter", name="threads during recording", series=series, ts_ps=0, value=value)
    return tables


def one_thread_without_a_core() -> Tables:
    return busy_machine(1.0)


def a_long_start_up() -> Tables:
    """20 of 30 s until the first step, 11 of them compiling: a call, one within it, one that was going on.
    Then 3 of 8 s between steps."""
    tables = stacks()
    marks = {"start_ns": -20, "first_step_ns": 0, "end_ns": 10, "stepping_ns": 8, "between_ns": 3}
    for series, value_s in marks.items():
        tables.add("counter", name="program", series=series, ts_ps=0, value=value_s * 10**9)
    for begin_s, dur_s in ((-12, 8), (-12, 5), (-30, 13)):
        facts = {"ts_ps": begin_s * 10**12, "dur_ps": dur_s * 10**12, "function": "train_step"}
        tables.add("compilation", framework="jax", number=1, change="first", changes_json="[]", **facts)
    return tables


def an_input_pipeline(verdict: str = "input_bound", limits: int | None = 1, hosts: int = 1) -> Tables:
    tables = draw(INPUT)
    tables.add("user_stage", file="data.py", line=12, function="make", transformation="map", inputs_json="[]",
               args_json="{}")  # fmt: skip
    for host in range(hosts):
        for number, (name, service) in enumerate((("Map", 8), ("BatchV2", 9))):
            facts = {
                "name": f"Iterator::Root::{name}", "branch_name": f"Iterator::Root::{name}", "width": 1,
                "verdict": verdict, "service_ps": service * UNIT_PS, "wait_share": 0.3, "lane": name,
                "limits": limits if number == 0 else 2 if limits else None, "work_from": "trace",
            }  # fmt: skip
            written = {"spoken": "BatchV2, added by TensorFlow"}
            if number == 0:
                written = {
                    "spoken": "map (transformation 1)",
                    "user_stage": "MapDataset:1",
                    "file": "data.py",
                    "line": 12,
                }
            whose = {} if hosts == 1 else {"host_id": f"h{host}"}
            tables.add("iterator", **facts, **written, **whose)
    return tables


def an_input_pipeline_that_filters(kept: int = 6, name: str = "Filter") -> Tables:
    """Behind the stage that limits it, a filter on the next line keeps so many of 100 elements."""
    tables = an_input_pipeline()
    facts = {"name": f"Iterator::Root::{name}", "calls": kept, "file": "data.py", "line": 13}
    consumer = tables.add("iterator", **facts, branch_name=f"Iterator::Root::{name}", spoken="filter")["id"]
    tables.rows["iterator"][0] |= {"calls": 100, "consumer_id": consumer}
    return tables


def an_input_pipeline_that_shuffles(handed_on: int = 5) -> Tables:
    """Behind the stage that limits it, a shuffle on the next line hands on so many of 100 elements."""
    return an_input_pipeline_that_filters(handed_on, "Shuffle")


def a_cache_that_never_fills(taken: object = 10, position: int = 2) -> Tables:
    """Behind the stage that limits the input, of which so many elements of 40 are taken."""
    tables = an_input_pipeline()
    tables.rows["iterator"][0]["user_position"] = 1
    facts = {"file": "data.py", "function": "make", "inputs_json": "[]", "iterator": 0}
    for at, transformation, arguments in (
        (position, "cache", {"cardinality": 40}),
        (position + 1, "take", {"count": taken, "cardinality": 10}),
    ):
        text = json.dumps(arguments)
        tables.add(
            "user_stage", position=at, transformation=transformation, line=12 + at, args_json=text, **facts
        )
    return tables


def an_iterator_for_each_step() -> Tables:
    """Each of four steps makes one, and draws from it."""
    step = "[train.............................................................]"
    calls = "  [MakeIterator::RootDataset][IteratorGetNextOp::DoCompute..........]"
    tables = draw(f"step train : {step * 4}\ncpu/python thread : {step * 4}\ncpu/python thread : {calls * 4}")
    tables.rows["iterator"] = an_input_pipeline().rows["iterator"]
    return tables


def an_iterator_of_no_slow_stage_for_each_step() -> Tables:
    """To make it takes the time."""
    tables = an_iterator_for_each_step()
    tables.rows["iterator"] = []
    return tables


def an_input_pipeline_of_two_slow_stages() -> Tables:
    """Without the one that limits it, the other one does."""
    tables = an_input_pipeline()
    (step,) = {row["dur_ps"] for row in tables.rows["step_stored"]}
    for row in tables.rows["iterator"][:1]:
        row |= {
            "step_without_ps": 4 * step // 5,
            "step_without_low_ps": step // 2,
            "step_without_high_ps": step,
        }
    return tables


def what_somebody_drew() -> Tables:
    """By a recorder that knows no ops."""
    tables = draw("cpu/t thread : [parse.......][load...]", "unknown")
    tables.rows["source"][0]["events_stored"] = 2
    return tables


def a_profiler_that_starts_slowly() -> Tables:
    """Nothing shows a step, and most of what is unknown passes before the first op."""
    whole = f"step capture : [capture{'.' * 92}]"
    tables = draw(f"{whole}\ncpu/t thread : {' ' * 60}[a:MatMul..............]", "kineto")
    tables.rows["step_stored"][0]["recovered_from"] = "whole_capture"
    return tables


def a_wait_for_what_was_not_recorded() -> Tables:
    """A host waits for its device, and of what that did nothing is recorded."""
    tables = draw(
        "step train : [train" + "." * 53 + "]\ncpu/t thread : [a:add][cudaDeviceSynchronize" + "." * 30 + "]"
    )
    for row in tables.rows["slice"]:
        if row["name"].startswith("cuda"):
            row["category"] = "cuda_runtime"
    return tables


def samples_of_a_processor() -> Tables:
    """Nothing that is recorded by its times fills the step; a profiler saw from outside what ran."""
    tables = draw(
        "step train : [train"
        + "." * 53
        + "]\ncpu/t thread : [a:add]\ncpu/s thread :       [solve"
        + "." * 30
        + "][sort........]"
    )
    for row in tables.rows["slice"]:
        if row["name"] in ("solve", "sort"):
            row["category"] = "cpu_sample"
    return tables


def an_input_pipeline_of_python() -> Tables:
    """Its first stage calls a function of the program on another thread, for most of a step."""
    return _with_a_loader(an_input_pipeline(), 30)


def an_input_pipeline_of_a_generator() -> Tables:
    """Nothing shows its stages. What the generator calls was seen at work for less than half of the wait."""
    tables = draw(INPUT)
    for transformation, line, arguments in (
        ("from_generator", 12, '{"generator": "rows (data.py:5)"}'),
        ("batch", 13, '{"batch_size": 16}'),
        ("make_one_shot_iterator", 14, "{}"),
    ):
        tables.add("user_stage", file="data.py", line=line, function="make", transformation=transformation,
                   inputs_json="[]", args_json=arguments)  # fmt: skip
    return _with_a_loader(tables, 5)


def _with_a_loader(tables: Tables, weight: int) -> Tables:
    """The tables, with so many µs on another thread in a function that an op calls."""
    parent = None
    for file, function, line, code in (
        ("tensorflow/python/ops/script_ops.py", "FuncRegistry.__call__", 269, "library"),
        ("data.py", "tokens", 7, "program"),
    ):
        frame = tables.add("frame", file=file, function=function, line=line, code=code)["id"]
        parent = tables.add("stack", parent_id=parent, frame_id=frame, place_id=frame)["id"]
    facts = {"weight_ps": weight * UNIT_PS, "stack_id": parent, "thread_name": "Dummy-1"}
    tables.add("stack_sample", ts_ps=2 * UNIT_PS, **facts)
    return tables


def an_op_that_calls_python() -> Tables:
    """Beside the thread that runs the steps, which is inside a framework."""
    tables = draw(STEPS + PYTHON + "cpu/pool thread : [pure_callback.1:pure_callback]")
    parent = None
    for file, function, line, code in (
        ("train.py", "main", 9, "program"),
        ("lib/jax/_src/callback.py", "_FlatCallback.__call__", 71, "library"),
        ("train.py", "ranked", 3, "program"),
    ):
        frame = tables.add("frame", file=file, function=function, line=line, code=code)["id"]
        parent = tables.add("stack", parent_id=parent, frame_id=frame, place_id=frame)["id"]
    facts = {"weight_ps": 30 * UNIT_PS, "stack_id": parent, "is_main": True}
    tables.add("stack_sample", ts_ps=2 * UNIT_PS, **facts)
    return tables


def an_op_that_calls_python_unseen() -> Tables:
    tables = an_op_that_calls_python()
    tables.rows["stack_sample"] = []
    return tables


def an_input_pipeline_in_part() -> Tables:
    return an_input_pipeline("partly_input_bound", None)


def an_input_pipeline_that_keeps_up() -> Tables:
    return an_input_pipeline("not_input_bound", None)


def an_input_pipeline_without_a_verdict() -> Tables:
    return an_input_pipeline("unknown", None)


def pipelines_of_many_hosts() -> Tables:
    return an_input_pipeline(hosts=8)


def a_memory_timeline() -> Tables:
    tables = Tables()
    tables.source(format="memory_timeline", producer="kineto", events_seen=2, events_stored=2)
    for at, size in ((0, 4096), (1, 12288)):
        tables.add("counter", name="memory", series="activation", ts_ps=at * MS, value=float(size))
    tables.add("counter", name="memory", series="parameter", ts_ps=0, value=1024.0)
    return tables


def memory_of_devices() -> Tables:
    """A profile of what four devices, and the host, held."""
    tables = Tables()
    tables.source(format="pprof", producer="unknown", events_seen=4, events_stored=4)
    for device in ("", "gpu:0", "gpu:1", "gpu:2"):
        held = {"Bytes": 4096, "Device": device, "Kind": "buffer", "Stack": [["init", "train.py", 7]]}
        tables.add("instant", name="[memory profile]", kind="instant", args_json=json.dumps(held))
    return tables


def ops_called_one_by_one() -> Tables:
    """A step whose product runs within its call, beside an op with a slice of its own."""
    tables = draw(
        "step train : [0...................................]\ncpu/t thread : [call.............][a:Gather]"
    )
    for row in (*tables.rows["slice"], *tables.rows["step_stored"]):
        row["ts_ps"], row["dur_ps"] = row["ts_ps"] * 25, row["dur_ps"] * 25
        if row["name"] == "call":
            row["name"] = "EagerLocalExecute: MatMul"
    return tables


def memory_that_ran_out() -> Tables:
    """What four devices held, one of which could not give more."""
    tables = memory_of_devices()
    detail = "4.94 GiB were asked of cuda:1, which had 91.2 MiB left, in model.py:12 `forward`"
    tables.add("source_note", slug="out-of-memory", effect="info", detail=detail)
    return tables


def arrays_that_are_kept() -> Tables:
    """Three looks at variables, one of which holds more each time."""
    tables = Tables()
    tables.source(format="capture", producer="stepscope", events_seen=3, events_stored=3)
    for look, steps in enumerate((4, 14, 24), 1):
        told: dict[str, object] = {
            "Look": look, "Steps": steps, "Holder": "kept", "Kind": "tensors", "Device": "cpu:0",
            "Bytes": steps << 20, "Arrays": steps, "File": "train.py", "Line": 12, "Function": "main",
            "Puts": True, "All bytes": steps << 20, "Available": 1 << 30,
        }  # fmt: skip
        if look > 1:
            before = steps - 10
            told |= {"Was bytes": before << 20, "Was arrays": before, "Was steps": before}
        tables.add("instant", name="[held]", kind="mark", ts_ps=look * MS, args_json=json.dumps(told))
    return tables


def a_graph_that_grows() -> Tables:
    """Three looks at the graph of a session, which has two ops more after each step."""
    tables = Tables()
    tables.source(format="capture", producer="stepscope", events_seen=3, events_stored=3)
    for look, steps in enumerate((4, 14, 24), 1):
        told: dict[str, object] = {
            "Look": look, "Steps": steps, "Holder": "the graph", "Kind": "ops", "Device": "host", "Bytes": 0,
            "Arrays": 50 + 2 * steps, "File": "train.py", "Line": 12, "Function": "main", "Puts": True,
            "All bytes": 0,
        }  # fmt: skip
        if look > 1:
            told |= {"Was bytes": 0, "Was arrays": 30 + 2 * steps, "Was steps": steps - 10}
        tables.add("instant", name="[held]", kind="mark", ts_ps=look * MS, args_json=json.dumps(told))
    return tables


def judged() -> Iterator[tuple[str, Tables]]:
    """Those of which only the judgement is listed."""
    yield "compile", compiling(2)
    yield "compile, only step", compiling(1)
    yield "compile, again", compiling_again(5)
    yield "compile, again, one averaged", compiling_again(3)
    for make in (
        stacks,
        a_line_of_the_loop_that_calls,
        launches_on_one_line,
        launches_for_each_example,
        ops_that_are_launching,
        launching_without_a_core,
        runs_of_a_session,
        one_run_of_a_session,
        a_run_of_a_session_that_is_fed,
        a_run_of_a_session_that_takes_a_batch,
        waiting_for_what_is_not_recorded,
        samples_of_a_processor,
        a_loop_in_the_graph,
        a_loop_of_ops_too_short_to_be_recorded,
        ops_without_a_core,
        ops_beside_processes,
        more_threads_than_cores,
        storing_in_the_loop,
        summaries_in_the_loop,
        a_model_loaded_in_the_loop,
        a_callback_that_evaluates,
        a_layer_with_its_gradients,
        ops_beside_python,
        only_calls_of_python,
        waiting_for_a_lock,
        unpickling_batches,
        starting_workers,
        launching_beside_python,
        ops_beside_a_pipeline,
        ops_that_wait_a_while_beside_processes,
        a_line_of_several_labels,
        an_op_with_its_line,
        one_layer,
        an_input_pipeline,
        an_input_pipeline_that_filters,
        an_input_pipeline_that_shuffles,
        a_cache_that_never_fills,
        an_input_pipeline_of_python,
        an_input_pipeline_of_a_generator,
        an_input_pipeline_of_two_slow_stages,
        an_op_that_calls_python,
        an_op_that_calls_python_unseen,
        one_compilation,
        compilations_beside_unseen_ops,
        busy_machine,
        one_thread_without_a_core,
        launching_beside_computing,
        launching_beside_ops_of_many_types,
        ops_of_many_types_beside_the_input,
        an_op_on_the_host,
        one_launch_in_a_gap,
        launches_in_a_gap,
        calls_in_a_gap,
        an_iterator_for_each_step,
        an_iterator_of_no_slow_stage_for_each_step,
        printing_in_the_graph,
        *made_laws.JUDGED,
    ):
        yield make.__name__.replace("_", " "), make()
    yield "64-bit floats", doubles()
    yield "products without tensor cores", products_without_tensor_cores(2)
    yield "a layer that is computed again", a_layer_with_its_gradients(recomputed=True)
    yield "ops that are computed again", ops_that_are_computed_again()
    yield "ops that a tape computes again", ops_that_a_tape_computes_again()
    yield "collecting garbage", collecting_garbage()
    yield "a table that is updated as a whole", made_tables.a_dense_gradient()
    yield "a graph that two lines run", a_graph_that_two_lines_run()
    yield "ops of a line that two lines run", a_graph_that_two_lines_run(made=True)
    yield from ((f"compilations, {name}", compilations(*of)) for name, of in CHANGES.items())


def doubles() -> Tables:
    """Steps with a product of 64-bit floats beside a sum of others."""
    tables = draw(STEPS + "cpu/t thread : [dot.1:dot.......][add.2:add]")
    tables.add(
        "hlo_instruction", source_id=0, module_id=0, opcode="dot", name="dot.1", shape="f64[8,8]{1,0}",
        file="/home/user/train.py", line=7,
    )  # fmt: skip
    return tables


def a_model_that_runs_twice() -> Tables:
    """Steps with a product for the loss and another one of the same inputs and weights for a metric."""
    ops = "[net/dense/MatMul:MatMul......][grad/MatMul:MatMul........][net_1/dense/MatMul:MatMul..]"
    tables = draw(f"{STEPS}cpu/t thread : {ops}")
    for row in tables.rows["slice"]:
        row["op_name"] = f"StatefulPartitionedCall/{row['op_name']}"
    graph = {"source_id": 0, "graph": "function/step"}
    for net in ("net", "net_1"):
        for name, op_type in (("ReadVariableOp", "ReadVariableOp"), ("MatMul", "MatMul")):
            tables.add("node", **graph, name=f"{net}/dense/{name}", op_type=op_type)
        for producer, consumer, slot in (
            ("weights", "ReadVariableOp", 0),
            ("batch", "MatMul", 0),
            (f"{net}/dense/ReadVariableOp", "MatMul", 1),
        ):
            ends = {"producer": producer, "producer_slot": 0, "consumer": f"{net}/dense/{consumer}"}
            tables.add("edge", **graph, **ends, consumer_slot=slot)
    place = {"file": "/home/user/train.py", "line": 9, "function": "call", "told_by": "tfprof_log"}
    tables.add("op_line", op_name="StatefulPartitionedCall/net_1/dense/MatMul", **place)
    return tables


def small_ops(op: str = "[a:Add]", ops: int = 1000, product: str = "") -> Tables:
    """A step that consists of small ops of a processor, and of a product behind them."""
    drawn = op * ops + product
    return draw(f"step train : [train{'.' * (len(drawn) - 7)}]\ncpu/t thread : {drawn}")


def updates_one_by_one(op: str = "aten::mul_", ops: int = 120) -> Tables:
    """A step of PyTorch on a processor, of which the optimizer takes a half, with ops for each parameter."""
    calls = f"[{op}]" * ops
    took = "." * (len(calls) - 4)
    tables = draw(
        f"step train : [train{took}{took}....]\ncpu/t thread : [update{took}]\n"
        f"cpu/t thread :  {calls}\ncpu/t thread : {' ' * (len(calls) + 4)}[aten::mm{took[:-10]}]",
        producer="kineto",
    )
    for row in tables.rows["slice"]:
        if row["name"] == "update":
            row |= {"name": "Optimizer.step#AdamW.step", "category": "user_annotation", "op_name": None}
        else:
            row |= {"category": "cpu_op", "op_type": row["name"]}
    return tables


def dropping_out(inner: str = "aten::bernoulli_", calls: int = 2) -> Tables:
    """A step of PyTorch that computes no gradients, of which each call of dropout takes a fifth."""
    drawn = f"[aten::dropout{'.' * 45}]"
    inside = f" [{inner}]".ljust(len(drawn))
    length = 5 * len(drawn)
    tables = draw(
        f"step infer : [infer{'.' * (length - 7)}]\ncpu/t thread : {drawn * calls}\n"
        f"cpu/t thread : {inside * calls}\ncpu/t thread : {' ' * (len(drawn) * calls)}"
        f"[aten::mm{'.' * (length - len(drawn) * calls - 10)}]",
        producer="kineto",
    )
    for row in tables.rows["slice"]:
        row |= {"category": "cpu_op", "op_type": row["name"]}
    return tables


def gradients_not_used(
    used: str = "[5,32]",
    unused: str = "[32,3]",
    update: str = "[[5,32],[5,32],[]]",
    added: bool = True,
    reads: str = "",
    tensors: int = 1,
    steps: int = 4,
) -> Tables:
    """Steps of PyTorch on a processor, whose backward pass goes on for gradients that no optimizer uses.
    used, unused: the shapes of gradients, in this order; tensors: how many are unused, one or two; update:
    what the optimizer takes; added: whether it is added to the one before; reads: an op that takes it."""
    last, within = ("[b][b]", "   ") if tensors == 2 else (" [b..]", "[x]")
    tables = draw(
        f"step train : {'[train..............................]' * steps}\n"
        f"cpu/t thread : {'[aten::mm][g....][c......][h....][u...]' * steps}\n"
        f"cpu/t thread : {f'           [a..]           {last} [v.] ' * steps}\n"
        f"cpu/t thread : {f'                             {within}       ' * steps}\n",
        producer="kineto",
    )
    node = "autograd::engine::evaluate_function: "
    gradient = "torch::autograd::AccumulateGrad"
    names = {
        "g": (node + gradient, None),
        "h": (node + gradient, None),
        "c": (node + "ConvolutionBackward0", None),
        "a": (gradient, f"[{used}]"),
        "b": (gradient, f"[{unused}]"),
        "u": ("Optimizer.step#Adam.step", None),
        "v": ("aten::lerp_", update),
        "x": ("aten::add_" if added else "aten::detach", f"[{unused}]"),
        "aten::mm": (reads or "aten::mm", f"[{unused}]" if reads else "[[8,3],[3,32]]"),
    }
    for row in tables.rows["slice"]:
        name, shapes = names[row["name"]]
        row |= {
            "category": "user_annotation" if name.startswith("Optimizer") else "cpu_op",
            "name": name,
            "op_name": None if name.startswith("Optimizer") else name,
            "op_type": None if name.startswith("Optimizer") else name,
            "args_json": f'{{"Input Dims":{shapes}}}' if shapes else None,
        }
    return tables


def half_floats(drawing: str = "cpu/t thread : [aten::mm.......][aten::relu]") -> Tables:
    """Ops of PyTorch on a processor, all but relu with 16-bit floats."""
    tables = draw(drawing, producer="kineto")
    for row in tables.rows["slice"]:
        kind = "float" if row["name"] == "aten::relu" else "c10::BFloat16"
        given = {"Input type": [kind, kind]}
        row |= {
            "category": "cpu_op",
            "op_type": row["name"],
            "args_json": json.dumps(given, separators=(",", ":")),
        }
    return tables


def ops_that_are_computed_again() -> Tables:
    """Steps of JAX with a product that was not kept for gradients beside a sum that was."""
    tables = draw(STEPS + "cpu/t thread : [dot.1:dot.......][add.2:add]")
    scopes = "jit(update)/transpose(jvp())/checkpoint/rematted_computation"
    for name, op_name in (("dot.1", f"{scopes}/dot_general"), ("add.2", "jit(update)/jvp()/checkpoint/add")):
        made = {"source_id": 0, "module_id": 0, "opcode": name.partition(".")[0], "name": name}
        tables.add("hlo_instruction", **made, op_name=op_name)
    return tables


def ops_that_a_tape_computes_again() -> Tables:
    """A product in a block that is called for the model, and again where gradients are asked for."""
    tables = draw(
        STEPS + "cpu/t thread : [MatMul:MatMul......][MatMul_1:MatMul...][gradient_tape/MatMul/MatMul:MatMul]"
    )
    block = {"file": "train.py", "line": 6, "function": "block", "caller_file": "train.py"}
    for op, line, function in (("MatMul", 12, "layer"), ("MatMul_1", 17, "train")):
        tables.add("op_line", op_name=op, **block, caller_line=line, caller_function=function)
    asking = {"file": "train.py", "line": 17, "function": "train", "told_by": "tfprof_log"}
    tables.add("op_line", op_name="gradient_tape/MatMul/MatMul", **asking)
    return tables


def collecting_garbage() -> Tables:
    """Two steps of the program's own Python, of which collections take 3, 1 and 2 ms. Another began before
    them, and one is of another thread."""
    tables = stacks(MAIN)
    name = "garbage collection"
    for at, took, generation in ((-5, 3, 2), (2, 3, 2), (6, 1, 0), (18, 3, 2)):
        facts = {"series": f"generation {generation}", "ts_ps": at * MS}
        tables.add("counter", name=name, value=took * 1e6, **facts)
    other = {"name": f"{name} of another thread", "series": "generation 2"}
    tables.add("counter", value=9e6, ts_ps=MS, **other)
    return tables


def a_graph_that_two_lines_run(made: bool = False) -> Tables:
    """A step with an op of a session, which an evaluation runs for most of it. made: with the line that made
    the op."""
    tables = draw(f"step train : [train{'.' * 494}]\ncpu/pool thread : [a:MatMul{'.' * 490}]")
    session = ("BaseSession._call_tf_sessionrun", "tensorflow/python/client/session.py", 9, "", "library")
    _add_stacks(tables, MAIN, ("evaluate", "train.py", 17, "__main__", "program"), session)
    trains = tables.add("stack", parent_id=0, frame_id=2, place_id=0)["id"]
    for begin, to, stack in ((1, 101, trains), (101, 501, 2)):
        times = {"ts_ps": begin * UNIT_PS, "weight_ps": (to - begin) * UNIT_PS}
        facts = {"stack_id": stack, "thread_name": "MainThread", "is_main": True}
        tables.add("stack_sample", cpu_ps=times["weight_ps"], **times, **facts)
    if made:
        tables.add("op_line", op_name="a", file="train.py", line=9, function="model", told_by="op_log")
    return tables


def stacks_alone() -> Tables:
    """Looks at the main thread of a program that nothing else was recorded of: two lines, 40 and 20 ms."""
    tables = Tables()
    tables.source(format="capture", producer="stepscope", events_seen=2, events_stored=2)
    for line, weight_ps in ((7, 40 * MS), (9, 20 * MS)):
        frame = tables.add("frame", file="train.py", function="main", line=line, code="program")["id"]
        stack = tables.add("stack", frame_id=frame, place_id=frame)["id"]
        tables.add("stack_sample", ts_ps=0, weight_ps=weight_ps, stack_id=stack, is_main=True)
    return tables


WHOLE: tuple[Callable[[], Tables], ...] = (
    nothing_recorded, an_event_file_of_scalars,
    a_graph, graphs_beside_a_recording, a_checkpoint, checkpoints_and_a_graph, a_dump,
    a_dump_and_its_recording,
    two_hosts_alike, two_hosts_unlike, different_programs_in_a_folder, runs_of_several_hosts,
    many_groups_of_steps, a_file_for_each_step, runs_of_two_kinds, runs_of_two_kinds_in_no_order,
    runs_of_two_kinds_in_turns_of_three,
    damage_and_caps, one_event_lost, an_input_pipeline,
    an_input_pipeline_in_part, an_input_pipeline_that_keeps_up, an_input_pipeline_without_a_verdict,
    a_pipeline_beside_the_program,
    pipelines_of_many_hosts, what_somebody_drew, a_profiler_that_starts_slowly,
    a_wait_for_what_was_not_recorded,
    a_memory_timeline, memory_of_devices, memory_that_ran_out, stacks_alone, ops_called_one_by_one,
    a_long_start_up, switches_on,
    *made_laws.WHOLE, *made_paces.WHOLE,
)  # fmt: skip


def an_op_far_from_its_peak(times: int = 1) -> Tables:
    """Steps of 36 µs, of which an op takes 24 that the device needs 6 for."""
    tables = draw(STEPS + "gpu/s7 device_stream :  [k:MatMul...............]")
    own = {"device": "gpu", "op_name": "aten::mm", "executions": times, "self_ps": 24 * UNIT_PS * times}
    peaks = {"peak_flops": 1e12, "peak_bytes": 1e9, "peaks_by": "devices.csv: one"}
    cost = {"counted_by": "shapes", "flops": 6e6 * times, "bytes": 6.0 * times, "number_type": "f32"}
    tables.add("op_cost", **own, **peaks, **cost, bound="compute", least_ps=6 * UNIT_PS * times)
    return tables


def products_without_tensor_cores(kinds: int = 1) -> Tables:
    """Steps of a GPU with tensor cores, which computes products without them."""
    products = ["[ampere_sgemm_128x64_tn]", "[sm80_xmma_gemm_f32f32_f32f32_f32_tn" + "." * 40 + "]"]
    products = products[:kinds]
    others = "[sm90_xmma_gemm_f32f32_tf32f32_f32_nn][cutlass_80_tensorop_s1688gemm][add]"
    row = "".join((*products, others))
    tables = draw(f"step train : [train{'.' * (len(row) - 7)}]\ngpu/s7 device_stream : {row}")
    tables.rows["device"][0]["args_json"] = '{"computeMajor":9}'
    return tables


def few_blocks(runs: int = 1) -> Tables:
    """A kernel of as many blocks, and of as many threads in each, as it has runs; 28 multiprocessors."""
    tables = draw("gpu/s7 device_stream : " + "[reduce]" * runs + "[add]")
    tables.rows["device"][0]["args_json"] = '{"numSms":28}'
    for row in tables.rows["slice"]:
        blocks = runs if row["name"] == "reduce" else 4096
        row["args_json"] = f'{{"grid":[{blocks},1,1],"block":[{blocks},1,1]}}'
    return tables


PROBLEMS: dict[str, Callable[[], Tables]] = {
    "few_blocks": lambda: few_blocks(2),
    "few_blocks, one": few_blocks,
    "products_without_tensor_cores": lambda: products_without_tensor_cores(2),
    "products_without_tensor_cores, one": products_without_tensor_cores,
    "far_from_peak": an_op_far_from_its_peak,
    "far_from_peak, two": lambda: an_op_far_from_its_peak(2),
    "slow_host": _slow_host,
    "incomplete_source": damage_and_caps,
    "incomplete_source, one": one_event_lost,
    "capped_trace": damage_and_caps,
    "capped_trace, one": one_event_lost,
    "garbage_in_steps": collecting_garbage,
    "python_between_ops": stacks,
    "python_between_ops, two lines": python_on_two_lines,
    "per_op_dispatch": many_launches,
    "dominant_op": one_type_of_op,
    "doubles_in_steps": doubles,
    "model_runs_twice": a_model_that_runs_twice,
    "updates_one_by_one": updates_one_by_one,
    "small_ops_on_host": small_ops,
    "dropout_without_gradients": dropping_out,
    "dropout_without_gradients, one": lambda: dropping_out(calls=1),
    "gradients_not_used": lambda: gradients_not_used(tensors=2, added=False),
    "gradients_not_used, one": lambda: gradients_not_used(steps=2),
    "half_floats_on_host": lambda: half_floats("cpu/t thread : [aten::mm.......][aten::add]"),
    "half_floats_on_host, one": half_floats,
    "dominant_op, two ops": lambda: one_type_of_op(2),
    "copies_between_ops": copying_in_the_loop,
    "per_step_io": storing_in_the_loop,
    "models_in_steps": a_model_loaded_in_the_loop,
    "positions_computed_again": positions_computed_again,
    "positions_computed_again, one": lambda: positions_computed_again(1),
    "growing_memory": arrays_that_are_kept,
    "growing_graph": a_graph_that_grows,
    "waits_between_ops": waiting_in_the_loop,
    "waits_between_ops, of which an op prints": waiting_for_an_op_that_prints,
    "device_waits_for_host": waiting_for_the_device,
    "retraced_functions": lambda: compilations("value"),
    "retraced_functions, a graph": lambda: compilations(*CHANGES["graph that grows"]),
    "retraced_functions, a shape": lambda: compilations(*CHANGES["shape"]),
    "retraced_functions, a new function": lambda: compilations(*CHANGES["new function"]),
    "late_input": made_ranks.input_late_on_one_rank,
    "straggler": made_ranks.one_rank_arrives_last,
    "uneven_experts": made_ranks.one_rank_gets_most,
    "unhidden_collectives": made_ranks.collectives_in_the_open,
    "unhidden_collectives, part of it hidden": made_ranks.collectives_that_compute_hides_in_part,
    "unhidden_collectives, tensors of other processes": tensors_of_other_processes,
    "unhidden_collectives, a large one": lambda: tensors_of_other_processes("w/read", 524_288),
    "unhidden_collectives, a small one": lambda: tensors_of_other_processes("w/read", 4),
    "recompilation, of a cluster": a_cluster_that_compiles_again,
    "clusters_of_many_shapes": a_cluster_of_many_shapes,
    "whole_table_updates": a_table_that_is_updated_whole,
    "whole_table_updates, PyTorch": made_tables.a_dense_gradient,
    "gradient_made_dense": made_tables.a_gradient_made_dense,
    "one_hot_products": made_tables.a_one_hot_product,
    "ops_run_again": made_tables.runs_that_compute_again,
    "ops_run_again, one": lambda: made_tables.runs_that_compute_again(("a", "a")),
    "one_hot_products, one": lambda: made_tables.a_one_hot_product(tensors=False),
    "padded_batches": batches_of_padding,
    "padded_batches, to the longest": rows_of_wild_lengths,
    "time_between_runs_unseen": runs_apart,
    "time_between_runs_unseen, much longer than runs": lambda: runs_apart(60),
    "time_between_runs_unseen, of a recorder": runs_apart_of_a_recorder,
    "phases_beside_steps": rounds_of_an_estimator,
    "phases_beside_steps, one": lambda: rounds_of_an_estimator(rounds=2),
    "phases_beside_steps, prediction": lambda: rounds_of_an_estimator("predict"),
    **made_programs.PROBLEMS,
}
