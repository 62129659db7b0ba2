"""The summary: the analyses and findings of the library in order, and all that instruments add to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, cast

from stepscope import library, units
from stepscope.instruments import flame as instrument
from stepscope.instruments.causes import ranking
from stepscope.instruments.causes.written_ops import ops_of_libraries
from stepscope.instruments.memory import allocators
from stepscope.instruments.pipeline import diagnoses
from stepscope.instruments.replay import uncovered_work
from stepscope.library.statements import statement
from stepscope.report import provenance
from stepscope.report.advice import findings_of, framework_of, next_commands, notes_of
from stepscope.report.judgement_text import answers as of_each
from stepscope.report.judgement_text import document, say_nothing, sentences, weighed
from stepscope.report.parts import (
    Chart,
    FirstRows,
    Report,
    Rows,
    Section,
    Share,
    Split,
    Table,
    ask,
    dicts,
)
from stepscope.report.sentences import answer, headline, several_runs, title, unrelated

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement, Weighed
    from stepscope.session.trace import OpenTrace

_KEPT = ("step", "track_place", "observed", "step_window", "op_sum", "device_sum", "track_sum")
"""Views that several analyses and findings read: computed once, each after those it builds on. All of them
read rollups and other small tables, no slices."""

_SECTIONS: tuple[
    tuple[str, str, int, bool], ...
] = (  # analysis, title, most rows (0: the sentences say it), in every report
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
_MOST_WITH_ALL = 1000
_PLACES = ("device", "host", "launch")
"""Where ops are, those first whose work is the answer."""
_FIRST: Mapping[str, FirstRows] = {
    "ops": FirstRows(("-self_ps", "op", "op_type"), {"place": _PLACES}),
    "memory_by_op": FirstRows(("-all_output_bytes", "op_name", "op_type")),
    "slices_by_name": FirstRows(("-total_ps", "name")),
}
"""Analyses with as many rows as there are names, which may be one for each slice, and of which no sentence
reads more than is shown."""
_MOST_SUBJECTS = 4
"""Pipelines, and allocators, that a report of everything holds."""


def build(trace: OpenTrace, all: bool = False) -> Report:
    """Asks the library's questions of a trace and puts the answers in order.

    all: every section, and many more rows of each. QueryError when the engine fails.
    """
    shown = _asked(trace, all)
    asked = [library.entry(name) for name in dict.fromkeys([*shown, "step_times"])]
    problems = library.entries("finding")
    answers = ask(trace, [*asked, *problems], _KEPT, _first(all))
    rows_of = {entry.name: dicts(answers[entry.name]) for entry in asked}
    rows_of["sources"] = _sources(trace)
    notes = notes_of(rows_of["completeness"], library.entries("analysis"))
    made = provenance.sentences(trace.query)
    judged, of_ops = _judged(trace, _has_time(rows_of))
    profiles = _only_profiles(rows_of)
    memory = _of_memory(trace) if profiles else []
    framework = framework_of(row["framework"] for row in rows_of["sources"])
    of_libraries = ops_of_libraries(trace.query) if rows_of["hlo_modules"] else {}
    found = findings_of(answers, problems, notes, several_runs(rows_of), framework, of_libraries)
    findings = weighed(found, judged)
    answers["step_parts"] = _parts(answers["step_parts"], all)
    answers["ranks"] = _recorded(answers["ranks"], _OF_RANKS)
    mixed = unrelated(rows_of)
    first = (
        *sentences(judged, several_runs(rows_of), mixed, _programs(trace) if mixed else ()),
        *memory,
        *headline(rows_of, _runs_judged(judged, mixed), _mean(judged), of_libraries, of_ops),
    )
    has_types = all or _has_types(trace, rows_of["ops"], answers["ops"].total)
    shown = _telling(shown, has_types, profiles)
    sentences_of = {name: [one for one in answer(name, rows_of) if one not in first] for name in shown}
    sentences_of["runs_and_hosts"] = [*made, *sentences_of["runs_and_hosts"]]
    sections = _sections(sentences_of, answers, all)
    if say_nothing(judged):
        sections = list(map(_of_the_host, sections))
    if (table := of_each(judged)) is not None:
        sections.insert(0, table)
    if all:
        sections = _beside(sections, _further(trace))
    return Report(
        title=title(rows_of),
        headline=first,
        sections=tuple(sections),
        findings=findings,
        notes=notes,
        next_commands=next_commands(trace, findings, rows_of, only_memory=bool(memory)),
        facts=_facts(rows_of),
        document=document(judged, notes, mixed),
    )


def _asked(trace: OpenTrace, all: bool) -> list[str]:
    """The analyses to ask, in their order."""
    names = [name for name, _, _, always in _SECTIONS if always or all]
    if all and not trace.query(statement("parameter_servers_seen")).rows():
        # What it is made from takes a look at each slice: minutes for a large lake.
        names.remove("parameter_servers")
    return names


def _judged(trace: OpenTrace, has_time: bool) -> tuple[list[Judgement], bool]:
    """What limits the steps, and whether a recorder knows ops and their places; others draw whatever they are
    told to."""
    judged: list[Judgement] = []
    if has_time:
        judged = uncovered_work.raised(trace.query, trace.stream, ranking.judge(trace.query))
    ((sources, drawn),) = trace.query(statement("sources_of_ops")).rows()
    of_ops = drawn < sources or not drawn
    return (judged if of_ops else [replace(judgement, of_ops=False) for judgement in judged]), of_ops


def _runs_judged(judged: Sequence[Judgement], mixed: bool) -> int:
    """How many runs there are for the first sentences; recordings of several programs count as several."""
    runs = len({judgement.run_id for judgement in judged})
    return max(runs, 2) if mixed and judged else runs


def _telling(names: Sequence[str], has_types: bool, profiles: bool) -> list[str]:
    """The analyses that say something here. profiles: nothing but profiles was recorded, without times."""
    kept = [name for name in names if not (profiles and name in _OF_TIME)]
    if "ops" in kept and not has_types:
        kept.remove("ops")  # a recording without types: the section before says the same
    return kept


def _sections(
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


def _further(trace: OpenTrace) -> dict[str, Iterator[Section]]:
    """Sections that are shown only with all others, by the analysis that they stand beside."""
    return {
        "step_part_lines": _stacks(trace),
        "pipeline_stages": _pipelines(trace),
        "memory_by_op": _memory(trace),
    }


def _first(all: bool) -> dict[str, FirstRows]:
    """What is wanted of analyses that may have a row for each slice."""
    most = {name: _MOST_WITH_ALL if all else number for name, _, number, _ in _SECTIONS}
    return {name: wanted._replace(most=most[name]) for name, wanted in _FIRST.items()}


def _has_types(trace: OpenTrace, ops: Rows, total: int) -> bool:
    """Whether any op has a type. ops: the first of so many."""
    if any(row["op"] != row["op_type"] for row in ops):
        return True
    return total > len(ops) and bool(trace.query(statement("typed_op")).rows())


def _programs(trace: OpenTrace) -> list[tuple[str, Weighed]]:
    """Recordings that have nothing in common, by the names of their files."""
    paths = {row["source_id"]: row["path"] for row in _sources(trace)}
    found = ranking.weigh_sources(trace.query, {})
    return [(paths[source_id].rpartition("/")[2], one) for source_id, one in found.items()]


def _mean(judged: Sequence[Judgement]) -> tuple[int, int] | None:
    """How many steps were judged and their mean, where those of one host were."""
    if len(judged) != 1 or judged[0].whole_capture:
        return None
    return judged[0].steps, judged[0].mean_ps


def _has_time(told: Mapping[str, Rows]) -> bool:
    """Whether anything was recorded that takes time in steps."""
    events = any(row["events"] for row in told["runs_and_hosts"])
    return bool(told["step_parts"]) and events and not _only_profiles(told)


def _only_profiles(told: Mapping[str, Rows]) -> bool:
    """Whether all recordings are profiles: what they sample, like sizes of memory, belongs to no step."""
    recorded = {row["kind"] for row in told["sources"] if row["events_stored"]}
    return bool(recorded) and recorded <= {"profile", "memory"}


_OF_TIME = ("step_parts", "step_list")


def _sources(trace: OpenTrace) -> Rows:
    """What was read: rows of the statement sources."""
    found = trace.query(statement("sources"))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows()]


def _of_memory(trace: OpenTrace) -> list[str]:
    """What profiles of memory hold."""
    from stepscope.report import memory

    return memory.headline(
        sorted(allocators.find(trace.query), key=lambda allocator_memory: -allocator_memory.peak.bytes)
    )


def _parts(table: Table, all: bool) -> Table:
    """The means of hosts, with each step where everything is wanted; without labels that no row has."""
    names = [column.name for column in table.columns]
    what = names.index("what")
    rows = table.rows if all else tuple(row for row in table.rows if row[what] == "mean")
    times = [column.name for column in table.columns if column.unit == "ps"]
    return _recorded(Table(table.columns, rows, len(rows)), times)


_OF_RANKS = (
    "collectives", "times_last", "caused_ps", "wait_ps", "path_ps", "residual_ps", "communication_ps",
    "hidden_ps", "input_ps",
)  # fmt: skip


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


def _beside(sections: Iterable[Section], more: Mapping[str, Iterable[Section]]) -> list[Section]:
    """The sections, each followed by what belongs to it; what belongs to none goes before the last one."""
    *found, last = sections
    after = dict(more)
    ordered = [one for section in found for one in (section, *after.pop(section.name, ()))]
    return [*ordered, *(one for rest in after.values() for one in rest), last]


def _stacks(trace: OpenTrace) -> Iterator[Section]:
    """Flame graphs of what samples of stacks show."""
    from stepscope.report import flame

    section = flame.section(instrument.find(trace.query))
    if section is not None:
        yield section


def _pipelines(trace: OpenTrace) -> Iterator[Section]:
    """What the verb pipeline tells: stages, and what changes would gain."""
    from stepscope.report import pipeline

    found = pipeline.ordered(diagnoses.find(trace.query))
    yield from map(pipeline.group, found[:_MOST_SUBJECTS])
    if len(found) > _MOST_SUBJECTS:
        more = (
            f"{units.count(len(found) - _MOST_SUBJECTS, 'more pipeline')}: `stepscope pipeline` shows them."
        )
        yield Section("more_pipelines", "More pipelines", answer=(more,))


def _memory(trace: OpenTrace) -> Iterator[Section]:
    """What the verb memory tells: the curve, and who holds the peak."""
    from stepscope.report import memory, memory_answer

    found = sorted(allocators.find(trace.query), key=lambda allocator_memory: -allocator_memory.peak.bytes)
    for allocator_memory, changes in memory_answer.changes(trace, found[:_MOST_SUBJECTS]):
        yield memory.group(allocator_memory, changes)
    if len(found) > _MOST_SUBJECTS:
        more = f"{units.count(len(found) - _MOST_SUBJECTS, 'more allocator')}: `stepscope memory` shows them."
        yield Section("more_allocators", "More allocators", answer=(more,))


def _section(entry: library.Entry, title: str, table: Table, answer: Iterable[str], most: int) -> Section:
    chart = None
    if entry.chart is not None:
        kind = cast("Literal['bar', 'stacked_bar', 'line', 'strip']", entry.chart.kind)
        there = {column.name for column in table.columns}
        chart = Chart(kind, entry.chart.x, tuple(y for y in entry.chart.y if y in there), entry.title)
    rows = _best(table, most) if entry.name in ("op_types", "ops") else table.rows[:most]
    if chart is not None and chart.kind in ("line", "strip") and len(rows) < 2:
        chart = None  # a curve of one dot shows nothing that the table does not
    cut = Table(table.columns, rows, table.total) if most else None
    splits = _splits(table, chart) if entry.name == "step_parts" and chart is not None else ()
    return Section(entry.name, title, entry.question, tuple(answer), cut, chart, entry.sql, splits=splits)


def _of_the_host(section: Section) -> Section:
    """The section, whose bars are those of a host that says nothing of what a step takes."""
    bars = tuple(replace(split, long=f"{split.long} of the host") for split in section.splits)
    return replace(section, splits=bars) if bars else section


def _splits(table: Table, chart: Chart) -> tuple[Split, ...]:
    """The mean step of each host by what it goes to."""
    means = [row for row in dicts(table) if row["what"] == "mean" and row["dur_ps"]]
    runs = len({row["run_id"] for row in means})

    return tuple(
        Split(
            "" if len(means) == 1 else f"{row['run_id']} {row['host_id']}" if runs > 1 else row["host_id"],
            units.show(row["dur_ps"], "ps") + (" on average" if row["steps"] > 1 else ""),
            tuple(
                Share(name.removesuffix("_ps"), row[name], row[name] / row["dur_ps"])
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


def _facts(told: Mapping[str, Rows]) -> dict[str, Any]:
    hosts = told["runs_and_hosts"]
    return {
        "runs": len({row["run_id"] for row in hosts}),
        "hosts": len({row["host_id"] for row in hosts}),
        "sources": sum(row["sources"] for row in hosts),
        "events_stored": sum(row["events"] for row in hosts),
        "events_lost": sum(row["events_lost"] for row in hosts),
        "steps": sum(row["steps"] for row in hosts),
        "steps_left_out": sum(row["steps_left_out"] for row in hosts),
    }
