"""`stepscope tfprof` over traces: what the command line shows, and what it says of the rest."""

import re
from pathlib import Path

import pytest

import stepscope
from stepscope.cli import main
from stepscope.errors import UsageError
from tests import corpus


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(["tfprof", *words])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(corpus.SAMPLES / "chrome" / "kineto_cuda.json")
    code, out, err = run(capsys, "scope", path, "-select", "micros,params,occurrence,device")
    assert code == 0
    lines = [line for line in out.splitlines() if line.lstrip().startswith(("_TFProf", "aten", "Memcpy"))]
    # 52 µs of its own, and 8 µs of the launch in it.
    times = "180.13us/180.13us, 120.12us/120.12us, 60.00us/60.00us"
    assert lines[-1] == f"  aten::mm (0/0 params, {times}, cpu, 1/1|1/1)"
    assert "params counts nothing here: a trace contains no variables" in err
    code, out, err = run(capsys, "code", path)
    assert "No code trace information" in err
    assert "with_stack=True" in err
    code, _, err = run(capsys, "advise", path)
    assert (code, "checkers judge RunMetadata" in err) == (2, True)
    code, _, err = run(capsys, "graph", path)
    assert "no node has inputs" in err


def test_least_times_are_microseconds(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(corpus.SAMPLES / "chrome" / "kineto_cuda.json")
    shown = {}
    for least in (10, 11, 180, 181):
        _, out, _ = run(capsys, "scope", path, "-min_micros", str(least))
        shown[least] = [name for name in ("aten::mm", "Memcpy") if f"  {name}" in out]
    assert shown == {10: ["aten::mm", "Memcpy"], 11: ["aten::mm"], 180: ["aten::mm"], 181: []}


@pytest.mark.repeats("reads recordings that do not ship")
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
