"""What is said of the small recordings: `python -m tests.report.sentence_list` writes sentences.md anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from stepscope import library
from stepscope.instruments.causes import ranking
from stepscope.report import build, judgement_text
from stepscope.report.advice import findings_of
from stepscope.report.answer_document import document
from stepscope.report.parts import ask
from tests.draw import Tables
from tests.fakes import FakeTrace
from tests.report import recordings, verbs
from tests.report.recordings import connection

PATH = Path(__file__).parent / "sentences.md"
_HEAD = """# Every sentence, with the smallest recording that produces it

Written by `python -m tests.report.sentence_list`; recordings.py and made_recordings.py have the recordings.
Read what changes here as a user would.
"""


def listed() -> str:
    """Judgements, then whole reports, then findings. No line comes twice."""
    parts = [_HEAD]
    known: set[str] = set()
    readers: tuple[tuple[Callable[[str, Tables], Iterator[str]], Iterable[tuple[str, Tables]]], ...] = (
        (_judgement, recordings.judged()),
        (_report, recordings.whole()),
        (_finding, recordings.problems()),
    )
    for read, made in readers:
        for name, tables in made:
            new = [line for line in dict.fromkeys(read(name, tables)) if line not in known]
            known.update(new)
            if new:
                parts.append(f"## {name}\n\n" + "\n".join(f"- {line}" for line in new) + "\n")
    for name, report in verbs.reports():
        new = [line for line in dict.fromkeys(verbs.lines(report)) if line not in known]
        known.update(new)
        parts.append(f"## {name}\n\n" + "\n".join(f"- {line}" for line in new) + "\n")
    parts.append("## all of the first ones, as runs of their own\n\n" + _runs())
    return "\n".join(parts)


def brief() -> Iterator[str]:
    """What every sixth judgement and finding says; all of them, and whole reports, take minutes."""
    for name, tables in recordings.judged(each=6):
        yield from _judgement(name, tables)
    for name, tables in recordings.problems(each=6):
        yield from _finding(name, tables)


def _judgement(_: str, tables: Tables) -> Iterator[str]:
    """What limits a step, and what speaks for it."""
    tables.fill(connection())
    found = ranking.judge(FakeTrace(connection()).query)
    yield from judgement_text.sentences(found, False)
    for answer in document(found, ())["answers"]:
        yield from (f"because: {reason}" for reason in answer["because"])


def _runs() -> str:
    """What is said of many runs at once."""
    found = []
    for name, tables in recordings.judged():
        tables.fill(connection())
        found += [replace(one, run_id=name) for one in ranking.judge(FakeTrace(connection()).query)]
    return "".join(f"- {line}\n" for line in judgement_text.sentences(found, True))


_WITH_FINDINGS = ("one device", "uneven steps", "waiting for input", "damage and caps", "an input pipeline")
"""Whole reports whose findings are asked for: what to try next follows from them. Asking takes half of
the time, and findings have recordings of their own."""


class _WithoutFindings(FakeTrace):
    def answers(
        self, entries: Sequence[library.Entry], keep: Sequence[str] = ()
    ) -> list[list[tuple[Any, ...]]]:
        self.keep(keep)
        answered = iter(super().answers([entry for entry in entries if entry.kind != "finding"]))
        return [[] if entry.kind == "finding" else next(answered) for entry in entries]


def _report(name: str, tables: Tables) -> Iterator[str]:
    """Title and headline, sentences of sections, what their own columns mean, and what to try next."""
    tables.fill(connection())
    of = FakeTrace if name in _WITH_FINDINGS else _WithoutFindings
    report = build(of(connection(), "trace.pb", empty=tables.empty()))  # type: ignore[arg-type]
    yield f"**{report.title}**"
    yield from report.headline
    for section in report.sections:
        yield from (f"{section.title}: {sentence}" for sentence in section.answer)
        if not section.sql and section.table is not None:
            yield f"{section.title}: {section.question}"
            yield from (f"{section.title}, {one.title}: {one.about}" for one in section.table.columns)
    yield from (f"next: {command}" for command in report.next_commands)


def _finding(name: str, tables: Tables) -> Iterator[str]:
    """A finding, with what to do. name: its own, and what is special of the recording behind a comma."""
    tables.fill(connection())
    entry = library.entry(name.partition(",")[0])
    answers = ask(FakeTrace(connection(), empty=tables.empty()), [entry], ())  # type: ignore[arg-type]
    for one in findings_of(answers, [entry], (), False):
        yield f"{one.severity}: {one.title}. {one.impact} → {one.action}"


if __name__ == "__main__":
    PATH.write_text(listed(), encoding="utf-8")
