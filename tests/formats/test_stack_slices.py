"""Samples of stacks as slices that the core writes down, held against the same rule in a few lines."""

import json
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope import _core
from tests.tiers import cases

Sample = tuple[Sequence[str], int, int]
ALL = 1 << 30
FITS = 2**62


def written(
    samples: Sequence[Sample], origin_ps: int | None = 0, depth: int = 2000, most: int = ALL
) -> tuple[list[tuple[str, str, str]], tuple[int, int, int, int | None]]:
    """Names, ts and dur as they are written, and the counts."""
    pieces: list[bytes] = []
    counts = _core.stack_slices(
        iter(samples), lambda name: f'{{"name": {json.dumps(name)}', pieces.append, origin_ps, depth, most
    )
    text = b"".join(pieces).decode("ascii")
    events = json.loads(f"[{text.removeprefix(',')}]", parse_float=str)
    return [(event["name"], event["ts"], event["dur"]) for event in events], counts


def microseconds(ps: int) -> str:
    return f"{'-' * (ps < 0)}{abs(ps) // 10**6}.{abs(ps) % 10**6:06d}"


def expected(samples: Sequence[Sample], depth: int) -> list[tuple[str, int, int]]:
    """Each call with its start and end: it goes on while samples follow each other and have it in the same
    place."""
    found: list[tuple[str, int, int]] = []
    open_: list[tuple[str, int]] = []
    last = 0
    for stack, start, end in [*samples, ((), -1, -1)]:
        kept = 0
        while start == last and [name for name, _ in open_[: kept + 1]] == list(stack[: kept + 1]):
            if kept == min(len(open_), len(stack), depth):
                break
            kept += 1
        found += [(name, since, last) for name, since in open_[kept:]]
        open_ = open_[:kept] + [(name, start) for name in stack[kept:depth]]
        last = end
    return found


times = st.integers(-(10**7), 10**7) | st.sampled_from([0, 2**61, 2**63, 2**100, -(2**100)])
stacks = st.lists(st.sampled_from(["a", "b", 'c"é', "\ud800"]), max_size=4)


@settings(max_examples=cases(60, 600))
@given(st.lists(st.tuples(stacks, st.integers(0, 3), times), max_size=8), times, st.integers(1, 3))
def test_what_successive_samples_share_is_one_slice(
    drawn: list[tuple[list[str], int, int]], begin: int, depth: int
) -> None:
    samples, at = [], begin
    for stack, gap, length in drawn:
        samples.append((stack, at + gap // 3, at + gap // 3 + length))
        at = samples[-1][2]
    calls = expected(samples, depth)
    backwards = [call for call in calls if call[2] < call[1]]
    near = [
        (name, microseconds(start), microseconds(end - start))
        for name, start, end in calls
        if start <= end and abs(start) + end - start <= FITS
    ]
    events, counts = written(samples, 0, depth)
    assert events == near
    assert counts == (len(calls), len(backwards), len(calls) - len(backwards) - len(near), 0)


def test_the_first_slice_begins_the_time():
    samples = [(("a",), 5_000_000, 5_000_001), (("a", "b"), 5_000_001, 6_500_000)]
    events, counts = written(samples, None)
    assert events == [("a", "0.000000", "1.500000"), ("b", "0.000001", "1.499999")]
    assert counts == (2, 0, 0, 5_000_000)


def test_it_ends_after_as_many_as_are_allowed():
    samples = [((str(number),), number, number + 1) for number in range(10)]
    events, counts = written(samples, most=3)
    assert [name for name, _, _ in events] == ["0", "1", "2"]
    assert 3 < counts[0] < len(samples)


def test_times_beyond_all_numbers_are_far():
    assert written([(("a",), 2**200, 2**200 + 1)])[1] == (1, 0, 1, 0)
