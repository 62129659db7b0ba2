"""The report as one HTML file: no network, no server, nothing but itself.

Names in a recording may hold anything, so every string is escaped where it enters the page, and the page's
own policy (Content-Security-Policy) allows the two inline blocks below by their hashes and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from decimal import Decimal
from functools import cache
from html import escape
from importlib import resources
from typing import Any

import stepscope
from stepscope import units
from stepscope.presenters import flame
from stepscope.presenters.charts import draw
from stepscope.presenters.constant_columns import without_constants
from stepscope.presenters.facts import facts
from stepscope.presenters.outline import branches, place, value
from stepscope.presenters.plain import block, plain
from stepscope.report import Change, Chart, Column, Diff, Edit, Finding, Note, Report, Section, Table, Tree

EXTENSION = ".html"
_CELL, _HOVER, _LONGEST = 160, 2000, 4000
"""Characters of a text in a cell, of what appears when the mouse rests on it, and of a sentence."""


def render(report: Report) -> str:
    """The whole page."""
    title = _text(report.title, 200)
    links = "".join(f'<a href="#s{i}">{_text(s.title, 60)}</a>' for i, s in enumerate(report.sections))
    headline = "".join(f'<p class="headline">{_text(line)}</p>' for line in report.headline)
    findings = "".join(_finding(finding) for finding in report.findings)
    sections = "".join(_section(i, section) for i, section in enumerate(report.sections))
    commands = "\n".join(plain(command) for command in report.next_commands)
    following = f"<section><h2>Next</h2><pre>{escape(commands)}</pre></section>\n" if commands else ""
    body = f"""<header>
<h1>{title}</h1>
{headline}
<nav aria-label="Sections">{links}</nav>
</header>
<main>
{findings}{_notes(report.notes)}{sections}{following}</main>
<footer class="quiet">Made by stepscope {stepscope.__version__}. This file is complete: it needs neither
network nor server. Rest the mouse on a mark for its value; click a heading to sort,
a box of a flame graph to zoom.</footer>"""
    return _page(title, body)


def part(title: str, *shown: Table | Finding, told: Sequence[str] = (), below: str = "") -> str:
    """A page with a few things of a report and nothing else. told: sentences above them; below: one after."""
    heading = f"<h2>{_text(title, 200)}</h2>" if title else ""
    said = "".join(f"<p>{_prose(sentence)}</p>" for sentence in told)
    things = "".join(_finding(one) if isinstance(one, Finding) else _table(one) for one in shown)
    after = f'<p class="quiet">{_text(below)}</p>' if below else ""
    return _page(_text(title, 200), f"{heading}{said}{things}{after}", "part")


def _page(title: str, body: str, look: str = "") -> str:
    """title and body are HTML."""
    css, js = _asset("page.css"), _asset("page.js")
    policy = (
        f"default-src 'none'; style-src {_hash(css)}; script-src {_hash(js)}; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="stepscope {stepscope.__version__}">
<title>{title}</title>
<style>{css}</style>
</head>
<body{f' class="{look}"' if look else ""}>
{body}
<script>{js}</script>
</body>
</html>
"""


def _finding(finding: Finding) -> str:
    weak = ""
    if finding.weakened_by:
        weak = f'<p class="quiet">Weakened by: {_text(", ".join(finding.weakened_by))}</p>'
    why = "".join(
        f"<p>{_prose(text)}</p>"
        for text in (finding.reasoning, finding.formula and f"Formula: {finding.formula}")
        if text
    )
    evidence = _table(finding.evidence) if finding.evidence.rows else ""
    folded = f"{why}{evidence}{_sql(finding.sql)}"
    if folded:
        folded = f"<details><summary>Why, with the evidence</summary>{folded}</details>"
    severity = escape(finding.severity)
    return (
        f'<article class="finding {severity}">'
        f'<h3><span class="severity">{severity}</span> {_text(finding.title)}</h3>'
        f"<p>{_prose(finding.impact)}</p>"
        f'<p class="todo">{_prose(finding.action)}</p>{weak}{folded}</article>\n'
    )


def _notes(notes: tuple[Note, ...]) -> str:
    if not notes:
        return ""
    items = []
    for note in notes:
        weakens = f" <strong>Weakens:</strong> {_text('; '.join(note.weakens))}." if note.weakens else ""
        items.append(
            f"<li><strong>{_text(note.effect)}</strong> {_text(note.detail.rstrip('.'))} "
            f'<span class="quiet">({_text(note.slug)}, {_text(note.path, 300)})</span>.{weakens}</li>'
        )
    look = "notes weak" if any(note.effect not in ("info", "recorder") for note in notes) else "notes"
    return f'<div class="{look}"><h2>What to know of the evidence</h2><ul>{"".join(items)}</ul></div>\n'


def _section(number: int, section: Section) -> str:
    return f'<section id="s{number}">{_inside(section, 2)}</section>\n'


def _inside(section: Section, level: int) -> str:
    """What a section holds; those inside it have smaller headings."""
    subject = f' <span class="quiet">{_text(section.subject, 300)}</span>' if section.subject else ""
    question = f'<p class="quiet">{_text(section.question)}</p>' if section.question else ""
    parts = [f"<h{level}>{_text(section.title)}{subject}</h{level}>{question}"]
    parts += [f"<p>{_prose(sentence)}</p>" for sentence in section.answer]
    if section.table is not None and section.table.rows:
        parts.append(_drawn(section.table, section.chart))
    if section.tree is not None:
        parts.append(_grown(section.tree))
    if section.diff is not None:
        parts += [_change(change, section.diff) for change in section.diff.changes]
    parts += [_finding(finding) for finding in section.findings]
    parts.append(_sql(section.sql))
    parts += [f"<div>{_inside(part, min(level + 1, 6))}</div>" for part in section.parts]
    return "".join(parts)


def _drawn(table: Table, chart: Chart | None) -> str:
    """A chart with its table folded away below it, or the table."""
    # One bar has nothing to be compared with.
    alone = chart is not None and chart.kind == "bar" and len(table.rows) == 1
    drawn = draw(table, chart) if chart is not None and not alone else ""
    if not drawn:
        return _table(table)
    rows = units.count(len(table.rows), "row")
    return f"{drawn}<details><summary>Table of {rows}</summary>{_table(table)}</details>"


def _grown(tree: Tree) -> str:
    """A flame graph with its tree folded away below it, or the tree."""
    drawn = flame.draw(tree) if tree.size else ""
    if not drawn:
        return _tree(tree)
    rows = units.count(len(tree.nodes), "row")
    return f"{drawn}<details><summary>Table of {rows}</summary>{_tree(tree)}</details>"


def _tree(tree: Tree) -> str:
    right = [column.unit not in ("text", "bool") for column in tree.columns]
    heads = "".join(
        f'<th{_class(n)} title="{_text(c.about or c.title, 400)}">{_text(c.title, 80)}</th>'
        for c, n in zip(tree.columns, right, strict=True)
    )
    rows = []
    for before, node in zip(branches(tree.nodes), tree.nodes, strict=True):
        mark = f" <mark>{_text(node.mark, 40)}</mark>" if node.mark else ""
        beside = " ".join(part for part in (place(node), node.about) if part)
        values = "".join(
            f"<td{_class(n)}>{_text(value(*pair), _CELL)}</td>"
            for n, pair in zip(right, zip(tree.columns, node.values, strict=True), strict=True)
        )
        name = f'<td class="branch">{before}{_text(node.name, _CELL)}{mark}</td>'
        rows.append(f"<tr>{name}{values}<td>{_text(beside, _CELL)}</td></tr>\n")
    note = f'<p class="quiet">{_text(tree.note)}</p>' if tree.note else ""
    head = f"<thead><tr><th></th>{heads}<th></th></tr></thead>"
    body = f"<tbody>\n{''.join(rows)}</tbody>"
    return f'<div class="scroll"><table class="tree">{head}{body}</table></div>{note}'


def _change(change: Change, diff: Diff) -> str:
    told = "".join(
        f'<div title="{_text(column.about or column.title, 400)}"><dt>{_text(column.title, 80)}</dt>'
        f"<dd>{_text(units.show(number, column.unit), _CELL)}</dd></div>"
        for column, number in zip(diff.columns, change.values, strict=True)
        if number is not None
    )
    outcome = f'; <span class="quiet">{_prose(change.outcome)}</span>' if change.outcome else ""
    look = "change" if change.helps else "change quiet"
    return (
        f'<div class="{look}"><dl class="facts">{told}</dl>'
        f"<div><p>{_prose(change.what)}{outcome}.</p>{_edit(change.edit)}</div></div>"
    )


def _edit(edit: Edit | None) -> str:
    if edit is None:
        return ""
    at = f'<p class="quiet">{_text(edit.at.file, 300)}:{edit.at.line}</p>'
    if edit.after is None:
        return at
    lines = f"<del>- {_text(edit.before)}</del>\n<ins>+ {_text(edit.after)}</ins>"
    return f'{at}<pre class="diff">{lines}</pre>'


def _table(table: Table) -> str:
    if single := facts(table):
        return _facts(single)
    table, alike = without_constants(table)
    scales = units.scales([column.unit for column in table.columns], table.rows)
    right = [column.unit not in ("text", "bool") for column in table.columns]
    titles = [f"{c.title} {s.symbol}".strip() for c, s in zip(table.columns, scales, strict=True)]
    heads = "".join(
        f'<th{_class(n)} title="{_text(c.about or c.title, 400)}">{_text(title, 80)}</th>'
        for c, title, n in zip(table.columns, titles, right, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(_cell(s.cell(v), v, n) for s, v, n in zip(scales, row, right, strict=True))
        + "</tr>\n"
        for row in table.rows
    )
    left_out = table.total - len(table.rows)
    more = (
        f'<p class="quiet">{units.count(left_out, "row")} left out; the query below has them</p>'
        if left_out > 0
        else ""
    )
    head = f"<thead><tr>{heads}</tr></thead>"
    told = f'<p class="quiet">{_text(alike)}</p>' if alike else ""
    return f'{told}<div class="scroll"><table>{head}<tbody>\n{rows}</tbody></table></div>{more}'


def _facts(told: list[tuple[Column, str]]) -> str:
    """Each value below its name, in as many lines as it takes."""
    pairs = (
        f'<div title="{_text(column.about or column.title, 400)}"><dt>{_text(column.title, 80)}</dt>'
        f"<dd{_hover(text)}>{_text(text, _CELL)}</dd></div>"
        for column, text in told
    )
    return f'<dl class="facts">{"".join(pairs)}</dl>'


def _hover(text: str) -> str:
    """What a cell too short for its text shows when the mouse rests on it."""
    if len(text) <= _CELL:
        return ""
    note = "" if len(text) <= _HOVER else f" ({len(text):,} characters)"
    return f' title="{escape(plain(text[:_HOVER]))}{note}"'


def _cell(text: str, value: Any, right: bool) -> str:
    shown = plain(text, _CELL)
    raw = "" if value is None else f' data-value="{escape(_sortable(value, shown))}"'
    look = ' class="long"' if len(shown) > 16 and not right else _class(right)
    return f"<td{look}{raw}{_hover(text)}>{escape(shown)}</td>"


def _sortable(value: Any, shown: str) -> str:
    return str(value) if isinstance(value, (int, float, Decimal)) else shown.lower()


def _class(right: bool) -> str:
    return ' class="n"' if right else ""


def _sql(sql: str) -> str:
    return (
        f"<details><summary>SQL</summary><pre><code>{escape(block(sql.strip()))}</code></pre></details>"
        if sql.strip()
        else ""
    )


def _text(text: str, most: int = _LONGEST) -> str:
    return escape(plain(text, most))


def _prose(text: str) -> str:
    """A sentence, in which words between backticks are code."""
    return re.sub(r"`([^`<>]+)`", r"<code>\1</code>", _text(text))


@cache
def _asset(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8").strip()


def _hash(block: str) -> str:
    digest = hashlib.sha256(block.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
