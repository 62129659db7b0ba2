"""The report as Markdown, for issues, pull requests and notes."""

from stepscope import units
from stepscope.presenters.constant_columns import drop_constants
from stepscope.presenters.outline import branches, place, value
from stepscope.presenters.plain import plain
from stepscope.presenters.rows import markdown as _escape
from stepscope.report import Change, Column, Diff, Note, Report, ReportFinding, Section, Table, Tree

EXTENSION = ".md"
_MOST_ACROSS = 9
"""Columns that a page is wide enough for, mostly."""
_LONGEST_CELL, _LONGEST = 200, 4000  # characters: Markdown has no way to fold what is longer


def render(report: Report) -> str:
    """The report as Markdown: headline, findings, then each section with its table and its SQL."""
    parts = [f"# {markdown(report.title)}", *map(markdown, report.headline)]
    if report.findings:
        parts += ["## Findings", *(_finding(finding) for finding in report.findings)]
    parts += [_section(section, 2) for section in report.sections]
    if report.other_notes:
        parts += ["## What to know of the evidence", "\n".join(map(_note, report.other_notes))]
    if report.next_commands:
        parts += ["## Next", _code("\n".join(map(plain, report.next_commands)), "")]
    return "\n\n".join(part for part in parts if part) + "\n"


def _finding(finding: ReportFinding) -> str:
    parts = [
        f"### {markdown(finding.title)} ({finding.severity})",
        markdown(finding.impact),
        f"**To do:** {markdown(finding.action)}",
        markdown(finding.reasoning),
        f"Formula: {markdown(finding.formula)}" if finding.formula else "",
        f"Weakened by: {markdown(', '.join(finding.weakened_by))}." if finding.weakened_by else "",
        table(finding.cases) if finding.evidence.rows else "",
        _sql(finding.sql),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(section: Section, level: int) -> str:
    parts = [
        f"{'#' * level} {markdown(section.title)}",
        markdown(section.subject),
        f"*{markdown(section.question)}*" if section.question else "",
        *map(markdown, section.answer),
    ]
    if section.table is not None and section.table.rows:
        parts.append(table(section.table))
    if section.tree is not None:
        parts += [_tree(section.tree), markdown(section.tree.note)]
    if section.diff is not None:
        parts += [_change(change, section.diff) for change in section.diff.changes]
    parts += [_finding(finding) for finding in section.findings]
    parts.append(_sql(section.sql))
    parts += [_section(part, min(level + 1, 6)) for part in section.parts]
    return "\n\n".join(part for part in parts if part)


def _tree(tree: Tree) -> str:
    """A table whose first column draws the tree: Markdown keeps no blanks at the beginning of a cell."""
    titles = ["", *(markdown(column.title) for column in tree.columns), ""]
    aligned = ["---", *("---:" if c.unit not in ("text", "bool") else "---" for c in tree.columns), "---"]
    lines = [f"| {' | '.join(titles)} |", f"| {' | '.join(aligned)} |"]
    for before, node in zip(branches(tree.nodes), tree.nodes, strict=True):
        name = before.replace(" ", "\N{NO-BREAK SPACE}") + markdown(plain(node.name, _LONGEST_CELL))
        name = f"**{name}** ({markdown(node.mark)})" if node.mark else name
        values = [markdown(value(*pair)) for pair in zip(tree.columns, node.values, strict=True)]
        beside = " ".join(markdown(part) for part in (place(node), node.about) if part)
        lines.append(f"| {' | '.join([name, *values, beside])} |")
    return "\n".join(lines)


def _change(change: Change, diff: Diff) -> str:
    gains = [
        f"{markdown(column.title)} {markdown(units.show(number, column.unit))}"
        for column, number in zip(diff.columns, change.values, strict=True)
        if number is not None
    ]
    outcome = f"; {markdown(change.outcome)}" if change.outcome else ""
    line = f"- {markdown(change.what)}{outcome}." + (f" {', '.join(gains)}." if gains else "")
    if change.edit is None:
        return line
    edit = change.edit
    at = markdown(f"{edit.at.file}:{edit.at.line}")
    if edit.after is None:
        return f"{line} ({at})"
    code = _code(f"- {plain(edit.before, _LONGEST)}\n+ {plain(edit.after, _LONGEST)}", "diff")
    return f"{line} ({at})\n\n{code}"


def _note(note: Note) -> str:
    weakens = f" Weakens: {markdown('; '.join(note.weakens))}." if note.weakens else ""
    where = f"({markdown(note.slug)}, {markdown(note.path)})"
    return f"- **{markdown(note.effect)}** {markdown(note.detail.rstrip('.'))} {where}.{weakens}"


def table(table: Table) -> str:
    """A table of the report as Markdown: one unit a column, numbers at the right."""
    if fact_pairs := _facts(table):
        pairs = (
            f"| {markdown(c.title)} | {markdown(plain(text, _LONGEST_CELL))} |" for c, text in fact_pairs
        )
        return "\n".join(["| | |", "| --- | --- |", *pairs])
    table, alike = drop_constants(table)
    scales = table.scales()
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


def _facts(table: Table) -> list[tuple[Column, str]]:
    """The columns of a table of one row that is wider than a page, each with its value: it is read downwards.
    Empty for any other table."""
    if len(table.rows) != 1 or table.total != 1 or len(table.columns) <= _MOST_ACROSS:
        return []
    pairs = zip(table.columns, table.rows[0], strict=True)
    return [(column, units.show(value, column.unit)) for column, value in pairs]
