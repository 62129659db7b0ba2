"""Which step peaks, and how the others differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope.cli import main
from stepscope.instruments.memory.allocators import AllocatorMemory
from stepscope.instruments.memory.blocks import AllocatorBlocks, MemoryBlock
from stepscope.instruments.memory.by_step import StepPeak, difference, peaks_by_step, typical
from stepscope.instruments.memory.peak import op_of, peak
from stepscope.report import memory as report
from tests import corpus

MIB = 2**20


def a_memory(blocks: list[MemoryBlock], source_id: int = 0, base: int = 0) -> AllocatorMemory:
    held = AllocatorBlocks("bfc", "gpu", blocks)
    held.base_bytes = base
    top = peak(blocks, base)
    return AllocatorMemory(
        source_id, "r", "h", "p", "bfc", "gpu", held, top, True, True, (), None, None, None
    )


def block(size: int, born: int, freed: int | None, op: str = "op") -> MemoryBlock:
    return MemoryBlock(size, born, freed, kind="output", op_name=op)


TIMES = st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted)


@given(
    st.lists(st.tuples(st.integers(1, 9), TIMES), min_size=1, max_size=8),
    st.lists(TIMES, min_size=2, max_size=4),
    st.integers(0, 5),
)
def test_the_peak_of_a_step_is_what_looking_at_every_moment_finds(
    drawn: list[tuple[int, list[int]]], spans: list[list[int]], base: int
) -> None:
    blocks = [block(size, born, freed) for size, (born, freed) in drawn]
    one = a_memory(blocks, base=base)
    windows = {0: [(number, begin, end) for number, (begin, end) in enumerate(spans)]}
    first, last = min(b.born_ps or 0 for b in blocks), max(b.freed_ps or 0 for b in blocks)
    seen = {
        number: max(
            base + sum(size for size, (born, freed) in drawn if born <= at <= freed)
            for at in range(begin, end + 1)
        )
        for number, begin, end in windows[0]
        if end >= first and begin <= last
    }
    found = {found.step: found.bytes for found in peaks_by_step([one], windows)[0]}
    assert found == (seen if len(seen) > 1 else {})


def test_files_of_single_steps_are_steps_of_one_allocator() -> None:
    files = [a_memory([block(size * MIB, 0, 9)], source_id) for source_id, size in enumerate((3, 8, 4))]
    peaks = peaks_by_step(files, {source_id: [(10 * source_id, 0, 9)] for source_id in range(3)})
    assert [len(one) for one in peaks] == [0, 3, 0], "beside the one that holds most"
    assert [(one.step, one.bytes // MIB) for one in peaks[1]] == [(0, 3), (10, 8), (20, 4)]
    assert typical(peaks[1]).step == 20


def told(*sizes: int) -> str:
    """The report of an allocator whose steps hold so many MiB each."""
    blocks = [block(size * MIB, 10 * i, 10 * i + 5, f"op{i}") for i, size in enumerate(sizes)]
    windows = {0: [(i, 10 * i, 10 * i + 5) for i in range(len(sizes))]}
    sections = report.build([(a_memory(blocks), ())], windows).sections
    return " ".join(line for one in sections if "step" in one.name for line in one.answer)


def test_what_is_said_of_the_steps() -> None:
    assert told(200, 200, 200) == "All 3 steps peak at 200 MiB."
    assert told(200, 199, 200) == "All 3 steps peak at about 200 MiB."
    assert told(100, 300).startswith(
        "Step 1 peaks at 300 MiB, step 0 at 100 MiB. At its peak, step 1 holds 200 MiB"
    )
    assert told(100, 200, 200, 200) == (
        "Most of the 4 steps peak at about 200 MiB; step 0 has the lowest peak, 100 MiB."
    )
    assert told(100, 400, 200, 120) == (
        "Step 1 peaks at 400 MiB; the peaks of the 3 others lie between 100 MiB and 200 MiB, their median is "
        "120 MiB. At its peak, step 1 holds 280 MiB more than step 3, the middle one of the others."
    )


def test_the_difference_names_who_holds_more() -> None:
    same = block(5, 0, 100, "weights")
    one = a_memory([same, block(7, 10, 20, "big"), block(2, 30, 40, "small")])
    high, low = StepPeak(0, 12, 10, one), StepPeak(1, 7, 30, one)
    assert difference(high, low, op_of) == [("big", 7, 0), ("small", 0, 2)]


def test_no_steps_no_comparison() -> None:
    one = a_memory([block(5, 0, 100)])
    assert peaks_by_step([one], {}) == [[]]
    assert peaks_by_step([one], {0: [(1, 0, 50)]}) == [[]], "a single step differs from none"
    assert peaks_by_step([one], {0: [(1, 0, 50), (2, 200, 300)]}) == [[]], "nothing was recorded then"


def test_the_verb_compares_steps(capsys: pytest.CaptureFixture[str]) -> None:
    sample = corpus.SAMPLES / "event_file" / "events.out.tfevents.1795163227.vm"
    assert main(["memory", "--no-cache", str(sample)]) == 0
    shown = capsys.readouterr().out
    assert "The peak is" in shown
    assert "Both steps peak at about 640 KiB." in shown


def test_steps_without_allocations_are_counted_beside_the_others() -> None:
    """An allocator that recorded nothing in one step of three."""
    memory = a_memory([block(4 * MIB, 10, 15), block(4 * MIB, 30, 35)])
    windows = {0: [(0, 0, 5), (1, 10, 15), (2, 30, 35)]}
    sections = {section.name: section for section in report.build([(memory, ())], windows).sections}
    assert sections["by_step"].answer == ("Both steps that have allocations, of 3, peak at 4.00 MiB.",)
