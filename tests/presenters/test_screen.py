"""The summary on one screen: the bar of the step, findings, steps, five ops; the rest is one option away."""

import re
from pathlib import Path
from typing import Any

import pytest

from stepscope.presenters import first_screen, terminal
from stepscope.presenters.bars import MARKS
from stepscope.presenters.cells import cells
from stepscope.report import Column, Report, Section, Share, Split, Table, build
from stepscope.session import trace
from tests.corpus import SAMPLES, each

FOLDERS = ("capture", "chrome", "event_file", "kineto", "profile", "run_metadata", "tf_data", "xplane")
RECORDINGS = sorted(
    path
    for folder in (
        "capture",
        "chrome",
        "event_file",
        "kineto",
        "profile",
        "run_metadata",
        "tf_data",
        "xplane",
    )
    for path in (SAMPLES / folder).iterdir()
    if path.name != "truth.json" and path.suffix != ".md"
)
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def built(path: Path) -> Report:
    with trace.open(path, cache=False) as opened:
        return build(opened)


@pytest.mark.parametrize("path", each(RECORDINGS))
def test_every_sample_fits_a_screen(path: Path) -> None:
    report = built(path)
    for width, height in ((80, 40), (80, 24), (200, 50)):
        text = terminal.render(report, width=width, height=height, color=True)
        lines = ESCAPE.sub("", text).splitlines()
        commands = set(report.next_commands)
        rows = [line for line in lines if line.strip() not in commands and "stepscope " not in line]
        assert max(map(cells, rows)) <= width
        if height >= 40:
            taken = sum(max(1, -(-cells(line) // width)) for line in lines)
            assert taken < height, f"{taken} lines\n{text}"
    everything = terminal.render(report, width=80, height=40, everything=True)
    assert len(everything.splitlines()) >= len(terminal.render(report, width=80, height=40).splitlines())


def test_a_mean_step_is_split_into_shares_that_add_up() -> None:
    for path in (SAMPLES / "capture" / "slow_map", SAMPLES / "run_metadata" / "two_servers.pb"):
        section = next(one for one in built(path).sections if one.name == "step_parts")
        (one,) = section.splits
        names = [column.name for column in section.table.columns]
        mean = dict(zip(names, section.table.rows[0], strict=True))
        assert {share.label: share.ps for share in one.shares} == {
            name.removesuffix("_ps"): mean[name]
            for name in names
            if name.removesuffix("_ps") in MARKS and mean[name]
        }
        # Each mean is rounded to a picosecond.
        assert abs(sum(share.ps for share in one.shares) - mean["dur_ps"]) <= len(one.shares)
        assert sum(share.share for share in one.shares) == pytest.approx(1)
        assert one.of == ""


def test_hosts_have_a_bar_each_and_many_are_left_to_the_table() -> None:
    shares = (Share("compute", "compute", 3, 0.75), Share("wait", "wait", 1, 0.25))
    for number, named in ((2, True), (4, False)):
        splits = tuple(Split(f"host{n}", "4 ps on average", shares) for n in range(number))
        section = Section("step_parts", "Step parts", splits=splits)
        text = terminal.render(Report("title", (), (section,)), width=80)
        assert ("host1" in text) is named
        assert text.count("compute 75.0 %") == (number if named else 0)
        assert ("left out: Step parts" in text) is not named


def test_the_colours_are_those_of_the_page() -> None:
    section = Section("step_parts", "", splits=(Split("", "1 ps", (Share("input", "input", 1, 1.0),)),))
    text = terminal.render(Report("title", (), (section,)), width=80, color=True)
    assert "\x1b[38;5;172m▒▒▒" in text
    assert "\x1b[38;5;172m▒ input 100 %" in text or "\x1b[38;5;172m▒ input 100.0 %" in text


@pytest.mark.repeats("only its length is new")
def test_of_a_long_table_only_the_first_rows_are_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet has a row a host: laying out ten thousand took a fifth of its summary."""
    given: list[int] = []
    real = first_screen.lay_out

    def counted(table: Table, *rest: Any) -> list[str]:
        given.append(len(table.rows))
        return real(table, *rest)

    monkeypatch.setattr(first_screen, "lay_out", counted)
    columns = (Column("host", "text", "Host", "name"), Column("n", "int", "Number", "of it"))
    rows = tuple((f"host{n}", n) for n in range(20_000))
    sections = [
        Section("hosts", "Hosts", table=Table(columns, rows[:some], 20_000)) for some in (400, 20_000)
    ]
    short, long = (terminal.render(Report("t", (), (one,)), width=80, height=40) for one in sections)
    assert max(given) == 500
    assert short == long
    assert "host4 " in long
    assert "19,995 rows" in long
