"""What is said of programs on a GPU whose truth was measured beside the recording, without a profiler."""

from __future__ import annotations

from pathlib import Path

import stepscope
from stepscope.instruments.step_parts import judging

GPU = Path(__file__).parent.parent / "samples" / "gpu"
MS = 1_000_000_000


def test_staging_an_array_is_copying() -> None:
    """The program's thread waits in the call that needs the array, while threads of the runtime stage it.
    With the array on the device a step takes 1.85 ms."""
    with stepscope.open(GPU / "jax_uploads.xplane.pb.gz") as trace:
        (found,) = judging.judge(trace.query)
    assert found.cause == "copy"
    assert found.share > 0.9
    assert abs(found.left_ps - 1.85 * MS) < 0.25 * 1.85 * MS


def test_kernels_of_a_cuda_graph_go_by_their_own_names() -> None:
    with stepscope.open(GPU / "jax_graph.xplane.pb.gz") as trace:
        (found,) = judging.judge(trace.query)
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
        (found,) = judging.judge(trace.query)
    assert found.cause == "copy"
    assert found.place is not None
    assert (found.place.file, found.place.function) == ("th.py", "step")
