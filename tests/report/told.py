"""What reports of the small recordings say, as text: `python -m tests.report.told` writes sentences.md anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from stepscope.report import Report, build
from tests.fakes import drawn_trace
from tests.report.recordings import recordings

PATH = Path(__file__).parent / "sentences.md"
_HEAD = """# Every sentence, with the smallest recording that produces it

Written by `python -m tests.report.told`; the recordings are in recordings.py. Read what changes here as a user
would.
"""


def lines(report: Report) -> Iterator[str]:
    """Title and headline, findings with what to do, and the sentences of sections."""
    yield f"**{report.title}**"
    yield from report.headline
    for finding in report.findings:
        yield f"{finding.severity}: {finding.title}. {finding.impact} → {finding.action}"
    for outer in report.sections:
        for section in outer.walk():
            yield from (f"{section.title}: {sentence}" for sentence in section.answer)


def told() -> str:
    """All recordings; a line that an earlier recording has is not repeated."""
    parts = [_HEAD]
    known: set[str] = set()
    for name, tables in recordings():
        new = [line for line in lines(build(drawn_trace(tables, "trace.pb"), all=True)) if line not in known]
        known.update(new)
        parts.append(f"## {name}\n\n" + "\n".join(f"- {line}" for line in new) + "\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PATH.write_text(told(), encoding="utf-8")
