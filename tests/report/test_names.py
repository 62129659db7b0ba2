"""Names as sentences hold them."""

from stepscope.code_lines import CodeLine
from stepscope.report.names import distinct_names, endings, line_of

_KERNEL = "sm86_xmma_fprop_implicit_gemm_{}tf32f32_f32_nhwckrsc_nhwc_execute_kernel_cudnn_infer"


def test_kernels_that_would_be_shortened_to_the_same_are_told_apart():
    names = [_KERNEL.format(""), "MatMul", _KERNEL.format("indexed_")]
    assert distinct_names(names) == [
        "sm86_xmma_fprop_…tf32f32_f32_nhwckrsc_n…",
        "MatMul",
        "sm86_xmma_fprop_…indexed_tf32f32_f32_nh…",
    ]


def test_a_kernel_is_called_by_more_than_that_its_namespace_has_no_name():
    kernel = "void (anonymous namespace)::multimem_all_reduce_kernel<16>(c10::BFloat16*, unsigned long)"
    assert distinct_names([kernel, "void (anonymous namespace)::k(int)"]) == [
        "multimem_all_reduce_kernel<16>(…)",
        "void (anonymous namespace)::k(int)",
    ]


def test_paths_of_windows_are_named_by_their_end() -> None:
    loss, step = r"D:\me\model\loss.py", r"D:\me\train\loss.py"
    assert endings([r"C:\me\model.py"]) == {r"C:\me\model.py": "model.py"}
    assert endings([loss, step]) == {loss: "model/loss.py", step: "train/loss.py"}
    assert line_of(CodeLine(loss, 7, "main")) == "loss.py:7"
    assert line_of(CodeLine("/me/odd\\name.py", 7, None)) == "odd\\name.py:7"


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
