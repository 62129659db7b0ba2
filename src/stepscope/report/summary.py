"""The summary: the analyses and findings of the library in order, and all that instruments add to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from stepscope import library
from stepscope.instruments.causes import ranking
from stepscope.instruments.causes.top_op import computing_calls
from stepscope.instruments.causes.written_ops import ops_of_libraries
from stepscope.instruments.memory import allocators
from stepscope.instruments.replay import uncovered_work
from stepscope.library.statements import statement
from stepscope.report import (
    async_spans,
    further_sections,
    memory,
    provenance,
    run_table,
    runs,
    section_text,
    start_up,
    step_text,
    summary_sections,
)
from stepscope.report.advice import compiled, findings_of, framework_of, next_commands, notes_of
from stepscope.report.answer_document import document
from stepscope.report.finding_weights import weighed
from stepscope.report.headline import headline, sampled, title
from stepscope.report.judgement_text import say_nothing, sentences
from stepscope.report.parts import Report, ReportFinding, Rows, Section, Table, ask, dicts
from stepscope.report.remains import untraced_step

if TYPE_CHECKING:
    from stepscope.instruments.causes.judgement import Judgement
    from stepscope.instruments.causes.label_shares import Weighed
    from stepscope.session.trace import OpenTrace

_NO_STEPS = "no-steps"
"""The finding that there are none."""
_OF_MOMENTS = frozenset({"busy_by_device", "busy_by_track", "concurrency", "idle_gaps"})
"""Sections that say nothing where stacks and changes of memory are shown one after the other."""
_OF_SLICES = frozenset({"slices_by_name", "busy_by_track"})
"""Those that say nothing of changes of memory: slices around them are their stacks, and have no length."""
KEPT_VIEWS = (
    "step", "track_place", "observed", "step_window", "_captured_op", "_device_op", "device_sum", "track_sum",
    "_label_line", "rank_source", "_launching_op", "_computing_op",
)  # fmt: skip
"""Views that several analyses and findings read: computed once, each after those it builds on. All of them
read rollups and other small tables, and of slices no more than kernels, calls that launched them, and ops of
captured functions."""


def build(trace: OpenTrace, all: bool = False, by_step: bool = False) -> Report:
    """Asks the library's questions of a trace and puts the answers in order.

    all: every section, and many more rows of each. by_step: with the parts of each step, as all has them.
    QueryError when the engine fails.
    """
    names = _analyses(trace, all)
    entries = [library.entry(name) for name in dict.fromkeys([*names, "step_times"])]
    problems: Sequence[library.Entry] = library.entries("finding")
    answers = ask(trace, [*entries, *problems], KEPT_VIEWS, summary_sections.first_rows(all))
    rows_of = {entry.name: dicts(answers[entry.name]) for entry in entries}
    rows_of["sources"] = _sources(trace)
    several = runs.are_several(rows_of)
    notes = notes_of(rows_of["completeness"], library.entries("analysis"))
    judged, of_ops = _judged(trace, _has_time(rows_of))
    profiles = _only_profiles(rows_of)
    of_spans = [] if rows_of["op_types"] or profiles else async_spans.sentences(trace.query)
    framework = framework_of(row["framework"] for row in rows_of["sources"])
    of_libraries = ops_of_libraries(trace.query) if rows_of["hlo_modules"] else {}
    problems = [entry for entry in problems if not (of_spans and entry.slug == _NO_STEPS)]
    found = findings_of(answers, problems, notes, several, compiled(trace.query, framework))
    unsaid = _unsaid(found, bool(of_spans), rows_of)
    findings = weighed(found, judged)
    alone = _called_alone(trace, framework)
    work = (*_work_beside(trace, framework), _untraced(judged), alone)
    course = start_up.run_course(trace.query)
    unrelated = runs.are_unrelated(rows_of)
    of_memory = _memory_sentences(trace) if profiles else []
    of_cause = sentences(judged, several, unrelated, _programs(trace) if unrelated else ())
    first = (
        *(of_spans or of_cause),
        *provenance.switched_on(trace.query),
        *of_memory,
        *headline(rows_of, _runs_judged(judged, unrelated), _mean(judged), of_libraries, of_ops, *work),
        *course.at_top,
    )
    seen = () if first or several else tuple(sampled(_lines(trace)))
    first = first or seen or _moments_alone(rows_of)
    has_types = all or _has_types(trace, rows_of["ops"], answers["ops"].total)
    text_of = {
        name: [sentence for sentence in section_text.answer(name, rows_of, alone) if sentence not in first]
        for name in summary_sections.telling(names, has_types, profiles, unsaid)
    }
    text_of["runs_and_hosts"] = [
        *provenance.sentences(trace.query),
        *course.beside,
        *text_of["runs_and_hosts"],
    ]
    return Report(
        title=title(rows_of),
        headline=first,
        sections=tuple(_sections(trace, text_of, answers, judged, all, by_step, of_ops)),
        findings=findings,
        notes=notes,
        next_commands=next_commands(
            trace, findings, rows_of, only_memory=bool(of_memory), only_samples=bool(seen)
        ),
        facts=_facts(rows_of),
        document=document(judged, notes, unrelated),
    )


def _memory_sentences(trace: OpenTrace) -> list[str]:
    """The headline of recordings that show memory alone: allocations that failed, and peaks."""
    return [*memory.failures(trace.query), *memory.headline(allocators.sorted_by_peak(trace.query))]


def _work_beside(
    trace: OpenTrace, framework: str | None
) -> tuple[Sequence[tuple[str, int]], Sequence[tuple[str, str, int]]]:
    """What launched kernels, and the work of runs that averages leave out, as headline() takes them."""
    launched = trace.query(statement("launched_work")).rows() if framework == "pytorch" else []
    left_out = trace.query(statement("types_left_out")).rows() if framework == "tensorflow" else []
    return launched, left_out


def _called_alone(trace: OpenTrace, framework: str | None) -> list[tuple[str, int]]:
    """Types of op that compute within calls of their own, and for how long."""
    rows = trace.query(statement("eager_ops")).rows() if framework == "tensorflow" else []
    return [(op_type, ps) for ps, op_type, _ in computing_calls(row[2:] for row in rows)]


def _moments_alone(rows_of: Mapping[str, Rows]) -> tuple[str, ...]:
    """What is said of recordings of which nothing else can be."""
    events = any(row["events"] for row in rows_of["runs_and_hosts"])
    return ("Nothing that was recorded has a duration, so where the time went is unknown.",) if events else ()


def _unsaid(found: Sequence[ReportFinding], of_spans: bool, rows_of: Mapping[str, Rows]) -> frozenset[str]:
    """Sections that say nothing: those of steps where none was found, and a finding says so, or where nothing
    but asynchronous spans was recorded; those of what a profile does not tell."""
    if of_spans:
        return frozenset({"step_list", "step_parts"})
    if _only_profiles(rows_of):
        timed = any(row["recorded_ps"] for row in rows_of["runs_and_hosts"])
        only_memory = all(row["kind"] == "memory" for row in rows_of["sources"] if row["events_stored"])
        return (frozenset() if timed else _OF_MOMENTS) | (_OF_SLICES if only_memory else frozenset())
    steps = rows_of["step_list"]
    whole = step_text.are_whole(steps) and any(finding.slug == _NO_STEPS for finding in found)
    return frozenset({"step_list"}) if whole else frozenset()


def _analyses(trace: OpenTrace, all: bool) -> list[str]:
    """The analyses to ask, in their order."""
    names = summary_sections.planned(all)
    if all and not trace.query(statement("parameter_servers_seen")).rows():
        # What it is made from takes a look at each slice: minutes for a large lake.
        names.remove("parameter_servers")
    return names


def _sections(
    trace: OpenTrace,
    text_of: Mapping[str, Sequence[str]],
    answers: Mapping[str, Table],
    judged: Sequence[Judgement],
    all: bool,
    by_step: bool,
    of_ops: bool,
) -> list[Section]:
    """What limits each run, then the analyses with their sentences, then what is shown with all others."""
    tables = summary_sections.drop_empty_columns(answers, all or by_step)
    tables = tables if of_ops else summary_sections.drawn(tables)
    sections = summary_sections.sections(text_of, tables, all)
    # A host's steps may say nothing of what a step takes, and traced ones take longer than others.
    which = " of the host" if say_nothing(judged) else ", traced" if _untraced(judged) else ""
    sections = [summary_sections.name_steps(section, which) for section in sections]
    if (table := run_table.answers(judged)) is not None:
        sections.insert(0, table)
    return further_sections.added(sections, trace) if all else sections


def _judged(trace: OpenTrace, has_time: bool) -> tuple[list[Judgement], bool]:
    """What limits the steps, and whether a recorder knows ops and their places; others draw whatever they are
    told to."""
    judged: list[Judgement] = []
    if has_time:
        judged = uncovered_work.raised(trace.query, trace.stream, ranking.judge(trace.query))
    ((sources, drawn),) = trace.query(statement("sources_of_ops")).rows()
    of_ops = drawn < sources or not drawn
    if not of_ops:
        # What was drawn may sleep as well as compute.
        judged = [replace(judgement, of_ops=False, confidence="low") for judgement in judged]
    return judged, of_ops


def _runs_judged(judged: Sequence[Judgement], unrelated: bool) -> int:
    """How many runs there are for the first sentences; recordings of several programs count as several."""
    number = len({judgement.run_id for judgement in judged})
    return max(number, 2) if unrelated and judged else number


def _has_types(trace: OpenTrace, ops: Rows, total: int) -> bool:
    """Whether any op has a type. ops: the first ones."""
    if any(row["op"] != row["op_type"] for row in ops):
        return True
    return total > len(ops) and bool(trace.query(statement("typed_op")).rows())


def _programs(trace: OpenTrace) -> list[tuple[str, Weighed]]:
    """Recordings that have nothing in common, by the names of their files."""
    paths = {row["source_id"]: row["path"] for row in _sources(trace)}
    found = ranking.weigh_sources(trace.query, {})
    return [(paths[source_id].rpartition("/")[2], weighed) for source_id, weighed in found.items()]


def _mean(judged: Sequence[Judgement]) -> tuple[int, int] | None:
    """How many steps were judged and their mean, where those of one host were."""
    if len(judged) != 1 or judged[0].whole_capture:
        return None
    return judged[0].steps, judged[0].mean_ps


def _untraced(judged: Sequence[Judgement]) -> dict[tuple[str, str], tuple[int, int]]:
    """How long a typical step of each run and host takes with the profiler and without it, where that is to
    be said."""
    return {
        (judgement.run_id, judgement.host_id): (judgement.median_ps or judgement.mean_ps, untraced_ps)
        for judgement in judged
        if (untraced_ps := untraced_step(judgement)) is not None
    }


def _has_time(rows_of: Mapping[str, Rows]) -> bool:
    """Whether anything was recorded that takes time in steps."""
    events = any(row["events"] for row in rows_of["runs_and_hosts"])
    return bool(rows_of["step_parts"]) and events and not _only_profiles(rows_of)


def _lines(trace: OpenTrace) -> Rows:
    """Lines of the program in which its main thread was seen."""
    return dicts(ask(trace, [library.entry("python_lines")], KEPT_VIEWS)["python_lines"])


def _only_profiles(rows_of: Mapping[str, Rows]) -> bool:
    """Whether all recordings are profiles: what they sample, like sizes of memory, belongs to no step."""
    recorded = {row["kind"] for row in rows_of["sources"] if row["events_stored"]}
    return bool(recorded) and recorded <= {"profile", "memory"}


def _sources(trace: OpenTrace) -> Rows:
    """What was read: rows of the statement sources."""
    found = trace.query(statement("sources"))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows()]


def _facts(rows_of: Mapping[str, Rows]) -> dict[str, Any]:
    hosts = rows_of["runs_and_hosts"]
    return {
        "runs": len({row["run_id"] for row in hosts}),
        "hosts": len({row["host_id"] for row in hosts}),
        "sources": sum(row["sources"] for row in hosts),
        "events_stored": sum(row["events"] for row in hosts),
        "events_lost": sum(row["events_lost"] for row in hosts),
        "steps": sum(row["steps"] for row in hosts),
        "steps_left_out": sum(row["steps_left_out"] for row in hosts),
    }
