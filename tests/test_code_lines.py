"""Whose line it is that made an op, or took memory."""

import pytest

from stepscope.code_lines import CodeLine, innermost, is_framework, is_framework_or_library

PXLA = "/v/lib/python3.11/site-packages/jax/_src/interpreters/pxla.py"


@pytest.mark.parametrize(
    ("files", "own"),
    [
        (("/home/me/train.py", PXLA), "/home/me/train.py"),
        (("/home/me/jax/train.py", "/home/me/jax/models/net.py", PXLA), "/home/me/jax/models/net.py"),
        (("/home/me/torch/train.py", PXLA), "/home/me/torch/train.py"),
        # In a checkout of a framework its own files are not the program's.
        (("/src/pytorch/train.py", "/src/pytorch/torch/functional.py"), "/src/pytorch/train.py"),
        (("<frozen runpy>", "/home/me/train.py", PXLA), "/home/me/train.py"),
        (("/usr/lib/python3.11/runpy.py", "/home/me/train.py", PXLA), "/home/me/train.py"),
        # What is installed may begin a program, and is none.
        (("/v/lib/python3.11/site-packages/jax/tool.py", "/home/me/train.py", PXLA), "/home/me/train.py"),
        ((PXLA, PXLA), PXLA),
        (("train.py", "tensorflow/python/ops.py"), "train.py"),
        (("torch/nn/functional.py", "/v/logs.py", "torch/nn/functional.py"), "/v/logs.py"),
    ],
)
def test_the_innermost_line_of_the_program(files: tuple[str, ...], own: str) -> None:
    found = innermost([CodeLine(file, number, "f") for number, file in enumerate(files, 1)])
    assert found.file == own


def test_without_frames_there_is_no_line() -> None:
    assert innermost([]) is None


@pytest.mark.parametrize(
    ("file", "framework", "library"),
    [
        (PXLA, True, True),
        ("tensorflow_core/python/ops.py", True, True),
        ("C:\\v\\torch\\nn\\functional.py", True, True),
        ("flax/linen/linear.py", False, True),
        # What is installed may be the program, by itself.
        ("/v/lib/python3.11/site-packages/mine/train.py", True, False),
        ("/home/me/train.py", False, False),
    ],
)
def test_frameworks_and_what_is_built_on_them(file: str, framework: bool, library: bool) -> None:
    assert (is_framework(file), is_framework_or_library(file)) == (framework, library)
