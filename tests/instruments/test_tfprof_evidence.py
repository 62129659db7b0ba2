"""tfprof over traces: nodes and figures against brute force over the tables, and against other tools.

The twin knows nothing of the engine: it follows parent_id of each slice, adds up in dictionaries and takes
means as TensorFlow does: sums of the steps in which a node ran, divided by their number, without a rest.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import trace
from stepscope.cli import main
from stepscope.errors import UsageError
from stepscope.instruments.tfprof import evidence
from tests import corpus
from tests import draw as drawing
from tests.draw import Tables

RECORDINGS = [
    "jax/trace/plugins",
    "tf1/session_xplane",
    "tf1/dist_ps/timeline.json",
    "tf1/resnet14_ref/timeline_0005_df1_mem0.json",
    "tfdata/eager_loop_slow_map",
    "tfdata/keras_fit_slow_map",
    "torch/trace_full.json",
    "torch/trace_plain.json.gz",
    "accelerators/kineto-gpu/benchmark_result_493459_1694039959_trace.json.gz",
    "accelerators/kineto-gpu/sampled_rank-0.json.gz",
]
SAMPLES = [
    "chrome/kineto.json.gz",
    "chrome/kineto_cuda.json",
    "chrome/viztracer.json",
    "chrome/horovod.json",
    "chrome/jax.trace.json.gz",
    "profiler_hook/timeline-5.json",
    "tf_data/map_py_function.xplane.pb",
]
MARKS = ("gpu_user_annotation", "user_annotation", "cuda_sync", "overhead")
Sums = dict[str, dict[int, list[int]]]


def plain(name: str) -> str:
    return name.replace("/", "\N{DIVISION SLASH}")


def twin(query: Any) -> Sums:
    """By name and step: runs on hosts, runs on accelerators, ps on hosts, ps on accelerators."""
    columns = (
        "s.id, s.parent_id, s.source_id, s.name, s.category, s.op_name, s.op_type, s.step, s.self_ps,"
        " s.correlation_id, s.args_json, p.place, p.producer"
    )
    slices = {
        row[0]: row
        for row in query(
            f"SELECT {columns} FROM slice AS s JOIN track_place AS p ON p.track_id = s.track_id"
        ).rows()
    }
    steps = {name for (name,) in query("SELECT name FROM step").rows()}

    def is_op(row: Any) -> bool:
        category, place, producer = row[4] or "", row[11], row[12]
        if place == "device":
            return category not in MARKS
        if place not in ("host", "launch"):
            return False
        return (
            row[5] is not None
            or row[6] is not None
            or category in ("cpu_op", "Op")
            or (
                producer in ("horovod", "viztracer", "unknown")
                and category not in ("user_annotation", "python_function")
            )
        )

    def scopes(row: Any) -> list[str]:
        """What lies around a slice, and itself where it is part of a name."""
        found: list[str] = []
        while row is not None:
            name, category = row[3], row[4]
            if is_op(row):
                if row[5] is not None:
                    return [full(row), *found]
                found.insert(0, plain(name))
            elif category == "python_function" and name.startswith("nn.Module: "):
                found.insert(0, plain(name.removeprefix("nn.Module: ")))
            elif category == "user_annotation" and name not in steps and not name.startswith("ProfilerStep#"):
                found.insert(0, plain(name))
            row = slices.get(row[1])
        return found

    def full(row: Any) -> str:
        module = json.loads(row[10] or "{}").get("hlo_module") if row[10] else None
        return f"{module}/{row[5]}" if module else str(row[5])

    def within_op(row: Any) -> bool:
        while row is not None:
            if is_op(row):
                return True
            row = slices.get(row[1])
        return False

    launches = {
        (row[2], row[9]): row
        for row in slices.values()
        if row[9] is not None and row[11] in ("host", "launch") and not is_op(row)
    }
    sums: Sums = defaultdict(lambda: defaultdict(lambda: [0, 0, 0, 0]))
    for row in slices.values():
        if not is_op(row):
            continue
        step, on_device = row[7], row[11] == "device"
        if row[5] is not None:
            name = full(row)
        elif not on_device:
            name = "/".join(scopes(row))
        else:
            launch = launches.get((row[2], row[9]))
            around = scopes(launch) if launch else []
            if launch and launch[7] is not None:
                step = launch[7]
            if not (launch and ends_in_op(launch, slices, is_op)):
                around = [*around, plain(row[3])]
            name = "/".join(around)
        one = sums[name][-1 if step is None else step]
        one[on_device] += 1
        one[2 + on_device] += row[8]
    if not any(step >= 0 for one in sums.values() for step in one):
        return {name: {0: one[-1]} for name, one in sums.items()}
    return sums


def ends_in_op(row: Any, slices: dict[int, Any], is_op: Any) -> bool:
    """Whether the innermost thing around a launch that has part in names is an op."""
    row = slices.get(row[1])
    while row is not None:
        if is_op(row):
            return True
        if (row[4] == "python_function" and row[3].startswith("nn.Module: ")) or row[4] == "user_annotation":
            return False
        row = slices.get(row[1])
    return False


def means(sums: Sums) -> dict[str, tuple[int, int, int]]:
    """Runs, ps on hosts, ps on accelerators of the average step."""
    found = {}
    for name, steps in sums.items():
        inside = [one for step, one in steps.items() if step >= 0]
        count = len(inside)
        total = [sum(one[at] for one in inside) for at in range(4)]
        runs = sum(one[0] or one[1] for one in inside)
        found[name] = tuple(value // count if count else 0 for value in (runs, total[2], total[3]))
    return found  # type: ignore[return-value]


def ps(micros: float) -> int:
    return round(micros * 10**6)


def check(found: trace.Trace) -> None:
    wanted = means(twin(found.query))
    profile = stepscope.tfprof(found)
    nodes = {node.name: node for node in profile.scope().walk() if node.nodes}
    assert nodes.keys() == wanted.keys()
    for name, (runs, host_ps, device_ps) in wanted.items():
        own = nodes[name].own
        assert (own.runs, ps(own.cpu_micros), ps(own.accelerator_micros)) == (runs, host_ps, device_ps), name
        assert ps(own.micros) == host_ps + device_ps, name
    # Totals: everything whose name lies below, and nothing twice.
    for node in profile.scope().walk():
        below = [
            one
            for name, one in wanted.items()
            if node.level == 0 or name == node.name or name.startswith(node.name + "/")
        ]
        assert ps(node.total.micros) == sum(host + device for _, host, device in below), node.name
    types = profile.op()
    assert sum(ps(one.own.micros) for one in types.children) == ps(profile.scope().total.micros)
    # One step alone: sums, not means.
    step = max(step for one in twin(found.query).values() for step in one)
    alone = {node.name: node for node in stepscope.tfprof(found).scope(step=step).walk() if node.nodes}
    for name, steps in twin(found.query).items():
        assert ps(alone[name].own.micros) == sum(steps[step][2:] if step in steps else (0, 0)), name


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_against_brute_force(name: str) -> None:
    with trace.open(corpus.SAMPLES / name) as found:
        check(found)


@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_against_brute_force(name: str) -> None:
    with trace.open(corpus.path(name)) as found:
        check(found)


def test_a_timeline_and_its_run_metadata_count_alike() -> None:
    """TensorFlow's Timeline and tfprof say the same of a step, but for what the Timeline leaves out."""
    folder = corpus.path("tf1/resnet14_ref")
    with trace.open(folder / "timeline_0005_df1_mem0.json") as found:
        told = evidence.read(found.query).nodes
    engine = stepscope.tfprof(run_metadata=[folder / "run_meta_0005.pb"]).scope()
    nodes = {node.name: node for node in engine.walk() if node.nodes}
    shared = told.keys() & nodes.keys()
    assert len(shared) > 800
    for name in shared:
        if not told[name].steps:
            continue
        micros = sum(one[3] + one[4] for one in told[name].steps.values()) // 10**6
        # The Timeline ends an op when its executor is done with it, tfprof when its kernel is; and what took
        # less than a microsecond is 1 to tfprof.
        assert -1 <= micros - nodes[name].own.micros <= 5, name
        assert sum(one[1] for one in told[name].steps.values()) == nodes[name].own.runs, name


def test_self_times_are_those_of_torch() -> None:
    """PyTorch's own table of the same trace: self CPU time of ops, in its rounding."""
    folder = corpus.path("torch")
    with trace.open(folder / "trace_full.json") as found:
        nodes = evidence.read(found.query).nodes.values()
    own: dict[str, int] = defaultdict(int)
    calls: dict[str, int] = defaultdict(int)
    for node in nodes:
        own[node.op] += sum(one[3] for one in node.steps.values())
        calls[node.op] += sum(one[1] for one in node.steps.values())
    compared = 0
    averages = re.compile(
        r"\s*((?:aten::|[A-Z]\w+Backward\d)\S*)\s+\S+\s+([\d.]+)(us|ms)\s.*\s(\d+)\s+\S+\s*"
    )
    for line in (folder / "key_averages.txt").read_text().splitlines():
        row = averages.fullmatch(line)
        if row is None:
            continue
        wanted = float(row[2]) * {"us": 1, "ms": 1000}[row[3]]
        assert calls[row[1]] == int(row[4]), row[1]
        assert own[row[1]] / 10**6 == pytest.approx(wanted, rel=0.001), row[1]
        compared += 1
    assert compared >= 2


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

    def query(self, sql: str) -> Any:
        answer = self._connection.execute(sql)
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
    assert told.notes == ["1 slices of accelerators tell no launch that was recorded; each has its own name"]


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


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["tfprof", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(corpus.SAMPLES / "chrome" / "kineto_cuda.json")
    code, out, err = run(capsys, "scope", path, "-select", "micros,params,occurrence,device")
    assert code == 0
    lines = [line for line in out.splitlines() if line.lstrip().startswith(("_TFProf", "aten", "Memcpy"))]
    times = "172.13us/172.13us, 120.12us/120.12us, 52.00us/52.00us"
    assert lines[-1] == f"  aten::mm (0/0 params, {times}, cpu, 1/1|1/1)"
    assert "params counts nothing here: a trace tells no variables" in err
    code, out, err = run(capsys, "code", path)
    assert "No code trace information" in err
    assert "with_stack=True" in err
    code, _, err = run(capsys, "advise", path)
    assert (code, "checkers judge RunMetadata" in err) == (2, True)
    code, _, err = run(capsys, "graph", path)
    assert "every node stands alone" in err


def test_least_times_are_microseconds(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(corpus.SAMPLES / "chrome" / "kineto_cuda.json")
    shown = {}
    for least in (10, 11, 172, 173):
        _, out, _ = run(capsys, "scope", path, "-min_micros", str(least))
        shown[least] = [name for name in ("aten::mm", "Memcpy") if f"  {name}" in out]
    assert shown == {10: ["aten::mm", "Memcpy"], 11: ["aten::mm"], 172: ["aten::mm"], 173: []}


def test_a_graph_tells_what_a_trace_does_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = corpus.path("tf1/resnet14_ref")
    path, graph = str(folder / "timeline_0005_df1_mem0.json"), f"--graph_path={folder / 'graph.pb'}"
    code, out, err = run(
        capsys, "scope", path, graph, "-select", "params,micros", "-start_name_regexes", "unit_1_0"
    )
    assert code == 0
    assert "params counts nothing" not in err
    total = re.search(r"  unit_1_0 \(.*/([\d.]+k) params, .*/([\d.]+ms)", out)
    assert total
    alone = stepscope.tfprof(graph=folder / "graph.pb").scope(start_name_regexes=["unit_1_0"])
    assert f"{alone.find('unit_1_0').total.params / 1000:.2f}k" == total[1]


def test_a_closed_path_says_how_to_open_it() -> None:
    with pytest.raises(UsageError, match="no model"):
        stepscope.tfprof(corpus.SAMPLES / "chrome" / "kineto_cuda.json")
