"""What is said of the small recordings: `python -m tests.report.sentence_list` writes sentences.md anew.

That takes minutes. `python -m tests.report.sentence_list "large_constants" "copy"` reads these recordings
only; without the comma of a name and what follows, all that begin so.
"""

import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from stepscope import library
from stepscope.instruments.causes import ranking
from stepscope.report import build, judgement_text
from stepscope.report.advice import findings_of
from stepscope.report.answer_document import document
from stepscope.report.parts import ask
from tests.draw import Tables, reads_sums
from tests.fakes import FakeTrace
from tests.report import recordings, verbs
from tests.report.recordings import Made, connection

_ALL = "all of the first ones, as runs of their own"
PATH = Path(__file__).parent / "sentences.md"
_HEAD = """# Every sentence, with the smallest recording that produces it

Written by `python -m tests.report.sentence_list`; recordings.py and made_recordings.py have the recordings.
Read what changes here as a user would.
"""


def listed(known: str = "", only: Collection[str] = ()) -> str:
    """Judgements, then whole reports, then findings. No line comes twice.

    only: recordings that are read anew, by what stands before the comma of their names, or by all of it; of
    the others the lines are those in `known`.
    """
    stay = _sections(known)
    parts = [_HEAD]
    said: set[str] = set()
    titles: Counter[str] = Counter()
    for name, read in _readers():
        lines = read() if not only or _is_among(name, only) else stay.get((name, titles[name]), ())
        titles[name] += 1
        new = [line for line in dict.fromkeys(lines) if line not in said]
        said.update(new)
        if new:
            parts.append(_section(name, new))
    stays = only and not any(_is_among(name, only) for name, _ in recordings.judged())
    parts.append(_section(_ALL, stay[_ALL, 0] if stays else _runs()))
    return "\n".join(parts)


def _is_among(name: str, names: Collection[str]) -> bool:
    return name in names or name.partition(",")[0] in names


def _readers() -> Iterator[tuple[str, Callable[[], Iterable[str]]]]:
    """What reads the lines of each section, by its title."""
    readers: tuple[tuple[Callable[[str, Tables], Iterator[str]], Iterable[Made]], ...] = (
        (_judgement, recordings.judged()),
        (_report, recordings.whole()),
        (_finding, recordings.problems()),
    )
    for read, made in readers:
        yield from ((name, partial(_read, read, name, make)) for name, make in made)
    yield from ((name, partial(verbs.lines, report)) for name, report in verbs.reports())


def _read(
    read: Callable[[str, Tables], Iterator[str]], name: str, make: Callable[[], Tables]
) -> Iterator[str]:
    return read(name, make())


def _section(title: str, lines: Iterable[str]) -> str:
    return f"## {title}\n\n" + "".join(f"- {line}\n" for line in lines)


def _sections(text: str) -> dict[tuple[str, int], list[str]]:
    """The lines of each section, by its title and how many before it have the same."""
    titles: Counter[str] = Counter()
    found = {}
    for section in text.split("\n## ")[1:]:
        title, _, lines = section.partition("\n\n")
        found[title, titles[title]] = lines.strip("\n").removeprefix("- ").split("\n- ")
        titles[title] += 1
    return found


def brief() -> Iterator[str]:
    """What every sixth judgement and finding says; all of them, and whole reports, take minutes."""
    for name, make in recordings.judged(each=6):
        yield from _judgement(name, make())
    for name, make in recordings.problems(each=6):
        yield from _finding(name, make())


def _judgement(_: str, tables: Tables) -> Iterator[str]:
    """What limits a step, and what speaks for it."""
    tables.fill(connection(), sums=False)
    found = ranking.judge(FakeTrace(connection()).query)
    yield from judgement_text.sentences(found, False)
    for answer in document(found, ())["answers"]:
        yield from (f"because: {reason}" for reason in answer["because"])


def _runs() -> list[str]:
    """What is said of many runs at once."""
    found = []
    for name, make in recordings.judged():
        make().fill(connection(), sums=False)
        found += [replace(one, run_id=name) for one in ranking.judge(FakeTrace(connection()).query)]
    return judgement_text.sentences(found, True)


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
    entry = library.entry(name.partition(",")[0])
    tables.fill(connection(), reads_sums(entry.name))
    answers = ask(FakeTrace(connection(), empty=tables.empty()), [entry], ())  # type: ignore[arg-type]
    for one in findings_of(answers, [entry], (), False):
        yield f"{one.severity}: {one.title}. {one.impact} → {one.action}"


def main(only: Sequence[str]) -> None:
    """Writes the list, or those of its sections that are named."""
    names = {part for name, _ in _readers() for part in (name, name.partition(",")[0])}
    if unknown := set(only) - names:
        sys.exit(f"no recording is called {', '.join(sorted(unknown))}: recordings.py has their names")
    PATH.write_text(listed(PATH.read_text(encoding="utf-8"), only), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
