"""Names as sentences hold them."""

from __future__ import annotations

from stepscope.report.names import endings, told_apart

_KERNEL = "sm86_xmma_fprop_implicit_gemm_{}tf32f32_f32_nhwckrsc_nhwc_execute_kernel_cudnn_infer"


def test_kernels_that_would_be_shortened_to_the_same_are_told_apart():
    names = [_KERNEL.format(""), "MatMul", _KERNEL.format("indexed_")]
    assert told_apart(names) == [
        "sm86_xmma_fprop_…tf32f32_f32_nhwckrsc_nh",
        "MatMul",
        "sm86_xmma_fprop_…indexed_tf32f32_f32_nhw",
    ]


def test_paths_are_named_by_as_much_of_their_end_as_tells_them_apart() -> None:
    paths = ["/a/before/run", "/a/after/run", "/b/model.py", "train.py", "/x/a/l.py", "/y/a/l.py"]
    assert endings(paths) == {
        "/a/before/run": "before/run",
        "/a/after/run": "after/run",
        "/b/model.py": "model.py",
        "train.py": "train.py",
        "/x/a/l.py": "x/a/l.py",
        "/y/a/l.py": "y/a/l.py",
    }
    # One is the end of the other: it has no more.
    assert endings(["l.py", "/a/l.py"]) == {"l.py": "l.py", "/a/l.py": "a/l.py"}
