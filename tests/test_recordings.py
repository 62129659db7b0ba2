"""What the library says of real recordings whose truth is known: the causes found, and no others."""

from __future__ import annotations

import json

import pytest

import stepscope
from stepscope import library
from tests import corpus

MS = 10**9
CASES = corpus.files("tfdata/*/truth.json")
OTHERS = [
    path.parent if path.name.endswith(".xplane.pb") else path
    for pattern in (
        "events/*/**/*.xplane.pb",
        "jax/**/*.xplane.pb",
        "jax/**/*.trace.json.gz",
        "xla/profile_jit/**/*.xplane.pb",
        "tf1/session_xplane/**/*.xplane.pb",
        "tf1/*/timeline*.json",
        "tf1/*/run_meta_00*.pb",
        "torch/*.json*",
        "accelerators/kineto-gpu/*.gz",
    )
    for path in corpus.files(pattern)
]


def findings(trace: stepscope.Trace) -> dict[str, list[tuple]]:
    """Rows by finding."""
    asked = [library.entry(name) for name in library.names("finding")]
    told = zip(asked, trace.answers(asked), strict=True)
    return {entry.name: rows for entry, rows in told if rows}


@pytest.mark.parametrize("truth", CASES, ids=lambda path: path.parent.name)
def test_pipelines(truth):
    """Steps, Keras' without marks among them, are as many and as long as the program itself measured;
    waiting for input is found where it holds the job up, and nowhere else."""
    told = json.loads(truth.read_text())
    traced = told["step_ms_traced"]
    with stepscope.open(truth.parent, cache=False) as trace:
        trace.keep(("track_place", "step_window", "op_sum", "device_sum", "track_sum", "step_wait"))
        steps = trace.query("SELECT dur_ps, recovered_from FROM step ORDER BY ts_ps").rows()
        found = findings(trace)
    assert len(steps) == len(traced)
    for (dur_ps, _), ms in zip(steps[:-1], traced[:-1], strict=True):
        assert dur_ps / MS == pytest.approx(ms, rel=0.05, abs=1.5)
    mean = sum(dur for dur, _ in steps) / len(steps) / MS
    assert mean == pytest.approx(sum(traced) / len(traced), rel=0.02)
    evidence = "function_call" if told["api"] == "keras" else "marker"
    assert {source for _, source in steps} == {evidence}

    expected = {"input_wait"} if told["expected_bound"] else set()
    expected |= {"matching_files"} if told["bottleneck"] == "matching_files" else set()
    expected |= {"python_in_pipeline"} if "pyfunction" in told["case"] else set()
    # Where the model itself computes, one type of op may take most of that.
    assert set(found) - {"slow_step"} - (set() if expected else {"dominant_op"}) == expected


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_others(path):
    """Every question is answered, findings have a weight, and only recordings without marks lack steps."""
    with stepscope.open(path, cache=False) as trace:
        trace.keep(("track_place", "step_window", "op_sum", "device_sum", "track_sum", "step_wait"))
        trace.answers([library.entry(name) for name in library.names("analysis")])
        found = findings(trace)
        hidden = trace.query("SELECT COUNT(*) FROM slice WHERE self_ps < 0 OR dur_ps < 0").rows()
    assert hidden == [(0,)]
    assert all(row[0] in ("high", "medium", "low", "info") for rows in found.values() for row in rows)
    assert all(row[1] >= 0 for rows in found.values() for row in rows)
    unmarked = ("trace_plain", "benchmark_result")
    assert ("no_steps" in found) == any(part in path.name for part in unmarked)
    assert ("compile_step" in found) == ("xla_autocluster" in str(path) and "_0000" in path.name)
    assert not {"incomplete_source", "capped_trace", "rows_are_launches", "recompilation"} & set(found)
