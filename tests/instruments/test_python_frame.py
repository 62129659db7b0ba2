"""Python calls by the names that recorders give their slices."""

from stepscope.instruments import python_frame
from tests.each import each


@each(
    ("name", "frame"),
    [
        ("train.py(12): step", ("train.py", 12, "step")),
        ("torch/nn/modules/conv.py(564): forward", ("torch/nn/modules/conv.py", 564, "forward")),
        ("/a b/x(1).py(3): <module>", ("/a b/x(1).py", 3, "<module>")),
        ("aten::mm", None),
        ("f(x): y", None),
        ("<built-in method mm>", None),
        ("train.py(12): ", None),
        ("", None),
    ],
)
def test_pytorch(name: str, frame: python_frame.Frame | None) -> None:
    assert python_frame.pytorch_call(name) == frame
    assert python_frame.recorded_call(name) == frame


@each(
    ("name", "frame"),
    [
        ("$profiler.py:151 start_trace", ("profiler.py", 151, "start_trace")),
        ("$builtins isinstance", ("builtins", 0, "isinstance")),
        ("leaf (/src/prog.py:2)", ("/src/prog.py", 2, "leaf")),
    ],
)
def test_other_recorders(name: str, frame: python_frame.Frame) -> None:
    assert python_frame.recorded_call(name) == frame
    assert python_frame.pytorch_call(name) is None
