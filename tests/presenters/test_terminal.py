"""The summary on a screen."""

from __future__ import annotations

import dataclasses
import re
import unicodedata

import pytest

from stepscope.presenters import terminal
from stepscope.presenters.rows import cells
from stepscope.report import Report
from tests.presenters.example import FINDING, REPORT
from tests.presenters.test_html import hostile_report

ANSI = re.compile(r"\x1b\[[0-9;]*m")


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140, 200])
@pytest.mark.parametrize("height", [24, 30, 50])
def test_it_fits_the_screen(width: int, height: int) -> None:
    lines = terminal.render(REPORT, width=width, height=height).splitlines()
    commands = [line for line in lines if "stepscope " in line]
    assert len(commands) == 2
    assert all(cells(line) <= width for line in lines if line not in commands)
    rows_on_screen = sum(max(1, -(-cells(line) // width)) for line in lines)
    if width >= 60:
        assert rows_on_screen <= height - 1, "the prompt needs a line, too"


def test_a_small_screen_shows_what_matters_most() -> None:
    shown = terminal.render(REPORT, width=80, height=24)
    assert FINDING.title in shown
    assert "Steps" in shown
    assert shown.count("Conv2D") >= 3
    assert "Next" in shown
    assert "left out: 37 rows, what follows an …" in shown
    assert "--all shows them" in shown


@pytest.mark.parametrize("height", [24, 30, 40, 60])
def test_a_long_report_fits_as_well(height: int) -> None:
    long = dataclasses.replace(FINDING, impact="a long sentence of many words " * 12, action="do " * 90)
    sentences = tuple(f"sentence {i} of many words " * 9 for i in range(4))
    talk = dataclasses.replace(REPORT.sections[3], name="talk", title="Talk", answer=sentences)
    report = dataclasses.replace(
        REPORT, findings=(long,) * 5, sections=(*REPORT.sections[:3], talk, talk, REPORT.sections[3])
    )
    shown = terminal.render(report, width=80, height=height)
    assert sum(max(1, -(-cells(line) // 80)) for line in shown.splitlines()) < height
    assert "Conv2DBackpropFilter" in shown
    assert "917 of 917 events stored" in shown
    assert "finding" in shown.rsplit("left out:", 1)[1]


def test_notes_of_one_kind_are_one() -> None:
    again = dataclasses.replace(REPORT.notes[0], path="logs/timeline-10.json")
    shown = terminal.render(dataclasses.replace(REPORT, notes=(*REPORT.notes, again)), width=140)
    assert "(truncated, logs/timeline-5.json and 1 more source). Weakens: step times." in shown
    assert shown.count("truncated, logs") == 1


def test_all_shows_everything_and_leaves_nothing_out() -> None:
    shown = terminal.render(REPORT, width=100, height=24, everything=True)
    for section in REPORT.sections:
        assert section.title in shown
        for sentence in section.answer:
            assert sentence.split(";")[0] in shown
    for row in (table.rows[-1] for table in (s.table for s in REPORT.sections) if table):
        assert str(row[0])[:10] in shown
    assert "left out:" not in shown


def test_colour_changes_nothing_but_colour() -> None:
    plain = terminal.render(REPORT, width=100, height=40)
    colored = terminal.render(REPORT, width=100, height=40, color=True)
    assert "\x1b" not in plain
    assert ANSI.sub("", colored) == plain
    assert "\x1b[1;31mhigh\x1b[0m" in colored


def test_names_cannot_leave_their_place() -> None:
    report = hostile_report()
    shown = ANSI.sub("", terminal.render(report, width=100, color=True, everything=True))
    bad = [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
    assert bad == []
    assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)
    commands = [line for line in shown.splitlines() if cells(line) > 100]
    assert len(commands) <= len(report.next_commands)


def test_a_number_stays_with_its_unit() -> None:
    sentence = "x" * 36 + " " + "34.1 ms and more"
    report = dataclasses.replace(REPORT, headline=(sentence,))
    assert "\n34.1 ms and more" in terminal.render(report, width=41)


def test_a_column_that_never_differs_is_not_shown() -> None:
    section = REPORT.sections[1]
    assert section.table is not None
    host = dataclasses.replace(section.table.columns[0], name="host_id", title="Host")
    table = dataclasses.replace(
        section.table,
        columns=(host, *section.table.columns),
        rows=tuple(("worker-0", *row) for row in section.table.rows),
    )
    report = dataclasses.replace(REPORT, sections=(dataclasses.replace(section, table=table),))
    shown = terminal.render(report, width=120)
    assert "worker-0" not in shown
    assert "Conv2DBackpropFilter" in shown


def test_a_report_of_nothing() -> None:
    assert terminal.render(Report("nothing", (), (), (), (), ())) == "nothing\n\n"


def test_curves_mark_what_is_far_out() -> None:
    shown = terminal.render(REPORT, width=100)
    assert "▲" in shown
    assert "0 to 36.0 ms, ▲ up to 306 ms" in shown
