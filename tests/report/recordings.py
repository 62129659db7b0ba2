"""The smallest recordings that produce each sentence: drawings, and rows that cannot be drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from stepscope.engines import statement
from stepscope.instruments.step_parts import reading
from tests.draw import UNIT_PS, Tables, args, draw

MS = 10**9
STEPS = "step train : [train.....][train.....][train.....]\n"
"""Three steps of 12 µs."""
PYTHON = "cpu/python thread : [train.....][train.....][train.....]\n"

DRAWN: dict[str, str] = {
    # what limits a step
    "input": STEPS + PYTHON + "cpu/python thread :  [IteratorGetNextOp::DoCompute......]",
    "compile": "step ~compile : [s0........][s1........]\ncpu/python thread : [traced....][traced....]",
    "compile one": "step ~compile : [s0........]\ncpu/python thread : [traced....]",
    "compute, one op": STEPS + PYTHON + "cpu/pool thread : [a:MatMul........................]",
    "nothing stands out": STEPS + PYTHON + "cpu/pool thread : [a:MatMul.][b:Add....][c:Mul....][d:Sub..]",
    "communication": STEPS
    + "cpu/python thread : [train.....]\ngpu/s7 device_stream :  [ncclAllReduce...............]",
    "copy": STEPS + PYTHON + "cpu/python thread :  [ConvertToEagerTensor..........]",
    "dispatch": STEPS + PYTHON + "cpu/python thread :  [EagerExecute: Add][EagerExecute: Mul]",
    "dispatch, one call": "step train : [train.....]\ncpu/python thread :  [FunctionRun]",
    "wait": STEPS + PYTHON + "cpu/python thread :  [$time sleep..................]",
    "python": STEPS + PYTHON + "cpu/python thread :  [$train.py:31 token_f1........]",
    "idle": STEPS + PYTHON + "gpu/s7 device_stream :  [k:MatMul]                 [k]",
    "unknown": STEPS + PYTHON,
    "one step": "step train : [train.....]\ncpu/pool thread : [a:MatMul]",
    "no steps": "cpu/pool thread : [a:MatMul....]",
    "left out": "step ~compile : [step 0....]\nstep train : "
    + " " * 12
    + "[step 1]\ncpu/t thread : [a:Add............]",
    "many left out": "step ~compile : [s0][s1][s2][s3][s4]\nstep train : "
    + " " * 20
    + "[s5]\ncpu/t thread : [a:Add]",
    "uneven steps": "step train : [s][s][s][s][s][s.............]\ncpu/t thread : [a:Add]",
    # problems
    "collectives overlap": "cpu/1 lane : [a:HorovodAllreduce..]\ncpu/2 lane :   [b:HorovodAllreduce..]",
    "compile steps only": "step ~compile : [step 0....][step 1....]\ncpu/t lane : [a:_XlaCompile]",
    "copies": "gpu/s device_stream : [kernel][Memcpy]",
    "many copies": "gpu/s device_stream : [kernel][Memcpy][Memcpy]",
    "ops on the processor": STEPS
    + "cpu/t thread : [a:Unique.......][b:Add]\ngpu/s device_stream : [k:MatMul]",
    "two idle accelerators": "gpu/s device_stream : [a]        [b]\ngpu2/s device_stream : [a]        [b]",
    "few steps": "step train : [s0][s1]",
    "blocking": STEPS + "cpu/t thread :  [cudaStreamSynchronize]",
    "blocking once": "step train : [train.....][train.....][train.....]\ncpu/t thread : [cudaStreamSync..]",
    "tiny kernels": "gpu/s device_stream : " + "[k]   " * 120,
    "listing files": STEPS + "cpu/t thread : [list:MatchingFiles]",
    "listing files twice": STEPS + "cpu/t thread : [a:MatchingFiles][b:MatchingFiles]",
    "one op hides the rest": "cpu/t thread : [a:_XlaRun........][b:Add]",
    "one op runs twice": "cpu/t thread : [a:_XlaRun........][a:_XlaRun........][b:Add]",
    "rows not parallel": "".join(f"cpu/{i} lane : {' ' * 8 * i}[{i}:MatMul]\n" for i in range(4)),
    "py_function": STEPS + "cpu/t thread : [f:EagerPyFunc]",
    "py_function twice": STEPS + "cpu/t thread : [f:EagerPyFunc][f:EagerPyFunc]",
    "recompilation": "step train : [s0]\nstep ~compile :     [s1][s2]\nstep train :             [s3]",
    "launches": "gpu/compute lane! : [a:MatMul][b:Add]",
    "one launch": "gpu/compute lane! : [a:MatMul]",
    "a slow step": "step train : [s][s][s][s][s..............]",
    "slow steps": "step train : [s][s][s][s][s][s][s..............][s..............]",
    "two rows": "cpu/1 lane : [a:MatMul.]\ncpu/2 lane :    [b:MatMul.]",
}


def recordings() -> Iterator[tuple[str, Tables]]:
    """Each recording by its name, with the tables that are derived."""
    for name, drawing in DRAWN.items():
        tables = draw(drawing)
        for row in tables.rows["slice"]:
            if row["name"] == "traced":
                row.update(name="train_step", args_json=args(tf_function_call="traced-nonXla"))
        yield name, derived(tables)
    for make in MADE:
        yield make.__name__.replace("_", " "), derived(make())


def derived(tables: Tables) -> Tables:
    """The same with what counts to each part of its steps."""
    connection = tables.connect()

    def query(sql: Any) -> Any:
        found = connection.cursor().execute(statement(sql).sql)
        return type("Answer", (), {"rows": staticmethod(found.fetchall)})

    if not tables.rows["step_part"]:
        for table, rows in reading.rows(query)._asdict().items():
            for row in rows:
                tables.add(table, **{key: value for key, value in row.items() if key != "id"})
    connection.close()
    return tables


def nothing_recorded() -> Tables:
    tables = Tables()
    tables.source()
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


def a_checkpoint() -> Tables:
    tables = Tables()
    tables.source(format="checkpoint", producer="unknown", events_seen=3, events_stored=3)
    for name, role, size in (("w", "weight", 400), ("w/Adam/m", "slot", 400), ("step", "optimizer", 8)):
        facts = {
            "path": "a/model-7.index",
            "name": name,
            "role": role,
            "bytes": size,
            "parameters": size // 4,
        }
        tables.add(
            "checkpoint_tensor", **{k: v for k, v in facts.items() if k in _columns("checkpoint_tensor")}
        )
    return tables


def checkpoints_and_a_graph() -> Tables:
    tables = Tables()
    tables.source(0, format="graph", producer="unknown", events_seen=7, events_stored=7)
    for number in range(1, 6):
        tables.source(number, format="checkpoint", producer="unknown", events_seen=1, events_stored=1)
        facts = {
            "path": f"a/model-{number}.index",
            "name": "w",
            "role": "weight",
            "bytes": 4,
            "parameters": 1,
        }
        known = {k: v for k, v in facts.items() if k in _columns("checkpoint_tensor")}
        tables.add("checkpoint_tensor", source_id=number, **known)
    return tables


def _columns(table: str) -> set[str]:
    from stepscope.lake.schema import schema

    return set(schema().table(table).names)


def a_slow_host() -> Tables:
    return _hosts(3)


def runs_of_several_hosts() -> Tables:
    """Two runs, each with steps, ops and a device of its own."""
    tables = _hosts(3)
    other = draw(STEPS + PYTHON + "gpu/s1 device_stream : [a:MatMul]\ngpu/s2 device_stream : [a:MatMul]")
    for table, rows in other.rows.items():
        for row in rows:
            own = {key: value for key, value in row.items() if key != "id"}
            for key in ("source_id", "capture_id"):
                if key in own:
                    own[key] += 9
            tables.add(table, **{**own, "run_id": "other"})
    return tables


def _hosts(steps: int) -> Tables:
    tables = Tables()
    for source_id, (host, length) in enumerate((("a", 10), ("b", 15))):
        tables.source(source_id, host_id=host, events_seen=steps, events_stored=steps)
        for i in range(steps):
            facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
            span = {"ts_ps": i * 20 * UNIT_PS, "dur_ps": length * UNIT_PS}
            tables.add("step_stored", source_id=source_id, host_id=host, step=i, **facts, **span)
    return tables


def many_groups_of_steps() -> Tables:
    """Eight kinds of hosts: more than get a sentence each."""
    tables = Tables()
    for number in range(8):
        tables.source(number, host_id=f"h{number}", events_seen=3, events_stored=3)
        for i in range(3):
            facts = {"kind": "unknown", "recovered_from": "get_next", "averaged": True}
            span = {"ts_ps": i * 20 * UNIT_PS, "dur_ps": 10 * UNIT_PS}
            tables.add("step_stored", source_id=number, host_id=f"h{number}", step=i, **facts, **span)
    return tables


def damage_and_caps() -> Tables:
    tables = draw(STEPS + PYTHON)
    tables.rows["source"][0] |= {"events_seen": 100, "events_stored": 97, "events_lost": 3, "complete": False}
    tables.rows["source"][0]["events_repaired"] = 2
    tables.source(1, complete=False, error="not a trace")
    tables.source(2, complete=False, events_capped=4)
    tables.add("source_note", slug="truncated", effect="lost", events=3, detail="the file ends early")
    return tables


def one_event_lost() -> Tables:
    tables = draw(STEPS + PYTHON)
    tables.rows["source"][0] |= {"events_seen": 100, "events_stored": 99, "events_lost": 1, "complete": False}
    tables.source(1, complete=False, events_capped=1)
    return tables


def stacks(line: int = 31) -> Tables:
    """Two steps of 10 ms; all samples of the main thread lie on one line."""
    tables = Tables()
    tables.source(events_seen=20, events_stored=20)
    for i in range(2):
        facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
        tables.add("step_stored", step=i, ts_ps=i * 10 * MS, dur_ps=10 * MS, **facts)
    _stack(tables, ("token_f1", "train.py", line, "__main__", "program"))
    return tables


def _stack(tables: Tables, *frames: tuple[str, str, int, str, str]) -> None:
    """A stack, the outermost frame first, that the main thread has all the time."""
    parent = place = None
    for function, file, line, module, code in frames:
        told = {"function": function, "file": file, "line": line, "module": module, "code": code}
        frame = tables.add("frame", **told)["id"]
        place = frame if code == "program" else place
        parent = tables.add("stack", parent_id=parent, frame_id=frame, place_id=place)["id"]
    for i in range(20):
        facts = {"ts_ps": i * MS, "weight_ps": MS, "cpu_ps": MS, "thread_name": "MainThread", "is_main": True}
        tables.add("stack_sample", stack_id=parent, **facts)


def storing_in_the_loop() -> Tables:
    tables = stacks()
    tables.rows["stack_sample"].clear()
    saver = ("Checkpoint.save", "tensorflow/python/checkpoint/checkpoint.py", 9,
             "tensorflow.python.checkpoint.checkpoint", "library")  # fmt: skip
    _stack(tables, ("main", "train.py", 40, "__main__", "program"), saver)
    return tables


def waiting_for_the_device() -> Tables:
    tables = stacks()
    tables.rows["stack_sample"].clear()
    tables.add("device", name="gpu", kind="gpu")
    sync = ("block_until_ready", "jax/_src/api.py", 9, "jax._src.api", "library")
    _stack(tables, ("main", "train.py", 40, "__main__", "program"), sync)
    return tables


def _piped(verdict: str, wait: str) -> Tables:
    tables = draw(STEPS + PYTHON + f"cpu/python thread :  {wait}")
    for number, (name, service, in_waits) in enumerate(
        (("Iterator::Root::Map", 8, 9), ("Iterator::Root", 9, 4))
    ):
        facts = {"pipeline": 0, "name": name, "verdict": verdict, "service_ps": service * UNIT_PS}
        facts |= {"in_waits_ps": in_waits * UNIT_PS, "user_stage": "map(decode)" if number == 0 else None}
        known = {k: v for k, v in facts.items() if k in _columns("iterator")}
        tables.add("iterator", **known)
    return tables


def an_input_pipeline() -> Tables:
    return _piped("input_bound", "[IteratorGetNextOp::DoCompute......]")


def an_input_pipeline_in_part() -> Tables:
    return _piped("partly_input_bound", "[Iterator::Map]")


def an_input_pipeline_that_is_quick() -> Tables:
    return _piped("not_input_bound", "[x]")


MADE: tuple[Callable[[], Tables], ...] = (
    nothing_recorded, a_graph, graphs_beside_a_recording, a_checkpoint, checkpoints_and_a_graph, a_slow_host,
    runs_of_several_hosts, many_groups_of_steps, damage_and_caps, one_event_lost, stacks, storing_in_the_loop,
    waiting_for_the_device, an_input_pipeline, an_input_pipeline_in_part, an_input_pipeline_that_is_quick,
)  # fmt: skip
