"""What PyTorch's ops cost, worked out by hand beside each."""

from typing import Any

import pytest

from stepscope.instruments.roofline.torch_ops import Cost, cost

F, B, H = "float", "c10::BFloat16", "c10::Half"
Given = list[tuple[list[Any], str, str]]
"""Inputs of an op: sizes, type, and its text where it is no tensor."""


def args(given: Given, strides: list[list[int]] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {
        "Input Dims": [dims for dims, _, _ in given],
        "Input type": [kind for _, kind, _ in given],
        "Concrete Inputs": [text for _, _, text in given],
    }
    if strides is not None:
        made["Input Strides"] = strides
    return made


def t(kind: str, *dims: int) -> tuple[list[Any], str, str]:
    return list(dims), kind, ""


def s(text: str, kind: str = "Scalar") -> tuple[list[Any], str, str]:
    return [], kind, text


NONE = ([], "", "")
BY_HAND: list[tuple[str, Given, float, float, str]] = [
    # 2 x 3 x 4 x 5; (12 + 20 + 15) x 4 bytes
    ("aten::mm", [t(F, 3, 4), t(F, 4, 5)], 120, 188, "f32"),
    # bias of 5, 2 x 3 x 4 x 5; (5 + 12 + 20 + 15) x 2
    ("aten::addmm", [t(B, 5), t(B, 3, 4), t(B, 4, 5), s("1"), s("1")], 120, 104, "bf16"),
    ("aten::bmm", [t(H, 7, 3, 4), t(H, 7, 4, 5)], 840, 7 * 47 * 2, "f16"),
    ("aten::baddbmm", [t(H, 7, 3, 5), t(H, 7, 3, 4), t(H, 7, 4, 5)], 840, 7 * (15 + 47) * 2, "f16"),
    # a batch of the left, none of the right
    ("aten::matmul", [t(F, 2, 3, 4), t(F, 4, 5)], 240, (24 + 20 + 30) * 4, "f32"),
    ("aten::mv", [t("double", 3, 4), t("double", 4)], 24, (12 + 4 + 3) * 8, "f64"),
    ("aten::dot", [t(F, 6), t(F, 6)], 12, 13 * 4, "f32"),
    ("aten::linear", [t(F, 2, 3, 4), t(F, 5, 4), t(F, 5)], 2 * 6 * 4 * 5, (24 + 20 + 30 + 5) * 4, "f32"),
    ("aten::linear", [t(F, 2, 3, 4), t(F, 5, 4), NONE], 2 * 6 * 4 * 5, (24 + 20 + 30) * 4, "f32"),
    # 8-bit floats make 16-bit ones
    ("aten::_scaled_mm", [t("c10::Float8_e4m3fn", 3, 4), t("c10::Float8_e4m3fn", 4, 5)], 120, 12 + 20 + 30,
     "f8"),
    # 3x3 over 8x8 with a border of 1 and a step of 2: 4x4 places,
    # 16 numbers of 6 channels and 27 products each
    (
        "aten::convolution",
        [t(F, 2, 3, 8, 8), t(F, 6, 3, 3, 3), NONE, s("[2, 2]"), s("[1, 1]"), s("[1, 1]"), s("False"),
         s("[0, 0]"), s("1")],
        2 * 2 * 6 * 16 * 27, (2 * 3 * 64 + 6 * 27 + 2 * 6 * 16) * 4, "f32",
    ),
    # the same, with the arguments in cuDNN's order, and in MIOpen's
    (
        "aten::cudnn_convolution",
        [t(F, 2, 3, 8, 8), t(F, 6, 3, 3, 3), s("[1, 1]"), s("[2, 2]"), s("[1, 1]"), s("1")],
        2 * 2 * 6 * 16 * 27, (2 * 3 * 64 + 6 * 27 + 2 * 6 * 16) * 4, "f32",
    ),
    (
        "aten::miopen_convolution",
        [t(B, 2, 3, 8, 8), t(B, 6, 3, 3, 3), NONE, s("[1, 1]"), s("[2, 2]"), s("[1, 1]"), s("1")],
        2 * 2 * 6 * 16 * 27, (2 * 3 * 64 + 6 * 27 + 2 * 6 * 16) * 2, "bf16",
    ),
    # 3 groups of one channel, two numbers apart: a kernel of 3 covers 5 of 8, 4 places
    (
        "aten::convolution",
        [t(F, 1, 3, 8), t(F, 3, 1, 3), NONE, s("[1]"), s("[0]"), s("[2]"), s("False"), s("[0]"), s("3")],
        2 * 3 * 4 * 3, (24 + 9 + 12) * 4, "f32",
    ),
    # gradients of input and weight: twice the forward pass
    (
        "aten::convolution_backward",
        [t(F, 2, 6, 4, 4), t(F, 2, 3, 8, 8), t(F, 6, 3, 3, 3), s("[0]"), s("[2, 2]"), s("[1, 1]"),
         s("[1, 1]"), s("False"), s("[0, 0]"), s("1"), s("[True, True, False]")],
        2 * (2 * 2 * 6 * 16 * 27), (192 + 2 * (384 + 162)) * 4, "f32",
    ),
    # 2 batches, 3 heads, 5 queries, 7 keys of 4 numbers: scores and values
    (
        "aten::_scaled_dot_product_flash_attention",
        [t(H, 2, 3, 5, 4), t(H, 2, 3, 7, 4), t(H, 2, 3, 7, 4), s("0."), s("False")],
        2 * 2 * 3 * 5 * 7 * 8, (120 + 168 + 168 + 120) * 2, "f16",
    ),
    # each query sees itself and those before it: 15 of 25
    (
        "aten::_scaled_dot_product_flash_attention",
        [t(H, 2, 3, 5, 4), t(H, 2, 3, 5, 4), t(H, 2, 3, 5, 4), s("0."), s("True")],
        2 * 2 * 3 * 15 * 8, 4 * 120 * 2, "f16",
    ),
    # length before heads
    (
        "aten::_flash_attention_forward",
        [t(H, 2, 5, 3, 4), t(H, 2, 7, 3, 4), t(H, 2, 7, 3, 4), NONE, NONE, s("5"), s("7"), s("0."),
         s("False")],
        2 * 2 * 3 * 5 * 7 * 8, (120 + 168 + 168 + 120) * 2, "f16",
    ),
    # five products where the forward pass has two
    (
        "aten::_scaled_dot_product_flash_attention_backward",
        [t(H, 2, 3, 5, 4), t(H, 2, 3, 5, 4), t(H, 2, 3, 5, 4), t(H, 2, 3, 5, 4), t(H, 2, 3, 5, 4), t(F, 2,
         3, 5),
         NONE, NONE, s("5"), s("5"), s("0."), s("False")],
        2.5 * 2 * 2 * 3 * 25 * 8, 7 * 120 * 2, "f16",
    ),
    ("aten::native_layer_norm", [t(F, 6, 8), s("[8]"), t(F, 8), t(F, 8), s("1e-5")], 0,
     (48 + 8 + 8 + 48) * 4, ""),
    # 3 rows of 8 numbers are read and written for 3 indices of 8 bytes
    ("aten::embedding", [t(F, 100, 8), t("long int", 3)], 0, 24 + 2 * 3 * 8 * 4, ""),
    ("aten::embedding_dense_backward", [t(F, 3, 8), t("long int", 3), s("100")], 0, 96 + 24 + 3200, ""),
    # [4, 1] and [1, 5] make 20 numbers
    ("aten::add", [t(F, 4, 1), t(F, 1, 5), s("1")], 0, (4 + 5 + 20) * 4, ""),
    ("aten::add_", [t(F, 4, 5), t(F, 4, 5), s("1")], 0, 60 * 4, ""),
    ("aten::eq", [t(F, 4, 5), t(F, 4, 5)], 0, 40 * 4 + 20, ""),
    ("aten::copy_", [t(F, 4, 5), t(B, 4, 5), s("False")], 0, 20 * 4 + 20 * 2, ""),
    ("aten::fill_", [t(F, 4, 5), s("0")], 0, 80, ""),
    ("aten::sum", [t(F, 4, 5), s("[1]")], 0, 80, ""),
    ("aten::_softmax", [t(H, 4, 5), s("-1"), s("False")], 0, 80, ""),
    ("aten::native_dropout", [t(F, 4, 5), s("0.1"), s("True")], 0, 160 + 20, ""),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "flops", "moved", "dtype"), BY_HAND)
def test_costs_by_hand(name: str, given: Given, flops: float, moved: float, dtype: str) -> None:
    assert cost(name, args(given)) == Cost(flops, moved, dtype)


def test_what_is_broadcast_lies_in_memory_once() -> None:
    found = cost("aten::add", args([t(F, 4, 5), t(F, 4, 5)], [[5, 1], [0, 1]]))
    assert found.bytes == (20 + 5 + 20) * 4


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("triton_poi_fused_add_0", [t(F, 4, 5)]),  # generated: what it computes is not recorded
        ("aten::mm", [t(F, 3, 4), t(F, 5, 6)]),  # no product
        ("aten::mm", [t(F, 3, 4)]),  # an input is missing
        ("aten::nonsense", [t(F, 3, 4)]),
        # the type of the numbers is not recorded
        ("aten::_foreach_add_", [([[4, 5], [6]], "TensorList", "")]),
        ("aten::convolution", [t(F, 2, 3, 8, 8), t(F, 6, 3, 3, 3), NONE, s(""), s(""), s(""), s("False")]),
        # sequences of lengths that are not told
        (
            "aten::_flash_attention_forward",
            [t(H, 35, 3, 4), t(H, 35, 3, 4), t(H, 35, 3, 4), t("int", 8), t("int", 8), s("5"), s("5"),
             s("0."),
             s("False")],
        ),
    ],
)  # fmt: skip
def test_what_is_not_told_is_unknown(name: str, given: Given) -> None:
    assert cost(name, args(given)) is None


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"Input Dims": "[[1]]", "Input type": ["float"]},
        {"Input Dims": [[3, 4], [4, 5]], "Input type": ["float"]},
        {"Input Dims": [[3, -4], [-4, 5]], "Input type": ["float", "float"]},
        {"Input Dims": [[3, "4"], [4, 5]], "Input type": ["float", "float"]},
        {"Input Dims": [None, {}], "Input type": ["float", 7]},
        {"Input Dims": [[1.5], [True]], "Input type": ["float", "float"]},
    ],
)
def test_strange_shapes_are_unknown(told: dict[str, Any]) -> None:
    assert cost("aten::mm", told) is None
    assert cost("aten::add", told) is None
