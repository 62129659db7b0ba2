"""What tfprof takes from drawn traces: nodes by where ops lie, calls, kinds of events, steps."""

import json
from typing import Any

import stepscope
from stepscope.engines import Statement
from stepscope.instruments.tfprof import evidence
from tests import draw as drawing
from tests.draw import Tables


def draw(text: str, producer: str = "tf_profiler") -> Tables:
    """A drawing whose last line may be indented."""
    return drawing.draw(text.rstrip(), producer)


KINETO = """
step      train         : [ProfilerStep#0..............................................]
cpu/main  thread        : [ProfilerStep#0..............................................]
cpu/main  thread        :  [train.py(3): step.........................................]
cpu/main  thread        :   [nn.Module: Net_0......................] [fn]
cpu/main  thread        :    [forward..][aten::linear.............]
cpu/main  thread        :     [aten::a]  [aten::addmm..........]
cpu/main  thread        :                 [cudaLaunch#7]
gpu/s7    device_stream :                      [gemm#7....] [orphan#9]
"""


def kineto() -> Tables:
    tables = draw(KINETO, "kineto")
    for row in tables.rows["slice"]:
        name = row["name"]
        if name == "ProfilerStep":  # a drawing takes what follows # for the id of a launch
            row.update(name="ProfilerStep#0", correlation_id=None)
        row["category"] = (
            "cpu_op"
            if name.startswith("aten")
            else "python_function"
            if name.startswith(("nn.Module", "train.py", "fn"))
            else "cuda_runtime"
            if name.startswith("cuda")
            else "kernel"
            if row["track_id"] == 1
            else "user_annotation"
        )
        row["op_name"] = None
        row["op_type"] = name if row["category"] in ("cpu_op", "kernel") else None
    return tables


class Asked:
    """Drawn tables as what asks them."""

    def __init__(self, tables: Tables) -> None:
        self._connection = tables.connect()

    def query(self, asked: Statement) -> Any:
        answer = self._connection.execute(asked.sql)
        rows = answer.fetchall()

        class Rows:
            def rows(self) -> list[Any]:
                return rows

            def batches(self, size: int = 3) -> Any:
                return (rows[at : at + size] for at in range(0, len(rows), size))

        return Rows()


def test_where_an_op_lies_is_its_name_and_a_kernel_is_its_launchers() -> None:
    told = evidence.read(Asked(kineto()).query)
    assert sorted(told.nodes) == [
        "Net_0/aten::linear",
        "Net_0/aten::linear/aten::addmm",
        "Net_0/forward/aten::a",
        "orphan",
    ]
    addmm = told.nodes["Net_0/aten::linear/aten::addmm"]
    # 23 µs of its own, of which the launch takes 14; 12 of the kernel.
    assert addmm.steps == {0: [16_000_000, 1, 1, 9_000_000, 12_000_000, 0]}
    assert (addmm.device, addmm.accelerator, addmm.op) == ("cpu", "gpu", "aten::addmm")
    assert addmm.stack == (("train.py", 3, "step"), ("nn.Module", 0, "Net_0"))
    assert told.notes == ["1 slice of accelerators names no launch that was recorded; each has its own name"]


def test_code_has_a_node_for_each_call() -> None:
    tables = draw(
        """
        cpu/main thread : [a.py(1): f.......]   [b.py(2): g.......]
        cpu/main thread :   [aten::x]             [aten::x.....]
        """,
        "kineto",
    )
    for row in tables.rows["slice"]:
        is_op = row["name"].startswith("aten")
        row["category"] = "cpu_op" if is_op else "python_function"
        row["op_name"] = None
        row["op_type"] = row["name"] if is_op else None
    asked = Asked(tables)
    assert list(evidence.read(asked.query).nodes) == ["aten::x"]
    code = stepscope.tfprof(asked).code()
    assert [(node.name, node.own.micros) for node in code.children] == [("a.py:1:f", 9), ("b.py:2:g", 14)]
    assert code.total.micros == 23


def test_what_xplanes_tell_of_kinds_of_events() -> None:
    tables = draw(
        """
        step        train         : [train 0........][train 1........]
        gpu/Stream  device_stream :   [fusion.1:f]     [fusion.1:f]
        """
    )
    for row in tables.rows["slice"]:
        row.update(name="fusion.1", op_name="fusion.1", args_json='{"hlo_module":"jit_f"}')
    metadata = {"kind": "derived", "records": "annotation", "name": "event metadata"}
    track = tables.add("track", id=7, process="gpu", **metadata)
    tables.add(
        "instant",
        track_id=track["id"],
        name="fusion.1",
        category="event_metadata",
        kind="context",
        args_json=json.dumps(
            {
                "tf_op": "jit(f)/Dense_0/dot_general:",
                "source": "/src/train.py:12",
                "flops": 1000,
                "bytes_accessed": "64",
                "hlo_category": "convolution fusion",
            }
        ),
    )
    profile = stepscope.tfprof(Asked(tables))
    node = profile.scope().find("jit(f)/Dense_0/dot_general")
    assert (node.own.accelerator_micros, node.own.cpu_micros, node.own.runs) == (12, 0, 1)
    assert (node.own.float_ops, node.own.requested_bytes) == (1000, 64)
    assert node.types == ("convolution fusion", "gpu")
    assert [one.name for one in profile.code().children] == ["train.py:12:"]
    tables.rows["instant"].clear()
    assert profile.scope(step=1).find("jit(f)/Dense_0").total.float_ops == 1000
    assert "jit_f/fusion.1" in evidence.read(Asked(tables).query).nodes


def test_recursion_ends() -> None:
    deep = 300
    tables = Tables()
    tables.source(producer="unknown")
    tables.add("track", id=0, kind="thread", records="execution", process="p", name="t")
    calls = [{"track_id": 0, "name": "f", "ts_ps": at, "dur_ps": 10**7 - 2 * at} for at in range(deep)]
    tables.slices(0, calls)
    told = evidence.read(Asked(tables).query)
    assert len(told.nodes) == 200
    assert sum(one.steps[0][1] for one in told.nodes.values()) == deep
    assert sum(one.steps[0][3] for one in told.nodes.values()) == 10**7
    assert told.notes == ["100 slices lie below 200 levels; their names leave levels out"]


def test_what_lies_outside_of_steps_is_said() -> None:
    asked = Asked(
        draw(
            """
            step     train  :        [train 0.......]
            cpu/main thread : [a:A] [b:B]  [a:A]
            """
        )
    )
    told = evidence.read(asked.query)
    assert told.notes == ["2 executions (0.010 ms) lie outside of all steps and count in none"]
    tree = stepscope.tfprof(asked).scope()
    own = {node.name: (node.own.micros, node.own.runs) for node in tree.children}
    assert own == {"a": (5, 1), "b": (0, 0)}
