"""The sections of a summary: which analyses they show, in which order, and how much of each."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from stepscope import library, units
from stepscope.report.names import host_of
from stepscope.report.parts import Chart, FirstRows, Section, Share, Split, Table, dicts

_SECTIONS: tuple[tuple[str, str, int, bool], ...] = (
    ("step_parts", "Time by part", 2000, True),
    ("runs_and_hosts", "Recording", 12, True),
    ("step_list", "Steps", 2000, True),
    ("step_times", "Step times", 12, False),
    ("ranks", "Ranks", 16, True),
    ("communication_overlap", "Communication overlap", 40, False),
    ("collectives", "Collectives", 40, False),
    ("critical_ranks", "Critical path", 40, False),
    ("clocks", "Clocks", 40, False),
    ("parameter_servers", "Parameter servers", 12, False),
    ("step_part_lines", "Python lines", 40, False),
    ("op_types", "Op types", 12, True),
    ("ops", "Ops", 12, True),
    ("roofline", "Roofline", 40, False),
    ("busy_by_device", "Devices", 12, True),
    ("busy_by_track", "Threads and streams", 40, False),
    ("waits", "Waits", 8, True),
    ("pipeline_stages", "Input stages", 12, True),
    ("concurrency", "In parallel", 0, True),
    ("idle_gaps", "Idle gaps", 20, False),
    ("transfers", "Copies", 12, False),
    ("launches", "Launches", 12, False),
    ("memory_by_op", "Memory", 12, True),
    ("checkpoint_tensors", "Checkpoints", 12, True),
    ("hlo_modules", "XLA modules", 12, True),
    ("hlo_passes", "XLA passes", 12, True),
    ("hlo_instructions", "XLA instructions", 40, False),
    ("hlo_memory", "Memory of programs", 40, False),
    ("slices_by_name", "Slices by name", 20, False),
    ("counters_summary", "Counters", 40, False),
    ("completeness", "Completeness", 40, True),
)
"""Analysis, title, most rows (0: the sentences say it), and whether it is in every report."""
_MOST_WITH_ALL = 1000
_PLACES = ("device", "host", "launch")
"""Where ops are, those first whose work is the answer."""
_FIRST: Mapping[str, FirstRows] = {
    "ops": FirstRows(("-self_ps", "op", "op_type"), {"place": _PLACES}),
    "memory_by_op": FirstRows(("-all_output_bytes", "op", "op_type")),
    "slices_by_name": FirstRows(("-total_ps", "name")),
}
"""Analyses with as many rows as there are names, which may be one for each slice, and of which no sentence
reads more than is shown."""
_OF_TIME = ("step_parts", "step_list")
"""What only recordings with times have."""

_OF_RANKS = (
    "collectives", "times_last", "caused_ps", "wait_ps", "path_ps", "residual_ps", "communication_ps",
    "hidden_ps", "input_ps",
)  # fmt: skip
"""Columns of ranks that are left out where no rank has anything in them."""


def planned(all: bool) -> list[str]:
    """The analyses to ask, in their order. all: not only those of every report."""
    return [name for name, _, _, always in _SECTIONS if always or all]


def first_rows(all: bool) -> dict[str, FirstRows]:
    """What is wanted of analyses that may have a row for each slice."""
    most = {name: _MOST_WITH_ALL if all else number for name, _, number, _ in _SECTIONS}
    return {name: wanted._replace(most=most[name]) for name, wanted in _FIRST.items()}


def telling(names: Sequence[str], has_types: bool, profiles: bool, unsaid: Collection[str] = ()) -> list[str]:
    """The analyses that say something here. profiles: nothing but profiles was recorded, without times.
    unsaid: those that have nothing to add."""
    kept = [name for name in names if name not in unsaid and not (profiles and name in _OF_TIME)]
    if "ops" in kept and not has_types:
        kept.remove("ops")  # a recording without types: the section before says the same
    return kept


def drop_empty_columns(answers: Mapping[str, Table], by_step: bool) -> dict[str, Table]:
    """The answers; of parts of steps and of ranks, without the columns in which no row has anything. by_step:
    with the parts of each step, not only their means."""
    parts = answers["step_parts"]
    what = [column.name for column in parts.columns].index("what")
    rows = parts.rows if by_step else tuple(row for row in parts.rows if row[what] == "mean")
    times = [column.name for column in parts.columns if column.unit == "ps"]
    return {
        **answers,
        "step_parts": _recorded(Table.whole(parts.columns, rows), times),
        "ranks": _recorded(answers["ranks"], _OF_RANKS),
    }


def drawn(answers: Mapping[str, Table]) -> dict[str, Table]:
    """The answers about a recording that knows no ops: what was drawn may sleep as well as compute."""
    parts = answers["step_parts"]
    columns = tuple(
        replace(column, title="Drawn", about="time that what was drawn covers")
        if column.name == "compute_ps"
        else column
        for column in parts.columns
    )
    return {**answers, "step_parts": replace(parts, columns=columns)}


def _recorded(table: Table, columns: Sequence[str]) -> Table:
    """The table without those of some columns in which no row has anything: a zero would say that it was
    looked for and takes no time."""
    kept = [
        number
        for number, column in enumerate(table.columns)
        if column.name not in columns or any(row[number] for row in table.rows)
    ]
    picked = tuple(tuple(row[number] for number in kept) for row in table.rows)
    return Table(tuple(table.columns[number] for number in kept), picked, table.total)


def sections(
    sentences_of: Mapping[str, Sequence[str]], answers: Mapping[str, Table], all: bool
) -> list[Section]:
    """The analyses with rows, in their order."""
    return [
        _section(
            library.entry(name), heading, answers[name], sentences_of[name], _MOST_WITH_ALL if all else most
        )
        for name, heading, most, _ in _SECTIONS
        if name in sentences_of and (answers[name].rows or name == "completeness")
    ]


def _section(entry: library.Entry, title: str, table: Table, answer: Iterable[str], most: int) -> Section:
    chart = None
    if entry.chart is not None:
        kind = cast("Literal['bar', 'stacked_bar', 'line', 'strip']", entry.chart.kind)
        names = {column.name for column in table.columns}
        chart = Chart(kind, entry.chart.x, tuple(y for y in entry.chart.y if y in names), entry.title)
    rows = _best(table, most) if entry.name in ("op_types", "ops") else table.rows[:most]
    if chart is not None and chart.kind in ("line", "strip") and len(rows) < 2:
        chart = None  # a curve of one dot shows nothing that the table does not
    cut = Table(table.columns, rows, table.total) if most else None
    splits = _splits(table, chart) if entry.name == "step_parts" and chart is not None else ()
    return Section(entry.name, title, entry.question, tuple(answer), cut, chart, entry.sql, splits=splits)


def _splits(table: Table, chart: Chart) -> tuple[Split, ...]:
    """The mean step of each host by what it goes to."""
    means = [row for row in dicts(table) if row["what"] == "mean" and row["dur_ps"]]
    several = [name for name in ("run_id", "host_id") if len({row[name] for row in means}) > 1]
    words = {column.name: column.title.lower() for column in table.columns}
    return tuple(
        Split(
            " on ".join(host_of(row[name]) if name == "host_id" else row[name] for name in several),
            units.show(row["dur_ps"], "ps") + (" on average" if row["steps"] > 1 else ""),
            tuple(
                Share(name.removesuffix("_ps"), words[name], row[name], row[name] / row["dur_ps"])
                for name in chart.y
                if row[name]
            ),
        )
        for row in means
    )


def _best(table: Table, most: int) -> tuple[tuple[Any, ...], ...]:
    """The first rows of each place, devices first: launches and host work are ops as well, but where a
    device was recorded its work is the answer."""
    at = [column.name for column in table.columns].index("place")
    ranked = sorted(table.rows, key=lambda row: _PLACES.index(row[at]))  # stable: by self time in a place
    places = sorted({row[at] for row in table.rows}, key=_PLACES.index)
    share = max(most // 3, most - (most // 3) * (len(places) - 1))
    kept: list[tuple[Any, ...]] = []
    for place in places:
        kept += [row for row in ranked if row[at] == place][: share if place == places[0] else most // 3]
    return tuple(kept)


def name_steps(section: Section, steps: str) -> Section:
    """The section, whose bars say behind how long a step takes which steps these are."""
    bars = tuple(replace(split, long=f"{split.long}{steps}") for split in section.splits)
    return replace(section, splits=bars) if bars else section
