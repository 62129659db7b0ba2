"""Reports and parts of them inside another page: what a notebook shows for an object.

Each is a page of its own in a sandboxed frame. Its styles do not touch the notebook, and even if a hostile
name found a way to run, it could reach neither the notebook nor the network.
"""

from collections.abc import Sequence
from html import escape
from textwrap import wrap

from stepscope.presenters import html
from stepscope.report import Report, ReportFinding, Table

_LINE, _TALLEST = 29, 640
"""Pixels of a line of a table, and of the tallest frame; what is longer scrolls."""
_MOST_LINES = 15
"""Rows that a table shows before it is unfolded."""
_FOLDED, _OPEN = 64, 300
"""Pixels of a finding in two lines, and of one whose evidence is seen."""


def report_frame(report: Report) -> str:
    """A whole report."""
    return _frame(html.render(report), _TALLEST)


def table_frame(title: str, table: Table, below: str = "") -> str:
    """A table, with a sentence below it."""
    lines = min(len(table.rows), _MOST_LINES) + 3 + bool(title) * 2 + bool(below)
    return _frame(html.part(title, table, below=below), lines * _LINE + 40)


def findings_frame(findings: Sequence[ReportFinding], sentences: Sequence[str] = ()) -> str:
    """Findings with their evidence a click away, after some sentences."""
    tall = len(wrap(" ".join(sentences), 100)) * 22 + len(sentences) * 8
    tall += _OPEN if len(findings) == 1 else len(findings) * _FOLDED
    return _frame(html.part("", *findings, sentences=sentences), tall + 40)


def _frame(page: str, height: int) -> str:
    return (
        f'<iframe srcdoc="{escape(page)}" sandbox="allow-scripts" title="stepscope" '
        f'style="width:100%;height:{min(height, _TALLEST)}px;border:0"></iframe>'
    )
