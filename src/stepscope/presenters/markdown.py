"""The report as Markdown, for issues, pull requests and notes."""

from __future__ import annotations

from stepscope import units
from stepscope.presenters.facts import facts
from stepscope.presenters.lifted import lifted
from stepscope.presenters.plain import plain
from stepscope.presenters.rows import markdown as _escape
from stepscope.report import Finding, Note, Report, Section, Table

EXTENSION = ".md"
_LONGEST_CELL, _LONGEST = 200, 4000  # characters: Markdown has no way to fold what is longer


def render(report: Report) -> str:
    """The report as Markdown: headline, findings, then each section with its table and its SQL."""
    parts = [f"# {markdown(report.title)}", *map(markdown, report.headline)]
    if report.findings:
        parts += ["## Findings", *(_finding(finding) for finding in report.findings)]
    parts += [_section(section) for section in report.sections]
    if report.notes:
        parts += ["## What to know of the evidence", "\n".join(map(_note, report.notes))]
    if report.next_commands:
        parts += ["## Next", _code("\n".join(map(plain, report.next_commands)), "")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _finding(finding: Finding) -> str:
    parts = [
        f"### {markdown(finding.title)} ({finding.severity})",
        markdown(finding.impact),
        f"**To do:** {markdown(finding.action)}",
        markdown(finding.reasoning),
        f"Formula: {markdown(finding.formula)}" if finding.formula else "",
        f"Weakened by: {markdown(', '.join(finding.weakened_by))}." if finding.weakened_by else "",
        table(finding.evidence) if finding.evidence.rows else "",
        _sql(finding.sql),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(section: Section) -> str:
    parts = [
        f"## {markdown(section.title)}",
        f"*{markdown(section.question)}*",
        *map(markdown, section.answer),
    ]
    if section.table is not None and section.table.rows:
        parts.append(table(section.table))
    parts.append(_sql(section.sql))
    return "\n\n".join(part for part in parts if part)


def _note(note: Note) -> str:
    weakens = f" Weakens: {markdown('; '.join(note.weakens))}." if note.weakens else ""
    where = f"({note.slug}, {markdown(note.path)})"
    return f"- **{markdown(note.effect)}** {markdown(note.detail.rstrip('.'))} {where}.{weakens}"


def table(table: Table) -> str:
    """A table of the report as Markdown: one unit a column, numbers at the right."""
    if told := facts(table):
        pairs = (f"| {markdown(c.title)} | {markdown(plain(text, _LONGEST_CELL))} |" for c, text in told)
        return "\n".join(["| | |", "| --- | --- |", *pairs])
    table, alike = lifted(table)
    scales = units.scales([column.unit for column in table.columns], table.rows)
    titles = [f"{c.title} {s.symbol}".strip() for c, s in zip(table.columns, scales, strict=True)]
    lines = [f"{markdown(alike)}\n"] if alike else []
    lines.append("| " + " | ".join(map(markdown, titles)) + " |")
    lines.append(
        "|" + "|".join(" --- " if c.unit in ("text", "bool") else " ---: " for c in table.columns) + "|"
    )
    for row in table.rows:
        cells = [markdown(plain(s.cell(v), _LONGEST_CELL)) for s, v in zip(scales, row, strict=True)]
        lines.append("| " + " | ".join(cells) + " |")
    if table.total > len(table.rows):
        lines.append(f"\n{units.count(table.total - len(table.rows), 'more row')} left out.")
    return "\n".join(lines)


def markdown(text: str) -> str:
    """Text from a recording as Markdown that shows exactly it, cut when it is absurdly long."""
    return _escape(plain(text, _LONGEST))


def _sql(sql: str) -> str:
    return f"<details><summary>SQL</summary>\n\n{_code(sql, 'sql')}\n\n</details>" if sql.strip() else ""


def _code(text: str, language: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.strip()}\n{fence}"
