"""Advice: findings by weight, notes on what weakens them, commands to go on with."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from stepscope import library, units
from stepscope.code_lines import CodeLine
from stepscope.instruments import laws
from stepscope.instruments.causes.written_ops import written_op
from stepscope.library import header, statements, templates
from stepscope.report.names import line_of, listed
from stepscope.report.parts import Note, ReportFinding, Rows, Table, dicts
from stepscope.sources.source import Source
from stepscope.units import SEVERITIES, Unit

if TYPE_CHECKING:
    from stepscope.library.statements import Query
    from stepscope.session.trace import OpenTrace

_PYTORCH = "pytorch"
_RANKS = {effect: rank for rank, effect in enumerate(header.EFFECTS)}


def framework_of(frameworks: Iterable[str | None]) -> str | None:
    """The framework that advice is written for, from those of the sources; None if there are several or
    none."""
    found = {framework for framework in frameworks if framework is not None}
    return found.pop() if len(found) == 1 else None


def compiled(query: Query, framework: str | None) -> str | None:
    """The framework, and of PyTorch whether torch.compile has compiled what was recorded."""
    if framework != _PYTORCH or not query(statements.statement("compiled_regions")).rows():
        return framework
    return header.TORCH_COMPILED


def _action(entry: library.Entry, framework: str | None) -> str:
    """The advice of a finding for users of a framework."""
    actions = dict(entry.actions)
    general = actions.get(_PYTORCH, entry.action) if framework == header.TORCH_COMPILED else entry.action
    return actions.get(framework or "", general)


def findings_of(
    answers: Mapping[str, Table],
    entries: Sequence[library.Entry],
    notes: Sequence[Note],
    several: bool,
    framework: str | None = None,
) -> tuple[ReportFinding, ...]:
    """The findings that have rows, the heaviest first. framework: see compiled."""
    found: list[tuple[int, int, ReportFinding]] = []
    for entry in entries:
        table = answers[entry.name]
        if not table.rows:
            continue
        first = dicts(table)[0]
        fields = _fields(entry, first, notes, several)
        weak = [n.slug for n in notes if n.slug in entry.weakened_by or n.effect in entry.weakened_by]
        impact = templates.fill(entry.impact, first, fields)
        report_finding = ReportFinding(
            slug=entry.slug,
            severity=first["severity"],
            title=entry.title,
            impact=impact + _more_lines(table) + _more_cases(entry, table),
            action=templates.fill(_action(entry, framework), first, fields),
            evidence=table,
            sql=entry.sql,
            weakened_by=tuple(dict.fromkeys(weak)),
            reasoning=entry.reasoning,
            formula=entry.formula,
        )
        rank = SEVERITIES.index(first["severity"])
        found.append((rank, -first.get("impact_ps", 0), report_finding))
    return tuple(finding for _, _, finding in sorted(found, key=lambda ranked: ranked[:2]))


def _fields(
    entry: library.Entry, first: Mapping[str, Any], notes: Sequence[Note], several: bool
) -> dict[str, str]:
    """The values of a finding as its sentences say them. several: there are several runs."""
    fields = {f.name: units.show(first[f.name], cast("Unit", f.unit)) for f in entry.columns}
    for name in ("host_id", "participant"):
        if fields.get(name) == "unknown":
            fields[name] = "the host"
    for name in {"path", "file"} & fields.keys():
        fields[name] = str(first[name]).rstrip("/").rpartition("/")[2] or fields[name]
    if several and "run_id" in fields and "host_id" in fields:
        fields["host_id"] += f" in {fields['run_id']}"
    if "op_type" in fields:
        fields["op_type"] = written_op(str(first["op_type"]))
    if bound := laws.bound(n.slug for n in notes):
        rest = _IDLE | ({"share"} if entry.slug in _OF_HOSTS else set())
        for name in rest & fields.keys():
            fields[name] = units.bounded(_OPPOSITE[bound], first[name])
    return fields


_MOST_LINES = 4
"""Lines of a finding that its sentence names."""


def _more_lines(table: Table) -> str:
    """The lines that a case lies in, where its rows are those."""
    first, *rest = dicts(table)
    rows = [first, *(row for row in rest if _is_line(first, row))]
    places = list(dict.fromkeys((row["file"], row["line"]) for row in rows if row.get("file")))
    if len(places) < 2:
        return ""
    lines = [
        str(line) if file == places[0][0] and number else line_of(CodeLine(file, line, None))
        for number, (file, line) in enumerate(places)
    ]
    more = len(lines) - _MOST_LINES
    shown = [*lines[:_MOST_LINES], *([f"{more:,} more"] if more > 0 else [])]
    return f" Its lines, the longest first: {listed(shown)}."


def _more_cases(entry: library.Entry, table: Table) -> str:
    first, *rest = dicts(table)
    cases = sum(_is_case(first, row) for row in rest) + max(table.total - len(table.rows), 0)
    if not cases:
        return ""
    return (
        f" {units.count(cases, 'more case')} like it: `{entry.name}` lists {'it' if cases == 1 else 'them'}."
    )


_IDLE = frozenset({"idle_share"})
"""Columns that have what a device's busy time leaves."""
_OF_HOSTS = frozenset({"per-op-dispatch", "python-between-ops", "waits-between-ops"})
"""Findings whose share is of what the host does while no device is busy."""
_OPPOSITE = {"at least": "at most", "at most": "at least", "about": "about"}


def _is_case(first: Mapping[str, object], row: Mapping[str, object]) -> bool:
    """Whether a row is a case of its own: several ops of one type are parts of one."""
    if _is_line(first, row):
        return False
    kind = first.get("op_type")
    together = ("run_id", "host_id", "op_type", "share")
    return kind is None or any(first.get(name) != row.get(name) for name in together)


def _is_line(first: Mapping[str, object], row: Mapping[str, object]) -> bool:
    """Whether a row is another line of the first row's subject."""
    alike = ("run_id", "host_id", "impact_ps", "share")
    has_lines = "share" in first and first.get("line") is not None and row.get("line") is not None
    return has_lines and all(first.get(name) == row.get(name) for name in alike)


PROGRAM = "recorded-program"
"""The note that says what was recorded; nothing is wrong with it."""


def notes_of(completeness: Rows, analyses: Sequence[library.Entry]) -> tuple[Note, ...]:
    notes = []
    for row in completeness:
        slug, effect = row["slug"], row["what"]
        if effect is None or slug == PROGRAM:
            continue
        weak = [entry.title.lower() for entry in analyses if {slug, effect} & set(entry.weakened_by)]
        place = (row["path"], row["events"] or 0, row["why"] or "")
        notes.append(Note(slug or "unreadable-source", effect, *place, tuple(weak)))
    return tuple(sorted(notes, key=lambda note: _RANKS.get(note.effect, len(_RANKS))))


_MOST_PATHS = 3
"""Paths that are written out in the commands to try next."""

_NEXT = {
    "input-wait": "waits",
    "device-idle": "idle_gaps",
    "many-tiny-kernels": "launches",
    "slow-step": "op_time_over_steps",
    "copies-in-steps": "transfers",
    "host-sync": "waits",
    "recompilation": "step_list",
    "retraced-functions": "compilations",
    "incomplete-source": "completeness",
    "capped-trace": "completeness",
}
"""The analysis that continues where a finding ends."""


def next_commands(
    trace: OpenTrace,
    findings: Sequence[ReportFinding],
    answers: Mapping[str, Rows],
    *,
    only_memory: bool = False,
    only_samples: bool = False,
) -> tuple[str, ...]:
    """What to run next. only_memory: all that was recorded are profiles, and they hold memory; only_samples:
    nothing tells the time but samples of stacks."""
    typed = where(trace)
    if typed is None:
        return ()
    if not any(row["sources"] for row in answers["runs_and_hosts"]):
        return _next_without_events(trace, typed, answers)
    if (
        not any(row["events"] for row in answers["runs_and_hosts"])
        and trace.query(statements.statement("ops_of_graphs", most=1)).rows()
    ):
        return (f"stepscope graph {typed}",)
    if only_memory and not answers["op_types"]:
        return (f"stepscope memory {typed}", f"stepscope report {typed} -o report.html")
    slugs = {finding.slug for finding in findings}
    if "input-wait" in slugs and answers["pipeline_stages"]:
        return (f"stepscope pipeline {typed}", f"stepscope report {typed} -o report.html")
    otherwise = "python_lines" if only_samples else "slices_by_name"
    further = next((_NEXT[f.slug] for f in findings if f.slug in _NEXT), otherwise)
    return (f"stepscope query {typed} @{further}", f"stepscope report {typed} -o report.html")


def _next_without_events(trace: OpenTrace, typed: str, answers: Mapping[str, Rows]) -> tuple[str, ...]:
    """What to run next about programs, graphs and checkpoints. typed: the paths as a shell takes them."""
    if answers["hlo_modules"]:
        return _next_of_programs(trace, typed, any(row["passes"] for row in answers["hlo_modules"]))
    graphs = any(row["graphs"] for row in answers["runs_and_hosts"])
    of = "largest_tensors" if answers["checkpoint_tensors"] and not graphs else "ops_of_graphs"
    asked = f'stepscope query {typed} "{" ".join(statements.text(of, most=20).split())}"'
    if not graphs:
        return (asked, f"stepscope report {typed} -o report.html")
    clusters = trace.query(statements.statement("nodes_in_clusters")).rows()[0][0]
    first = (f"stepscope xla clusters {typed}",) if clusters else ()
    return (*first, f"stepscope graph {typed}", asked)


def _next_of_programs(trace: OpenTrace, typed: str, passes: bool) -> tuple[str, ...]:
    """What to ask of programs. A lake keeps their tables and not the files, which other verbs read."""
    if not all(isinstance(source, Source) for source in trace.sources):
        return (f"stepscope query {typed} @hlo_instructions", f"stepscope query {typed} @hlo_passes")
    changed = (f"stepscope xla diff {typed}",) if passes else ()
    return (
        f"stepscope xla cost {typed}",
        *changed,
        f"stepscope graph {typed}",
        f"stepscope xla dumps {typed}",
    )


def where(trace: OpenTrace) -> str | None:
    """The paths of the trace as they were typed; None for a pipe, which gives its bytes once."""
    paths = list(dict.fromkeys(trace.given))
    if not paths or any(path == "-" or path.startswith(("/dev/", "/proc/")) for path in paths):
        return None
    if len(paths) > _MOST_PATHS and (short := _pattern(paths)) is not None:
        return short
    return " ".join(map(_typed, paths))


def _typed(path: str) -> str:
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _pattern(paths: Sequence[str]) -> str | None:
    """What a shell wrote out to these paths, as logs/*.json; None where no pattern stands for them and no
    others."""
    parts = [path.rpartition("/") for path in paths]
    folders = {folder + slash for folder, slash, _ in parts}
    if len(folders) != 1 or any("://" in path for path in paths):
        return None
    (folder,) = folders
    bases = [base for *_, base in parts]
    before = _shared(bases)
    after = _shared([base[len(before) :][::-1] for base in bases])[::-1]
    if _matching(folder, before, after) != set(bases):
        return None
    head = _typed(folder + before) if folder or before else ""
    return f"{head}*{shlex.quote(after) if after else ''}"


def _matching(folder: str, before: str, after: str) -> set[str]:
    """The names in a folder that a shell puts for a star between these."""
    try:
        entries = {entry.name for entry in os.scandir(folder or ".")}
    except OSError:  # gone since it was read, or inside of an archive
        return set()
    named = {name for name in entries if name.startswith(before) and name[len(before) :].endswith(after)}
    # A shell's star leaves out hidden files.
    return {name for name in named if before or not name.startswith(".")}


def _shared(texts: Sequence[str]) -> str:
    """What all texts begin with."""
    first, last = min(texts), max(texts)
    same = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return first[:same]
