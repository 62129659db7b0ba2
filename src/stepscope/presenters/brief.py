"""A report in a kilobyte or two of HTML: what a notebook shows for an object, and keeps in its file.

Plain elements without a script, a frame or an address: a notebook that is saved, mailed or compared stays
small, and shows the same without a kernel. Every text is escaped. The page is a call away: see embedded.
"""

from collections.abc import Iterator, Sequence
from html import escape

from stepscope import units
from stepscope.presenters.answers import scaled
from stepscope.presenters.plain import plain
from stepscope.report import Report, ReportFinding, Split, Table
from stepscope.step_labels import LOOKS

_MOST_FINDINGS = 3
_MOST_ROWS = 10
_MOST_TEXT = 400
_MOST_CELL = 80
SEVERITIES = {"high": "light-dark(#b3261e, #ff8a80)", "medium": "light-dark(#9a5b00, #f0b35f)"}
"""Colours of findings, as the page has them in style.css; the others have the colour of the text."""

_COLOURS: dict[str, str] = {label: look.light for label, look in LOOKS.items()}
_OTHER = "#a3abb1"


def report_block(report: Report, whole: str = "") -> str:
    """The sentences, a mean step in colour and the first findings; or else the first rows that there are.
    whole: what to call for the page."""
    every = [part for section in report.sections for part in section.walk()]
    splits = [split for part in every for split in part.splits]
    tables = [part for part in every if part.table is not None and part.table.rows]
    return _block(
        f"<b>{_text(report.title)}</b>",
        *(f"<div>{_text(line)}</div>" for line in report.headline),
        *(_bar(split) for split in splits[:1]),
        *_findings(report.findings),
        *(
            ()
            if splits or report.findings
            else (_table(table.title, table.table) for table in tables[:1] if table.table)
        ),
        _whole(whole),
    )


def findings_block(findings: Sequence[ReportFinding], lines: Sequence[str] = (), whole: str = "") -> str:
    """Sentences, then all findings."""
    return _block(
        *(f"<div>{_text(line)}</div>" for line in lines), *_findings(findings, len(findings)), _whole(whole)
    )


def table_block(title: str, table: Table, below: str = "", whole: str = "") -> str:
    """The first rows of a table, with units, and a sentence below it."""
    return _block(_table(title, table), f"<div>{_text(below)}</div>" if below else "", _whole(whole))


def _table(title: str, table: Table) -> str:
    shown = scaled(table.columns, table.rows[:_MOST_ROWS])
    sides = ["right" if right else "left" for right in shown.right]
    head = "".join(
        f'<th style="text-align:{side}">{_cell(name)}' for name, side in zip(shown.titles, sides, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f'<td style="text-align:{side}">{_cell(value)}' for value, side in zip(row, sides, strict=True)
        )
        for row in shown.rows
    )
    return f"{f'<b>{_text(title)}</b>' if title else ''}<table><tr>{head}{rows}</table>"


def _findings(findings: Sequence[ReportFinding], most: int = _MOST_FINDINGS) -> Iterator[str]:
    for finding in findings[:most]:
        tone = SEVERITIES.get(finding.severity, "inherit")
        yield (
            f'<div style="margin-top:4px"><b style="color:{tone}">{_text(finding.severity)}</b> '
            f"<b>{_text(finding.title.rstrip('.'))}.</b> {_text(finding.impact)}<br>"
            f"→ {_text(finding.action)}</div>"
        )
    if len(findings) > most:
        yield f"<div>{units.count(len(findings) - most, 'more finding')}</div>"


def _bar(split: Split) -> str:
    """A mean step by what its time goes to, in the colours of the page."""
    parts = "".join(
        f'<span style="display:inline-block;height:12px;width:{100 * share.share:.1f}%;'
        f'background:{_COLOURS.get(share.label, _OTHER)}"></span>'
        for share in split.shares
    )
    shares = ", ".join(f"{part.word} {units.show(part.share, 'ratio')}" for part in split.shares)
    text = _text(f"{split.long}: {shares}")
    return f'<div style="line-height:0;margin-top:6px">{parts}</div><div>{text}</div>'


def _whole(call: str) -> str:
    return (
        f'<div style="margin-top:4px;opacity:.7">the page: <code>{_text(call)}</code></div>' if call else ""
    )


def _block(*parts: str) -> str:
    return f'<div style="max-width:100ch">{"".join(parts)}</div>'


def _text(text: str) -> str:
    return escape(plain(text, _MOST_TEXT))


def _cell(value: object) -> str:
    return escape(plain(str(value), _MOST_CELL))
