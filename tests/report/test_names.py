"""Names as sentences hold them."""

from __future__ import annotations

from stepscope.report.names import told_apart

_KERNEL = "sm86_xmma_fprop_implicit_gemm_{}tf32f32_f32_nhwckrsc_nhwc_execute_kernel_cudnn_infer"


def test_kernels_that_would_be_shortened_to_the_same_are_told_apart():
    names = [_KERNEL.format(""), "MatMul", _KERNEL.format("indexed_")]
    assert told_apart(names) == [
        "sm86_xmma_fprop_…tf32f32_f32_nhwckrsc_nh",
        "MatMul",
        "sm86_xmma_fprop_…indexed_tf32f32_f32_nhw",
    ]
