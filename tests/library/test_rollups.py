"""What the core adds up in one pass is what SQL says of the slices."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import stepscope
from tests import corpus
from tests.rollups import CALLED, TWINS, classed
from tests.tiers import cases, some

SAMPLES = (
    [corpus.SAMPLES / "tf_data" / "map_py_function.xplane.pb"]
    + [corpus.SAMPLES / name for name in ("chrome", "run_metadata", "xplane", "profiler_hook", "capture")]
    + [
        path
        for pattern in ("accelerators/*", "jax/*", "tf1/*", "torch/*", "xla/*")
        for path in corpus.files(pattern)
        if path.is_dir()
    ]
)
COLUMNS = {
    "rollup_op": "id, track_id, name, category, op_name, op_type, class, wait, layer, "
    "is_op, slices, total_ps, self_ps, op_self_ps, min_ps, max_ps",
    "rollup_device": "device_track_id, track_id, piece_id, busy_ps, work_ps, slices, gaps, most_gap_ps, "
    "short_gaps, short_gaps_ps, first_ps, last_ps",
    "rollup_step": "step_id, wait, waits, waited_ps",
}
_OBSERVED = " WHERE piece_id IN (SELECT piece_id FROM observed)"
"""Steps that are recordings of their own are judged beside other sources; the tables have all of them."""


def check(trace: stepscope.Trace) -> dict[str, int]:
    """Compares all rollups of a trace, and what slices are by the rules of the core and the places of the
    view track_place; the number of rows of each."""
    stored = "SELECT id, class, wait, layer, is_op FROM rollup_op ORDER BY id"
    called = classed(trace.query(CALLED).rows())
    assert trace.query(stored).rows() == [(row[0], *row[13:]) for row in called]
    counted = {}
    for table, twin in TWINS.items():
        columns = COLUMNS[table]
        chosen = _OBSERVED if table == "rollup_device" else ""
        found = trace.query(f"SELECT {columns} FROM {table}{chosen} ORDER BY ALL").rows()
        wanted = trace.query(f"SELECT {columns} FROM ({twin}) ORDER BY ALL").rows()
        assert found == wanted, table
        counted[table] = len(found)
    return counted


_LENT = """
WITH RECURSIVE above AS (
  SELECT s.id, s.parent_id, s.self_ps FROM slice AS s
  WHERE s.id NOT IN (SELECT slice_id FROM op_slice) AND s.id NOT IN (SELECT slice_id FROM wait_slice)
  UNION ALL
  SELECT a.id, s.parent_id, a.self_ps FROM above AS a INNER JOIN slice AS s ON s.id = a.parent_id
  WHERE a.parent_id NOT IN (SELECT slice_id FROM op_slice)
),
lent AS (SELECT parent_id AS id, SUM(self_ps) AS lent_ps FROM above GROUP BY parent_id)
SELECT s.id, s.op_self_ps, s.self_ps + l.lent_ps
FROM slice AS s
LEFT JOIN lent AS l ON l.id = s.id AND l.lent_ps > 0 AND s.id IN (SELECT slice_id FROM op_slice)
WHERE s.op_self_ps IS DISTINCT FROM CAST(s.self_ps + l.lent_ps AS BIGINT)
"""
"""Slices whose op_self_ps is not what climbing from every slice to the op around it gives."""


@pytest.mark.parametrize("path", some(SAMPLES, SAMPLES[:2], "an XPlane and Chrome traces tell as much"))
def test_recordings(path):
    try:
        trace = stepscope.open(path, cache=False)
        trace.query("SELECT count(*) FROM slice")
    except stepscope.errors.StepscopeError:
        pytest.skip("nothing in it that can be read")
    with trace:
        check(trace)
        if trace.query("SELECT count(*) FROM slice").rows()[0][0] <= 50_000:
            assert trace.query(_LENT).rows() == []


def test_there_is_something_of_everything():
    with stepscope.open(*SAMPLES[:6], cache=False) as trace:
        assert all(check(trace).values())
        classes = {c for (c,) in trace.query("SELECT DISTINCT class FROM rollup_op WHERE is_op").rows()}
        waits = {w for (w,) in trace.query("SELECT DISTINCT wait FROM rollup_op").rows()}
    assert {"compute", "copy", "wait"} <= classes
    assert {"input", "device", None} <= waits


NAMES = (
    "MatMul", "kernel", "ncclKernel", "all-reduce.1", "x_ALLREDUCE", "Memcpy HtoD", "MEMCPYHtoD", "QUEUE",
    "WAIT_FOR_DATA", "WAITxFORxDATA", "NEGOTIATE_ALLREDUCE", "IteratorGetNextOp::DoCompute",
    "IteratorGetNext", "infeed.1", "recv-done.3", "RecvTensor", "cudaStreamSynchronize",
    "StreamSynchronize", "a BlockUntilReady b", "x (wait for completion)", "enumerate(DataLoader)#_Single",
    "XlaCompile", "b:xla_compile", "ProfilerStep#3", "all-to-all", "reduce-scatter", "h\u00e9",
)  # fmt: skip
CATEGORIES = (
    "Op", "cpu_op", "kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "overhead", "user_annotation",
    "gpu_user_annotation", "python_function", "cuda_runtime", None,
)  # fmt: skip
OPS = (
    None, None, "MatMul", "_Recv", "RecvTensor", "IteratorGetNext", "QueueDequeueV2", "infeed", "recv-done",
    "OptionalGetValue", "NcclAllReduce", "HorovodAllgather", "CollectiveReduce", "_XlaCompile",
    "EagerPyFunc", "copy-start", "Memcpy", "all-gather.2", "collective-permute",
    "pure_callback", "debug_print",
)  # fmt: skip


@st.composite
def events(draw: st.DrawFn) -> list[dict[str, object]]:
    """A Chrome trace: processes with names of devices, threads, slices that nest and overlap."""
    found: list[dict[str, object]] = []
    processes = draw(st.lists(st.sampled_from([
        "/job:a/device:GPU:0 Compute", "/device:GPU:0/stream:all Compute", "/device:GPU:0/stream:1 Compute",
        "/device:GPU:0/memcpy Compute",
        "/host:CPU", "python", "GPU 0", "stream 7",
    ]), min_size=1, max_size=4))  # fmt: skip
    for pid, name in enumerate(processes):
        found.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
    for at in range(draw(st.integers(1, 40))):
        event: dict[str, object] = {
            "ph": "X",
            "name": draw(st.sampled_from(NAMES)),
            "pid": draw(st.integers(0, len(processes) - 1)),
            "tid": draw(st.integers(0, 2)),
            "ts": draw(st.integers(0, 500)),
            "dur": draw(st.sampled_from([0, 1, 3, 20, 60, 200])),
            "args": {},
        }
        if (category := draw(st.sampled_from(CATEGORIES))) is not None:
            event["cat"] = category
        if (op := draw(st.sampled_from(OPS))) is not None:
            event["args"] = {"name": f"layer{at % 3}/op", "op": op}
        found.append(event)
    for number in range(draw(st.integers(0, 3))):
        begin = number * draw(st.integers(80, 160))
        marks = {"name": f"ProfilerStep#{number}", "cat": "user_annotation", "ts": begin, "dur": 75}
        found.append({"ph": "X", "pid": 0, "tid": 9, **marks})
    return found


@given(events())
@settings(
    max_examples=cases(10, 100), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_drawn(tmp_path: Path, drawn):
    path = tmp_path / "drawn.json"
    path.write_text(json.dumps({"traceEvents": drawn}))
    with stepscope.open(path, cache=False) as trace:
        check(trace)
