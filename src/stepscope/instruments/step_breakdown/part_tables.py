"""From the tables of a trace to rows of `step_part` and `stack_part`.

Many small sources are read together, a large one alone and in bits of time: what decides an instant is all at
that instant, so bits need not know of each other, and a recording of any length takes the memory of one bit.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from stepscope import _core
from stepscope.instruments.intervals import Interval
from stepscope.instruments.step_breakdown import evidence, interpreter_lock, session_runs, stack_samples
from stepscope.instruments.step_breakdown.evidence import (
    EvidenceWindow,
    LoaderPython,
    SteppedSource,
    StepSpan,
)
from stepscope.instruments.step_breakdown.evidence_kinds import NOTHING, EvidenceKinds, kinds_by_source
from stepscope.instruments.step_breakdown.labels import LABELS, NUMBER, ON_DEVICES
from stepscope.instruments.step_breakdown.stack_sums import StackKey, StackSums, sort_sums
from stepscope.instruments.step_breakdown.sweep import kept, pieces_of, sweep
from stepscope.lake.source_ids import first_id
from stepscope.library.statements import Query, Stream, statement

_TAKES_PART = 0.1
"""A device takes part in a step where it executes for this part of the time that the one does which executes
longest."""


class PartRows(NamedTuple):
    """Rows of both tables."""

    step_part: list[dict[str, Any]]
    stack_part: list[dict[str, Any]]


def rows(query: Query, stream: Stream) -> PartRows:
    """Rows of the tables step_part and stack_part, source by source."""
    sources = sources_with_steps(query)
    ids = [source.source_id for source in sources]
    shifts = stack_samples.shifts(query, ids) if sources else {}
    kinds = kinds_by_source(query) if sources else {}
    found = PartRows([], [])
    for some in _batches(sources, kinds):
        bits = groupby(evidence.evidence_of(query, stream, some, kinds, shifts), key=lambda bit: bit.source)
        for source, windows in bits:
            for so_far, more in zip(found, _rows_of(source, windows), strict=True):
                so_far += more
    if found.stack_part:
        session_runs.shared(query, *found)
    owners = {source.source_id: source for source in sources}
    return PartRows(*(_numbered_all(owners, rows) for rows in found))


def _batches(
    sources: Sequence[SteppedSource], kinds: Mapping[int, EvidenceKinds]
) -> Iterator[list[SteppedSource]]:
    """Batches of sources to read together, because every question costs time, however few rows it finds.
    Small sources share a batch; a large one has its own."""
    most, slices = evidence.slices_at_once(), 0
    some: list[SteppedSource] = []
    for source in sources:
        slice_count = kinds.get(source.source_id, NOTHING).slices
        if some and slices + slice_count > most:
            yield some
            some, slices = [], 0
        some.append(source)
        slices += slice_count
    if some:
        yield some


def sources_with_steps(query: Query) -> list[SteppedSource]:
    """All sources with steps, each with them in order of time."""
    found: dict[int, SteppedSource] = {}
    for source_id, run_id, host_id, step_id, ts_ps, dur_ps, *_ in query(statement("timed_steps")).rows():
        source = found.setdefault(source_id, SteppedSource(source_id, run_id, host_id, []))
        source.steps.append(StepSpan(step_id, ts_ps, ts_ps + dur_ps))
    return list(found.values())


def _rows_of(source: SteppedSource, bits: Iterable[EvidenceWindow]) -> PartRows:
    totals, stacked = _sums(source, bits)
    by_device = [total.finish() for total in totals]
    shares = means_of_devices(by_device)
    key = {"source_id": source.source_id}
    parts = [
        {**key, "step_id": step.id, "label": label, "dur_ps": dur_ps, "hidden_ps": hidden_ps}
        for step, share in zip(source.steps, shares, strict=True)
        for label, dur_ps, hidden_ps in zip(LABELS, share, share[len(LABELS) :], strict=False)
        if dur_ps or hidden_ps
    ]
    stacks = [
        {**key, "step_id": source.steps[number].id, "stack_id": stack_id, "label": label, "dur_ps": dur_ps}
        for (number, stack_id, label), dur_ps in means_of_stacks(stacked, by_device)
    ]
    return PartRows(parts, stacks)


def _sums(
    source: SteppedSource, bits: Iterable[EvidenceWindow]
) -> tuple[list[_core.StepSums], list[StackSums]]:
    """The labels of all bits, summed for each device by step, and by stack."""
    spans = [(step.ts_ps, step.end_ps) for step in source.steps]
    totals: list[_core.StepSums] = []
    stacked: list[StackSums] = []
    for _, window, known, looks, loader in bits:
        within = [clipped for span in spans if (clipped := _clipped(span, window))]
        # A step that one device computes in while others wait is no step in which all compute.
        devices = [known._replace(executing=device) for device in known.devices] or [known]
        totals = totals or [_core.StepSums(spans, len(LABELS)) for _ in devices]
        stacked = stacked or [StackSums(spans) for _ in devices]
        for sums, by_stack, of_device in zip(totals, stacked, devices, strict=True):
            pieces = _move_lock_waits(sweep(within, of_device), loader)
            sums.add(pieces)
            if looks or (loader.python and loader.ran):
                by_stack.add(pieces_of(pieces), looks)
    return totals, stacked


def _move_lock_waits(pieces: _core.Pieces, loader: LoaderPython) -> _core.Pieces:
    """The pieces, with what the program waits for the interpreter's lock counted as such."""
    if not (loader.python and loader.ran):
        return pieces
    return kept(interpreter_lock.count_lock_waits(pieces_of(pieces), loader.python, loader.ran))


def means_of_devices(sums: Sequence[Sequence[Sequence[int]]]) -> list[list[int]]:
    """For each step the mean of what its devices have, by label: of those that take part in it. sums: for
    each device and step picoseconds by label, and then the same of what is hidden."""
    if len(sums) == 1:
        return [list(step) for step in sums[0]]
    found = []
    for devices in zip(*sums, strict=True):
        part = [devices[number] for number in _taking_part(devices)]
        means = [sum(column) // len(part) for column in zip(*part, strict=True)]
        # Parts add up to the step to the picosecond: the longest one has what dividing leaves.
        whole = sum(devices[0][: len(LABELS)])
        longest = max(range(len(LABELS)), key=lambda label: means[label])
        means[longest] += whole - sum(means[: len(LABELS)])
        found.append(means)
    return found


def _taking_part(devices: Sequence[Sequence[int]]) -> list[int]:
    """Which devices take part in a step. devices: picoseconds of each by label."""
    executed = [sum(sums_of_device[NUMBER[label]] for label in ON_DEVICES) for sums_of_device in devices]
    return [number for number, its in enumerate(executed) if its >= _TAKES_PART * max(executed)]


def means_of_stacks(
    stacked: Sequence[StackSums], sums: Sequence[Sequence[Sequence[int]]]
) -> Iterator[tuple[StackKey, int]]:
    """What stacks have of steps, by the same devices as means_of_devices. sums: as there."""
    if len(stacked) == 1:
        yield from stacked[0].sums()
        return
    part = [_taking_part(devices) for devices in zip(*sums, strict=True)]
    found: Counter[StackKey] = Counter()
    for number, by_stack in enumerate(stacked):
        for key, dur_ps in by_stack.sums():
            if number in part[key[0]]:
                found[key] += dur_ps
    for key, dur_ps in sort_sums(found):
        if mean := dur_ps // len(part[key[0]]):
            yield key, mean


def _numbered_all(owners: Mapping[int, SteppedSource], rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows with their ids, each source's in order."""
    by_source: dict[int, list[dict[str, Any]]] = {}
    for row in rows:
        by_source.setdefault(row["source_id"], []).append(row)
    return [
        {"id": first_id(source_id) + number, "run_id": owner.run_id, "host_id": owner.host_id, **row}
        for source_id, owner in owners.items()
        for number, row in enumerate(session_runs.sort_parts(by_source.get(source_id, [])))
    ]


def _clipped(span: Interval, window: Interval) -> Interval | None:
    begin, end = max(span[0], window[0]), min(span[1], window[1])
    return (begin, end) if begin < end else None
