"""Two recordings side by side as a report: the largest differences first."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from stepscope import units
from stepscope.instruments.compare import figures, ops
from stepscope.instruments.compare.figures import Measured
from stepscope.instruments.compare.ops import Pair
from stepscope.report.bases import BASES, called
from stepscope.report.parts import Column, Report, Section, Table
from stepscope.units import Unit

UNKNOWN_NOISE = (
    "This describes one recording of each. How much recordings of the same program differ is not known, so a"
    " small difference may mean nothing; `stepscope check` judges 4 recordings of each."
)
_MOST_NAMED = 3
_LEAST = 0.05
"""A part is named in the headline when it changes by more than this of the difference of the steps."""
_MOST_ROWS = 50
"""Ops that are listed; the others are one row, so that the rows add up."""
_PARTS: tuple[str, str, str, str, Unit] = ("parts", "Step parts", "What changed in a step?", "Part", "ps")
_COMPARED: tuple[tuple[str, str, str, str, Unit], ...] = (
    ("stages", "Stages", "Which stages need more or less for a step?", "Stage", "ps"),
    ("memory", "Memory", "Where is the peak higher or lower?", "Allocator", "bytes"),
    ("float_ops", "Floating point operations", "Which types do more of them?", "Op type", "int"),
    ("compilations", "Compilations", "Which functions compile more often?", "Function", "int"),
)
"""Figures by name that both sides have: field, title and question of a section, what a row is, its unit."""


def build(a: Measured, b: Measured) -> Report:
    """The report: a headline, then steps, parts, ops under their names and scopes, and what else there is."""
    stepped = bool(a.steps and b.steps)
    whole = "a step" if stepped else "the recording"
    pairs = ops.pairs(a.ops, b.ops)
    numbers = (a.steps, b.steps) if stepped else (1, 1)
    times_a, runs_a = _sums_by_kind(a, numbers[0])
    times_b, runs_b = _sums_by_kind(b, numbers[1])
    parts = [_section(*_PARTS, a.parts, b.parts)] if stepped else []
    sections = [
        _steps(a, b),
        *parts,
        _layers(pairs, numbers, whole),
        _ops(pairs, numbers, whole),
        _alone(pairs, numbers),
        _section(
            "ops", "Op types", f"Which types take more or less of {whole}?", "Op type", "ps", times_a, times_b
        ),
        _section(
            "counts", "Executions", f"Which types run more in {whole}?", "Op type", "float", runs_a, runs_b
        ),
        *(_section(*about, getattr(a, about[0]), getattr(b, about[0])) for about in _COMPARED),
        _graph(a, b),
    ]
    kept = tuple(section for section in sections if section.answer or (section.table and section.table.rows))
    return Report(f"{a.name} (A) and {b.name} (B)", tuple(_headline(a, b)), kept)


def _headline(a: Measured, b: Measured) -> list[str]:
    if not a.steps or not b.steps:
        without = [measured.name for measured in (a, b) if not measured.steps]
        lack = f"Steps are not known of {without[0]}" if len(without) == 1 else "Steps are known of neither"
        return [f"{lack}, so whole recordings are compared.", UNKNOWN_NOISE]
    change = b.mean_ps - a.mean_ps
    lengths = f"{units.show(a.mean_ps, 'ps')} in A and {units.show(b.mean_ps, 'ps')} in B"
    if not change:
        return [f"A step takes {lengths}.", UNKNOWN_NOISE]
    way = "less" if change < 0 else "more"
    share = f" ({units.show(abs(change) / a.mean_ps, 'ratio')})" if a.mean_ps else ""
    sentences = [f"A step takes {lengths}: {units.show(abs(change), 'ps')} {way}{share}."]
    changes = {name: b.parts.get(name, 0) - a.parts.get(name, 0) for name in {**a.parts, **b.parts}}
    large = sorted(
        (name for name, by in changes.items() if abs(by) > _LEAST * abs(change)),
        key=lambda name: (-abs(changes[name]), name),
    )
    if large:
        named = ", ".join(f"{name} {_signed(changes[name])}" for name in large[:_MOST_NAMED])
        sentences.append(f"By part: {named}.")
    return [*sentences, UNKNOWN_NOISE]


def _signed(ps: int) -> str:
    return f"{'-' if ps < 0 else '+'}{units.show(abs(ps), 'ps')}"


def _steps(a: Measured, b: Measured) -> Section:
    columns = (
        Column("side", "text", "Side", "A or B"),
        Column("name", "text", "Recording", "run or host"),
        Column("hosts", "int", "Hosts", "hosts whose steps are averaged"),
        Column("steps", "int", "Steps", "steps that averages include"),
        Column("mean_ps", "ps", "Mean", "mean duration of a step"),
        Column("median_ps", "ps", "Median", "median duration of a step"),
    )
    rows = tuple(
        (side, measured.name, measured.hosts, measured.steps, *_durations(measured))
        for side, measured in (("A", a), ("B", b))
    )
    return Section("compared_steps", "Steps", "How long do steps take?", table=Table(columns, rows, 2))


def _durations(measured: Measured) -> tuple[int | None, int | None]:
    """The mean and the median step in picoseconds; None where no steps are known."""
    return (measured.mean_ps, measured.median_ps) if measured.steps else (None, None)


def _sums_by_kind(side: Measured, number: int) -> tuple[dict[str, int], dict[str, float]]:
    """Time and executions of a side by op type, a step or in all."""
    time: dict[str, int] = defaultdict(int)
    runs: dict[str, float] = defaultdict(float)
    for op in side.ops:
        kind = op.item.kind or op.item.name
        time[kind] += op.own_ps
        runs[kind] += op.runs
    return (
        {kind: ps // number for kind, ps in time.items() if ps},
        {kind: count / number for kind, count in runs.items()},
    )


def _halves(pairs: Sequence[Pair], numbers: tuple[int, int]) -> list[tuple[int, int]]:
    """Time of each pair in A and in B, a step or in all: whole picoseconds that add up."""
    return list(
        zip(
            ops.shared_out([pair.a_ps for pair in pairs], numbers[0]),
            ops.shared_out([pair.b_ps for pair in pairs], numbers[1]),
            strict=True,
        )
    )


def _ops(pairs: Sequence[Pair], numbers: tuple[int, int], whole: str) -> Section:
    columns = (
        Column("name", "text", "Op", "name in A, or in B of what only B has"),
        Column("a", "ps", "A", "own time in A"),
        Column("b", "ps", "B", "own time in B"),
        Column("change", "ps", "Change", "B less A", signed=True),
        Column("a_runs", "float", "Runs in A", "executions in A"),
        Column("b_runs", "float", "Runs in B", "executions in B"),
        Column("matched", "text", "Matched by", "why it is the same on both sides"),
        Column("b_name", "text", "In B", "names in B, where they are others"),
        Column("place", "text", "Place", "device or host"),
    )
    ordered = sorted(pairs, key=lambda pair: (pair.place, pair.a, pair.b))
    rows: list[tuple[Any, ...]] = []
    for pair, (in_a, in_b) in zip(ordered, _halves(ordered, numbers), strict=True):
        names = called(pair.b) if pair.a and pair.b and pair.a != pair.b else None
        runs = (_mean(pair.a_runs, numbers[0]), _mean(pair.b_runs, numbers[1]))
        rows.append(
            (
                *(called(pair.a or pair.b), in_a if pair.a else None, in_b if pair.b else None, in_b - in_a),
                *(runs[0] if pair.a else None, runs[1] if pair.b else None),
                *(BASES[pair.basis], names, pair.place),
            )
        )
    answer = [_sums(rows, whole), *_matched(pairs)] if pairs else []
    return Section(
        *("compared_names", "Ops", f"Which ops take more or less of {whole}?", tuple(answer)),
        _largest(columns, rows, "op", 5, ("as they are", None, None)),
    )


def _largest(
    columns: tuple[Column, ...],
    rows: Iterable[tuple[Any, ...]],
    what: str,
    sums: int = 3,
    rest: tuple[Any, ...] = (),
) -> Table:
    """The rows with the largest changes, and one for all others, in which the columns behind the name are
    added up. sums: how many of them; rest: its other cells."""
    ordered = sorted(rows, key=lambda row: (-abs(row[3]), row[0]))
    shown, others = ordered[:_MOST_ROWS], ordered[_MOST_ROWS:]
    if others:
        name = f"({units.count(len(others), what)} with smaller changes)"
        shown.append((name, *(sum(row[i] or 0 for row in others) for i in range(1, sums + 1)), *rest))
    return Table.whole(columns, shown)


def _mean(runs: int, number: int) -> float:
    return runs // number if runs % number == 0 else runs / number


def _sums(rows: Sequence[tuple[Any, ...]], whole: str) -> str:
    a, b = (sum(row[i] or 0 for row in rows) for i in (1, 2))
    return (
        f"Ops take {units.show(a, 'ps')} of {whole} in A and {units.show(b, 'ps')} in B, all threads and"
        f" devices added up: {_signed(b - a)}."
    )


def _matched(pairs: Sequence[Pair]) -> list[str]:
    """How much was found on both sides, and by what."""
    sentences = []
    for place, named in (("device", "devices"), ("host", "processors")):
        a, b = ops.matched_share(pairs, place)
        if a is None and b is None:
            continue
        shares = " and ".join(
            f"{units.show(share, 'ratio')} of {side}'s"
            for side, share in (("A", a), ("B", b))
            if share is not None
        )
        sentences.append(f"Ops on {named} that are on both sides take {shares} time there.")
    counts = ops.count_by_basis(pairs)
    by = [
        f"{counts[basis][0]} by {text}"
        for basis, text in BASES.items()
        if basis in counts and basis not in ("added", "removed")
    ]
    left = [
        f"{counts[basis][0]} {text}"
        for basis, text in (("removed", "only in A"), ("added", "only in B"))
        if basis in counts
    ]
    if by or left:
        sentences.append(f"Matched: {', '.join([*by, *left])}.")
    return sentences


def _layers(pairs: Sequence[Pair], numbers: tuple[int, int], whole: str) -> Section:
    """Totals by layer; they compare even where nothing inside has a counterpart."""
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    ordered = sorted(pairs, key=lambda pair: (pair.layer, pair.place, pair.a, pair.b))
    for pair, half in zip(ordered, _halves(ordered, numbers), strict=True):
        for side in (0, 1):
            sums[pair.layer or "(in no scope)"][side] += half[side]
    known = len(sums) > 1
    columns = (
        Column("name", "text", "Scope", "layer or scope, forward and backward"),
        Column("a", "ps", "A", "own time of its ops in A"),
        Column("b", "ps", "B", "own time of its ops in B"),
        Column("change", "ps", "Change", "B less A", signed=True),
    )
    rows = [(name, a, b, b - a) for name, (a, b) in sums.items()] if known else []
    question = f"Which layers and scopes take more or less of {whole}?"
    return Section("compared_scopes", "Scopes", question, table=_largest(columns, rows, "scope"))


def _alone(pairs: Sequence[Pair], numbers: tuple[int, int]) -> Section:
    """What was added and removed, under the deepest scope that both sides have."""
    groups: dict[str, list[Pair]] = defaultdict(list)
    for pair in pairs:
        if not pair.a or not pair.b:
            groups[pair.scope or "(in no common scope)"].append(pair)
    columns = (
        Column("scope", "text", "Scope", "deepest scope that both sides have"),
        Column("removed", "int", "Removed", "ops that only A has"),
        Column("a", "ps", "Their time", "in A"),
        Column("added", "int", "Added", "ops that only B has"),
        Column("b", "ps", "Their time in B", "in B"),
        Column("names", "text", "Names", "the longest of them"),
    )
    rows = []
    for scope, mine in groups.items():
        gone, new = [pair for pair in mine if pair.a], [pair for pair in mine if pair.b]
        longest = sorted(mine, key=lambda pair: (-max(pair.a_ps, pair.b_ps), pair.a, pair.b))[:_MOST_NAMED]
        rows.append(
            (
                *(scope, len(gone), sum(pair.a_ps for pair in gone) // numbers[0]),
                *(len(new), sum(pair.b_ps for pair in new) // numbers[1]),
                ", ".join(f"{'-' if pair.a else '+'} {called(pair.a or pair.b)}" for pair in longest),
            )
        )
    rows.sort(key=lambda row: (-max(row[2], row[4]), row[0]))
    return Section(
        "compared_alone",
        "Added and removed",
        "Which ops are only on one side, and where?",
        table=Table.whole(columns, rows),
    )


def _graph(a: Measured, b: Measured) -> Section:
    """Graphs by node types, with the nodes that have no counterpart."""
    found = figures.compare_nodes(a, b)
    if found is None:
        return Section("compared_graph", "Graph")
    cut = [side for side, measured in (("A", a), ("B", b)) if measured.nodes_cut]
    answer = [
        f"{units.count(len(a.nodes), 'node')} in A, {len(b.nodes):,} in B:"
        f" {len(found.added):,} added, {len(found.removed):,} removed."
    ]
    for word, nodes in (("Added", found.added), ("Removed", found.removed)):
        if nodes:
            rest = f" and {len(nodes) - _MOST_NAMED:,} more" if len(nodes) > _MOST_NAMED else ""
            answer.append(f"{word}: {_listed(nodes)}{rest}.")
    if cut:
        most = f"{figures.MOST_NODES:,}"
        answer.append(f"Only the first {most} nodes of {' and '.join(cut)} are read.")
    columns = (
        Column("name", "text", "Op type", "type of node"),
        Column("a", "int", "A", "nodes in A"),
        Column("b", "int", "B", "nodes in B"),
        Column("change", "int", "Change", "B less A", signed=True),
    )
    rows = [
        (name, left, right, right - left) for name, (left, right) in found.counts.items() if left != right
    ]
    rows.sort(key=lambda row: (-abs(row[3]), row[0]))
    return Section(
        *("compared_graph", "Graph", "Which nodes does one graph have more of?", tuple(answer)),
        Table.whole(columns, rows),
    )


def _listed(nodes: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{name} ({op_type})" for name, op_type in list(nodes)[:_MOST_NAMED])


def _section(
    name: str,
    title: str,
    question: str,
    what: str,
    unit: Unit,
    a: Mapping[str, float],
    b: Mapping[str, float],
) -> Section:
    """A table of both sides, the largest change first."""
    columns = (
        Column("name", "text", what, "name on either side"),
        Column("a", unit, "A", "in A; nothing where A lacks it"),
        Column("b", unit, "B", "in B; nothing where B lacks it"),
        Column("change", unit, "Change", "B less A", signed=True),
        Column("matched", "text", "In", "both, A only or B only"),
    )
    rows = []
    for key in {**a, **b}:
        change = b.get(key, 0) - a.get(key, 0)
        where = "both" if key in a and key in b else "A only" if key in a else "B only"
        rows.append((key, a.get(key), b.get(key), change, where))
    rows.sort(key=lambda row: (-abs(row[3]), row[0]))
    left = sum(row[4] == "A only" for row in rows)
    new = sum(row[4] == "B only" for row in rows)
    answer = []
    if left or new:
        answer.append(f"Names are matched exactly: {left} only in A, {new} only in B.")
    return Section(f"compared_{name}", title, question, tuple(answer), Table.whole(columns, rows))
