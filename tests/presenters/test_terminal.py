"""The summary on a screen."""

import dataclasses
import re
import unicodedata

import pytest

from stepscope.presenters import grid, terminal
from stepscope.presenters.bars import MARKS
from stepscope.presenters.grid import STYLES
from stepscope.presenters.gutter import sentences
from stepscope.presenters.rows import cells
from stepscope.report import Column, Report, Share, Split, Table
from tests.presenters.example import FINDING, MS, REPORT
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
    assert "left out: Busy, 34 rows, 2 sentences" in shown
    assert "--all shows them" in shown


@pytest.mark.parametrize("height", [24, 30, 40, 60])
def test_a_long_report_fits_as_well(height: int) -> None:
    long = dataclasses.replace(FINDING, impact="a long sentence of many words " * 12, action="do " * 90)
    sentences = tuple(f"sentence {i} of many words " * 9 for i in range(4))
    talk = dataclasses.replace(REPORT.sections[3], name="talk", title="Talk", answer=sentences)
    report = dataclasses.replace(
        REPORT, findings=(long,) * 9, sections=(*REPORT.sections[:3], talk, talk, REPORT.sections[3])
    )
    shown = terminal.render(report, width=80, height=height)
    assert sum(max(1, -(-cells(line) // 80)) for line in shown.splitlines()) < height
    assert long.action.strip() in " ".join(shown.replace("→ ", "").split())
    if height >= 40:
        assert "Conv2DBackpropFilter" in shown
        assert "917 of 917 events stored" in shown
    assert "finding" in shown.rsplit("left out:", 1)[1]


def split_report() -> Report:
    """The report with steps taken apart, as those of two hosts."""
    shares = (
        Share("compute", "compute", 20 * MS, 0.2),
        Share("python", "python", 70 * MS, 0.7),
        Share("input", "input", 10 * MS, 0.1),
    )
    splits = tuple(Split(f"worker-{i}", "100 ms on average", shares) for i in range(2))
    parts = dataclasses.replace(REPORT.sections[1], name="step_parts", title="Step parts", splits=splits)
    return dataclasses.replace(REPORT, sections=(parts, *REPORT.sections))


@pytest.mark.parametrize("color", [False, True])
def test_a_bar_shows_where_a_step_goes(color: bool) -> None:
    shown = terminal.render(split_report(), width=80, height=40, color=color)
    lines = shown.splitlines()
    at = next(i for i, line in enumerate(lines) if "worker-0" in line)
    bar, legend = lines[at + 1 : at + 3]
    plain = ANSI.sub("", bar)
    whole = sum(map(plain.count, "█▞▒"))
    # A part of the bar is as long as its share, whether or not colours tell the parts apart.
    assert [round(plain.count(mark) / whole, 1) for mark in "█▞▒"] == [0.2, 0.7, 0.1]
    assert plain.endswith("  100 ms on average")
    assert "worker-1" in shown
    assert ANSI.sub("", legend).split() == [
        "█",
        "compute",
        "20.0",
        "%",
        "▞",
        "python",
        "70.0",
        "%",
        "▒",
        "input",
        "10.0",
        "%",
    ]
    colours = {ANSI.findall(text)[0] for text in re.split("   (?=.\\[)", legend) if "\x1b" in text}
    assert len(colours) == (3 if color else 0), "a class has a colour of its own, the same in bar and legend"
    assert colours <= set(ANSI.findall(bar))


def test_parts_of_a_bar_differ_without_colour() -> None:
    assert len(set(MARKS.values())) == len(MARKS)
    assert set(MARKS) <= set(STYLES)
    assert len({STYLES[label] for label in MARKS}) == len(MARKS)


def test_the_first_screen_has_five_ops_and_says_what_is_left_out() -> None:
    shown = terminal.render(split_report(), width=80)
    assert len(shown.splitlines()) < 40
    assert shown.count("Conv2D") + shown.count("_MklFused") + shown.count("IteratorGetNext") == 5
    assert "ApplyMomentum" not in shown
    everything = terminal.render(split_report(), width=80, everything=True)
    for text in ("ApplyMomentum", "NoOp", "weakened by: truncated", FINDING.action.split(": ")[0]):
        assert text in everything


def test_wide_screens_show_whole_names_and_sentences() -> None:
    name = "model/" + "block/" * 15 + "conv2d/Conv2D"
    section = REPORT.sections[1]
    table = dataclasses.replace(section.table, rows=((name, *section.table.rows[0][1:]),) * 2)
    report = dataclasses.replace(REPORT, sections=(dataclasses.replace(section, table=table),))
    assert name not in terminal.render(report, width=80)
    assert name in terminal.render(report, width=200, height=50)
    assert FINDING.action in terminal.render(report, width=200, height=50)


def test_names_that_would_be_cut_to_the_same_are_told_apart() -> None:
    """Of kernels, what tells them apart may be their namespace alone, which goes first where none is like
    another; a row of the same name stays as it is."""
    kernel = "void cutlass::device_kernel<mine::fp8::{}::GemmKernel>(mine::fp8::{}::GemmKernel::Params)"
    names = [kernel.format(kind, kind) for kind in ("grouped", "dense", "dense")]
    table = Table(
        columns=(Column("op_type", "text", "Op type", ""), Column("place", "text", "Place", "")),
        rows=((names[0], "device"), (names[1], "device"), (names[2], "host")),
        total=3,
    )
    rows = [line.split() for line in grid.lay_out(table, None, 60, grid.painter(False))[1:]]
    assert [row[-1] for row in rows] == ["device", "device", "host"]
    shown = [" ".join(row[:-1]) for row in rows]
    assert "grouped" in shown[0]
    assert "dense" in shown[1]
    assert shown[1] == shown[2]


def test_sentences_are_told_apart() -> None:
    assert sentences("A takes 1.5 ms. It waits (e.g. for b.py:3). `c` is next! Is it? 3 are.") == [
        "A takes 1.5 ms.",
        "It waits (e.g. for b.py:3).",
        "`c` is next!",
        "Is it?",
        "3 are.",
    ]
    assert sentences("") == []


@pytest.mark.parametrize("width", [40, 80, 120])
@pytest.mark.parametrize("height", [6, 8, 10, 12, 14, 17, 20, 24, 28, 32, 40, 60])
def test_a_sentence_is_shown_whole_or_not_at_all(width: int, height: int) -> None:
    report = long_report()
    shown = " ".join(terminal.render(report, width=width, height=height).split())
    assert " …" not in shown
    said = [*report.headline, *(s for f in report.findings for s in sentences(f"{f.impact} {f.action}"))]
    for sentence in said:
        assert sentence in shown or sentence[: len(sentence) // 2] not in shown
    # What matters most stays longest: the place, then what to do, the bar, the second finding, the tables.
    advice = " ".join(shown.replace("→ ", "").split())
    order = [
        report.headline[0] in shown,
        report.findings[0].action in advice,
        "compute 20.0 %" in shown,
        report.findings[1].title in shown,
        "Conv2D" in shown,
    ]
    assert order[0] or height < 14
    assert order == sorted(order, reverse=True)


def long_report() -> Report:
    """Findings of several sentences, steps taken apart, and tables."""
    findings = tuple(
        dataclasses.replace(
            FINDING,
            title=f"Problem {n} is there",
            impact=f"P{n} takes much of each step in here. M{n} is another sentence, which comes after it.",
            action=f"C{n} is the change to make in line {n} of train.py. R{n} is to record it once more.",
        )
        for n in range(1, 8)
    )
    headline = ("Waiting takes 70.0 % of a step, in train.py:15 `make`.", *split_report().headline)
    return dataclasses.replace(split_report(), headline=headline, findings=findings)


def test_notes_of_one_kind_are_one() -> None:
    again = dataclasses.replace(REPORT.notes[0], path="logs/timeline-10.json")
    report = dataclasses.replace(REPORT, notes=(*REPORT.notes, again))
    for everything, end in ((True, " Weakens: step times."), (False, "\n")):
        shown = terminal.render(report, width=140, everything=everything)
        assert f"(truncated, logs/timeline-5.json and 1 more source).{end}" in shown
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
    # Without a chart, too, nothing that is the same everywhere stands first; a file stays beside its line.
    places = (
        Column("run_id", "text", "Run"),
        Column("label", "text", "Part"),
        Column("file", "text", "File"),
    )
    rows = (("run-7", "copy", "a.py", 3), ("run-7", "wait", "a.py", 4))
    lines = grid.lay_out(
        Table((*places, Column("line", "int", "Line")), rows, 2), None, 60, grid.painter(False)
    )
    assert [line.split() for line in lines] == [
        ["Part", "File", "Line"],
        ["copy", "a.py", "3"],
        ["wait", "a.py", "4"],
    ]


def test_a_report_of_nothing() -> None:
    assert terminal.render(Report("nothing", (), (), (), (), ())) == "nothing\n\n"


def test_curves_mark_what_is_far_out() -> None:
    shown = terminal.render(REPORT, width=100)
    assert "▲" in shown
    assert "0 to 36.0 ms, ▲ up to 306 ms" in shown
