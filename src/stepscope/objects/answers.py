"""The answer and the findings of a trace as objects."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from stepscope import report
from stepscope.objects.page import Page
from stepscope.objects.result import Result
from stepscope.presenters import brief, embedded
from stepscope.presenters.plain import plain

_WIDE = 100


@dataclass(frozen=True)
class Place:
    """A line of the user's program."""

    file: str
    line: int | None
    function: str | None

    def __str__(self) -> str:
        return self.file if self.line is None else f"{self.file}:{self.line}"


class Answer:
    """What takes most of a step, why, and what would be gained without it.

    >>> import stepscope
    >>> answer = stepscope.open("tests/samples/capture/slow_map").answer
    >>> answer.cause, round(answer.share, 2), str(answer.place)
    ('input', 0.8, 'train.py:15')
    >>> answer.step_ps, answer.step_if_removed_ps  # what makes the batches instead takes time as well
    (34040497800, None)

    `answer.data` is the answer as `--format json` prints it, with every key that it has.
    """

    def __init__(self, data: Mapping[str, Any], sentences: tuple[str, ...]) -> None:
        self.data = dict(data)
        self.told = sentences
        """The answer in sentences."""
        self.cause: str = data["cause"]
        """The label of the time: input, compute, copy, communication, compile, dispatch, python, wait, …"""
        self.share: float = data["share"]
        """Its share of a step, from 0 to 1."""
        self.ps_per_step: int = data["ps_per_step"]
        """Its picoseconds in a step, on average."""
        self.place: Place | None = _place(data["place"])
        self.op: str | None = data["op"]
        self.op_type: str | None = data["op_type"]
        self.stage: str | None = data["stage"]
        """The stage of the input pipeline that holds the step up."""
        self.confidence: str = data["confidence"]
        self.because: tuple[str, ...] = tuple(data["because"])
        """What speaks for it."""
        self.weakened_by: tuple[str, ...] = tuple(data["weakened_by"])
        """Slugs of notes that make it doubtful; `stepscope docs SLUG` explains one."""
        self.step_ps: int | None = data["step_ps"]
        """Picoseconds of a step, on average."""
        self.untraced_step_ps: int | None = data["untraced_step_ps"]
        """Picoseconds of a typical step without the profiler, where the recorder timed some."""
        self.step_if_removed_ps: int | None = data["step_if_removed_ps"]
        """What would be left of them, where that is known; `low` and `high` are its bounds."""
        self.low: int | None = data["low"]
        self.high: int | None = data["high"]
        self.saved_ps: int | None = data["saved_ps"]
        """By how much a step would be shorter than one that no profiler records, where that is known;
        `saved_low` and `saved_high` are its bounds."""
        self.saved_low: int | None = data["saved_low"]
        self.saved_high: int | None = data["saved_high"]
        self.run: str = data["run"]
        self.host: str = data["host"]

    def __repr__(self) -> str:
        parts = [*self.told, f"Confidence: {self.confidence}."]
        if self.because:
            parts.append(f"Because: {'; '.join(self.because)}.")
        return "\n".join(_wrapped(part) for part in parts)

    def _repr_html_(self) -> str:
        because = (f"Because: {'; '.join(self.because)}.",) if self.because else ()
        return brief.findings_block((), (*self.told, f"Confidence: {self.confidence}.", *because))


class Finding:
    """A problem that the data shows: what it costs, and what to do about it."""

    def __init__(self, finding: report.ReportFinding) -> None:
        self._finding = finding
        self.slug = finding.slug
        """Its name; `stepscope docs SLUG` explains it."""
        self.severity = finding.severity
        self.title = finding.title
        self.impact = finding.impact
        self.action = finding.action
        self.reasoning = finding.reasoning
        """Why it costs time."""
        self.sql = finding.sql
        self.evidence = Result(None, table=finding.evidence, sql=finding.sql, title=finding.title)
        """The rows that prove it."""

    def __repr__(self) -> str:
        return (
            _wrapped(f"{self.severity}: {self.title.rstrip('.')}. {self.impact}")
            + "\n"
            + _wrapped(f"→ {self.action}", "  ")
        )

    def page(self) -> Page:
        """The finding with its evidence, for a notebook."""
        return Page(plain(self.title, 200), embedded.findings_frame((self._finding,)))

    def _repr_html_(self) -> str:
        return brief.findings_block((self._finding,), whole="_.page()")


class Findings(tuple[Finding, ...]):
    """Findings, the worst first. `findings["input-wait"]` is the one of that name.

    >>> import stepscope
    >>> findings = stepscope.open("tests/samples/capture/slow_map").findings
    >>> [(one.slug, one.severity) for one in findings[:2]]
    [('python-in-pipeline', 'high'), ('input-wait', 'high')]
    >>> print(findings["input-wait"].impact)
    79.8 % of the step time on vm is waiting for input: 27.2 ms of each step on average, 408 ms in all.
    """

    __slots__ = ()

    def __new__(cls, found: Iterable[Finding] = ()) -> Findings:
        """A tuple of findings."""
        return super().__new__(cls, tuple(found))

    def __getitem__(self, which: Any) -> Any:
        """A finding by its number or its slug, or several by a slice."""
        if isinstance(which, str):
            for finding in self:
                if finding.slug == which:
                    return finding
            raise KeyError(which)
        found = super().__getitem__(which)
        return Findings(found) if isinstance(which, slice) else found

    def _ipython_key_completions_(self) -> list[str]:
        return [finding.slug for finding in self]

    def __repr__(self) -> str:
        return "\n\n".join(map(repr, self)) or "no findings"

    def page(self) -> Page:
        """All of them with their evidence, for a notebook."""
        shown = [finding._finding for finding in self]
        return Page("the findings", embedded.findings_frame(shown, () if self else ("No findings.",)))

    def _repr_html_(self) -> str:
        found = [finding._finding for finding in self]
        return brief.findings_block(found, () if self else ("No findings.",), "_.page()" if self else "")


def _place(data: Mapping[str, Any] | None) -> Place | None:
    return None if data is None else Place(data["file"], data["line"], data["function"])


def _wrapped(text: str, later: str = "") -> str:
    return textwrap.fill(
        plain(text, 4000), _WIDE, subsequent_indent=later, break_on_hyphens=False, break_long_words=False
    )
