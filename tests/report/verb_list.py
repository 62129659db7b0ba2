"""What verbs say of what instruments find: `python -m tests.report.verb_list` writes verbs.md anew."""

from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from stepscope.report.parts import Report
from tests.report import memory_reports, pipeline_reports, tfprof_reports, verbs

PATH = Path(__file__).parent / "verbs.md"
_HEAD = """# Every sentence of the verbs, with the smallest finding that produces it

Written by `python -m tests.report.verb_list`; memory_reports.py, pipeline_reports.py and tfprof_reports.py
have the findings. Read what changes here as a user would.
"""


def listed() -> str:
    """Report by report. No line comes twice."""
    parts = [_HEAD]
    known: set[str] = set()
    made = (memory_reports.reports(), pipeline_reports.reports(), tfprof_reports.reports())
    for name, report in chain.from_iterable(made):
        new = [line for line in dict.fromkeys(_lines(report)) if line not in known]
        known.update(new)
        if new:
            parts.append(f"## {name}\n\n" + "\n".join(f"- {line}" for line in new) + "\n")
    return "\n".join(parts)


def _lines(report: Report) -> Iterator[str]:
    """With titles, what columns mean, and changes."""
    if report.title:
        yield f"**{report.title}**"
    yield from verbs.lines(report)
    for section in (inner for outer in report.sections for inner in outer.walk()):
        if section.chart is not None:
            yield f"{section.title}: {section.chart.title}"
        for node in section.tree.nodes if section.tree is not None else ():
            if node.about:
                yield f"{section.title}, {node.name}: {node.about}"
        for part in (section.table, section.diff):
            heads = part.columns if part is not None else ()
            yield from (f"{section.title}, {one.title}: {one.about}" for one in heads)
        for change in section.diff.changes if section.diff is not None else ():
            yield f"{section.title}: {change.what} → {change.outcome}"


if __name__ == "__main__":
    PATH.write_text(listed(), encoding="utf-8")
