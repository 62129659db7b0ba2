"""Memory for the terminal, and as JSON for programs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from typing import Any

from stepscope import units
from stepscope.instruments.memory.allocators import Memory
from stepscope.instruments.memory.blocks import Block
from stepscope.instruments.memory.peak import Holder, code_of, curve, holders, op_of, scope_of, tensor_of
from stepscope.instruments.memory.pools import fragmentation, rounded_up
from stepscope.instruments.memory.whatif import WhatIf
from stepscope.presenters.paragraph import paragraph
from stepscope.presenters.plain import plain
from stepscope.presenters.rows import cells, shorten_cells

FORMAT = 1
"""Version of the JSON form; it is raised when a key changes its meaning or goes away."""

NOTHING = (
    "Nothing in these recordings tells of memory: no allocation was recorded, and no outputs with a graph.",
    "  to do: record a session with trace_level=FULL_TRACE and output_partition_graphs=True, a TF2 or JAX "
    "profile with host tracer level 2, or torch.profiler with profile_memory=True",
)
_BARS = " ▁▂▃▄▅▆▇█"
_HEIGHT = 4
_MOST = 6
_POINTS = 2000
"""Points of the curve in JSON; all of it is in the table buffer."""

Asked = Sequence[tuple[Memory, Sequence[WhatIf]]]
Paint = Callable[[str, str], str]


def render(asked: Asked, *, width: int, color: bool) -> str:
    """Each allocator below the other."""
    out = io.StringIO()

    def paint(code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if color else text

    for number, (one, changes) in enumerate(asked):
        out.write("\n" if number else "")
        _write(one, changes, out, max(width, 40), paint)
    return out.getvalue()


def _write(one: Memory, changes: Sequence[WhatIf], out: io.StringIO, width: int, paint: Paint) -> None:
    place = " ".join(part for part in (one.device, one.allocator) if part)
    out.write(paint("2", shorten_cells(plain(f"{one.path}  {place}"), width)) + "\n")
    when = "" if one.peak.ts_ps is None else f", first at {_ps(one.peak.ts_ps - _start(one))}"
    out.write(paint("1", f"At most {_bytes(one.peak.bytes)} at once{when}.") + "\n")
    for sentence in sentences(one):
        _wrap(sentence, out, width)
    out.write("\n")
    _plot(one, out, min(width, 100), paint)
    for title, by in _views(one.peak.blocks):
        _table(f"{title}, at the peak", holders(one.peak.blocks, by), one.peak.bytes, out, width, paint)
    order = around(one)
    if order:
        out.write("\n" + paint("1", "Allocated last before the peak, and freed first after it") + "\n")
        for text, block in order:
            line = f"  {text:9} {_bytes(block.bytes):>10}  {plain(tensor_of(block))}"
            out.write(shorten_cells(line, width) + "\n")
    if changes:
        out.write("\n" + paint("1", "What a change would do to the peak") + "\n")
        for change in changes:
            _wrap(_told(change), out, width, bullet="+" if change.saved_bytes > 0 else "-")


def _views(blocks: Sequence[Block]) -> list[tuple[str, Callable[[Block], str]]]:
    """Ways to look at the holders that show something each."""
    views: list[tuple[str, Callable[[Block], str]]] = []
    if any("/" in (block.op_name or "") for block in blocks):
        views.append(("By name scope", scope_of(2)))
    if any(block.code is not None for block in blocks):
        views.append(("By line of the program", code_of))
    told = any(block.slot is not None or block.shape is not None for block in blocks)
    views.append(("By tensor", tensor_of) if told else ("By op", op_of))
    return views


def sentences(one: Memory) -> list[str]:
    """What there is to know of the figures, in words."""
    said = []
    if not one.recorded:
        said.append(
            "No allocation was recorded: every tensor is taken to live from its producer to its last reader "
            "in the graph that ran, and nothing else to be held."
        )
    if not one.complete:
        said.append("Only the first movements were read, the recording has more: the peak may be later.")
    before = one.held.base_bytes + sum(b.bytes for b in one.held.blocks if b.born_ps is None)
    if before:
        said.append(f"{_bytes(before)} were held already when the recording began.")
    elif one.recorded and not one.held.totals:
        said.append(
            "What was held before the step (variables, constants) was not recorded and is not counted."
        )
    if one.held.contradictions:
        said.append(
            f"{units.count(one.held.contradictions, 'event')} of {one.held.totals:,} contradict the blocks: "
            "the allocator tells another total than they add up to, so events are missing."
        )
    kinds = {kind: sum(b.bytes for b in one.peak.blocks if b.kind == kind) for kind in _KINDS}
    if any(kinds[kind] for kind in _KINDS if kind != "unknown"):
        parts = [f"{_bytes(size)} {_KINDS[kind]}" for kind, size in kinds.items() if size]
        said.append(f"At the peak: {', '.join(parts)}.")
    if rounded := rounded_up(one.peak.blocks):
        said.append(f"At the peak {_bytes(rounded)} lie in blocks beyond what was asked for.")
    pieces = fragmentation(one.held.pools, one.peak.ts_ps)
    if pieces is not None and pieces.most:
        at_peak = "" if pieces.at_peak is None else f"at the peak {units.show(pieces.at_peak, 'ratio')}, "
        said.append(
            f"Free memory lies in pieces: {at_peak}at most {units.show(pieces.most, 'ratio')} (at"
            f" {_ps(pieces.most_ps - _start(one))}) of what the allocator had free was outside of its largest"
            " piece."
        )
    if one.never_freed and one.recorded:
        size = sum(block.bytes for block in one.never_freed)
        largest = one.never_freed[0]
        said.append(
            f"{units.count(len(one.never_freed), 'block')} ({_bytes(size)}) never died within the recording; "
            f"the largest is {tensor_of(largest)}."
        )
    ops = [block for block in one.peak.blocks if block.op_name is not None]
    if ops and all(block.code is None for block in ops):
        said.append(
            "Which lines of the program made these ops is not known: `stepscope record` writes an op log, "
            "and one that lies beside the recording (tfprof_log) is read; torch.profiler tells it "
            "with_stack=True."
        )
    if (found := one.compared) is not None and found.compared:
        late = (
            "" if found.median_late_ps is None else f", the middle one {_ps(found.median_late_ps)} after it"
        )
        said.append(
            f"The graph that ran says when each tensor could die: {found.within:,} of {found.compared:,} "
            f"recorded ones were freed within 100 µs of their last reader{late}."
        )
        if found.later:
            names = ", ".join(_late(block) for block in found.later[:2])
            said.append(f"Held longer than the graph asks for: {names}.")
    if one.graph_peak is not None and one.timeline_bytes is not None:
        said.append(
            f"By the graph alone the peak would be {_bytes(one.graph_peak.bytes)}; TensorFlow's Timeline, "
            f"which knows no shared memory and counts constants, would say {_bytes(one.timeline_bytes)}."
        )
    return said


_KINDS = {
    "output": "outputs",
    "temporary": "temporary",
    "persistent": "persistent",
    "unknown": "of unknown kind",
}


def _late(block: Block) -> str:
    assert block.freed_ps is not None
    assert block.last_use_ps is not None
    return f"{tensor_of(block)} ({_bytes(block.bytes)}, {_ps(block.freed_ps - block.last_use_ps)} longer)"


def _told(change: WhatIf) -> str:
    cost = f" for {_ps(change.cost_ps)} of computing" if change.cost_ps else ""
    if change.saved_bytes <= 0:
        return f"{change.change}: would not help; another peak is as high."
    return (
        f"{change.change}: {_bytes(change.peak_bytes)}, {_bytes(change.saved_bytes)} less{cost} "
        f"({units.count(change.blocks, 'block')}); {change.note}."
    )


def around(one: Memory, most: int = 3) -> list[tuple[str, Block]]:
    """What came last before the peak and goes first after it."""
    at = one.peak.ts_ps
    if at is None:
        return []
    born = sorted(
        (b for b in one.peak.blocks if b.born_ps is not None), key=lambda b: (-(b.born_ps or 0), -b.bytes)
    )
    gone = sorted(
        (b for b in one.peak.blocks if b.freed_ps is not None), key=lambda b: (b.freed_ps or 0, -b.bytes)
    )
    return [("allocated", b) for b in reversed(born[:most])] + [("freed", b) for b in gone[:most]]


def _start(one: Memory) -> int:
    return min((block.born_ps for block in one.held.blocks if block.born_ps is not None), default=0)


def columns(one: Memory, count: int) -> list[int]:
    """The most that was held in each of `count` equal stretches of the recording."""
    points = curve(one.held.blocks, one.held.base_bytes)
    if not points:
        return []
    begin, end = points[0][0], max(points[-1][0], points[0][0] + 1)
    highest = [0] * count
    held = points[0][1]
    place = 0
    for ts, now in points:
        at = min((ts - begin) * count // (end - begin), count - 1)
        while place < at:
            highest[place] = max(highest[place], held)
            place += 1
        highest[at] = max(highest[at], now, held if ts > begin else 0)
        held = now
    for rest in range(place, count):
        highest[rest] = max(highest[rest], held)
    return highest


def _plot(one: Memory, out: io.StringIO, width: int, paint: Paint) -> None:
    label = max(cells(_bytes(one.peak.bytes)), 1)
    highest = columns(one, max(width - label - 3, 10))
    if not highest or not one.peak.bytes:
        return
    # Eighths of a line; what is not nothing is at least one.
    levels = [max(round(size * _HEIGHT * 8 / one.peak.bytes), 1 if size else 0) for size in highest]
    for line in range(_HEIGHT - 1, -1, -1):
        drawn = "".join(_BARS[min(max(level - line * 8, 0), 8)] for level in levels)
        left = _bytes(one.peak.bytes) if line == _HEIGHT - 1 else ("0" if line == 0 else "")
        out.write(f"{left:>{label}} {paint('36', drawn.rstrip())}\n")
    span = max((b.freed_ps or b.born_ps or 0) for b in one.held.blocks) - _start(one)
    right = _ps(span)
    out.write(
        paint("2", " " * (label + 1) + "0" + " " * max(len(highest) - 1 - cells(right), 1) + right) + "\n"
    )


def _table(
    title: str, rows: Sequence[Holder], total: int, out: io.StringIO, width: int, paint: Paint
) -> None:
    if not rows or not total:
        return
    out.write("\n" + paint("1", title) + "\n")
    for row in rows[:_MOST]:
        count = f"  {units.count(row.blocks, 'block')}" if row.blocks > 1 else ""
        line = f"  {_bytes(row.bytes):>10}  {units.show(row.bytes / total, 'ratio'):>6}  "
        room = max(width - cells(line) - cells(count), 12)
        out.write(line + shorten_cells(plain(row.name), room) + count + "\n")
    if len(rows) > _MOST:
        rest = sum(row.bytes for row in rows[_MOST:])
        out.write(paint("2", f"  {_bytes(rest):>10}  {'':>6}  in {len(rows) - _MOST:,} more") + "\n")


def _wrap(text: str, out: io.StringIO, width: int, bullet: str = "") -> None:
    lead = f"  {bullet} " if bullet else "  "
    paragraph(text, out, width, lead, " " * len(lead))


def to_json(asked: Asked) -> str:
    """Everything as a document. Times are integer picoseconds, sizes bytes."""
    return json.dumps({"format": FORMAT, "allocators": [_document(*pair) for pair in asked]}, indent=2) + "\n"


def _document(one: Memory, changes: Sequence[WhatIf]) -> dict[str, Any]:
    points = curve(one.held.blocks, one.held.base_bytes)
    thin = max(len(points) // _POINTS, 1)
    found = one.compared
    pieces = fragmentation(one.held.pools, one.peak.ts_ps)
    return {
        "path": one.path,
        "run_id": one.run_id,
        "host_id": one.host_id,
        "allocator": one.allocator,
        "device": one.device,
        "recorded": one.recorded,
        "complete": one.complete,
        "peak_bytes": one.peak.bytes,
        "peak_ps": one.peak.ts_ps,
        "held_before_bytes": one.held.base_bytes + sum(b.bytes for b in one.held.blocks if b.born_ps is None),
        "contradictions": one.held.contradictions,
        "rounded_up_bytes": rounded_up(one.peak.blocks),
        "fragmentation": None if pieces is None else vars(pieces),
        "at_peak": {
            "by_op": [vars(row) for row in holders(one.peak.blocks, op_of)],
            "by_scope": [vars(row) for row in holders(one.peak.blocks, scope_of(2))],
            "by_code": [vars(row) for row in holders(one.peak.blocks, code_of)],
            "by_kind": [vars(row) for row in holders(one.peak.blocks, lambda block: block.kind)],
            "tensors": [_block(block) for block in one.peak.blocks],
        },
        "never_freed": [_block(block) for block in one.never_freed],
        "lifetimes": None
        if found is None
        else {
            "buffers": found.buffers,
            "compared": found.compared,
            "within_100_us": found.within,
            "median_late_ps": found.median_late_ps,
            "freed_before_last_use": found.earlier,
            "held_longer": [_block(block) for block in found.later],
        },
        "graph_peak_bytes": None if one.graph_peak is None else one.graph_peak.bytes,
        "timeline_peak_bytes": one.timeline_bytes,
        "changes": [vars(change) for change in changes],
        "curve": [{"ts_ps": ts, "bytes": held} for ts, held in points[::thin]],
        "curve_is_thinned": thin > 1,
        "evidence": sentences(one),
    }


def _block(block: Block) -> dict[str, Any]:
    return {
        "op": block.op_name,
        "op_type": block.op_type,
        "slot": block.slot,
        "dtype": block.dtype,
        "shape": block.shape,
        "kind": block.kind,
        "code": None if block.code is None else vars(block.code),
        "bytes": block.bytes,
        "born_ps": block.born_ps,
        "freed_ps": block.freed_ps,
        "last_use_ps": block.last_use_ps,
    }


def _bytes(value: int) -> str:
    return units.show(value, "bytes")


def _ps(value: int) -> str:
    return units.show(value, "ps")
