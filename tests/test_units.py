"""Numbers for people."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope import units


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "ps", "0 ps"),
        (999, "ps", "999 ps"),
        (1_234_567, "ps", "1.23 µs"),
        (999_999, "ps", "1.00 µs"),
        (306 * 10**9, "ps", "306 ms"),
        (90 * 10**12, "ps", "90.0 s"),
        (10**18, "ps", "1,000,000 s"),
        (-5 * 10**9, "ps", "-5.00 ms"),
        (1023, "bytes", "1,023 B"),
        (2**31, "bytes", "2.00 GiB"),
        (3 * 2**40, "bytes", "3.00 TiB"),
        (1_500_000, "flop", "1.50 Mflop"),
        (25 * 10**11, "flop", "2.50 Tflop"),
        (0.375, "ratio", "37.5 %"),
        (1e-9, "ratio", "<0.1 %"),
        (-1e-9, "ratio", ">-0.1 %"),
        (1.0, "ratio", "100.0 %"),
        (0.9999, "ratio", ">99.9 %"),
        (0.9994, "ratio", "99.9 %"),
        (1 - 1e-12, "ratio", "100.0 %"),
        (1.0001, "ratio", "100.0 %"),
        (1234567, "int", "1,234,567"),
        (2**63, "int", "9,223,372,036,854,775,808"),
        (3.14159, "float", "3.14"),
        (1e-9, "float", "1e-09"),
        (True, "bool", "yes"),
        (None, "ps", units.NOTHING),
        (None, "text", units.NOTHING),
        (float("nan"), "float", "nan"),
        ("MatMul", "text", "MatMul"),
        (1_700_000_000 * 10**9, "unix_ns", "2023-11-14 22:13:20 UTC"),
        (2**63 - 1, "unix_ns", "2262-04-11 23:47:16 UTC"),
    ],
)
def test_one_value(value: object, unit: units.Unit, text: str) -> None:
    assert units.show(value, unit) == text


@pytest.mark.parametrize(
    ("bound", "share", "text"),
    [
        ("at least", 0.4, "at least 40.0 %"),
        ("at least", 0.9999, ">99.9 %"),
        ("at most", 1e-9, "<0.1 %"),
        ("at most", 0.9999, "at most 100 %"),
        ("at least", 1e-9, "at least 0 %"),
        ("about", 0.9999, ">99.9 %"),
    ],
)
def test_a_share_that_is_a_bound_has_one(bound: str, share: float, text: str) -> None:
    assert units.bounded(bound, share) == text


def test_a_column_has_one_scale_and_aligns() -> None:
    scale = units.scale("ps", [306_100_000_000, 34_100_000_000, 0, None])
    assert scale.symbol == "ms"
    assert [scale.cell(v) for v in (306_100_000_000, 34_100_000_000, 0, 3)] == [
        "306.1",
        "34.1",
        "0.0",
        "<0.1",
    ]


def test_a_wide_column_steps_down() -> None:
    scale = units.scale("ps", [1_767 * 10**9, 9 * 10**8, 10**6, 0])
    assert scale.symbol == "ms"
    assert [scale.cell(v) for v in (1_767 * 10**9, 9 * 10**8, 10**6, 0)] == ["1,767.0", "0.9", "<0.1", "0.0"]


def test_columns_of_one_kind_share_their_scale() -> None:
    total, own, share = units.scales(
        ["ps", "ps", "ratio"], [(5 * 10**12, 10**11, 0.5), (10**12, 10**10, 0.1)]
    )
    assert total == own
    assert total.symbol == "s"
    assert share.symbol == "%"


def test_a_column_of_zeros_is_written_like_its_neighbours() -> None:
    rows = [(16 * 10**12, 0, None), (12 * 10**12, 0, None)]
    assert [scale.symbol for scale in units.scales(["ps", "ps", "ps"], rows)] == ["s", "s", "s"]


def test_a_column_that_is_much_smaller_has_its_own_scale() -> None:
    total, mean = units.scales(["ps", "ps"], [(8 * 10**12, 5 * 10**9)])
    assert (total.text(8 * 10**12), mean.text(5 * 10**9)) == ("8.00 s", "5.00 ms")


@given(st.integers(min_value=-(2**63), max_value=2**63))
def test_a_number_is_never_shown_as_zero_unless_it_is(value: int) -> None:
    for unit in ("ps", "bytes", "int"):
        shown = units.show(value, unit)  # type: ignore[arg-type]
        digits = re.sub(r"[^0-9]", "", shown)
        assert (set(digits) == {"0"}) == (value == 0)


@given(st.lists(st.integers(min_value=0, max_value=2**63), min_size=1, max_size=20))
def test_the_largest_keeps_three_digits(values: list[int]) -> None:
    scale = units.scale("ps", values)
    largest = max(values)
    if largest < 1000:
        assert scale.cell(largest) == str(largest)
        return
    shown = float(scale.cell(largest).replace(",", "")) * scale.divisor
    assert abs(shown - largest) <= largest * 0.005


def test_counts_have_their_noun() -> None:
    assert units.count(1, "slice") == "1 slice"
    assert units.count(1234, "slice") == "1,234 slices"
    assert units.count(2, "index", "indices") == "2 indices"


def test_differences_are_shown_with_their_sign() -> None:
    rows = [(12_300_000_000,), (-400_000_000,), (0,), (1000,), (None,)]
    (scale,) = units.scales(["ps"], rows, [True])
    assert [scale.cell(value) for (value,) in rows] == ["+12.30", "-0.40", "0.00", "<0.01", units.NOTHING]
