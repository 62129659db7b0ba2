"""The report for programs: every value raw, in the unit that its column names."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from stepscope.presenters.rows import json_value
from stepscope.report import Chart, Finding, Report, Section, Table

EXTENSION = ".json"
FORMAT = 1
"""Version of the form; it is raised when a key changes its meaning or goes away."""


def render(report: Report) -> str:
    """The report as JSON. Times are integer picoseconds, sizes bytes, shares 0 to 1; NaN is null."""
    head = {
        "format": FORMAT,
        "title": report.title,
        "headline": list(report.headline),
        "facts": report.facts,
        "findings": [_finding(finding) for finding in report.findings],
        "sections": [_section(section) for section in report.sections],
        "notes": [asdict(note) for note in report.notes],
        "next_commands": list(report.next_commands),
    }
    return _pretty(head, 0) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
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
        "chart": None if section.chart is None else _chart(section.chart),
        "sql": section.sql,
    }


def _table(table: Table) -> dict[str, Any]:
    names = [column.name for column in table.columns]
    return {
        "columns": [asdict(column) for column in table.columns],
        "rows": [_Row(zip(names, row, strict=True)) for row in table.rows],
        "total": table.total,
    }


def _chart(chart: Chart) -> dict[str, Any]:
    return asdict(chart)


class _Row(dict[str, Any]):
    """An object that stands on one line."""


def _pretty(value: Any, depth: int) -> str:
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, _Row) or not value:
        return json_value(value)
    if isinstance(value, dict):
        parts = [f"{inner}{json.dumps(str(key))}: {_pretty(one, depth + 1)}" for key, one in value.items()]
        return "{\n" + ",\n".join(parts) + f"\n{outer}}}"
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return "[\n" + ",\n".join(inner + _pretty(one, depth + 1) for one in value) + f"\n{outer}]"
    return json_value(value)
