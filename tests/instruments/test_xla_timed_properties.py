"""Whatever slices and programs say, no slice is lost without a word."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.instruments.xla import known_programs, timed, timed_rows
from stepscope.report import xla_ops
from tests.tiers import cases

MODULES = st.sampled_from(["jit_f", "a_f", "unknown"])
IDS = st.sampled_from([None, "0", "1", "18446744073709551615"])
NAMES = st.sampled_from(["dot.1", "while", "p1", "copy", "nothing"])


@st.composite
def known(draw: st.DrawFn) -> known_programs.KnownProgram:
    """A program of three computations that call each other anyhow."""
    instructions = tuple(
        known_programs.HloInstruction(
            draw(NAMES),
            draw(st.sampled_from(["dot", "while", "fusion", "parameter", "conditional"])),
            draw(st.integers(0, 2)),
            tuple(draw(st.lists(st.integers(0, 2), max_size=2))),
            draw(st.sampled_from([None, 0, 1, 2])),
            *draw(st.sampled_from([(2.0, 1.0, 8.0), (None, None, None), (0.0, 0.0, 0.0)])),
            draw(st.sampled_from([None, 3])),
            draw(st.sampled_from([None, "jit(f)/a/mul", ""])),
            draw(st.sampled_from([None, "train.py"])),
            draw(st.sampled_from([None, 7])),
        )
        for _ in range(draw(st.integers(0, 5)))
    )
    source, entry = draw(st.sampled_from([None, 0, 1])), draw(st.sampled_from([None, 0, 2]))
    return known_programs.KnownProgram(
        source, draw(MODULES), draw(IDS), entry, instructions, ("a", "b", "c"), "x"
    )


GROUPS = st.lists(
    st.tuples(
        *(st.integers(0, 1), st.sampled_from(["host", "device", "launch", "none"]), st.just("gpu")),
        *(st.one_of(st.none(), MODULES), IDS, st.booleans(), NAMES, NAMES),
        *(st.integers(1, 30), st.integers(0, 10**12), st.integers(0, 10**12)),
    ),
    max_size=12,
)


@settings(max_examples=cases(40, 200), deadline=None)
@given(GROUPS, st.lists(known(), max_size=4))
def test_no_slice_is_lost_without_a_word(
    groups: list[tuple[Any, ...]], programs: list[known_programs.KnownProgram]
) -> None:
    found = timed.join(groups, programs)
    assert found.seen == sum(group[8] for group in groups)
    assert found.seen == sum(row["slices"] for row in found.rows) + sum(one.slices for one in found.lost)
    assert sum(group[10] for group in groups) == sum(row["self_ps"] for row in found.rows) + sum(
        one.self_ps for one in found.lost
    )
    timed_rows.bounded(found.rows, (1e9, 1e9))
    for row in found.rows:
        assert row["module"] in {one.module for one in programs}
        named = [made for one in programs for made in one.instructions if made.name == row["instruction"]]
        assert named
        if row["total_flops"] is not None and row["self_ps"]:
            assert row["flops_per_s"] == row["total_flops"] * 10**12 / row["self_ps"]
    for one in found.lost:
        assert xla_ops.LOST[one.reason]
    for by in timed_rows.BY:
        grouped = timed_rows.grouped(found.rows, by)
        assert sum(row["self_ps"] for row in grouped) == sum(row["self_ps"] for row in found.rows)
    assert [row for row in timed_rows.opened(found.rows, programs) if row["timed"]] == found.rows
    assert xla_ops.TimedOps(found, programs, 0).sentences()
