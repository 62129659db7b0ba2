"""The table tfprof_node against the printed views: every line, every figure, written as tfprof writes it."""

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stepscope
from stepscope import library
from stepscope.cli import main
from stepscope.engines import Statement
from stepscope.errors import StepscopeError
from stepscope.instruments.tfprof import VIEWS, table
from stepscope.library.statements import statement
from stepscope.session import trace
from tests import corpus
from tests.asked import ask
from tests.instruments import tfprof_drawings as drawn
from tests.later import proto
from tests.tiers import cases, some

BYTES = ("requested_bytes", "peak_bytes", "residual_bytes", "output_bytes")
TIMES = ("ps", "accelerator_ps", "cpu_ps")
SELECT = "bytes,peak_bytes,residual_bytes,output_bytes,micros,params,float_ops,occurrence"
Row = dict[str, Any]


def scaled(value: int, *units: str) -> str:
    unit = 0
    while unit + 1 < len(units) and value >= 1000 ** (unit + 1):
        unit += 1
    return f"{value / 1000**unit:.2f}{units[unit]}" if unit else f"{value}{units[0]}"


def number(value: int) -> str:
    return scaled(value, "", "k", "m", "b")


def memory(value: int) -> str:
    return scaled(value, "B", "KB", "MB")


def clock(ps: int) -> str:
    if ps % 10**6 == 0:
        return scaled(ps // 10**6, "us", "ms", "sec")
    if 0 < ps < 10**4:
        return f"{ps / 10**6:.6f}us"
    for unit, size in (("sec", 10**12), ("ms", 10**9)):
        if ps >= size:
            return f"{ps / size:.2f}{unit}"
    return f"{ps / 10**6:.2f}us"


def line(row: Row) -> str:
    """A line of the scope, graph or code view."""
    is_root = row["depth"] == 0

    def pair(figure: str, write: Any) -> str:
        own = "--" if is_root else write(row[f"self_{figure}"])
        return f"{own}/{write(row[f'total_{figure}'])}"

    sizes = [pair(figure, memory) for figure in BYTES]
    times = [pair(figure, clock) for figure in TIMES]
    counts = [f"{pair('params', number)} params", f"{pair('float_ops', number)} flops"]
    if row["view"] == "code":
        parts = [*sizes, *times, *counts, "occurrence N/A in code view"]
    else:
        counts[:1] = [*([row["shape"]] if row["shape"] else []), counts[0]]
        own = "--" if is_root else "1"
        parts = [*counts, *sizes, *times, f"{pair('runs', number)}|{own}/{number(row['total_nodes'])}"]
    return f"{'  ' * row['depth']}{row['name']} ({', '.join(parts)})"


def share(text: str, shares: bool, own: int, total: int, whole: int) -> str:
    def percent(part: int) -> str:
        return f"{100.0 * part / whole:.2f}%" if whole else "-nan%" if not part else "inf%"

    both = (percent(total), percent(own)) if shares else ("0.00%", "0.00%")
    return f"{text} ({both[0]}, {both[1]})".rjust(30)


def type_line(row: Row, whole: Row) -> str:
    """A line of the op view."""
    parts = []
    for figure in BYTES:
        own, total = row[f"self_{figure}"], row[f"total_{figure}"]
        parts.append(share(memory(own), own > 0, own, total, whole[f"total_{figure}"]))
    for figure, write in (
        *((figure, clock) for figure in TIMES),
        ("params", lambda n: f"{number(n)} params"),
        ("float_ops", lambda n: f"{number(n)} float_ops"),
    ):
        own, total = row[f"self_{figure}"], row[f"total_{figure}"]
        parts.append(share(write(own), total > 0, own, total, whole[f"total_{figure}"]))
    parts.append(f"{row['self_runs']}|{row['self_nodes']}".rjust(10))
    return f"{row['name'].ljust(25)}{', '.join(parts)}"


def rows_of(path: Path, view: str | None = None) -> list[Row]:
    with trace.open(path) as found:
        answer = found.query("SELECT * FROM tfprof_node ORDER BY id")
        columns, rows = answer.columns, answer.rows()
    return [
        row for one in rows if (row := dict(zip(columns, one, strict=True)))["view"] == (view or row["view"])
    ]


def printed(capsys: pytest.CaptureFixture[str], path: Path, view: str) -> list[str]:
    code = main(["tfprof", view, str(path), "-max_depth", "2000000000", "-select", SELECT])
    out = capsys.readouterr().out
    assert code == 0
    body = out.partition("Profile:\n")[2].partition("\n======================End of Report")[0]
    return [text for text in body.splitlines()[1:] if text]


def check(capsys: pytest.CaptureFixture[str], path: Path) -> int:
    lines = 0
    everything = rows_of(path)
    assert [row["id"] for row in everything] == list(range(len(everything)))
    by_id = {row["id"]: row for row in everything}
    for view in VIEWS:
        rows = [row for row in everything if row["view"] == view]
        if view == "op":
            wanted = [type_line(row, rows[0]) for row in rows[1:]]
        else:
            wanted = [line(row) for row in rows]
        assert printed(capsys, path, view) == wanted, view
        for row in rows:
            above = by_id.get(row["parent_id"])
            if row["depth"] == 0:
                assert above is None
            else:
                assert (above["view"], above["depth"]) == (view, row["depth"] - 1)
                if view == "scope" and above["depth"]:
                    assert row["name"].startswith(f"{above['name']}/")
        lines += len(rows)
    return lines


NAMES = (
    "run_metadata/two_servers.pb", "run_metadata/xla_cluster.pb", "graph/small.pb", "chrome/kineto.json.gz",
    "chrome/kineto_cuda.json", "chrome/viztracer.json", "profiler_hook/timeline-5.json",
    "tf_data/map_py_function.xplane.pb",
)  # fmt: skip
# A graph alone, steps of two servers, and slices with kernels of a GPU.
DIFFER = ("run_metadata/two_servers.pb", "graph/small.pb", "chrome/kineto_cuda.json")
OTHERS = "the same views of other recordings"


@pytest.mark.parametrize("name", some(NAMES, DIFFER, OTHERS))
def test_samples(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, corpus.SAMPLES / name) > 3


@pytest.mark.repeats(OTHERS)
@pytest.mark.parametrize(
    "name", ["tf1/resnet14_ref", "tf1/dist_ps", "jax/trace/plugins", "torch/trace_full.json"]
)
def test_recordings(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, corpus.path(name)) > 50


@pytest.mark.repeats("drawn, beside the samples")
@settings(max_examples=cases(4, 30), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_drawn_models(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    dice = random.Random(seed)
    names = sorted({drawn.name(dice) for _ in range(dice.choice((1, 4, 12, 30)))})
    folder = tmp_path_factory.mktemp("model")
    (folder / "graph.pb").write_bytes(drawn.graph_of(dice, names).SerializeToString())
    (folder / "tfprof_log").write_bytes(drawn.log_of(dice, names).SerializeToString())
    for place in range(dice.choice((0, 1, 2))):
        (folder / f"run_{place}.pb").write_bytes(drawn.step_of(dice, names).SerializeToString())
    try:
        with trace.open(folder) as found:
            found.query("SELECT count(*) FROM source").rows()
    except StepscopeError:  # nothing of it was recognised: there is no table to ask
        return
    for view in VIEWS:
        try:
            tree = getattr(stepscope.tfprof(folder), view)()
        except StepscopeError:
            assert view == "code"
            assert not rows_of(folder, view)
            continue
        rows = rows_of(folder, view)
        wanted = [(node.name, node.level, "|".join(node.types), bool(node.nodes)) for node in tree.walk()]
        assert [(row["name"], row["depth"], row["op_types"], row["is_node"]) for row in rows] == wanted
        for kind in ("own", "total"):
            told = "self" if kind == "own" else "total"
            for node, row in zip(tree.walk(), rows, strict=True):
                figures = getattr(node, kind)
                for figure in ("runs", "params", "float_ops", *BYTES):
                    assert row[f"{told}_{figure}"] == getattr(figures, figure)
                assert row[f"{told}_nodes"] == figures.definitions
                for figure in ("micros", "accelerator_micros", "cpu_micros"):
                    column = figure.replace("micros", "ps")
                    assert row[f"{told}_{column}"] == getattr(figures, figure) * 10**6


@pytest.mark.parametrize("name", ["run_metadata/two_servers.pb", "chrome/kineto.json.gz"])
def test_the_analysis_gives_the_outermost_scopes(name: str) -> None:
    with trace.open(corpus.SAMPLES / name) as found:
        answer = found.ask(library.entry("cost_by_scope"))
        told = {row[0]: row[1:] for row in answer.rows()}
        tree = stepscope.tfprof(found if "kineto" in name else corpus.SAMPLES / name).scope()
    wanted = {
        node.name: (
            node.level,
            round(node.total.micros * 10**6),
            round(node.total.accelerator_micros * 10**6),
            node.total.params,
            node.total.float_ops,
            node.total.requested_bytes,
            node.total.runs,
        )
        for node in tree.walk()
        if node.level in (1, 2)
    }
    assert told == wanted
    assert len(wanted) > 3


@pytest.mark.repeats("lake/test_lake.py compares them for every table")
def test_a_lake_counts_slices(tmp_path: Path) -> None:
    path = corpus.SAMPLES / "chrome" / "kineto.json.gz"
    trace.ingest([path], tmp_path / "lake", run="kineto")
    wanted, found = (list(rows_of(one)) for one in (path, tmp_path / "lake"))
    # A lake numbers its sources by what they hold, a file alone is number 0: ids count on from there.
    first = min(row["id"] for row in found)
    assert min(row["id"] for row in wanted) == 0
    for row in found:
        row["id"] -= first
        row["parent_id"] = None if row["parent_id"] is None else row["parent_id"] - first
    assert [{**row, "source_id": None} for row in found] == [{**row, "source_id": None} for row in wanted]
    assert {row["made_from"] for row in found} == {"slices"}


def test_nothing_is_made_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("somebody asked")

    monkeypatch.setattr("stepscope.instruments.tfprof.table.parts", refuse)
    with trace.open(corpus.SAMPLES / "run_metadata" / "two_servers.pb") as found:
        assert found.query("SELECT count(*) FROM slice").rows()[0][0] > 0


@pytest.mark.parametrize(
    ("sql", "made"),
    [
        ("SELECT name FROM tfprof_node WHERE view = 'op'", ["op"]),
        ("SELECT n.name FROM tfprof_node AS n WHERE n.view = 'graph' AND n.self_ps > 0", ["graph"]),
        ("SELECT name FROM tfprof_node WHERE view = 'code'", ["code"]),
        ("SELECT * FROM tfprof_node WHERE view = 'scope'", ["scope"]),
        ("SELECT max(id) FROM tfprof_node WHERE view = 'graph'", ["scope", "graph"]),
        ("SELECT view, count(*) FROM tfprof_node GROUP BY view", list(VIEWS)),
        (statement("float_ops_of_run", run_id="two_servers"), ["op"]),
        (library.entry("parameter_servers").statement, ["scope"]),
        (library.entry("cost_by_scope").statement, ["scope"]),
    ],
)
def test_only_the_views_that_a_statement_asks_for_are_made(
    sql: str | Statement, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ids count through the views in their order, so that they ask for those before."""
    given: list[Any] = []
    parts = table.parts

    def kept(*asked: Any) -> list[Any]:
        given.extend(parts(*asked))
        return given

    monkeypatch.setattr(table, "parts", kept)
    with trace.open(corpus.SAMPLES / "run_metadata" / "two_servers.pb") as found:
        rows = found.query(sql).rows()
        assert [part.name for part in given if part.open(None, True).is_made] == [
            f"tfprof_{view}" for view in made
        ]
        found.query("SELECT * FROM tfprof_node").rows()
        assert sorted(found.query(sql).rows()) == sorted(rows)


@pytest.mark.repeats("only their number is new")
def test_many_nodes(tmp_path: Path) -> None:
    graph_pb2 = proto("core.framework.graph_pb2")
    graph = graph_pb2.GraphDef()
    count = 50_000
    for at in range(count):
        node = graph.node.add(name=f"a{at % 7}/b{at % 311}/c{at}", op="VarHandleOp")
        node.attr["shape"].shape.dim.add(size=3)
    (tmp_path / "graph.pb").write_bytes(graph.SerializeToString())
    sums = ask(
        tmp_path,
        "SELECT view, sum(self_params), max(total_params), count(*) FROM tfprof_node"
        " GROUP BY view ORDER BY view",
    )
    scopes = 7 + 7 * 311
    assert sums == [
        ("graph", 3 * count, 3 * count, count + 1),
        ("op", 3 * count, 3 * count, 2),
        ("scope", 3 * count, 3 * count, count + scopes + 1),
    ]


def test_servers_of_which_no_graph_tells_shapes_have_no_number_of_variables() -> None:
    """None is another answer than zero."""
    with trace.open(corpus.SAMPLES / "run_metadata" / "two_servers.pb") as found:
        rows = found.query(library.entry("parameter_servers").statement).rows()
    assert [row[2:4] for row in rows] == [(None, None), (None, None)]
