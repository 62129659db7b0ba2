"""Names of two recordings: drawn cases whose truth is known, properties, and a twin by brute force."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.instruments.compare import names, ops
from stepscope.instruments.compare.matching import MatchedItems, NamedItem, match
from stepscope.instruments.compare.ops import Op
from stepscope.session import trace
from tests.corpus import FULL
from tests.each import each


def items(*drawn: str) -> list[NamedItem]:
    """Ops in their order: "scope/name Type shape", the last two if there are."""
    found = []
    for order, one in enumerate(drawn):
        name, kind, shape = [*one.split(), "", ""][:3]
        found.append(NamedItem(name, kind, "host", names.scope_of(name), shape, order=order))
    return found


def told(a: list[NamedItem], b: list[NamedItem]) -> dict[str, tuple[str, str]]:
    """What each name of A became, and why."""
    found = match(a, b)
    return {
        "+".join(a[i].name for i in one.a): ("+".join(b[i].name for i in one.b), one.basis)
        for one in found.matches
    }


def test_names_are_matched_first() -> None:
    a = items("d/MatMul MatMul", "d_1/MatMul MatMul", "d/Add Add")
    assert told(a, a[::-1]) == {one.name: (one.name, "name") for one in a}


def test_counters_of_a_framework_start_anywhere() -> None:
    """Keras counts layers of a process: the second model of a process has others."""
    a = items("seq/dense/MatMul MatMul", "seq/dense_1/MatMul MatMul", "seq/dense_2/MatMul MatMul")
    b = items("seq_1/dense_3/MatMul MatMul", "seq_1/dense_4/MatMul MatMul", "seq_1/dense_5/MatMul MatMul")
    assert told(a, b) == {one.name: (two.name, "no_suffix") for one, two in zip(a, b, strict=True)}


def test_kernels_of_other_sizes_types_and_architectures() -> None:
    a = [NamedItem(name, "") for name in ("void f<float, 4>(int)", "gemm_128x64_tn", "volta_sgemm_128x32_nt")]
    b = [
        NamedItem(name, "")
        for name in ("void f<half, 8>(int)", "gemm_64x32_tn", "ampere_sgemm_32x32_sliced1x4_nt")
    ]
    assert told(a, b) == {
        "void f<float, 4>(int)": ("void f<half, 8>(int)", "no_arguments"),
        "gemm_128x64_tn": ("gemm_64x32_tn", "no_numbers"),
        "volta_sgemm_128x32_nt": ("ampere_sgemm_32x32_sliced1x4_nt", "no_architecture"),
    }


def test_what_cannot_be_told_apart_is_a_group() -> None:
    a = [NamedItem(name, "") for name in ("gemm_128x64", "gemm_64x64", "gemm_32x32")]
    b = [NamedItem(name, "") for name in ("gemm_256x64", "gemm_16x16")]
    assert told(a, b) == {"gemm_128x64+gemm_32x32+gemm_64x64": ("gemm_16x16+gemm_256x64", "no_numbers")}


def test_a_layer_that_was_renamed_is_found_between_its_neighbours() -> None:
    a = items(
        "net/in/MatMul MatMul", "net/hidden/MatMul MatMul", "net/hidden/Relu Relu", "net/out/MatMul MatMul"
    )
    b = items("net/in/MatMul MatMul", "net/wide/MatMul MatMul", "net/wide/Relu Relu", "net/out/MatMul MatMul")
    found = told(a, b)
    assert found["net/hidden/MatMul"] == ("net/wide/MatMul", "neighbours")
    assert found["net/hidden/Relu"] == ("net/wide/Relu", "neighbours")


def test_a_line_finds_what_nothing_else_does() -> None:
    a = [NamedItem("fusion", "fusion", scope=("f",), line="model.py:12")]
    b = [NamedItem("dot", "dot", scope=("g",), line="model.py:12")]
    assert told(a, b) == {"fusion": ("dot", "line")}


def test_what_is_left_has_the_deepest_common_scope() -> None:
    a = items("net/block/attention/MatMul MatMul", "net/block/attention/Softmax Softmax")
    b = items("net/block/attention/Fused FusedAttention", "net/new/deep/Op Other")
    found = match(a, b)
    assert not found.matches
    assert set(found.removed.values()) == {("net", "block", "attention")}
    assert found.added == {0: ("net", "block", "attention"), 1: ("net",)}


def test_devices_and_processors_are_apart() -> None:
    assert not match([NamedItem("x", "", "device")], [NamedItem("x", "", "host")]).matches


@each(
    ("name", "suffix", "number", "arguments"),
    [
        ("dense_1/MatMul_2", "dense/MatMul", "dense/MatMul", "dense/MatMul"),
        ("fusion.12.3", "fusion", "fusion", "fusion"),
        ("resnet50/conv", "resnet50/conv", "resnet#/conv", "resnet#/conv"),
        (
            "void k<4, A<int> >(A*) [x]",
            "void k<4, A<int> >(A*) [x]",
            "void k<#, A<int> >(A*) [x]",
            "void k [x]",
        ),
        ("a->b", "a->b", "a->b", "a->b"),
        ("_1", "_1", "_1", "_1"),
        ("<(", "<(", "<(", "<("),
    ],
)
def test_what_a_name_is_without_numbers(name: str, suffix: str, number: str, arguments: str) -> None:
    assert names.strip_suffixes(name) == suffix
    assert names.strip_numbers(name) == number
    assert names.strip_arguments(name) == arguments


_part = st.sampled_from(["a", "b", "a_1", "a_2", "b.3", "k<4>", "k<8>(x)", "g_1x2", "g_3x4", "volta_g_1x2"])
_item = st.builds(
    lambda scope, leaf, kind, shape, line, place, order: NamedItem(
        "/".join([*scope, leaf]), kind, place, tuple(scope), shape, line, order
    ),
    st.lists(_part, max_size=3),
    _part,
    st.sampled_from(["", "MatMul", "Add"]),
    st.sampled_from(["", "[1]", "[2]"]),
    st.sampled_from(["", "x.py:1", "x.py:2"]),
    st.sampled_from(["host", "device"]),
    st.integers(0, 5),
)


def _distinct(found: list[NamedItem]) -> list[NamedItem]:
    return list({(one.place, one.name, one.kind): one for one in found}.values())


sides = st.lists(_item, max_size=14).map(_distinct)


@given(sides, sides)
def test_each_item_comes_exactly_once(a: list[NamedItem], b: list[NamedItem]) -> None:
    found = match(a, b)
    for number, side, alone in ((0, a, found.removed), (1, b, found.added)):
        seen = Counter(i for one in found.matches for i in one[number])
        seen.update(list(alone))
        assert seen == Counter(range(len(side)))
    for one in found.matches:
        assert one.a
        assert one.b
        assert len({a[i].place for i in one.a} | {b[i].place for i in one.b}) == 1
        if one.basis == "line":
            assert len({a[i].line for i in one.a} | {b[i].line for i in one.b}) == 1
        if one.basis == "neighbours":
            assert len({a[i].kind for i in one.a} | {b[i].kind for i in one.b}) == 1


@given(sides)
def test_a_side_against_itself_is_all_names(a: list[NamedItem]) -> None:
    found = match(a, a)
    assert not found.removed
    assert not found.added
    assert {(one.a, one.b, one.basis) for one in found.matches} == {
        ((i,), (i,), "name") for i in range(len(a))
    }


@given(sides, st.randoms(use_true_random=False))
def test_the_order_of_a_list_says_nothing(a: list[NamedItem], luck: Any) -> None:
    """Only the order within steps does; ties are broken by name."""
    mixed = list(a)
    luck.shuffle(mixed)
    b = [one._replace(name=f"{one.name}_7") for one in a]

    def by_name(left: list[NamedItem], found: MatchedItems) -> set[Any]:
        return {
            (frozenset(left[i] for i in one.a), frozenset(b[i] for i in one.b), one.basis)
            for one in found.matches
        }

    assert by_name(a, match(a, b)) == by_name(mixed, match(mixed, b))


def _twin(a: list[NamedItem], b: list[NamedItem]) -> list[tuple[frozenset[int], frozenset[int], str]]:
    """The passes by names and by lines as one would write them down: for each item of A, everything left in B
    that is called alike, everything in A that is, too."""
    left: list[set[int]] = [set(range(len(a))), set(range(len(b)))]
    found = []
    passes: list[tuple[str, Any]] = [
        ("name", lambda one: (one.place, one.name, one.kind, one.scope)),
        ("name_in_other_scope", lambda one: (one.place, one.name)),
    ]
    for basis, to in (
        ("no_suffix", names.strip_suffixes),
        ("no_numbers", names.strip_numbers),
        ("no_arguments", names.strip_arguments),
        ("no_architecture", names.strip_architecture),
    ):
        passes.append((basis, lambda one, to=to: (one.place, one.kind, to(one.name))))
        passes.append((basis, lambda one, to=to: (one.place, to(one.name))))
    for basis, key in passes:
        for wanted in {key(a[i]) for i in left[0]}:
            in_a = [i for i in left[0] if key(a[i]) == wanted]
            in_b = [i for i in left[1] if key(b[i]) == wanted]
            if not in_a or not in_b:
                continue
            left[0] -= set(in_a)
            left[1] -= set(in_b)
            if len(in_a) != len(in_b):
                found.append((frozenset(in_a), frozenset(in_b), basis))
                continue
            in_a.sort(key=lambda i: (a[i].order, a[i].name, i))
            in_b.sort(key=lambda i: (b[i].order, b[i].name, i))
            found += [(frozenset([i]), frozenset([j]), basis) for i, j in zip(in_a, in_b, strict=True)]
    return found


@given(sides, sides)
def test_names_match_as_the_twin_says(a: list[NamedItem], b: list[NamedItem]) -> None:
    by_names = {
        (frozenset(one.a), frozenset(one.b), one.basis)
        for one in match(a, b).matches
        if one.basis not in ("neighbours", "line")
    }
    assert by_names == set(_twin(a, b))


@given(st.lists(st.integers(0, 10**12), max_size=30), st.integers(1, 1000))
def test_shares_add_up(totals: list[int], number: int) -> None:
    found = ops.shared_out(totals, number)
    assert sum(found) == sum(totals) // number
    assert all(abs(one - total / number) < 1 + 1e-3 for one, total in zip(found, totals, strict=True))


@given(sides, sides)
def test_pairs_add_up(a: list[NamedItem], b: list[NamedItem]) -> None:
    left, right = ([Op(one, "compute", 2, 7 + i) for i, one in enumerate(side)] for side in (a, b))
    found = ops.pairs(left, right)
    assert sum(one.a_ps for one in found) == sum(op.own_ps for op in left)
    assert sum(one.b_ps for one in found) == sum(op.own_ps for op in right)
    shares = ops.matched_share(found)
    assert all(share is None or 0 <= share <= 1 for share in shares)


@pytest.mark.repeats("a larger pair of recordings")
@pytest.mark.skipif(not FULL.is_dir(), reason="needs the corpus beside the clone")
def test_two_profiles_of_a_job_on_two_kinds_of_gpu() -> None:
    """One ran on another generation, with its backward compiled: names tell of 72 % and 68 % of device time,
    all passes of more than 85 %."""
    sides = []
    for name in ("control", "test"):
        with trace.open(FULL / "accelerators" / "kineto-gpu" / f"{name}.json.gz", cache=False) as opened:
            from stepscope.instruments.compare.sides import runs

            (side,) = runs(opened.query)
            sides.append(ops.ops_in_steps(side, ops.facts_of(side), False))
    shares = ops.matched_share(ops.pairs(*sides), "device")
    assert all(share is not None and share >= 0.85 for share in shares), shares
