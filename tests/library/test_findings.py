"""Findings speak when something is wrong, with the right number, and are quiet when nothing is.

Past 400 lines because it is a list: a finding, and the world in which it speaks."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope import library
from stepscope.engines import are_unmet
from tests.draw import UNIT_PS, Row, Tables, draw, reads_sums
from tests.library.twins import UNIT, WAITING, World
from tests.library.worlds import worlds
from tests.report import made_programs, made_recordings
from tests.tiers import cases

FINDINGS = library.names("finding")


def found(tables: Tables, names: tuple[str, ...] = FINDINGS) -> dict[str, list[Row]]:
    """Rows by finding, those that say something. Those that have none, as a table is empty, are not asked."""
    connection, empty = tables.shared(any(map(reads_sums, names))), tables.empty()
    told = {}
    for name in names:
        if are_unmet(library.named(name).needs, lambda need: need.table in empty):
            continue
        result = connection.execute(library.sql(name))
        columns = [column[0] for column in result.description]
        if rows := [dict(zip(columns, row, strict=True)) for row in result.fetchall()]:
            told[name] = rows
    return told


def rows_of(name: str, drawn: Tables | str) -> list[Row]:
    """The rows of a finding."""
    return found(draw(drawn) if isinstance(drawn, str) else drawn, (name,)).get(name, [])


HEALTHY = """
step        train         : [train.........][train.........][train.........][train.........]
cpu/python  thread        : [train.........][train.........][train.........][train.........]
cpu/pool    thread        : [a:MatMul.....] [a:MatMul.....] [a:MatMul.....] [a:MatMul.....]
gpu/s1      device_stream :  [kernel.......] [kernel.......] [kernel.......] [kernel.......]
gpu/s2      device_stream :    [kernel]
"""


def test_healthy_is_quiet():
    assert found(draw(HEALTHY)) == {}


def one(text: str, name: str, producer: str = "tf_profiler") -> Row:
    """The first row of a finding on a drawn trace."""
    rows = found(draw(text, producer), (name,))
    assert name in rows
    return rows[name][0]


STEPS = "step train : [train.....][train.....][train.....]\n"  # 36 µs


def test_input_wait():
    waiting = "cpu/t thread : [IteratorGetNextOp::DoCompute]\n"  # the first 30 µs
    row = one(STEPS + waiting + "cpu/u thread :   [IteratorGetNextOp::DoCompute]", "input_wait")
    assert (row["severity"], row["steps"]) == ("high", 3)
    assert row["impact_ps"] == 32 * UNIT_PS
    assert row["mean_wait_ps"] == 32 * UNIT_PS // 3
    busy = "gpu/s device_stream : [kernel...........................]"
    assert one(STEPS + waiting + busy, "input_wait")["severity"] == "low"
    assert not rows_of("input_wait", STEPS + "cpu/t thread : [QUEUE]")


def test_input_that_only_samples_show():
    """Whose Python is sampled while steps wait: tf.data's iterator, or a loader of the program's own."""
    tables = draw(STEPS)
    tables.fill_steps("input")
    assert "Python of its own" in rows_of("input_wait", tables)[0]["advice"]
    file = "tensorflow_core/python/data/ops/iterator_ops.py"
    tables.add("frame", function="_next_internal", file=file, line=1, code="library")
    advice = rows_of("input_wait", tables)[0]["advice"]
    assert advice.startswith("Make the input pipeline faster than the step")


def test_device_idle():
    row = one(STEPS + "gpu/s device_stream :  [kernel..]     [k]", "device_idle")
    assert row["severity"] == "high"
    assert (row["impact_ps"], row["gaps"]) == (23 * UNIT_PS, 3)
    assert row["longest_ps"] == 17 * UNIT_PS
    assert one("gpu/s device_stream : [a]        [b]", "device_idle")["severity"] == "medium"


def test_nothing_is_said_of_the_time_between_steps_of_two_devices():
    """Each device shows one step of its own: it did not wait for work while the other one had it."""
    steps = "step unknown : [0][1.................................][2]\n"
    tables = draw(steps + f"gpu/a device_stream : [k]\ngpu2/b device_stream : {' ' * 38}[k]")
    del tables.rows["step_stored"][1]
    assert len(rows_of("device_idle", tables)) == 2
    for step in tables.rows["step_stored"]:
        step["recovered_from"] = "device"
    assert not rows_of("device_idle", tables)


def test_doubles_in_steps():
    """A dot of doubles takes 10 of 14 units; a name that two programs give several types is left out."""
    tables = draw("cpu/t thread : [dot.1:dot.......][add.2:add]")
    assert not rows_of("doubles_in_steps", tables)
    made = {"source_id": 0, "module_id": 0, "opcode": "dot", "file": "/a/train.py", "line": 7}
    tables.add("hlo_instruction", **made, name="dot.1", shape="f64[8,8]{1,0}")
    row = rows_of("doubles_in_steps", tables)[0]
    took = {s["op_name"]: s["dur_ps"] for s in tables.rows["slice"]}
    assert (row["op"], row["ops"], row["impact_ps"]) == ("dot.1", 1, took["dot.1"])
    assert row["share"] == pytest.approx(took["dot.1"] / sum(took.values()))
    assert (row["file"], row["line"], row["severity"]) == ("/a/train.py", 7, "medium")
    tables.add("hlo_instruction", **made, name="dot.1", shape="f32[8,8]{1,0}")
    assert not rows_of("doubles_in_steps", tables)


def test_model_runs_twice():
    """That which takes less is the one again; another batch or weight, or random numbers, make it none."""
    tables = made_recordings.a_model_that_runs_twice()
    (row,) = rows_of("model_runs_twice", tables)
    took = {s["op_name"]: s["dur_ps"] for s in tables.rows["slice"]}
    assert (row["again"], row["first"], row["ops"]) == ("net_1", "net", 1)
    assert row["impact_ps"] == took["StatefulPartitionedCall/net_1/dense/MatMul"]
    assert row["share"] == pytest.approx(row["impact_ps"] / sum(took.values()))
    assert (row["file"], row["line"], row["severity"]) == ("/home/user/train.py", 9, "medium")
    for number, of in enumerate(tables.rows["edge"]):
        if of["producer"] in ("batch", "weights") and of["consumer"].startswith("net_1/"):
            other = made_recordings.a_model_that_runs_twice()
            other.rows["edge"][number]["producer"] = "another"
            assert not rows_of("model_runs_twice", other), of["producer"]
    drawn = {"source_id": 0, "graph": "function/step", "name": "net_1/dropout", "op_type": "RandomUniform"}
    tables.add("node", **drawn)
    assert not rows_of("model_runs_twice", tables)


@pytest.mark.parametrize(("framework", "way"), [("tensorflow", "input_signature"), ("jax", ".at[].set")])
def test_what_compiles_for_each_shape_has_a_way_out_of_its_framework(framework, way):
    tables = made_recordings.compilations(*made_recordings.CHANGES["shape"])
    for compilation in tables.rows["compilation"]:
        compilation["framework"] = framework
    (row,) = rows_of("retraced_functions", tables)
    assert way in row["advice"]
    assert ("tf.function" in row["advice"]) == (framework == "tensorflow")


def test_small_ops_on_host():
    tables = made_recordings.small_ops()
    assert not rows_of("small_ops_on_host", tables), "what the steps consist of is not known"
    tables.fill_steps("compute")
    (row,) = rows_of("small_ops_on_host", tables)
    assert (row["ops"], row["mean_ps"], row["share"], row["severity"]) == (1000, 7 * UNIT_PS, 1.0, "medium")
    with_product = made_recordings.small_ops(product=f"[b:MatMul{'.' * (7000 - 10)}]")
    with_product.fill_steps("compute")
    (row,) = rows_of("small_ops_on_host", with_product)
    assert (row["ops"], row["mean_ps"], row["share"]) == (1000, 7 * UNIT_PS, 0.5)
    for others in (
        made_recordings.small_ops(ops=999),
        made_recordings.small_ops("[a:Add..............]"),
        made_recordings.small_ops(product=f"[b:MatMul{'.' * 17000}]"),
    ):
        others.fill_steps("compute")
        assert not rows_of("small_ops_on_host", others)
    for row in tables.rows["track"]:
        row["kind"] = "device_stream"
    assert not rows_of("small_ops_on_host", tables)


def test_updates_one_by_one():
    """Ops within the call count, the one behind it does not; few ops, and such as update all, are none."""
    tables = made_recordings.updates_one_by_one()
    (row,) = rows_of("updates_one_by_one", tables)
    call = next(s for s in tables.rows["slice"] if s["name"].startswith("Optimizer"))
    assert (row["optimizer"], row["ops"], row["mean_ps"]) == ("AdamW", 120, call["dur_ps"])
    assert (row["impact_ps"], row["severity"]) == (call["dur_ps"], "medium")
    assert row["share"] == pytest.approx(call["dur_ps"] / tables.rows["step_stored"][0]["dur_ps"])
    assert not rows_of("updates_one_by_one", made_recordings.updates_one_by_one(ops=99))
    assert not rows_of("updates_one_by_one", made_recordings.updates_one_by_one("aten::_foreach_mul_"))
    nested = made_recordings.updates_one_by_one()
    calls = [s for s in nested.rows["slice"] if s["name"] == "aten::mul_"]
    for inner, outer in zip(calls[1::2], calls[::2], strict=True):
        inner["parent_id"] = outer["id"]
    assert not rows_of("updates_one_by_one", nested)


def test_dropout_without_gradients():
    """What draws nothing is the dropout of evaluation mode; bernoulli_ by itself is no dropout."""
    tables = made_recordings.dropping_out()
    (row,) = rows_of("dropout_without_gradients", tables)
    calls = [s["dur_ps"] for s in tables.rows["slice"] if s["name"] == "aten::dropout"]
    assert (row["calls"], row["impact_ps"], row["severity"]) == (2, sum(calls), "medium")
    assert row["share"] == pytest.approx(0.4)
    fused = made_recordings.dropping_out("aten::native_dropout")
    assert [one["calls"] for one in rows_of("dropout_without_gradients", fused)] == [2]
    assert not rows_of("dropout_without_gradients", made_recordings.dropping_out("aten::alias"))
    trained = made_recordings.dropping_out()
    trained.rows["slice"][-1] |= {"name": "autograd::engine::evaluate_function: MmBackward0"}
    assert not rows_of("dropout_without_gradients", trained)
    apart = made_recordings.dropping_out()
    for one in apart.rows["slice"]:
        one["name"] = one["name"].replace("aten::dropout", "aten::rand")
    assert not rows_of("dropout_without_gradients", apart)


def test_garbage_in_steps():
    """Three collections begin within the steps, the last of which goes on behind them."""
    tables = made_recordings.collecting_garbage()
    (row,) = rows_of("garbage_in_steps", tables)
    assert (row["impact_ps"], row["share"], row["severity"]) == (6 * 10**9, 0.3, "medium")
    assert (row["collections"], row["whole_ones"], row["steps"]) == (3, 2, 2)
    del tables.rows["counter"][1]
    (row,) = rows_of("garbage_in_steps", tables)
    assert (row["impact_ps"], row["severity"]) == (3 * 10**9, "low")
    for step in tables.rows["step_stored"]:
        step["recovered_from"] = "whole_capture"
    assert not rows_of("garbage_in_steps", tables)


@pytest.mark.parametrize(
    ("graph", "node", "args", "is_double"),
    [
        ("graph", "a/MatMul", '{"T":"DT_DOUBLE","transpose_a":false}', True),
        ("graph", "a/MatMul", '{"T":"DT_FLOAT"}', False),
        ("graph", "a/MatMul", '{"DstT":"DT_DOUBLE","SrcT":"DT_FLOAT"}', True),
        ("graph", "a/MatMul", '{"DstT":"DT_FLOAT","SrcT":"DT_DOUBLE"}', False),
        ("function/step", "MatMul", '{"dtype":"DT_DOUBLE"}', False),
    ],
)
def test_doubles_of_a_graph_are_told_by_the_types_of_its_nodes(
    graph: str, node: str, args: str, is_double: bool
) -> None:
    tables = draw("cpu/t thread : [a/MatMul:MatMul.......][Add:Add]")
    tables.add("node", graph=graph, name=node, op_type="MatMul", args_json=args)
    tables.add("op_line", op_name="a/MatMul", file="/a/train.py", line=7, function="learn", told_by="op_log")
    rows = rows_of("doubles_in_steps", tables)
    told = [(row["op"], row["ops"], row["file"], row["line"]) for row in rows]
    assert told == ([("a/MatMul", 1, "/a/train.py", 7)] if is_double else [])


@pytest.mark.parametrize("scope", ["", "tower_0/"])
def test_doubles_of_a_gradient_are_told_with_the_line_of_their_op(scope: str) -> None:
    """Gradients have the line that asks for all of them, as `minimize` is."""
    gradient = f"{scope}gradients/a/MatMul_grad/MatMul_1"
    tables = draw(f"cpu/t thread : [{gradient}:MatMul.......][a/MatMul:MatMul]")
    for node, line in ((gradient, 13), ("a/MatMul", 7), ("b/MatMul", 8)):
        tables.add("node", graph="graph", name=node, op_type="MatMul", args_json='{"T":"DT_DOUBLE"}')
        tables.add("op_line", op_name=node, file="/a/train.py", line=line, function="f", told_by="op_log")
    (row,) = rows_of("doubles_in_steps", tables)
    assert (row["op"], row["line"]) == (gradient, 7)


def test_doubles_without_a_graph_are_told_by_what_ops_made() -> None:
    """RunMetadata and timelines that show memory have the types of outputs. A graph knows casts as well."""
    shown = (
        '{"snapshot":{"tensor_description":"dtype: DT_%s\\nshape {\\n  dim {\\n    size: 8\\n  }\\n}\\n"}}'
    )
    for dtypes, is_double in ((["DOUBLE"], True), (["FLOAT"], False), (["DOUBLE", "FLOAT"], False)):
        for table in ("tensor", "instant"):
            tables = draw("cpu/t thread : [a/MatMul:MatMul.......][Add:Add]")
            for slot, dtype in enumerate(dtypes):
                if table == "tensor":
                    tables.add(table, op_run_id=0, op_name="a/MatMul", slot=slot, dtype=f"DT_{dtype}")
                else:
                    made = {"track_id": 0, "ts_ps": slot, "name": "a/MatMul", "category": "Tensor"}
                    tables.add(table, **made, args_json=shown % dtype)
            rows = rows_of("doubles_in_steps", tables)
            assert [row["op"] for row in rows] == (["a/MatMul"] if is_double else [])
    tables = draw("cpu/t thread : [a/MatMul:MatMul.......][Add:Add]")
    tables.add("tensor", op_run_id=0, op_name="a/MatMul", slot=0, dtype="DT_DOUBLE")
    tables.add("node", graph="graph", name="a/MatMul", op_type="MatMul", args_json='{"T":"DT_FLOAT"}')
    assert not rows_of("doubles_in_steps", tables)


def test_doubles_of_a_function_that_a_function_calls() -> None:
    """Keras compiles its step within another function, and names of its ops begin with that call."""
    tables = draw("cpu/t thread : [StatefulPartitionedCall/MatMul:MatMul.......][Add:Add]")
    args = '{"T":"DT_DOUBLE"}'
    tables.add("node", graph="function/step", name="MatMul", op_type="MatMul", args_json=args)
    (row,) = rows_of("doubles_in_steps", tables)
    assert row["op"] == "StatefulPartitionedCall/MatMul"


def test_doubles_in_steps_of_pytorch():
    """An op with a float64 input takes 10 of 14 units; only processors are reported."""
    tables = draw("cpu/t thread : [aten::mm.......][aten::relu]", producer="kineto")
    for row in tables.rows["slice"]:
        row |= {
            "category": "cpu_op",
            "op_type": row["name"],
            "args_json": '{"Input type":["float","double"]}',
        }
    assert not rows_of("doubles_in_steps", tables)
    tables.rows["slice"][0]["args_json"] = '{"Input type":["double","float"]}'
    (row,) = rows_of("doubles_in_steps", tables)
    took = [s["dur_ps"] for s in tables.rows["slice"]]
    assert (row["op"], row["ops"], row["impact_ps"], row["file"]) == ("aten::mm", 1, took[0], None)
    assert row["share"] == pytest.approx(took[0] / sum(took))
    # A number of Python's.
    tables.rows["slice"][0]["args_json"] = '{"Input type":["double","Scalar"],"Input Dims":[[],[]]}'
    assert not rows_of("doubles_in_steps", tables)


def test_gradients_not_used():
    """The pass goes on for a tensor that no optimizer updates; silent once an op may use its gradient."""
    name, made = "gradients_not_used", made_recordings.gradients_not_used
    tables = made()
    (row,) = rows_of(name, tables)
    last = [s["dur_ps"] for s in tables.rows["slice"] if s["name"].startswith("autograd")]
    assert (row["tensors"], row["passes"], row["shape"]) == (1, 3, "[32,3]")
    assert row["impact_ps"] == 3 * sum(last[1:3])
    # Of two with one shape the first is updated, if the second is thrown away.
    alike = made("[64]", "[64]", "[[64],[64],[]]", added=False)
    assert rows_of(name, alike)[0]["tensors"] == 1
    # A parameter that a model takes first is no gradient, and a copy may be one.
    assert rows_of(name, made(reads="aten::addmm"))
    assert not rows_of(name, made(reads="aten::clone"))
    for update in ("[[32,3],[32,3],[]]", "[[[5,32],[32,3]],[[5,32],[32,3]],[]]", "null"):
        assert not rows_of(name, made(update=update))
    of_device = made()
    of_device.rows["slice"][0]["name"] = "cudaLaunchKernel"
    assert not rows_of(name, of_device)


def test_half_floats_on_host():
    """Ten of 14 units go to a product of 16-bit floats; a device may have units for them."""
    tables = made_recordings.half_floats()
    (row,) = found(tables, ("half_floats_on_host",))["half_floats_on_host"]
    took = [s["dur_ps"] for s in tables.rows["slice"]]
    assert (row["op"], row["ops"], row["impact_ps"]) == ("aten::mm", 1, took[0])
    assert row["share"] == pytest.approx(took[0] / sum(took))
    mostly_float = made_recordings.half_floats("cpu/t thread : [aten::mm.][aten::relu......]")
    on_device = made_recordings.half_floats("cpu/t thread : [aten::mm.......]\ngpu/s device_stream : [k]")
    for other in (mostly_float, on_device):
        assert found(other, ("half_floats_on_host",)) == {}


def test_device_unused():
    tables = draw(STEPS + "gpu/s device_stream :  [kernel..]     [k]\ntpu/s device_stream : [copy]")
    assert not rows_of("device_unused", tables)
    brief = next(row for row in tables.rows["slice"] if row["name"] == "copy")
    brief["dur_ps"] = brief["self_ps"] = UNIT_PS // 100
    told = found(tables, ("device_unused", "device_idle"))
    (row,) = told["device_unused"]
    assert (row["device"], row["executions"], row["impact_ps"]) == ("tpu", 1, UNIT_PS // 100)
    assert [row["device"] for row in told["device_idle"]] == ["gpu"]
    assert (row["busiest"], row["times"]) == ("gpu", 100 * 13)


def test_one_op_hides_the_rest():
    row = one("cpu/t thread : [a:_XlaRun........][b:Add]", "one_op_hides_the_rest")
    assert (row["severity"], row["op"], row["runs"]) == ("medium", "a", 1)
    assert row["share"] == pytest.approx(19 / 26)
    assert one("cpu/t thread : [a:While.][b:MatMul........]", "one_op_hides_the_rest")["severity"] == "low"
    # Its parts are recorded, so it hides nothing.
    seen = "cpu/t thread : [a:While............]\ncpu/t thread :  [b:MatMul......]\n"
    assert not rows_of("one_op_hides_the_rest", seen + "cpu/u thread : [c:Mul]")


def test_one_op_hides_nothing_that_was_recorded():
    name = "one_op_hides_the_rest"

    def told(text: str) -> bool:
        tables = draw(text)
        next(row for row in tables.rows["slice"] if row["op_name"] == "b")["args_json"] = '{"hlo_op": "b"}'
        return name in found(tables, (name,))

    assert not told("cpu/t thread : [a:_XlaRun........][b:Add]")
    assert told("cpu/t thread : [a:NcclAllReduce.][b:Add]")  # which is in no program of XLA


def test_one_op_hides_only_in_steps_that_averages_include():
    name = "one_op_hides_the_rest"
    run = "cpu/t thread : [a:_XlaRun........] [b:Add............]"
    marks = "step train : [train...........] [train............]\n"
    assert one(marks + run, name)["runs"] == 1
    every = draw(marks + run)
    every.rows["step_stored"][0]["averaged"] = False
    assert name not in found(every, (name,))


def test_rows_are_launches():
    launches = "gpu/compute lane! : [a:MatMul][b:Add]\n"
    row = one(launches, "rows_are_launches")
    assert (row["launches"], row["impact_ps"], row["device"]) == (2, 17 * UNIT_PS, "gpu")
    executed = launches + "gpu/stream:1 device_stream :  [a:MatMul][b:Add]"
    assert not rows_of("rows_are_launches", executed)
    assert not rows_of("rows_are_launches", launches.replace("gpu", "cpu"))


def test_parallelism_not_real():
    lanes = "".join(f"cpu/{i} lane : {' ' * 8 * i}[{i}:MatMul]\n" for i in range(4))
    row = one(lanes, "parallelism_not_real")
    assert row["rows_drawn"] == 4
    assert row["concurrency"] == pytest.approx(40 / 34)
    real = "".join(f"cpu/{i} lane : [{i}:MatMul]\n" for i in range(4))
    assert not rows_of("parallelism_not_real", real)
    assert not rows_of("parallelism_not_real", lanes.replace("lane", "thread"))
    packed = draw(lanes)  # by the decoder of a file that has no rows
    for track in packed.rows["track"]:
        track["origin"] = "cpu"
    assert not rows_of("parallelism_not_real", packed)


def test_collectives_overlap():
    both = "cpu/1 lane : [a:HorovodAllreduce..]\ncpu/2 lane :   [b:HorovodAllreduce..]\n"
    row = one(both, "collectives_overlap")
    assert (row["impact_ps"], row["union_ps"]) == (20 * UNIT_PS, 24 * UNIT_PS)
    after = "cpu/1 lane : [a:HorovodAllreduce]\ncpu/2 lane : " + " " * 20 + "[b:HorovodAllreduce]"
    assert not rows_of("collectives_overlap", after)


def test_calls_that_wait_for_collectives_share_no_links():
    """A collective of a graph waits for all that is before it; streams show what was sent."""
    rows = "gpu/1 lane! : [a:NcclAllReduce..]\ngpu/2 lane! :   [b:NcclAllReduce..]\n"
    assert not rows_of("collectives_overlap", rows)
    sent = "gpu/stream:1 device_stream :             [c:ncclAllReduce]\n"
    row = one(rows + sent, "collectives_overlap")
    assert (row["device"], row["rows_drawn"], row["union_ps"]) == ("gpu", 2, 17 * UNIT_PS)
    assert row["impact_ps"] == row["drawn_ps"] - row["union_ps"]


def test_custom_calls_that_only_tell_the_compiler_something_cost_nothing():
    tables = made_programs.instructions()
    (call,) = (row for row in tables.rows["hlo_instruction"] if row["opcode"] == "custom-call")
    marks = ("Sharding", "AllocateBuffer", "xla.sdy.FuncResultSharding")
    tables.rows["hlo_instruction"] += [
        {**call, "id": 100 + number, "name": f"mark.{number}", "target": target}
        for number, target in enumerate(marks)
    ]
    rows = rows_of("custom_calls_without_cost", tables)
    assert [row["called"] for row in rows] == ["xla_python_cpu_callback"]


def test_compile_step():
    row = one("step ~compile : [step 0....]\ncpu/t lane : [a:_XlaCompile]", "compile_step")
    assert (row["severity"], row["steps"], row["reason"]) == ("high", 1, "drawn")
    assert row["impact_ps"] == 12 * UNIT_PS
    with_other = "step ~compile : [s0]\nstep train : " + " " * 6 + "[s1]"
    assert not rows_of("compile_step", with_other)


def test_recompilation():
    steps = "step train : [s0]\nstep ~compile :     [s1][s2]\nstep train :             [s3]"
    row = one(steps, "recompilation")
    assert (row["severity"], row["steps"], row["all_steps"], row["last_step"]) == ("medium", 2, 4, 2)
    assert row["impact_ps"] == 8 * UNIT_PS
    at_first = "step ~compile : [s0][s1]\nstep train :         [s2][s3]"
    assert not rows_of("recompilation", at_first)


def compiled(*calls: tuple[int, str, str | None]) -> Tables:
    """Steps of 12 µs, and calls that compile: at which µs, what changed, and in which argument."""
    tables = draw(STEPS)
    for number, (at, change, argument) in enumerate(calls):
        place = {"call_file": "train.py", "call_line": 9, "call_function": "main", "framework": "jax"}
        values = {"was": str(number - 1), "became": str(number)} if argument else {}
        times = {"ts_ps": at * UNIT_PS, "dur_ps": 2 * UNIT_PS, "number": number + 1}
        tables.add(
            "compilation",
            function="f", change=change, argument=argument, changes_json="[]", **place, **values, **times,
        )  # fmt: skip
    return tables


def test_retraced_functions():
    again = [(13, "value", "n"), (14, "value", "n"), (25, "value", "n")]
    (row,) = found(compiled((1, "first", None), *again), ("retraced_functions",))["retraced_functions"]
    assert (row["severity"], row["times"], row["steps"], row["impact_ps"]) == ("medium", 3, 2, 6 * UNIT_PS)
    assert (row["place"], row["changed"]) == ("in train.py:9 `main`", "value of n, 2 to 3")
    everywhere = compiled((1, "first", None), (3, "shape", "x"), *((at, "shape", "x") for at in (15, 27)))
    assert found(everywhere, ("retraced_functions",))["retraced_functions"][0]["severity"] == "high"
    anew = compiled((1, "new_function", "rate"), (13, "new_function", "rate"))
    assert found(anew, ("retraced_functions",))["retraced_functions"][0]["changed"] == (
        "the function object itself, which holds rate = 1 after 0"
    )
    # At first, once more, and outside of steps, now and then.
    assert "retraced_functions" not in found(
        compiled((1, "first", None), (13, "shape", "x")), ("retraced_functions",)
    )
    outside = [(50 + i, "unknown", None) for i in range(5)]
    assert "retraced_functions" not in found(compiled(*outside[1:]), ("retraced_functions",))
    (row,) = found(compiled(*outside), ("retraced_functions",))["retraced_functions"]
    assert (row["severity"], row["changed"]) == ("low", "nothing that the recorder saw")


def test_what_to_do_follows_what_changed():
    """Batches of one shape do not help where a number or a function changes, or a graph grows."""
    advice = {
        change: found(compiled((1, "first", None), *again), ("retraced_functions",))["retraced_functions"][0][
            "advice"
        ]
        for change in (
            "graph",
            "shape",
            "value",
            "type",
            "structure",
            "new_function",
            "function",
            "object",
            "unknown",
        )
        for again in ([(13, change, "x"), (25, change, "x")],)
    }
    assert advice["graph"].startswith("Make the ops of the graph before the loop")
    assert advice["shape"].startswith("Pad batches")
    assert advice["value"].startswith("Pass x as a tensor")
    assert advice["new_function"].startswith("Make the function once")
    assert advice["function"] == advice["object"] == "Pass x as one object, made outside of the loop."
    assert advice["structure"] == "Pass x with the same parts in each call."
    assert advice["type"] == "Pass x with one type in each call."
    assert [change for change, text in advice.items() if "Pad batches" in text] == ["shape", "unknown"]


def test_recompilation_leaves_functions_to_the_recorder():
    steps = "step ~compile : [s0][s1][s2]"
    tables = draw(steps)
    assert rows_of("recompilation", tables)
    assert not rows_of("compile_step", tables)
    facts = {"function": "f", "framework": "jax", "changes_json": "[]", "number": 2}
    tables.add("compilation", change="value", **facts)
    assert not rows_of("recompilation", tables)


def test_slow_step():
    steps = "step train : [s][s][s][s][s..............]"
    row = one(steps, "slow_step")
    assert (row["slow_steps"], row["median_ps"], row["longest_step"]) == (1, 3 * UNIT_PS, 4)
    assert (row["impact_ps"], row["severity"]) == (14 * UNIT_PS, "medium")
    assert "slow_step" not in found(draw("step train : [s][s][s][s][s..]"), ("slow_step",))
    # What slow steps of one kind take counts by the time of all steps.
    beside = "step eval : " + "." * 40 + "[s" + "." * 200 + "]"
    assert "slow_step" not in found(draw(f"step train : [s][s][s][s][s....]\n{beside}"), ("slow_step",))


def test_slow_host():
    tables = Tables()
    for source_id, (host, length) in enumerate((("a", 10), ("b", 15))):
        tables.source(source_id, host_id=host)
        for i in range(3):
            facts = {"kind": "train", "recovered_from": "marker", "averaged": True}
            tables.add(
                "step_stored", source_id=source_id, host_id=host, step=i, ts_ps=i * 20, dur_ps=length, **facts
            )
    (row,) = rows_of("slow_host", tables)
    assert (row["host_id"], row["severity"], row["impact_ps"], row["mean_ps"]) == ("b", "high", 15, 15)


def test_copies_in_steps():
    row = one("gpu/s device_stream : [kernel][Memcpy]", "copies_in_steps")
    assert (row["severity"], row["impact_ps"], row["copies"]) == ("high", 8 * UNIT_PS, 1)
    assert not rows_of("copies_in_steps", "cpu/t thread : [a:MEMCPYHtoD]")


def test_pinned_memory_is_for_copies_of_pageable_memory():
    """What a copy is called tells from which memory it is; no copy of the program's moves unified memory."""
    text = (
        "gpu/s device_stream : [Memcpy DtoH (Device -> Pageable)][Memcpy HtoD (Pinned -> Device)]"
        "[Memcpy DtoH (unified memory)]"
    )
    row = one(text, "copies_in_steps")
    assert (row["pageable_ps"], row["unified_ps"]) == (34 * UNIT_PS, 30 * UNIT_PS)
    row = one("gpu/s device_stream : [kernel][Memcpy HtoD (Pinned -> Device)]", "copies_in_steps")
    assert (row["pageable_ps"], row["unified_ps"]) == (None, None)


def test_few_blocks_leave_multiprocessors_without_work():
    """Of 28 of them 14 blocks are half. A device that does not tell how many it has is not asked."""
    tables = made_recordings.few_blocks(13)
    (row,) = rows_of("few_blocks", tables)
    assert (row["kernel"], row["blocks"], row["threads"], row["runs"]) == ("reduce", 13, 13, 13)
    assert (row["severity"], row["impact_ps"], row["multiprocessors"]) == ("high", 13 * 8 * UNIT_PS, 28)
    assert not rows_of("few_blocks", made_recordings.few_blocks(14))
    tables.rows["device"][0]["args_json"] = None
    assert not rows_of("few_blocks", tables)


def test_cpu_ops_in_device_step():
    text = STEPS + "cpu/t thread : [a:Unique.......][b:Add]\ngpu/s device_stream : [k:MatMul]"
    row = one(text, "cpu_ops_in_device_step")
    assert (row["op_type"], row["impact_ps"], row["device"]) == ("Unique", 17 * UNIT_PS, "gpu")
    assert (row["copies"], row["copies_ps"], row["host_ps"]) == (0, 0, 17 * UNIT_PS)
    alone = text.replace("gpu/s device_stream", "cpu/s thread")
    assert not rows_of("cpu_ops_in_device_step", alone)


def test_ops_of_the_input_pipeline_are_in_it_already():
    """TensorFlow's profiler counts what fetches the next batch to a step, and not what the pipeline
    runs on the same threads."""
    text = STEPS + "cpu/t thread : [a:GatherV2.....][n:IteratorGetNext]\ngpu/s device_stream : [k:MatMul]"
    tables = draw(text)
    (fetch,) = (row for row in tables.rows["slice"] if row["op_type"] == "IteratorGetNext")
    assert rows_of("cpu_ops_in_device_step", tables)
    fetch["args_json"] = '{"group_id":0}'
    assert not rows_of("cpu_ops_in_device_step", tables)
    (op,) = (row for row in tables.rows["slice"] if row["op_type"] == "GatherV2")
    op["args_json"] = '{"group_id":0,"is_eager":0}'
    assert rows_of("cpu_ops_in_device_step", tables)


def test_many_tiny_kernels():
    row = one("gpu/s device_stream : " + "[k]   " * 120, "many_tiny_kernels")
    assert (row["kernels"], row["gaps"], row["mean_ps"]) == (120, 119, 3 * UNIT_PS)
    assert row["impact_ps"] == 119 * 3 * UNIT_PS
    assert not rows_of("many_tiny_kernels", "gpu/s device_stream : " + "[k]" * 120)


def test_host_sync():
    alone = STEPS + "cpu/t thread :  [cudaStreamSynchronize]"
    assert not rows_of("host_sync", alone)  # what the device does is not recorded
    row = one(alone + "\ngpu/stream:1 device_stream :  [a:MatMul]", "host_sync")
    assert (row["severity"], row["impact_ps"], row["waits"]) == ("medium", 23 * UNIT_PS, 2)
    blocked = STEPS + "cpu/t thread :  [BlockHostUntilDone....]"
    assert not rows_of("host_sync", blocked)  # the ops themselves run on these cores
    assert rows_of("host_sync", blocked + "\ngpu/stream:1 device_stream :  [a:MatMul]")


def test_blocking_on_a_device_that_is_busy_costs_nothing():
    tables = draw(STEPS + "cpu/t thread :  [cudaStreamSynchronize]\ngpu/stream:1 device_stream :  [a:MatMul]")
    for step in tables.rows["step_stored"]:
        tables.add("step_part", step_id=step["id"], label="idle", dur_ps=step["dur_ps"])
    (row,) = rows_of("host_sync", tables)
    tables.rows["step_part"] = []
    whole, blocked = row["impact_ps"] / row["sync_share"], row["impact_ps"]
    assert row["idle_share"] == 1
    for step in tables.rows["step_stored"]:
        tables.add("step_part", step_id=step["id"], label="compute", dur_ps=step["dur_ps"] * 4 // 5)
    (row,) = rows_of("host_sync", tables)
    assert (row["severity"], row["sync_share"]) == ("low", pytest.approx(blocked / whole))
    assert row["impact_ps"] == pytest.approx(whole / 5)
    for part in tables.rows["step_part"]:
        part["dur_ps"] = part["dur_ps"] * 5 // 4
    assert not rows_of("host_sync", tables)


def test_kernels_count_to_the_op_that_launched_them():
    """One op's three kernels add up. Matrix products keep a row for each kernel."""
    steps = "step train : [s0..........................................]\n"
    stream = "gpu/stream:1 device_stream : [rotate][sort..][reduce][gemm..][gemm..][fused.]\n"
    tables = draw(steps + stream + "cpu/pool thread : [x]")
    kernels = [row for row in tables.rows["slice"] if row["name"] != "x"]
    (host,) = [row["track_id"] for row in tables.rows["slice"] if row["name"] == "x"]
    for number, row in enumerate(kernels):
        row.update(category="kernel", op_type=row["name"].rstrip("."), op_name=None, correlation_id=number)
    for op, call, launched in (
        ("aten::_linalg_svd", "cudaLaunchKernel", (0, 1, 2)),
        ("aten::mm", "cudaLaunchKernel", (3, 4)),
        ("CompiledGraph", "cudaGraphLaunch", (5,)),
    ):
        around = len(tables.rows["slice"])
        tables.add("slice", track_id=host, name=op, category="cpu_op")
        for number in launched:
            own = {"category": "cuda_runtime", "parent_id": around, "correlation_id": number}
            tables.add("slice", track_id=host, name=call, **own)
    tables.fill_steps("compute")
    (row, *more) = rows_of("dominant_op", tables)
    assert (row["op_type"], row["share"], row["slices"]) == ("aten::_linalg_svd", 0.5, 3)
    assert {one["op_type"] for one in more} == {"aten::_linalg_svd"}


def test_dominant_op():
    """MatMul computes for 30 of 40 units in two runs; what the input pipeline computes does not count."""
    steps = "step train : [s0.................][s1.................]\n"
    ops = "cpu/pool thread : [a:MatMul..........][b:Add......][a:MatMul..........]"
    tables = draw(steps + ops)
    tables.fill_steps("compute")
    row = rows_of("dominant_op", tables)[0]
    spent = sum(s["dur_ps"] for s in tables.rows["slice"] if s["op_type"] == "MatMul")
    whole = sum(s["dur_ps"] for s in tables.rows["slice"])
    assert (row["severity"], row["op_type"], row["op"], row["impact_ps"]) == ("low", "MatMul", "a", spent)
    assert row["share"] == pytest.approx(spent / whole)
    assert (row["slices"], row["runs"], row["largest_share"]) == (2, 2, None)
    for part in tables.rows["step_part"]:
        part["label"] = "python"
    assert not rows_of("dominant_op", tables)
    for part in tables.rows["step_part"]:
        part["label"] = "compute"
    for source in tables.rows["source"]:
        source["producer"] = "unknown"  # whatever somebody drew, like the steps themselves, is no op
    assert not rows_of("dominant_op", tables)


@pytest.mark.parametrize(
    ("track", "op_type", "fewer_bits", "fuses"),
    [
        ("cpu/pool thread", "MatMul", None, False),
        ("cpu/pool thread", "RegexReplace", None, False),
        ("cpu/pool thread", "Softmax", None, True),
        ("gpu/s device_stream", "MatMul", "bfloat16", False),
        ("gpu/s device_stream", "Softmax", None, True),
    ],
)
def test_fewer_bits_are_for_products_on_devices_and_compilers_for_short_ops(
    track: str, op_type: str, fewer_bits: str | None, fuses: bool
) -> None:
    tables = draw(f"step train : [s0.................]\n{track} : [a:{op_type}..........]")
    tables.fill_steps("compute")
    (row,) = rows_of("dominant_op", tables)
    assert (row["op_type"], row["fewer_bits"]) == (op_type, fewer_bits)
    assert row["mean_ps"] == (tables.rows["slice"][0]["dur_ps"] if fuses else None)


@pytest.mark.parametrize(
    ("op_type", "units", "severity"),
    [
        ("Conv2DBackpropFilter", 43, "low"),
        ("Conv2DBackpropFilter", 52, "low"),
        ("SortedSearchOfRows12", 43, "low"),
        ("SortedSearchOfRows12", 52, "medium"),
    ],
)
def test_an_op_weighs_little_with_less_than_half_of_the_time_or_as_a_product(
    op_type: str, units: int, severity: str
) -> None:
    """Gradients of a convolution's filters take 43 % of a model with nothing to mend, and products 66 %."""
    others = "".join(f"[{op}{'.' * ((100 - units) // 2 - 4)}]" for op in ("b:A", "c:B"))
    ops = f"[a:{op_type}{'.' * (units - 24)}]"
    tables = draw(f"step train : [train{'.' * 93}]\ncpu/pool thread : {ops}{others}")
    tables.fill_steps("compute")
    (row,) = rows_of("dominant_op", tables)
    assert row["severity"] == severity


@pytest.mark.parametrize(
    ("op_name", "severity"),
    [("jit(f)/jvp()/dot_general", "low"), ("jit(f)/dot_general/reduce_sum", "medium")],
)
def test_a_product_is_one_whatever_library_runs_it(op_name: str, severity: str) -> None:
    tables = draw(f"step train : [train{'.' * 93}]\ncpu/pool thread : [k.1:k{'.' * 80}]")
    tables.fill_steps("compute")
    facts = {"opcode": "fusion", "fusion_kind": "kCustom", "op_name": op_name}
    tables.add("hlo_instruction", source_id=0, module_id=0, name="k.1", **facts)
    (row,) = rows_of("dominant_op", tables)
    assert row["severity"] == severity


def test_steps_that_are_single_short_calls_are_launched_one_by_one():
    """A loop over rows, each of which is a call of a jitted function, and so a step by itself."""
    tables = draw("step train : [s.....][s.....][s.....]\ncpu/python thread : [PjitFunction(f)..]")
    tables.fill_steps("dispatch")
    assert not rows_of("per_op_dispatch", tables), "most steps launch nothing"
    for _ in range(2):
        tables.add("slice", **{**tables.rows["slice"][0], "id": None})
    (row,) = rows_of("per_op_dispatch", tables)
    assert (row["launches"], row["severity"]) == (1, "high")
    for step in tables.rows["step_stored"]:
        step["dur_ps"] = 3_000_000_000
    assert not rows_of("per_op_dispatch", tables), "a step of 3 ms is no call of a row"


def test_few_and_no_steps():
    assert one("step train : [s0][s1]", "few_steps")["steps"] == "two steps"
    row = one("cpu/t thread : [a:Add]", "no_steps")
    assert (row["impact_ps"], row["path"]) == (7 * UNIT_PS, "0.pb")


def test_incomplete_and_capped():
    tables = draw(HEALTHY)
    tables.source(1, complete=False, events_seen=100, events_lost=3)
    tables.source(2, complete=False, error="not a trace")
    tables.source(3, complete=False, events_capped=4)
    tables.source(4, complete=True)
    tables.source(5, complete=True, events_seen=9)
    tables.add("source_note", source_id=5, slug="empty-event", effect="info", events=1)
    tables.source(6, complete=False, events_seen=18, events_lost=18)
    tables.add("source_note", source_id=6, slug="names-alone", effect="lost", events=18)
    told = found(tables)
    severities = {row["path"]: row["severity"] for row in told["incomplete_source"]}
    assert severities == {"1.pb": "medium", "2.pb": "high"}
    assert [(row["path"], row["capped"]) for row in told["capped_trace"]] == [("3.pb", 4)]


def test_matching_files_and_python():
    row = one(STEPS + "cpu/t thread : [list:MatchingFiles]", "matching_files")
    assert (row["impact_ps"], row["severity"], row["runs"]) == (20 * UNIT_PS, "high", 1)
    row = one(STEPS + "cpu/t thread : [f:EagerPyFunc]", "python_in_pipeline")
    assert (row["impact_ps"], row["severity"]) == (15 * UNIT_PS, "high")
    # Some layers of a model call Python, each for little.
    calls = "".join(f"[f{n}:EagerPyFunc]{'.' * 60}" for n in range(4))
    row = one(f"step train : [s{'.' * 300}]\ncpu/t thread : {calls}", "python_in_pipeline")
    assert (row["ops"], row["more_ops"], row["runs"], row["severity"]) == (4, 3, 4, "medium")
    assert 0.15 < row["share"] < 0.25


def test_what_runs_at_once_counts_once():
    threads = "".join(f"cpu/t{n} thread :    [list:MatchingFiles]\n" for n in range(4))
    row = one(STEPS + threads, "matching_files")
    assert (row["impact_ps"], row["runs"]) == (20 * UNIT_PS, 4)
    assert 0 < row["share"] < 1
    row = one(STEPS + threads.replace("list:MatchingFiles", "f:EagerPyFunc"), "python_in_pipeline")
    assert (row["impact_ps"], row["runs"]) == (15 * UNIT_PS, 4)
    assert 0 < row["share"] < 1


EXECUTES = ("compute", "communication", "copy")
SHARES = {
    name: [field.name for field in library.entry(name).columns if field.unit == "ratio"] for name in FINDINGS
}
"""Columns that are parts of a whole, of the findings that have some: half of them."""


@pytest.mark.repeats("every finding on drawn worlds")
@settings(max_examples=cases(6, 20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds(), crowd=st.lists(st.tuples(st.integers(0, 20), st.integers(1, 30)), max_size=5))
def test_no_share_is_more_than_the_whole(tables, crowd):
    """Whatever overlaps, and wherever it begins and ends."""
    for i, (begin, length) in enumerate(crowd):
        tables.add("track", source_id=0, name=f"worker {i}", kind="thread", records="execution")
        for name in ("MatchingFiles", "EagerPyFunc"):
            drawn = {"track_id": len(tables.rows["track"]) - 1, "name": f"f:{name}", "op_type": name}
            span = {"ts_ps": begin * UNIT, "dur_ps": length * UNIT}
            row = {"op_name": "f", "depth": 0, "self_ps": length * UNIT, **drawn, **span}
            tables.add("slice", source_id=0, **row)
    for name, rows in found(tables, tuple(name for name in FINDINGS if SHARES[name])).items():
        for row in rows:
            for share in SHARES[name]:
                assert row[share] is None or 0 <= row[share] <= 1, (name, share, row[share])


def test_far_from_peak():
    tables = made_recordings.an_op_far_from_its_peak()
    (row,) = rows_of("far_from_peak", tables)
    assert row["severity"] == "medium"
    assert row["impact_ps"] == 18 * UNIT_PS
    assert row["roof_share"] == 0.25
    assert (row["what"], row["limited_by"], row["executions"]) == ("aten::mm", "the arithmetic", 1)
    tables.rows["op_cost"][0].update(file="train.py", line=48)
    assert rows_of("far_from_peak", tables)[0]["what"] == "train.py:48"
    tables.add("broken_law", law="one_after_another", number=1, of_number=2, said="they overlap")
    assert not rows_of("far_from_peak", tables)


def test_products_without_tensor_cores():
    """Those that they compute are none, nor is any on a device whose tensor cores take no such floats."""
    tables = made_recordings.products_without_tensor_cores(2)
    (row,) = rows_of("products_without_tensor_cores", tables)
    took = [len(f"[{kernel}]") * UNIT_PS for kernel in SGEMM]
    assert (row["impact_ps"], row["kernels"], row["kernel"]) == (sum(took), 2, SGEMM[1].rstrip("."))
    (window_ps,) = {step["dur_ps"] for step in tables.rows["step_stored"]}
    assert row["share"] == pytest.approx(sum(took) / window_ps)
    tables.rows["device"][0]["args_json"] = '{"computeMajor":7}'
    assert not rows_of("products_without_tensor_cores", tables)


SGEMM = ("ampere_sgemm_128x64_tn", "sm80_xmma_gemm_f32f32_f32f32_f32_tn" + "." * 40)


def test_every_finding_was_made_to_speak():
    """A finding without a test that fires it does not get in."""
    programs = Path(__file__).parents[1] / "report" / "made_programs.py"  # fired by report/test_sentences.py
    files = (*Path(__file__).parent.glob("test_*.py"), programs)
    text = "".join(path.read_text(encoding="utf-8") for path in files)
    silent = [name for name in FINDINGS if f'"{name}"' not in text]
    assert silent == [], "test them here, or draw a program that has them in made_programs.py"


@settings(max_examples=cases(3, 60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds())
def test_twins_agree(tables):
    """What input_wait, device_idle, copies_in_steps and slow_step say, by brute force."""
    told = found(tables, ("input_wait", "host_sync", "device_idle", "copies_in_steps", "slow_step"))
    world = World(tables)
    kept = [step for step in tables.rows["step_stored"] if step["averaged"]]
    whole = sum(step["dur_ps"] for step in kept)
    parts = {step["id"]: [p for p in tables.rows["step_part"] if p["step_id"] == step["id"]] for step in kept}
    for name, wait in (("input_wait", "input"), ("host_sync", "device")):
        waited = sum(
            sum(p["dur_ps"] for p in parts[step["id"]] if p["label"] == "input")
            if wait == "input" and parts[step["id"]]
            else len(world.waited(step, wait)) * UNIT
            for step in kept
        )
        if wait == "device":  # a device that is busy meanwhile loses nothing
            busy = [p["dur_ps"] for step in kept for p in parts[step["id"]] if p["label"] in EXECUTES]
            waited = min(waited, whole - sum(busy))
        expected = [waited] if waited and waited * 10 >= whole else []
        assert [row["impact_ps"] for row in told.get(name, [])] == expected
    idle = []
    for (source, place, device), busy in world.by_device().items():
        window = world.length(source)
        free = window - len(busy) * UNIT
        if place == "device" and free * 5 >= window:
            idle.append((free, source, device))
    found_idle = [(row["impact_ps"], row["source_id"], row["device"]) for row in told.get("device_idle", [])]
    assert sorted(found_idle) == sorted(idle)
    copies: dict[str, list[int]] = {}
    for s, place in world.ops():
        if place == "device" and world.kind(s) not in WAITING:
            sums = copies.setdefault(world.device(s), [0, 0])
            sums[0] += s["self_ps"]
            sums[1] += s["self_ps"] if world.kind(s) == "copy" else 0
    expected_copies = {device: copy for device, (all_, copy) in copies.items() if copy and copy * 10 >= all_}
    assert {row["device"]: row["impact_ps"] for row in told.get("copies_in_steps", [])} == expected_copies
    slow = {}
    for kind in {step["kind"] for step in kept}:
        durs = sorted(step["dur_ps"] for step in kept if step["kind"] == kind)
        median = durs[(len(durs) + 1) // 2 - 1]
        above = sum(dur - median for dur in durs if dur > 2 * median)
        if len(durs) >= 4 and above and above * 20 >= whole:
            slow[kind] = above
    assert {row["kind"]: row["impact_ps"] for row in told.get("slow_step", [])} == slow
