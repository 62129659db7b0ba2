"""Reports as objects: text where Python prints them, pages in a notebook, data for programs."""

import json
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from stepscope import presenters
from stepscope.errors import UsageError
from stepscope.exporters.staging import staged
from stepscope.objects.answers import Finding, Findings
from stepscope.objects.page import Page
from stepscope.objects.result import Result
from stepscope.presenters import brief, embedded, scroll, terminal
from stepscope.presenters import json as presenter
from stepscope.presenters.plain import plain
from stepscope.report import Report, Section


class ReportView:
    """A report: `print()` shows it as text, a notebook as its sentences; page() is all of it.

    >>> import stepscope
    >>> summary = stepscope.open("tests/samples/capture/slow_map").summary()
    >>> print(summary.headline[2])
    Steps take 34.0 ms on average.
    >>> summary["op_types"].columns[:3]
    ('op_type', 'place', 'self_ps')
    >>> summary.data["answer"]["cause"]
    'input'
    """

    _kind = "report"

    def __init__(self, report: Report) -> None:
        self.report = report
        """The report as plain data: sections, tables, findings."""

    @property
    def title(self) -> str:
        """What was read, in a few words."""
        return self.report.title

    @property
    def headline(self) -> tuple[str, ...]:
        """What matters most, in sentences."""
        return self.report.headline

    @property
    def findings(self) -> Findings:
        """The problems that the data shows, the worst first."""
        inside = [
            finding for outer in self.report.sections for part in outer.walk() for finding in part.findings
        ]
        return Findings(Finding(finding) for finding in (*self.report.findings, *inside))

    @property
    def sections(self) -> tuple[str, ...]:
        """Names of the sections that have rows; `report[name]` are these rows."""
        return tuple(dict.fromkeys(section.name for section in self._filled_sections()))

    @property
    def data(self) -> dict[str, Any]:
        """What `--format json` prints: picoseconds, bytes, shares from 0 to 1."""
        made: dict[str, Any] = json.loads(presenter.render(self.report))
        return made

    def __getitem__(self, name: str) -> Result:
        """The rows of a section; of the first one where there are several of that name."""
        for section in self._filled_sections():
            if section.name == name:
                return Result(None, table=section.table, sql=section.sql, title=section.title)
        raise UsageError(
            f"The {self._kind} has no section {name} with rows",
            seen=f"sections: {', '.join(self.sections) or 'none'}",
            todo="choose one of them, or ask trace.analysis(…)",
        )

    def _filled_sections(self) -> list[Section]:
        every = [part for section in self.report.sections for part in section.walk()]
        return [section for section in every if section.table is not None and section.table.rows]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.sections)

    def text(self, width: int = 100) -> str:
        """The report as text of at most `width` columns."""
        return scroll.render(self.report, width=width)

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Writes .html, .md or .json. OutputError when the file exists and `force` is not set."""
        known = presenters.file_presenters()
        ending = Path(path).suffix.lower()
        if ending not in known:
            raise presenters.unknown_kind(fspath(path), sorted(known))
        text = known[ending].render(self.report)
        with staged(Path(fspath(path)), force=force) as part:
            part.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")

    def __repr__(self) -> str:
        return self.text().rstrip("\n")

    def page(self) -> Page:
        """The page that `stepscope report` writes, for a notebook."""
        return Page(plain(self.title, 200), embedded.report_frame(self.report))

    def _repr_html_(self) -> str:
        return brief.report_block(self.report, "_.page()")


class Summary(ReportView):
    """Where the time went, why, and what to do. See `Trace.summary`."""

    _kind = "summary"

    def text(self, width: int = 100) -> str:
        """The summary as text of at most `width` columns."""
        return terminal.render(self.report, width=width)


class Pipeline(ReportView):
    """The tf.data pipeline, or the DataLoaders. See `Trace.pipeline`."""

    _kind = "report of the pipeline"

    def __bool__(self) -> bool:
        """Whether the recording shows a pipeline, or waiting for a DataLoader."""
        return bool(self.report.sections) or (self.report.document or {}).get("wait_ratio") is not None


class Memory(ReportView):
    """Who holds the memory. See `Trace.memory`."""

    _kind = "report of the memory"

    def __bool__(self) -> bool:
        """Whether the recording says anything about memory."""
        return bool(self.report.sections)


class WhatIf(ReportView):
    """What a step would take after a change. See `Trace.whatif`."""

    _kind = "prediction"

    @property
    def recorded_ps(self) -> int:
        """A mean step as it was recorded."""
        return int(self.report.document["recorded_ps"])

    @property
    def then_ps(self) -> int | None:
        """A mean step after the change; None where only `bounds_ps` are known, or nothing is."""
        return self._time("then_ps")

    @property
    def bounds_ps(self) -> tuple[int | None, int | None]:
        """The least and the most that a mean step takes after the change; None for a side that is open."""
        return self._time("low"), self._time("high")

    def _time(self, name: str) -> int | None:
        found = self.report.document[name]
        return None if found is None else int(found)
