"""Arrows over devices and workers: a tensor's producer, the row of its transfer, the op that took it.

What is right is told by partition graphs, whose `_Recv` nodes name the edge, and for drawn steps by how they
were drawn.
"""

import io
import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.cli import main
from tests import corpus
from tests.formats import reference_step_stats as reference
from tests.tiers import cases

RECORDINGS = [
    Path(__file__).parent.parent / "samples/run_metadata/two_servers.pb",
    *corpus.files("tf1/dist_ps/run_meta.pb"),
]
ORIGIN_US = 10**15
Station = tuple[str, str, int]
"""Device, node (for a transfer its edge) and start in nanoseconds."""


def arrows(data: bytes) -> Counter[tuple[Station, ...]]:
    """The arrows of the core's tables."""
    store = reference.decode(data, "run_metadata")
    tracks = {row["id"]: row["process"] for row in store.rows("track")}
    origin_ns = store.facts["origin_unix_ns"] or 0
    slices = {}
    for row in store.rows("slice"):
        args = json.loads(row["args_json"] or "{}")
        name = args["edge"] if row["name"] == "RecvTensor" else row["name"]
        slices[row["id"]] = (tracks[row["track_id"]], name, row["ts_ps"] // 1000 + origin_ns)
    found: dict[int, list[Station]] = defaultdict(list)
    for row in store.rows("flow") if "flow" in store.tables() else ():
        found[row["flow_id"]].append(slices[row["slice_id"]])
    return Counter(tuple(stations) for stations in found.values())


def told_by_graphs(message: Any) -> Counter[tuple[Station, ...]]:
    """Every arrow of a step whose nodes ran once, by brute force over its partition graphs."""
    ran, transfers, edges = {}, {}, {}
    for entry in message.step_stats.dev_stats:
        for row in entry.node_stats:
            start_ns = row.all_start_nanos or 1000 * row.all_start_micros
            if row.node_name == "RecvTensor":
                edge, sender = re.search(r"(\S+) from (\S+) to ", row.timeline_label).groups()  # type: ignore[union-attr]
                transfers[edge] = (sender, (entry.device, edge, start_ns))
            else:
                key = (entry.device, row.node_name)
                assert key not in ran
                ran[key] = (row.timeline_label, (entry.device, row.node_name, start_ns))
    for graph in message.partition_graphs:
        for node in graph.node:
            if node.op == "_Recv":
                edges[node.attr["recv_device"].s.decode(), node.name] = node.attr["tensor_name"].s.decode()
    found: Counter[tuple[Station, ...]] = Counter()
    for (device, _), (label, station) in ran.items():
        for name in label.rpartition("(")[2].rstrip(")").split(", "):
            node = name.lstrip("^").partition(":")[0]
            if (device, node) in ran:
                found[ran[device, node][1], station] += 1
            elif edge := edges.get((device, node)):
                sender, passed = transfers[edge]
                found[ran[sender, edge.split("_", 2)[2]][1], passed, station] += 1
    return found


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_arrows_are_those_of_the_partition_graphs(path: Path) -> None:
    message = reference.run_metadata(path.read_bytes())
    expected = told_by_graphs(message)
    assert sum(count for stations, count in expected.items() if len(stations) == 3) == 8
    assert arrows(path.read_bytes()) == expected
    # Without the graphs the names tell the same.
    del message.partition_graphs[:]
    assert arrows(message.SerializeToString()) == expected


@dataclass
class Step:
    """A drawn step of several workers."""

    message: Any
    arrows: Counter[tuple[Station, ...]] = field(default_factory=Counter)
    ambiguous: bool = False
    """Whether names alone cannot tell which of several transfers was taken."""


@st.composite
def steps(draw: st.DrawFn) -> Step:
    """Ops on workers that take outputs of each other, some of them in several rounds, as a loop runs them."""
    count = draw(st.integers(1, 4))
    devices = [f"/job:{'ps' if i else 'worker'}/replica:0/task:{i}/device:CPU:0" for i in range(count)]
    nodes = []
    for i in range(draw(st.integers(1, 9))):
        earlier = st.tuples(st.integers(0, i - 1), st.integers(0, 2)) if i else st.nothing()
        inputs = draw(st.lists(earlier, max_size=3, unique=True)) if i else []
        nodes.append((draw(st.sampled_from(devices)), inputs))
    message = reference.RunMetadata()
    ops = {device: message.step_stats.dev_stats.add(device=device) for device in devices}
    received = {device: message.step_stats.dev_stats.add(device=device) for device in devices}
    graphs = {device: message.partition_graphs.add() for device in devices}
    # One edge and one _Recv for each output that a device takes from another.
    edges: dict[tuple[int, int, str], tuple[str, str]] = {}
    for device, inputs in nodes:
        for node, slot in inputs:
            key = (node, slot, device)
            if nodes[node][0] != device and key not in edges:
                number = len(edges) + 3
                edge = f"edge_{number}_scope_{node}/op"
                taker = f"scope_{node}/op{draw(st.sampled_from(('_S', '/_')))}{2 * number + 1}"
                edges[key] = (edge, taker)
                recv = graphs[device].node.add(name=taker, op="_Recv")
                recv.attr["tensor_name"].s = edge.encode()
                recv.attr["recv_device"].s = device.encode()
    of_names = Counter((node, device) for node, _, device in edges)
    step = Step(message, ambiguous=max(of_names.values(), default=0) > 1)
    now = ORIGIN_US
    for _ in range(draw(st.integers(1, 3))):
        ended: dict[int, int] = {}
        stations: dict[int, Station] = {}
        arrived: dict[tuple[int, int, str], tuple[int, Station]] = {}
        begin = now
        for i, (device, inputs) in enumerate(nodes):
            ready, texts, ways = begin, [], []
            for node, slot in inputs:
                if nodes[node][0] == device:
                    ready = max(ready, ended[node])
                    texts.append(f"scope_{node}/op" + (f":{slot}" if slot else ""))
                    ways.append((stations[node],))
                    continue
                key = (node, slot, device)
                edge, taker = edges[key]
                if key not in arrived:
                    # The row spans the wait for the tensor as well.
                    start = draw(st.integers(begin, ended[node] + 5))
                    end = max(ended[node], start) + draw(st.integers(1, 9))
                    received[device].node_stats.add(
                        node_name="RecvTensor",
                        all_start_micros=start,
                        all_end_rel_micros=end - start,
                        timeline_label=f"[1B] [1.0Mb/s] {edge} from {nodes[node][0]} to {device}",
                    )
                    arrived[key] = (end, (device, edge, 1000 * start))
                end, station = arrived[key]
                ready = max(ready, end)
                texts.append(taker)
                ways.append((stations[node], station))
            start, dur = ready + draw(st.integers(0, 9)), draw(st.integers(1, 9))
            name = f"scope_{i}/op"
            ops[device].node_stats.add(
                node_name=name,
                all_start_micros=start,
                all_end_rel_micros=dur,
                op_end_rel_micros=dur,
                timeline_label=f"{name} = Add({', '.join(texts)})",
            )
            ended[i], stations[i] = start + dur, (device, name, 1000 * start)
            for way in ways:
                step.arrows[(*way, stations[i])] += 1
            now = max(now, start + dur)
        now += 1
    return step


@settings(max_examples=cases(40, 150), deadline=None)
@given(steps())
def test_drawn_steps(step: Step) -> None:
    assert arrows(step.message.SerializeToString()) == step.arrows
    del step.message.partition_graphs[:]
    by_name = arrows(step.message.SerializeToString())
    if not step.ambiguous:
        assert by_name == step.arrows
        return

    def ends(found: Counter[tuple[Station, ...]]) -> Counter[Any]:
        return Counter({(way[0], len(way), way[-1]): 0 for way in found}) + Counter(
            (way[0], len(way), way[-1]) for way in found.elements()
        )

    # Outputs of a node share its name: the row may be that of another output, never of another node.
    taken = {way[1][1] for way in by_name if len(way) == 3 and way[-1] in {one[-1] for one in step.arrows}}
    assert taken <= {way[1][1] for way in step.arrows if len(way) == 3}
    for way, number in ends(step.arrows).items():
        assert ends(by_name)[way] >= number


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.stem)
def test_the_export_draws_them(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "t.json"
    assert main(["export", str(path), "-o", str(out)]) == 0
    events = json.load(io.BytesIO(out.read_bytes()))["traceEvents"]
    rows = [one for one in events if one["ph"] == "X"]
    expected = told_by_graphs(reference.run_metadata(path.read_bytes()))
    by_id: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for one in events:
        if one["ph"] in "stf":
            by_id[one["id"]].append(one)
    assert Counter(len(stations) for stations in by_id.values()) == Counter(map(len, expected.elements()))
    for stations in by_id.values():
        stations.sort(key=lambda one: one["ts"])
        assert [one["ph"] for one in stations] in (["s", "f"], ["s", "t", "f"])
        for one in stations:
            assert any(
                (row["pid"], row["tid"]) == (one["pid"], one["tid"])
                and row["ts"] - 1e-6 <= one["ts"] <= row["ts"] + row["dur"] + 1e-6
                for row in rows
            )
