"""What is said of programs on a GPU whose truth was measured beside the recording, without a profiler."""

from pathlib import Path

import stepscope
from stepscope.instruments.causes import ranking
from stepscope.instruments.step_breakdown import labels
from stepscope.report import summary
from stepscope.session.trace import open as open_trace

GPU = Path(__file__).parent.parent / "samples" / "gpu"
MS = 1_000_000_000


def test_staging_an_array_is_copying() -> None:
    """The program's thread waits in the call that needs the array, while threads of the runtime stage it.
    With the array on the device a step takes 1.85 ms."""
    with stepscope.open(GPU / "jax_uploads.xplane.pb.gz") as trace:
        (found,) = ranking.judge(trace.query)
    assert found.cause == "copy"
    assert found.share > 0.9
    assert abs(found.left_ps - 1.85 * MS) < 0.25 * 1.85 * MS


def test_kernels_of_a_cuda_graph_go_by_their_own_names() -> None:
    with stepscope.open(GPU / "jax_graph.xplane.pb.gz") as trace:
        (found,) = ranking.judge(trace.query)
        types = trace.query(
            "SELECT o.op_type, SUM(o.dur_ps) AS all_ps FROM op_slice AS o WHERE o.place = 'device' "
            "GROUP BY 1 ORDER BY 2 DESC"
        ).rows()
    assert found.cause == "none"
    assert 10 * MS < found.mean_ps < 11 * MS
    assert types[0][0] == "gemm_fusion_dot_general"
    assert len(types) > 5
    assert not any("command_buffer" in (op_type or "") for op_type, _ in types)


def test_calls_of_python_tell_the_place() -> None:
    """PyTorch traces them where it is asked for stacks; the table is moved in `step` itself."""
    with stepscope.open(GPU / "torch_uploads.json.gz") as trace:
        (found,) = ranking.judge(trace.query)
    assert found.cause == "copy"
    assert (found.place.file, found.place.function) == ("th.py", "step")


def test_an_op_of_many_kernels_stands_out_with_the_function_that_calls_it() -> None:
    """svdvals runs kernels of three kinds, none of which takes 40 % by itself; launching them goes, too.
    Without them a step takes 6.75 ms."""
    with stepscope.open(GPU / "torch_svd.json.gz") as trace:
        (found,) = ranking.judge(trace.query)
    assert (found.cause, found.op_type) == ("compute", "aten::_linalg_svd")
    assert found.op is not None
    assert "gesvdbj" in found.op
    assert (found.place.file, found.place.function) == ("th.py", "step")
    assert abs(found.left_ps - 6.75 * MS) < 0.25 * 6.75 * MS


def test_freeing_arrays_of_the_host_is_copying_when_it_takes_long() -> None:
    """JAX frees in its next call what the program has dropped since: 26 ms for 200 MB."""
    for dur_ps, label in ((MS // 10, "dispatch"), (26 * MS, "copy")):
        meaning = labels.slice_meaning("PythonRefManager::CollectGarbage", None, False, False, dur_ps)
        assert meaning.label == label


def test_a_host_that_runs_ahead_has_the_steps_of_its_device() -> None:
    """It launched the first 28 of 36 steps within 3 ms each, and then waited for its turn. The program took
    20.3 ms a step over 6 s."""
    with stepscope.open(GPU / "torch_runs_ahead.json.gz") as trace:
        (found,) = ranking.judge(trace.query)
        steps = trace.query("SELECT s.recovered_from, s.averaged FROM step AS s").rows()
    assert steps == [("device", True)] * 36
    assert abs(found.mean_ps - 20.3 * MS) < 0.05 * 20.3 * MS
    assert (found.cause, found.broken) == ("none", ())


def test_kernels_of_a_program_of_doubles_compute_with_doubles() -> None:
    """XLA launches them as one CUDA graph, so that they name no instruction. Without a profiler a step took
    12.6 to 14.0 ms, and 2.4 to 2.8 in 32 bits."""
    with open_trace(GPU / "jax_doubles.xplane.pb.gz", cache=False) as trace:
        (found,) = ranking.judge(trace.query)
        report = summary.build(trace)
    assert 12.6 * MS < found.mean_ps < 14.0 * MS
    assert found.doubles == 1
    assert report.headline[0].startswith("Ops run for 99.9 % of a step")
    assert [(one.slug, one.severity) for one in report.findings] == [("doubles-in-steps", "high")]
