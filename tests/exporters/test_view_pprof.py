"""Views of tfprof as stacks: as wide as the totals of the view, and where its lines stand."""

import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope.cli import main
from stepscope.exporters import view_pprof
from stepscope.instruments.tfprof.tree import Figures, ViewNode
from tests import corpus

pytest.importorskip("google.protobuf", reason="protobuf's own parser is the reference")

from tests.exporters.test_pprof import PROFILE
from tests.tiers import cases

STEP = corpus.SAMPLES / "run_metadata" / "two_servers.pb"


def read(data: bytes) -> tuple[list[tuple[str, str]], Counter[tuple[tuple[str, ...], str]]]:
    """Kinds of values with their units; and values by stack (outermost first) and kind."""
    told = PROFILE.FromString(data)
    text = list(told.string_table)
    kinds = [(text[kind.type], text[kind.unit]) for kind in told.sample_type]
    names = {one.id: text[one.name] for one in told.function}
    frames = {one.id: names[one.line[0].function_id] for one in told.location}
    found: Counter[tuple[tuple[str, ...], str]] = Counter()
    for sample in told.sample:
        stack = tuple(frames[number] for number in reversed(sample.location_id))
        for (kind, _), value in zip(kinds, sample.value, strict=True):
            found[stack, kind] += value
    return kinds, found


@pytest.mark.parametrize("view", ["scope", "graph"])
@pytest.mark.parametrize("depth", [1, 3, 10_000])
def test_as_wide_as_the_totals(view: str, depth: int, tmp_path: Path) -> None:
    out = tmp_path / "view.pb.gz"
    words = ["-select", "micros,occurrence", "-max_depth", str(depth), "--pprof", str(out)]
    assert main(["tfprof", view, str(STEP), *words]) == 0
    kinds, found = read(gzip.decompress(out.read_bytes()))
    assert kinds == [("micros", "nanoseconds"), ("occurrence", "count")]
    root = getattr(stepscope.tfprof(STEP), view)(max_depth=depth, select="micros,occurrence")
    sums: Counter[str] = Counter()
    for (_, kind), value in found.items():
        sums[kind] += value
    assert sums == {"micros": root.total.micros * 1000, "occurrence": root.total.runs}
    assert max(len(stack) for stack, _ in found) <= depth + 1


def test_scopes_are_named_once_in_a_stack(tmp_path: Path) -> None:
    out = tmp_path / "view.pb"
    assert main(["tfprof", "scope", str(STEP), "-select", "micros", "--pprof", str(out)]) == 0
    _, found = read(out.read_bytes())
    nodes = {node.name: node for node in stepscope.tfprof(STEP).scope(max_depth=10).walk()}
    for (stack, _), value in found.items():
        node = nodes["/".join(stack[1:])]
        below = sum(child.total.micros for child in node.children)
        assert value == (node.total.micros - below) * 1000


@pytest.mark.parametrize(("figure", "each"), [("micros", 1000), ("params", 1), ("output_bytes", 1)])
def test_totals_are_those_of_tfprofs_own_output(
    figure: str, each: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-output pprof` of the code view has the bytes of TensorFlow's; --pprof has its sums."""
    theirs, ours = tmp_path / "theirs.pb.gz", tmp_path / "ours.pb.gz"
    words = ["-profile_path", str(corpus.path("tfprof/multistep/profile.pb")), "-select", figure]
    assert main(["tfprof", "code", *words, "-max_depth", "10000", "-output", f"pprof:outfile={theirs}"]) == 0
    assert main(["tfprof", "code", *words, "-max_depth", "10000", "--pprof", str(ours)]) == 0
    assert capsys.readouterr()
    told = PROFILE.FromString(gzip.decompress(theirs.read_bytes()))
    _, found = read(gzip.decompress(ours.read_bytes()))
    assert sum(found.values()) == sum(sample.value[1] for sample in told.sample) * each > 0


@pytest.mark.parametrize(
    ("words", "said"),
    [(["op"], "a list"), (["scope", "-select", "device"], "-select device"), (["advise"], "a list")],
)
def test_what_cannot_be_stacked(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "view.pb"
    assert main(["tfprof", words[0], str(STEP), *words[1:], "--pprof", str(out)]) == 2
    assert said in capsys.readouterr().err
    assert not out.exists()


def figures(params: int) -> Figures:
    return Figures(1, 1, 0, 0, 0, 0, 0, 0, 0, params, 0)


@st.composite
def trees(draw: st.DrawFn, level: int = 0) -> ViewNode:
    own = draw(st.integers(0, 9))
    children = draw(st.lists(trees(level + 1), max_size=3)) if level < 4 else []
    hidden = draw(st.integers(0, 3))
    total = own + hidden + sum(child.total.params for child in children)
    name = draw(st.sampled_from(["a", "b", "a/b"]))
    return ViewNode(
        name, True, figures(own), figures(total), level=level, children=children, select=("params",)
    )


@settings(max_examples=cases(20, 100))
@given(trees())
def test_drawn_trees_add_up(root: ViewNode) -> None:
    _, found = read(view_pprof.write("graph", root))
    wanted: Counter[tuple[tuple[str, ...], str]] = Counter()
    stack: list[str] = []
    for node in root.walk():
        del stack[node.level :]
        stack.append(node.name)
        value = node.total.params - sum(child.total.params for child in node.children)
        if value:
            wanted[tuple(stack), "params"] += value
    assert found == wanted
    assert sum(found.values()) == root.total.params
