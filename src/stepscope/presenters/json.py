"""The report for programs: every value raw, in the unit that its column names."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from stepscope.presenters.rows import json_value
from stepscope.report import Diff, Report, ReportFinding, Section, Table, Tree

EXTENSION = ".json"
FORMAT = 1
"""Version of the form; it is raised when a key changes its meaning or goes away."""


def render(report: Report) -> str:
    """The report as JSON. Times are integer picoseconds, sizes bytes, shares 0 to 1; NaN is null."""
    head = {
        "format": FORMAT,
        **report.document,
        "title": report.title,
        "headline": list(report.headline),
        "facts": report.facts,
        "findings": [_finding(finding) for finding in report.findings],
        "sections": [_section(section) for section in report.sections],
        "notes": [asdict(note) for note in report.notes],
        "next_commands": list(report.next_commands),
    }
    return _pretty(head, 0) + "\n"


def _finding(finding: ReportFinding) -> dict[str, Any]:
    return {
        "slug": finding.slug,
        "severity": finding.severity,
        "title": finding.title,
        "impact": finding.impact,
        "action": finding.action,
        "reasoning": finding.reasoning,
        "formula": finding.formula,
        "weakened_by": list(finding.weakened_by),
        "evidence": _table(finding.evidence),
        "sql": finding.sql,
    }


def _section(section: Section) -> dict[str, Any]:
    return {
        "name": section.name,
        "title": section.title,
        "question": section.question,
        "answer": list(section.answer),
        "table": None if section.table is None else _table(section.table),
        "chart": None if section.chart is None else asdict(section.chart),
        "sql": section.sql,
        "kind": section.kind,
        "subject": section.subject,
        "tree": None if section.tree is None else _tree(section.tree),
        "diff": None if section.diff is None else _diff(section.diff),
        "findings": [_finding(finding) for finding in section.findings],
        "parts": [_section(part) for part in section.parts],
    }


def _table(table: Table) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    return {
        "columns": [asdict(column) for column in table.columns],
        "rows": [_JsonRow(zip(names, row, strict=True)) for row in table.rows],
        "total": table.total,
    }


def _tree(tree: Tree) -> dict[str, Any]:
    names = [column.name for column in tree.columns]
    return {
        "columns": [asdict(column) for column in tree.columns],
        "nodes": [
            _JsonRow(
                depth=node.depth,
                name=node.name,
                **_values(names, node.values),
                line=None if node.line is None else asdict(node.line),
                mark=node.mark,
                about=node.about,
                kind=node.kind,
            )
            for node in tree.nodes
        ],
        "note": tree.note,
        "size": tree.size,
    }


def _diff(diff: Diff) -> dict[str, Any]:
    names = [column.name for column in diff.columns]
    return {
        "columns": [asdict(column) for column in diff.columns],
        "changes": [
            {
                "name": change.name,
                "what": change.what,
                "helps": change.helps,
                **_values(names, change.values),
                "outcome": change.outcome,
                "edit": None if change.edit is None else asdict(change.edit),
            }
            for change in diff.changes
        ],
    }


def _values(names: Sequence[str], values: Sequence[Any]) -> dict[str, Any]:
    return {"values": _JsonRow(zip(names, values, strict=True))}


class _JsonRow(dict[str, Any]):
    """An object on one line."""


def _pretty(value: Any, depth: int) -> str:
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, _JsonRow) or not value:
        return json_value(value)
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(str(key))}: {_pretty(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{outer}}}"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return "[\n" + ",\n".join(inner + _pretty(item, depth + 1) for item in value) + f"\n{outer}]"
    return json_value(value)
