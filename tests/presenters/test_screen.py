"""The summary on one screen: the bar of the step, findings, steps, five ops; the rest is one option away."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stepscope.presenters import stepbar, terminal
from stepscope.presenters.cells import cells
from stepscope.presenters.grid import painter
from stepscope.report import Chart, Column, Report, Section, Table, build
from stepscope.session import trace
from tests.corpus import SAMPLES

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
LABELS = ("input", "compute", "python")


def built(path: Path) -> Report:
    with trace.open(path, cache=False) as opened:
        return build(opened)


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: f"{path.parent.name}/{path.name}")
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


def parts(*rows: tuple[str, str, int, int, int]) -> Section:
    """A section like that of the summary: host, step, and picoseconds of LABELS."""
    columns = [Column("run_id", "text", "Run", ""), Column("host_id", "text", "Host", "")]
    columns += [Column("what", "text", "Step", "")]
    columns += [Column(f"{name}_ps", "ps", name.title(), "") for name in LABELS]
    table = Table(tuple(columns), tuple(("run", host, what, *ps) for host, what, *ps in rows), len(rows))
    chart = Chart("stacked_bar", "what", tuple(f"{name}_ps" for name in LABELS), "")
    return Section(stepbar.NAME, "Step parts", "", (), table, chart, "")


def test_the_bar_shows_parts_by_size_and_none_vanishes() -> None:
    section = parts(("h", "mean", 750 * 10**9, 248 * 10**9, 2 * 10**9), ("h", "7", 1, 2, 3))
    bar, *legend = stepbar.step_lines(section, 80, painter(False))
    assert cells(bar) == 80
    assert bar.count(bar[0]) == 60
    assert " ".join(legend).split("   ") == ["█ input 750 ms", "▒ compute 248 ms", "python <0.5 %"]


def test_neighbours_differ_without_colour_and_have_their_class_with_it() -> None:
    section = parts(("h", "mean", 10, 10, 10))
    bar = stepbar.step_lines(section, 60, painter(False))[0]
    assert len(re.findall(r"(.)\1*", bar)) == 3
    painted = stepbar.step_lines(section, 60, painter(True))[0]
    for style in ("38;5;172", "38;5;31", "38;5;71"):
        assert f"\x1b[{style}m" in painted


def test_hosts_have_a_bar_each_and_many_are_counted() -> None:
    section = parts(*((f"host{n}", "mean", 5, 1, 1) for n in range(5)))
    text = "\n".join(stepbar.step_lines(section, 60, painter(False)))
    assert "run host0" in text
    assert "run host2" in text
    assert "host3" not in text
    assert "and 2 more hosts" in text


def test_a_step_without_parts_has_no_bar() -> None:
    assert stepbar.step_lines(parts(("h", "mean", 0, 0, 0)), 60, painter(False)) == []
    assert stepbar.step_lines(parts(("h", "3", 5, 5, 5)), 60, painter(False)) == []
