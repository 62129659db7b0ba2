"""Levels of a graph: every node is in one box, every edge is drawn or inside of one, whatever is open."""

import itertools
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.errors import LimitReached
from stepscope.instruments.graphs import Hierarchy, level
from stepscope.instruments.graphs.hierarchy import _node_values
from stepscope.instruments.graphs.level import HEIGHT

parts = st.sampled_from(["a", "b", "conv", "conv_1", "relu", "x"])
names = st.lists(parts, min_size=1, max_size=4).map("/".join)
graphs = st.lists(names, min_size=1, max_size=30, unique=True).flatmap(
    lambda nodes: st.tuples(
        st.just(nodes), st.lists(st.tuples(st.sampled_from(nodes), st.sampled_from(nodes)), max_size=40)
    )
)


def made(nodes: list[str], edges: list[tuple[str, str]]) -> Hierarchy:
    times = {name: 10 * (number + 1) for number, name in enumerate(nodes)}
    return Hierarchy([(name, name.rpartition("/")[2], "/cpu:0") for name in nodes], edges, times)


def scopes(nodes: list[str]) -> list[str]:
    return sorted({name.rsplit("/", cut)[0] for name in nodes for cut in range(1, name.count("/") + 1)})


@given(graphs, st.data(), st.booleans())
def test_nothing_is_lost_whatever_is_open(
    graph: tuple[list[str], list[tuple[str, str]]], data: st.DataObject, fold: bool
) -> None:
    nodes, edges = graph
    hierarchy = made(nodes, edges)
    every = scopes(nodes)
    opened = data.draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    seen = level(hierarchy, opened, fold=fold)
    assert sum(box.nodes for box in seen.boxes) == len(nodes)
    assert (
        sum(box.time_ps for box in seen.boxes)
        == hierarchy.root.time_ps
        == sum(10 * (number + 1) for number in range(len(nodes)))
    )
    assert sum(edge.count for edge in seen.edges) + seen.inside == len(hierarchy.edges)
    assert len(hierarchy.edges) + hierarchy.dangling == len(edges)
    assert len({box.path for box in seen.boxes}) == len(seen.boxes)
    for one, other in itertools.combinations(seen.boxes, 2):
        apart = one.x + one.width <= other.x + 0.01 or other.x + other.width <= one.x + 0.01
        assert apart or abs(one.y - other.y) >= HEIGHT


@given(graphs)
def test_with_all_open_every_node_is_a_box(graph: tuple[list[str], list[tuple[str, str]]]) -> None:
    nodes, edges = graph
    seen = level(made(nodes, edges), scopes(nodes), fold=False)
    assert sorted(box.path for box in seen.boxes) == sorted(nodes)
    boxes = [box.path for box in seen.boxes]
    drawn = Counter({(boxes[edge.producer], boxes[edge.consumer]): edge.count for edge in seen.edges})
    assert drawn == Counter((a, b) for a, b in edges if a != b)


def blocks(count: int) -> Hierarchy:
    nodes = [f"layer_{n}/{op}" for n in range(count) for op in ("MatMul", "Relu")] + ["loss"]
    edges = [(f"layer_{n}/MatMul", f"layer_{n}/Relu") for n in range(count)]
    edges += [(f"layer_{n}/Relu", f"layer_{n + 1}/MatMul") for n in range(count - 1)]
    return made(nodes, [*edges, (f"layer_{count - 1}/Relu", "loss")])


def test_blocks_that_are_alike_are_one_box_until_one_is_opened() -> None:
    seen = level(blocks(12), [])
    assert sorted((box.name, box.copies, box.nodes) for box in seen.boxes) == [
        ("layer_0", 12, 24),
        ("loss", 1, 1),
    ]
    opened = level(blocks(12), ["layer_3"])
    assert len(opened.boxes) == 11 + 2 + 1
    assert len(level(blocks(12), [], fold=False).boxes) == 13


def test_edges_point_down() -> None:
    seen = level(blocks(5), [f"layer_{n}" for n in range(5)])
    for edge in seen.edges:
        assert seen.boxes[edge.producer].y < seen.boxes[edge.consumer].y


def test_a_search_and_the_way_between_two_nodes() -> None:
    graph = blocks(4)
    assert graph.search("RELU", 2) == (["layer_0/Relu", "layer_1/Relu"], 4)
    way = graph.way("layer_0/MatMul", "layer_2/MatMul")
    assert way == ["layer_0/MatMul", "layer_0/Relu", "layer_1/MatMul", "layer_1/Relu", "layer_2/MatMul"]
    assert graph.way("layer_2/MatMul", "layer_0/MatMul") == way[::-1]
    assert graph.way("loss", "nothing") == []


def test_too_many_boxes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = made([f"n{n}" for n in range(500)], [])
    assert len(level(graph, []).boxes) == 500
    monkeypatch.setitem(level.__globals__, "MOST_BOXES", 499)
    with pytest.raises(LimitReached, match="too many boxes"):
        level(graph, [])


@given(graphs)
def test_flat_is_every_node_and_no_scope(graph: tuple[list[str], list[tuple[str, str]]]) -> None:
    nodes, edges = graph
    seen = level(made(nodes, edges), [], flat=True)
    assert sorted(box.path for box in seen.boxes) == sorted(nodes)
    assert {box.nodes for box in seen.boxes} == {1}
    assert sum(edge.count for edge in seen.edges) == sum(a != b for a, b in edges)
    assert (seen.inside, seen.outside) == (0, 0)


@given(graphs, st.data(), st.booleans())
def test_within_a_scope_are_its_nodes(
    graph: tuple[list[str], list[tuple[str, str]]], data: st.DataObject, flat: bool
) -> None:
    nodes, edges = graph
    hierarchy = made(nodes, edges)
    name = data.draw(st.sampled_from([*nodes, *scopes(nodes)]))
    seen = level(hierarchy, [], flat=flat, within=hierarchy.scope(name))
    inside = {one for one in nodes if one == name or one.startswith(f"{name}/")}
    assert sum(box.nodes for box in seen.boxes) == len(inside)
    between = [(a, b) for a, b in edges if a != b and a in inside and b in inside]
    assert sum(edge.count for edge in seen.edges) + seen.inside == len(between)
    assert seen.outside == sum(a != b for a, b in edges) - len(between)


def test_a_layer_of_many_takes_several_rows() -> None:
    """20,000 nodes that nothing connects: a picture, not a line of two kilometres."""
    nodes = [f"apply_{n}" for n in range(20_000)]
    seen = level(made([*nodes, "train"], [(name, "train") for name in nodes]), [])
    wide = max(box.x + box.width for box in seen.boxes)
    high = max(box.y for box in seen.boxes) + HEIGHT
    assert wide < 8 * high
    last = next(box for box in seen.boxes if box.path == "train")
    assert max(box.y for box in seen.boxes if box is not last) + HEIGHT < last.y
    rows: dict[float, list[tuple[float, float]]] = {}
    for box in seen.boxes:
        rows.setdefault(box.y, []).append((box.x, box.x + box.width))
    for row in rows.values():
        row.sort()
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(row))


def test_names_nested_deeper_than_calls() -> None:
    """Scopes beyond the 32nd stay part of the name, or their paths would take a terabyte here."""
    deep = "/".join("s" for _ in range(1_000_000))
    seen = level(made([deep, "s/a"], [(deep, "s/a")]), [])
    assert [(box.path, box.nodes) for box in seen.boxes] == [("s", 2)]
    opened = level(made([deep], []), ["/".join("s" * count) for count in range(1, 33)])
    assert [(box.path, box.nodes, box.can_open) for box in opened.boxes] == [(deep, 1, False)]


def test_memory_and_clusters_add_up() -> None:
    nodes = [("a/x", "X", ""), ("a/y", "Y", ""), ("b", "B", "")]
    sizes, clusters = {"a/x": 3, "a/y": 4, "b": 5}, {"a/x": "cluster_0", "a/y": "cluster_1"}
    graph = Hierarchy(nodes, [], None, sizes, clusters)
    told = {box.path: (box.output_bytes, box.cluster) for box in level(graph, []).boxes}
    assert told == {"a": (7, "several"), "b": (5, "")}
    told = {box.path: (box.output_bytes, box.cluster) for box in level(graph, ["a"]).boxes}
    assert told == {"a/x": (3, "cluster_0"), "a/y": (4, "cluster_1"), "b": (5, "")}


def test_ops_of_an_inlined_function_are_those_of_its_graph() -> None:
    names = {"dense/MatMul", "dense/Relu", "Cast", "loss"}
    told = {
        "StatefulPartitionedCall/dense/MatMul": 5,
        "StatefulPartitionedCall/PartitionedCall/dense/MatMul": 1,
        "StatefulPartitionedCall/Cast": 2,
        "Cast": 70,  # of the input
    }
    assert _node_values(names, told) == {"dense/MatMul": 6, "Cast": 2}
    assert _node_values({"dense/MatMul", "Cast", "loss"}, {**told, "loss": 1}) == {**told, "loss": 1}
    loop = {"lstm/while/body/_1/lstm/while/MatMul": 3, "lstm/while": 1, "lstm/whileas": 2}
    found = _node_values({"lstm/while"}, loop, frozenset({"lstm/while"}))
    assert found == {"lstm/while": 4, "lstm/whileas": 2}
