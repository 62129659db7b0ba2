"""tfprof over traces against brute force over the tables, and against other tools.

The twin knows nothing of the engine: it follows parent_id of each slice, adds up in dictionaries and takes
means as TensorFlow does: sums of the steps in which a node ran, divided by their number, without a rest.
"""

import json
import re
from collections import defaultdict
from typing import Any

import pytest

import stepscope
from stepscope.instruments.tfprof import evidence
from stepscope.session import trace
from tests import corpus
from tests.tiers import some

RECORDINGS = [
    "jax/trace/plugins", "tf1/session_xplane", "tf1/dist_ps/timeline.json",
    "tf1/resnet14_ref/timeline_0005_df1_mem0.json", "tfdata/eager_loop_slow_map", "tfdata/keras_fit_slow_map",
    "torch/trace_full.json", "torch/trace_plain.json.gz",
    "accelerators/kineto-gpu/benchmark_result_493459_1694039959_trace.json.gz",
    "accelerators/kineto-gpu/sampled_rank-0.json.gz",
]  # fmt: skip
SAMPLES = [
    "chrome/kineto.json.gz", "chrome/kineto_cuda.json", "chrome/viztracer.json", "chrome/horovod.json",
    "chrome/jax.trace.json.gz", "profiler_hook/timeline-5.json", "tf_data/map_py_function.xplane.pb",
]  # fmt: skip
MARKS = ("gpu_user_annotation", "user_annotation", "cuda_sync", "xpu_sync", "overhead", "python_function")
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
                and not (producer == "horovod" and len(row[3]) <= 3)  # ranks that are ready
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

    made_of = {
        (source, program, name): op_name
        for source, program, name, op_name in query(
            "SELECT source_id, program_id, name, op_name FROM hlo_instruction"
        ).rows()
    }

    def full(row: Any) -> str:
        told = json.loads(row[10] or "{}")
        module = made_of.get((row[2], str(told.get("program_id")), row[5])) or told.get("hlo_module")
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
    waits = {id for (id,) in query("SELECT slice_id FROM wait_slice").rows()}
    own = {id: row[8] for id, row in slices.items()}
    for row in slices.values():
        if is_op(row) or row[0] in waits:
            continue
        above = slices.get(row[1])
        while above is not None and not is_op(above):
            above = slices.get(above[1])
        if above is not None:
            own[above[0]] += row[8]  # what lies in an op, and is neither an op nor a wait, is its time
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
        one[2 + on_device] += own[row[0]]
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


def check(found: trace.OpenTrace) -> None:
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


# Kernels with their launches, Python beside ops, and ops of the same step on many threads.
DIFFER = ("chrome/kineto_cuda.json", "chrome/jax.trace.json.gz", "tf_data/map_py_function.xplane.pb")
OTHERS = "the same sums of other recordings"


@pytest.mark.repeats("drawn trees are compared beside it")
@pytest.mark.parametrize("name", some(SAMPLES, DIFFER, OTHERS))
def test_samples_against_brute_force(name: str) -> None:
    with trace.open(corpus.SAMPLES / name) as found:
        check(found)


@pytest.mark.repeats(OTHERS)
@pytest.mark.parametrize("name", RECORDINGS)
def test_recordings_against_brute_force(name: str) -> None:
    with trace.open(corpus.path(name)) as found:
        check(found)


@pytest.mark.repeats("reads recordings that do not ship")
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


@pytest.mark.repeats("reads recordings that do not ship")
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
