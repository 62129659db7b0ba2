"""What a report is made of: plain data, no drawing, no arithmetic left to do.

`build(trace)` runs the analyses and findings of the library and puts them in order. Presenters turn a
Report into text, HTML, Markdown or JSON and compute nothing.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast

from stepscope import units

if TYPE_CHECKING:
    from stepscope import library
    from stepscope.trace import Trace

from stepscope.units import Unit


@dataclass(frozen=True)
class Column:
    """A column of a result: its SQL name, its unit and a heading for people."""

    name: str
    unit: Unit
    title: str
    about: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of a result; `total` counts those that a limit left out as well."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int


@dataclass(frozen=True)
class Chart:
    """How a table is better looked at: kind bar (one row a bar), line (x over y), strip (x, many y)."""

    kind: Literal["bar", "stacked_bar", "line", "strip"]
    x: str
    y: tuple[str, ...]
    title: str


@dataclass(frozen=True)
class Section:
    """One question with its answer: sentences first, then the rows that prove them."""

    name: str
    title: str
    question: str
    answer: tuple[str, ...]
    table: Table | None
    chart: Chart | None
    sql: str


@dataclass(frozen=True)
class Finding:
    """A problem shown by the data."""

    slug: str
    severity: Literal["high", "medium", "low", "info"]
    title: str
    impact: str
    action: str
    evidence: Table
    sql: str
    weakened_by: tuple[str, ...] = ()


@dataclass(frozen=True)
class Note:
    """Something lost, repaired, capped or missing, and the statements it weakens."""

    slug: str
    effect: str
    path: str
    events: int
    detail: str
    weakens: tuple[str, ...] = ()


@dataclass(frozen=True)
class Report:
    """Everything a presenter needs."""

    title: str
    headline: tuple[str, ...]
    sections: tuple[Section, ...]
    findings: tuple[Finding, ...]
    notes: tuple[Note, ...]
    next_commands: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict)


# Building one.

_KEPT_SMALL = ("op_slice", "work_slice", "wait_slice")
_KEPT = (
    "track_place",
    "observed",
    *_KEPT_SMALL,
    "step_window",
    "op_sum",
    "device_sum",
    "track_sum",
    "step_wait",
)
"""Views that several analyses and findings read: computed once, each after those it builds on."""
_FEW_EVENTS = 500_000
"""Up to so many events, those with a row for each slice are kept as well: a few hundred bytes each, and
planning the statements that read them costs more than the rows do."""

_SECTIONS: tuple[
    tuple[str, str, int, bool], ...
] = (  # analysis, title, most rows (0: the sentences say it), in every report
    ("runs_and_hosts", "Recorded", 12, True),
    ("step_list", "Steps", 2000, True),
    ("step_times", "Step times", 12, False),
    ("op_types", "Op types", 12, True),
    ("ops", "Ops", 12, True),
    ("busy_by_device", "Devices", 12, True),
    ("busy_by_track", "Rows", 40, False),
    ("waits", "Waits", 8, True),
    ("pipeline_stages", "Stages", 12, True),
    ("concurrency", "At once", 0, True),
    ("idle_gaps", "Idle gaps", 20, False),
    ("transfers", "Copies", 12, False),
    ("launches", "Launches", 12, False),
    ("memory_by_op", "Memory", 12, True),
    ("slices_by_name", "Slices", 20, False),
    ("counters_summary", "Counters", 40, False),
    ("completeness", "Complete", 40, True),
)
_RANK = {"high": 0, "medium": 1, "low": 2, "info": 3}
_EFFECTS = {"lost": 0, "capped": 1, "missing": 2, "repaired": 3, "recorder": 4, "info": 5}
_MOST_WITH_ALL = 1000
_PLACES = {"device": "on devices", "host": "on hosts", "launch": "in launches"}

Rows = list[dict[str, Any]]


def build(trace: Trace, all: bool = False) -> Report:
    """Asks the library's questions of a trace and puts the answers in order.

    all: every section, and many more rows of each. QueryError when the engine fails.
    """
    from stepscope import library

    events = trace.query("SELECT sum(events_stored) FROM source").rows()[0][0] or 0
    trace.keep([name for name in _KEPT if events <= _FEW_EVENTS or name not in _KEPT_SMALL])
    answers = {name: _ask(trace, library.entry(name)) for name, _, _, always in _SECTIONS if always or all}
    told = {name: _dicts(table) for name, (table, _) in answers.items()}
    told.setdefault("step_times", _dicts(_ask(trace, library.entry("step_times"))[0]))
    notes = _notes(told["completeness"], library.entries("analysis"))
    findings = _findings(trace, library.entries("finding"), notes, _several_runs(told))
    if not all and not any(row["op"] != row["op_type"] for row in told["ops"]):
        del answers["ops"]  # a recording without types: the section before says the same
    sections = [
        _section(
            library.entry(name), title, answers[name][0], _answer(name, told), _MOST_WITH_ALL if all else most
        )
        for name, title, most, always in _SECTIONS
        if name in answers and (answers[name][0].rows or name == "completeness")
    ]
    return Report(
        title=_title(told),
        headline=tuple(_headline(told)),
        sections=tuple(sections),
        findings=findings,
        notes=notes,
        next_commands=_next(trace, findings, told),
        facts=_facts(told),
    )


def _ask(trace: Trace, entry: library.Entry) -> tuple[Table, str]:
    rows = tuple(trace.answer(entry).rows())
    columns = tuple(Column(f.name, cast("Unit", f.unit), f.title, f.about) for f in entry.columns)
    return Table(columns, rows, len(rows)), entry.sql


def _dicts(table: Table) -> Rows:
    names = [column.name for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in table.rows]


def _section(entry: library.Entry, title: str, table: Table, answer: Iterable[str], most: int) -> Section:
    chart = None
    if entry.chart is not None:
        kind = cast("Literal['bar', 'stacked_bar', 'line', 'strip']", entry.chart.kind)
        chart = Chart(kind, entry.chart.x, entry.chart.y, entry.title)
    rows = _best(table, most) if entry.name in ("op_types", "ops") else table.rows[:most]
    cut = Table(table.columns, rows, table.total) if most else None
    return Section(entry.name, title, entry.question, tuple(answer), cut, chart, entry.sql)


def _best(table: Table, most: int) -> tuple[tuple[Any, ...], ...]:
    """The first rows of each place, devices first: launches and host work are no lesser ops, but where a
    device was recorded its work is the answer."""
    at = [column.name for column in table.columns].index("place")
    order = {"device": 0, "host": 1, "launch": 2}
    ranked = sorted(table.rows, key=lambda row: order[row[at]])  # stable: by self time within a place
    places = sorted({row[at] for row in table.rows}, key=lambda place: order[place])
    share = max(most // 3, most - (most // 3) * (len(places) - 1))
    kept: list[tuple[Any, ...]] = []
    for place in places:
        kept += [row for row in ranked if row[at] == place][: share if place == places[0] else most // 3]
    return tuple(kept)


# Sentences.


def _title(told: Mapping[str, Rows]) -> str:
    hosts = told["runs_and_hosts"]
    runs = sorted({row["run_id"] for row in hosts})
    steps = sum(row["steps"] + row["steps_left_out"] for row in hosts)
    name = runs[0] if len(runs) == 1 else ", ".join(runs[:3]) + (", …" if len(runs) > 3 else "")
    machines = len({row["host_id"] for row in hosts})
    counts = [units.count(len(runs), "run"), units.count(machines, "host"), units.count(steps, "step")]
    return f"{name or 'nothing'}: {', '.join(counts if steps else counts[:2])}"


def _headline(told: Mapping[str, Rows]) -> Iterable[str]:
    steps = [row for row in told["step_times"] if row["averaged"]]
    several = _several_runs(told)
    hosts = told["runs_and_hosts"]
    if hosts and not any(row["sources"] for row in hosts):
        yield "Only graphs were found: they tell what could run, not where the time went."
    elif hosts and not steps and not told["op_types"] and not any(row["events"] for row in hosts):
        yield "Nothing was recorded: there are no events, so nothing can be said of where the time went."
    if steps:
        main = max(steps, key=lambda row: row["steps"] * row["mean_ps"])
        whose = f" of {main['run_id']}" if several else ""
        average = f"{_ps(main['mean_ps'])} on average" if main["steps"] > 1 else _ps(main["mean_ps"])
        sentence = f"{_kind(main, main['steps'])}{whose} {'take' if main['steps'] > 1 else 'takes'} {average}"
        waits = [row for row in told["waits"] if row["wait"] == "input" and (row["share"] or 0) >= 0.01]
        if waits:
            whole = " of all runs" if several else ""
            share = units.show(waits[0]["share"], "ratio")
            sentence += f"; {share} of the step time{whole} is waiting for input"
        yield sentence + "."
    busy = [row for row in told["busy_by_device"] if row["place"] == "device"]
    if busy:
        least = min(busy, key=lambda row: row["busy_share"] or 0)
        share = units.show(least["busy_share"], "ratio")
        whose = f" of {least['run_id']}" if several else ""
        yield f"{least['device']}{whose} is at work {share} of the time, idle {_ps(least['idle_ps'])}."
    working = [row for row in told["op_types"] if row["class"] != "wait" and row["self_ps"]]
    if working:
        place = "device" if any(row["place"] == "device" for row in working) else working[0]["place"]
        top = [row for row in working if row["place"] == place][:3]
        whole = sum(row["self_ps"] for row in working if row["place"] == place)
        parts = [f"{_short(row['op_type'])} ({units.show(row['self_ps'] / whole, 'ratio')})" for row in top]
        yield f"Most work {_PLACES[place]}: {', '.join(parts)}."


def _answer(name: str, told: Mapping[str, Rows]) -> list[str]:
    sentences = _ANSWERS.get(name)
    return list(sentences(told)) if sentences else []


def _recorded(told: Mapping[str, Rows]) -> Iterable[str]:
    hosts = told["runs_and_hosts"]
    events = sum(row["events"] for row in hosts)
    sources = sum(row["sources"] for row in hosts)
    recorded = _ps(sum(row["recorded_ps"] for row in hosts))
    who = ", ".join(sorted({name for row in hosts for name in row["producers"].split(", ")}))
    graphs = sum(row["graphs"] for row in hosts)
    if sources:
        read = units.count(sources, "source")
        yield f"{units.count(events, 'event')} over {recorded} from {read} by {who}."
    if graphs:
        beside = "Beside them, " if sources else ""
        holds = "holds a graph" if graphs == 1 else "hold graphs"
        yield f"{beside}{units.count(graphs, 'file')} {holds}: what could run, not what ran (`node`, `edge`)."


_MOST_GROUPS = 6
"""Groups of steps that are told apart in sentences; a table tells the others."""


def _steps(told: Mapping[str, Rows]) -> Iterable[str]:
    groups = [row for row in told["step_times"] if row["averaged"]]
    hosts = {run: {row["host_id"] for row in groups if row["run_id"] == run} for run in _runs(told)}
    longest = sorted(groups, key=lambda row: -row["steps"] * row["mean_ps"])[:_MOST_GROUPS]
    for row in groups:
        if not any(row is one for one in longest):
            continue
        kind = "" if row["kind"] == "unknown" else f"{_words(row['kind'])} "
        where = f"{row['run_id']}: " if len(hosts) > 1 else ""
        counted = units.count(row["steps"], f"{kind}step")
        counted += f" on {row['host_id']}" if len(hosts[row["run_id"]]) > 1 else ""
        told_by = f"told by {_words(row['recovered_from'])}"
        if row["steps"] == 1:
            yield f"{where}{counted}: {_ps(row['mean_ps'])}; {told_by}."
        else:
            yield (
                f"{where}{counted}: mean {_ps(row['mean_ps'])}, median {_ps(row['median_ps'])}, p95 "
                f"{_ps(row['p95_ps'])}, spread {units.show(row['spread'], 'ratio')}; {told_by}."
            )
    if len(groups) > len(longest):
        more = len(groups) - len(longest)
        yield f"{units.count(more, 'more group')} of steps: `step_times` lists them by run, host and kind."
    left = [r for r in told["step_list"] if not r["averaged"] and r["recovered_from"] != "whole_capture"]
    if left:
        of_run = {r["run_id"]: f" of {r['run_id']}" if _several_runs(told) else "" for r in left[:3]}
        shown = [
            f"step {r['step']}{of_run[r['run_id']]} ({_words(r['kind'])}, {_ps(r['dur_ps'])}: {r['reason']})"
            for r in left[:3]
        ]
        others = f" and {len(left) - 3:,} more" if len(left) > 3 else ""
        yield f"Left out of the averages: {', '.join(shown)}{others}."
    if told["step_list"] and not any(row["recovered_from"] != "whole_capture" for row in told["step_list"]):
        yield "No steps were found: shares are of the whole capture."


def _waits(told: Mapping[str, Rows]) -> Iterable[str]:
    seen: set[str] = set()
    parts = []
    for row in told["waits"]:
        if row["wait"] not in seen and row["share"]:
            seen.add(row["wait"])
            parts.append(f"{row['wait']} {units.show(row['share'], 'ratio')}")
    if parts:
        yield f"Share of the steps: {', '.join(parts)} (union over threads)."


def _at_once(told: Mapping[str, Rows]) -> Iterable[str]:
    devices: dict[str, list[dict[str, Any]]] = {}
    several = _several_runs(told)
    for row in told["concurrency"]:
        if row["rows_drawn"] > 1:
            name = f"{row['device']} of {row['run_id']}" if several else row["device"]
            devices.setdefault(name, []).append(row)
    for device, rows in list(devices.items())[:3]:
        most = max(rows, key=lambda row: row["rows_drawn"])
        at_once = units.show(most["concurrency"], "float")
        yield (
            f"{device} is drawn as {units.count(most['rows_drawn'], 'row')}; while any is at work, {at_once} "
            f"{'is' if at_once == '1.00' else 'are'} on average."
        )


def _pipeline(told: Mapping[str, Rows]) -> Iterable[str]:
    stages = told["pipeline_stages"]
    if not stages:
        return
    verdict = stages[0]["verdict"]
    yield {
        "input_bound": "The input is the bottleneck.",
        "partly_input_bound": "The input is a part of the bottleneck.",
        "not_input_bound": "The input is not the bottleneck.",
    }.get(verdict, "Whether the input is the bottleneck cannot be told.")
    first = stages[0]
    if verdict in ("input_bound", "partly_input_bound") and first["in_waits_ps"]:
        written = f", written as {first['user_stage']}," if first["user_stage"] else ""
        name = first["name"].rpartition("::")[2]
        yield f"{name}{written} limits it: it needs {_ps(first['service_ps'])} a step."


def _complete(told: Mapping[str, Rows]) -> Iterable[str]:
    sources = {row["path"]: row for row in told["completeness"]}.values()
    seen, stored = sum(r["events_seen"] for r in sources), sum(r["events_stored"] for r in sources)
    lost, repaired = sum(r["events_lost"] for r in sources), sum(r["events_repaired"] for r in sources)
    graphs = any(r["format"] == "graph" and r["events_seen"] for r in sources)
    sentence = f"{stored:,} of {units.count(seen, 'event')}{' and nodes' if graphs else ''} stored"
    sentence += f", {lost:,} lost" if lost else ""
    yield sentence + (f", {repaired:,} repaired" if repaired else "") + "."


_ANSWERS: dict[str, Callable[[Mapping[str, Rows]], Iterable[str]]] = {
    "runs_and_hosts": _recorded,
    "step_list": _steps,
    "waits": _waits,
    "pipeline_stages": _pipeline,
    "concurrency": _at_once,
    "completeness": _complete,
}


def _short(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:24]}…{name[-15:]}"


def _ps(value: int) -> str:
    return units.show(value, "ps")


def _words(name: str) -> str:
    return name.replace("_", " ")


def _kind(row: Mapping[str, Any], number: int) -> str:
    kind = "" if row["kind"] == "unknown" else f"{_words(row['kind'])} "
    noun = f"one {kind}step" if number == 1 else f"{kind}steps"
    return noun[0].upper() + noun[1:]


def _runs(told: Mapping[str, Rows]) -> list[str]:
    return sorted({row["run_id"] for row in told["runs_and_hosts"]})


def _several_runs(told: Mapping[str, Rows]) -> bool:
    return len(_runs(told)) > 1


# Findings, notes, what to do next.


def _findings(
    trace: Trace, entries: Sequence[library.Entry], notes: Sequence[Note], several: bool
) -> tuple[Finding, ...]:
    found: list[tuple[int, int, Finding]] = []
    for entry in entries:
        table, sql = _ask(trace, entry)
        if not table.rows:
            continue
        first = _dicts(table)[0]
        fields = {f.name: units.show(first[f.name], cast("Unit", f.unit)) for f in entry.columns}
        if fields.get("host_id") == "unknown":
            fields["host_id"] = "the host"
        if several and "run_id" in fields and "host_id" in fields:
            fields["host_id"] += f" in {fields['run_id']}"
        weak = [n.slug for n in notes if n.slug in entry.weakened_by or n.effect in entry.weakened_by]
        impact = _fill(entry.impact, fields)
        if table.total > 1:
            impact += f" {units.count(table.total - 1, 'more case')} like it."
        one = Finding(
            slug=entry.slug,
            severity=first["severity"],
            title=entry.title,
            impact=impact,
            action=_fill(entry.action, fields),
            evidence=table,
            sql=sql,
            weakened_by=tuple(dict.fromkeys(weak)),
        )
        found.append((_RANK[first["severity"]], -first["impact_ps"], one))
    return tuple(finding for _, _, finding in sorted(found, key=lambda one: one[:2]))


def _fill(template: str, fields: Mapping[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: fields[match[1]], template)


def _notes(completeness: Rows, analyses: Sequence[library.Entry]) -> tuple[Note, ...]:
    notes = []
    for row in completeness:
        slug, effect = row["slug"], row["what"]
        if effect is None:
            continue
        weak = [entry.title.lower() for entry in analyses if {slug, effect} & set(entry.weakened_by)]
        place = (row["path"], row["events"] or 0, row["why"] or "")
        notes.append(Note(slug or "unreadable-source", effect, *place, tuple(weak)))
    return tuple(sorted(notes, key=lambda note: _EFFECTS.get(note.effect, len(_EFFECTS))))


_NEXT = {
    "input-wait": "waits",
    "device-idle": "idle_gaps",
    "many-tiny-kernels": "launches",
    "slow-step": "op_time_over_steps",
    "copies-in-steps": "transfers",
    "host-sync": "waits",
    "recompilation": "step_list",
    "incomplete-source": "completeness",
    "capped-trace": "completeness",
}
"""The analysis that goes on where a finding ends."""


def _next(trace: Trace, findings: Sequence[Finding], told: Mapping[str, Rows]) -> tuple[str, ...]:
    where = _where(trace)
    if where is None:
        return ()
    if not any(row["sources"] for row in told["runs_and_hosts"]):
        sql = "SELECT op_type, count(*) AS nodes FROM node GROUP BY op_type ORDER BY nodes DESC LIMIT 20"
        return (f'stepscope query {where} "{sql}"', f"stepscope report {where} -o report.html")
    slugs = {finding.slug for finding in findings}
    if "input-wait" in slugs and told["pipeline_stages"]:
        return (f"stepscope pipeline {where}", f"stepscope report {where} -o report.html")
    further = next((_NEXT[f.slug] for f in findings if f.slug in _NEXT), "slices_by_name")
    return (f"stepscope query {where} @{further}", f"stepscope report {where} -o report.html")


def _where(trace: Trace) -> str | None:
    """The paths of the trace as one would type them."""
    outer = sorted({source.path.split("!", 1)[0] for source in trace.sources})
    if not outer or any(path == "-" or path.startswith(("/dev/", "/proc/")) for path in outer):
        return None  # a pipe gives its bytes once
    if len(outer) > 3:
        common = os.path.commonpath(outer) if not any("://" in path for path in outer) else ""
        outer = [common] if common not in ("", "/") else outer
    return " ".join(shlex.quote(f"./{path}" if path.startswith("-") else path) for path in outer)


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
