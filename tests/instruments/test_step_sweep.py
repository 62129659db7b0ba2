"""Steps of generated recordings, taken apart by the sweep and once more by brute force."""

import random
from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stepscope import _core
from stepscope.engines import Statement
from stepscope.instruments.step_breakdown import driver, part_tables, stack_samples
from stepscope.instruments.step_breakdown.labels import EXECUTION, LABELS
from stepscope.instruments.step_breakdown.stack_samples import DriverSample, SampleSpan
from stepscope.instruments.step_breakdown.stack_sums import StackSums
from stepscope.instruments.step_breakdown.sweep import Segment, SpanEvidence, kept, pieces_of, sweep
from tests.draw import Tables
from tests.instruments.step_drawings import asked, rows
from tests.library.worlds import worlds
from tests.tiers import cases

SPAN = 24
_intervals = st.sets(st.integers(0, SPAN), max_size=6).map(
    lambda edges: list(zip(sorted(edges)[::2], sorted(edges)[1::2], strict=False))
)
_segments = st.tuples(_intervals, st.lists(st.sampled_from(LABELS[:-1]), min_size=3, max_size=3)).map(
    lambda drawn: [Segment(*span, label) for span, label in zip(*drawn, strict=False)]
)


@given(_segments, _segments)
def test_short_copies_between_calls_are_launching(stacks, slices):
    """Cell by cell; a gap between two calls is short here when it has one or two cells."""
    unit = driver.SHORT_PS // 2
    scaled = [
        [one._replace(from_ps=one.from_ps * unit, to_ps=one.to_ps * unit) for one in part]
        for part in (stacks, slices)
    ]
    found = driver.launching(*scaled)
    for cell in range(SPAN):
        was = next((s.label for s in stacks if s.from_ps <= cell < s.to_ps), None)
        now = next((s.label for s in found if s.from_ps <= cell * unit < s.to_ps), None)
        before = max((s.to_ps for s in slices if s.to_ps <= cell), default=None)
        after = min((s.from_ps for s in slices if s.from_ps > cell), default=None)
        free = not any(s.from_ps <= cell < s.to_ps for s in slices)
        short = free and before is not None and after is not None and after - before <= 2
        assert now == ("dispatch" if was == "copy" and short else was)


@st.composite
def evidence(draw: st.DrawFn) -> SpanEvidence:
    return SpanEvidence(
        {label: draw(_intervals) for label in draw(st.sets(st.sampled_from(EXECUTION), max_size=4))},
        draw(_intervals),
        draw(_intervals),
        draw(_intervals),
        draw(_segments),
        draw(_segments),
        draw(st.booleans()),
        draw(_intervals),
        inline=draw(st.booleans()),
        nodes=draw(_intervals),
        launches=draw(_intervals),
    )


def at_cell(known: SpanEvidence, cell: int) -> tuple[str, set[str]]:
    """The label of the time from cell to cell + 1, by asking one thing after the other."""

    def within(spans) -> bool:
        return any(span[0] <= cell < span[1] for span in spans)

    runs = [label for label in EXECUTION if within(known.executing.get(label, ()))]
    also = set(runs) | ({"input"} if within(known.input_work) else set())
    by_slice = next((s.label for s in known.slices if s.from_ps <= cell < s.to_ps), None)
    if known.inline and by_slice == "compile":
        return "compile", set()
    if runs:
        return runs[0], also - {runs[0]}
    by_stack = next((s.label for s in known.stacks if s.from_ps <= cell < s.to_ps), None)
    if within(known.nodes):
        says = by_stack if by_stack in {"python", "copy", "wait"} else "compute"
        return says, also - {says}
    says = by_slice or by_stack
    if by_slice == "dispatch" and by_stack in {"compile", "input", "wait", "copy"}:
        says = by_stack
    if says in {None, "dispatch", "idle"} or (by_slice == "dispatch" and says == "copy"):
        if within(known.input_waits):
            says = "input"
        elif within(known.setups):
            says = "setup"
        elif within(known.peer_waits):
            says = "communication"
    if says == "wait" and within(known.peer_waits):
        says = "communication"
    if says in {None, "idle"}:
        says = "dispatch" if within(known.launches) else "idle" if known.accelerator else "unknown"
    return says, also - {says}


@settings(max_examples=cases(60, 200), deadline=None)
@given(known=evidence(), spans=st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)), max_size=4))
def test_the_sweep_agrees_with_its_twin(known, spans):
    steps = [(min(span), max(span)) for span in spans if span[0] != span[1]]
    totals = _core.StepSums(steps, len(LABELS))
    totals.add(sweep(steps, known))
    for (begin, end), sums in zip(steps, totals.finish(), strict=True):
        wanted = [0] * (2 * len(LABELS))
        for cell in range(begin, end):
            label, also = at_cell(known, cell)
            wanted[LABELS.index(label)] += 1
            for other in also:
                wanted[len(LABELS) + LABELS.index(other)] += 1
        assert sums == wanted
        assert sum(sums[: len(LABELS)]) == end - begin


_looks = st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN), st.integers(0, 2)), max_size=4)


@settings(max_examples=cases(60, 200), deadline=None)
@given(
    known=evidence(),
    spans=st.lists(st.tuples(st.integers(0, SPAN), st.integers(0, SPAN)), max_size=4),
    seen=_looks,
)
def test_parts_by_stack_agree_with_their_twin(known, spans, seen):
    """Cell by cell, counted to the step that began last; of those that began at once, to the first."""
    steps = [(min(span), max(span)) for span in spans if span[0] != span[1]]
    samples = [DriverSample(min(a, b), max(a, b), a, stack, ((None, 1.0),)) for a, b, stack in seen]
    looks = [
        SampleSpan(one.from_ps, one.to_ps, one.stack_id, None) for one in stack_samples.disjoint(samples)
    ]
    found = StackSums(steps)
    pieces = pieces_of(sweep(steps, known))
    assert pieces_of(kept(pieces)) == pieces
    found.add(pieces, looks)
    wanted: dict[tuple, int] = defaultdict(int)
    for cell in range(SPAN):
        around = [n for n, (begin, end) in enumerate(steps) if begin <= cell < end]
        for look in looks:
            if around and look.from_ps <= cell < look.to_ps:
                step = max(around, key=lambda n: (steps[n][0], -n))
                wanted[step, look.stack_id, at_cell(known, cell)[0]] += 1
    assert dict(found.sums()) == wanted


@settings(max_examples=cases(5, 8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds())
def test_parts_add_up(tables):
    """To the picosecond, in any recording; a label is only there where something says so."""
    sums: dict[int, int] = defaultdict(int)
    seen = {row["name"] for row in tables.rows["slice"]} | {row["op_type"] for row in tables.rows["slice"]}
    ask = asked(tables)
    for row in part_tables.rows(ask, ask.stream).step_part:
        assert row["dur_ps"] >= 0
        assert row["hidden_ps"] >= 0
        sums[row["step_id"]] += row["dur_ps"]
        if row["label"] == "compile":
            assert any(name and "Compile" in name for name in seen)
        if row["label"] == "input" and row["dur_ps"]:
            assert any(name and "Iterator" in name for name in seen)
    for step_id, dur_ps in ask(Statement("SELECT id, dur_ps FROM step")).rows():
        assert sums[step_id] == dur_ps


@pytest.mark.repeats("another order")
@settings(max_examples=cases(3, 5), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds(), seed=st.integers(0, 99))
def test_the_order_of_sources_changes_nothing(tables, seed):
    """Sources get other numbers, rows come in another order: the parts of each step stay."""

    def told(of: Tables) -> list[tuple]:
        steps = {row["id"]: (row["ts_ps"], row["dur_ps"], row["run_id"]) for row in of.rows["step_stored"]}
        return sorted(
            (steps[r["step_id"]], r["label"], r["dur_ps"], r["hidden_ps"]) for r in rows(of).step_part
        )

    before = told(tables)
    for table in tables.rows.values():
        for row in table:
            row["source_id"] = 9 - row["source_id"]
        random.Random(seed).shuffle(table)
    assert told(tables) == before


@settings(max_examples=cases(3, 5), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(tables=worlds())
def test_reading_bit_by_bit_changes_nothing(tables):
    at_once = rows(tables)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("stepscope.instruments.step_breakdown.evidence.slices_at_once", lambda: 2)
        assert rows(tables) == at_once


_SEGMENTS = st.lists(
    st.tuples(st.integers(1, 9), st.sampled_from([None, "dispatch", "python", "wait", "input", "compile"])),
    max_size=9,
)
_CALLS = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=5)


@pytest.mark.parametrize(
    ("lay", "over", "stays"),
    [(driver.compiling, "compile", {"wait", "input"}), (driver.collecting, "python", {"compile"})],
)
@given(_SEGMENTS, _CALLS)
def test_calls_that_compile_or_collect_do_so_from_begin_to_end(lay, over, stays, lengths, gaps):
    """Held against the label of each unit of time. What waits in calls that compile goes on waiting."""
    at, found, doing = 0, [], {}
    for length, label in lengths:
        if label is not None:
            found.append(Segment(at, at + length, label))
            doing.update(dict.fromkeys(range(at, at + length), label))
        at += length
    at, calls = 0, []
    for gap, length in gaps:
        calls.append((at + gap, at + gap + length))
        at += gap + length
    for begin, end in calls:
        for unit in range(begin, end):
            if doing.get(unit) not in stays:
                doing[unit] = over
    told = lay(found, calls)
    assert {unit: label for begin, end, label in told for unit in range(begin, end)} == doing
    assert all(a.to_ps <= b.from_ps for a, b in pairwise(told))
