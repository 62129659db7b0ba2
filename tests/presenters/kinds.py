"""A report with a section of every kind, made of any strings."""

from collections.abc import Callable
from dataclasses import replace
from itertools import cycle
from typing import get_args

from stepscope.report import (
    Change,
    Chart,
    Column,
    Diff,
    Edit,
    Note,
    Report,
    ReportFinding,
    Section,
    SourceLine,
    Table,
    Tree,
    TreeNode,
)
from stepscope.report.parts import Kind
from tests.presenters.hostile import HOSTILE

MS = 10**9


def every_kind(text: Callable[[], str]) -> Report:
    """A report whose every string comes from `text`, with sections of every kind and some inside another."""
    name = Column("name", "text", text(), text())
    columns = (name, Column("n", "ps", text()), Column("m", "ps", text(), text()))
    table = Table(columns, tuple((text(), i * MS, MS) for i in range(5)), 9)
    curve = Table(
        (Column("x", "ps", text()), Column("y", "bytes", text())),
        tuple((i * MS, (i % 4) * 1000) for i in range(50)),
        50,
    )
    # Five roots and children in and out of order of depth.
    depths = (0, 1, 2, 2, 1, 0, 1, 2, 3, 0)
    line = SourceLine(text(), 12)
    nodes = tuple(
        TreeNode(
            depth, text(), (i * MS, i or None, not i % 2), line if i % 3 else None, text() if i == 3 else ""
        )
        for i, depth in enumerate(depths)
    )
    facts = (Column("a", "ps", text()), Column("b", "int", text()), Column("c", "bool", text()))
    changes = tuple(
        Change(text(), text(), helps, values, text(), edit)
        for helps, values, edit in (
            (True, (MS, 2, True), Edit(line, text(), text())),
            (True, (MS, 2, False), Edit(line, text(), None)),
            (False, (0, 3, None), None),
            (None, (None, None, None), None),
        )
    )
    finding = ReportFinding(text(), "high", text(), text(), text(), table, text(), (text(),), text(), text())
    plain = Section("plain", text(), text(), (text(), text()), sql=text())
    sections = (
        plain,
        replace(plain, name="table", table=table),
        *(
            replace(plain, name=f"bars{i}", table=table, chart=Chart(kind, "name", ("n", "m"), text()))
            for i, kind in enumerate(("bar", "stacked_bar"))
        ),
        *(
            replace(plain, name=f"curve{i}", table=curve, chart=Chart(kind, "x", ("y",), text()))
            for i, kind in enumerate(("line", "strip", "area"))
        ),
        replace(plain, name="tree", tree=Tree(facts, nodes, text())),
        replace(plain, name="flame", tree=Tree(facts, nodes, text(), facts[0].name)),
        replace(plain, name="diff", diff=Diff(facts, changes)),
        replace(plain, name="findings", findings=(finding,)),
    )
    group = replace(plain, name="group", subject=text(), parts=sections)
    note = Note(text(), "lost", text(), 1, text(), (text(),))
    report = Report(text(), (text(), text()), (*sections, group), (finding,), (note,), (text(),))
    assert {one.kind for one in sections} == set(get_args(Kind))
    return report


def named() -> Report:
    """Every string of the report is a word of its own: w0, w1, …"""
    numbers = iter(range(10**6))
    return every_kind(lambda: f"w{next(numbers)}")


def hostile() -> Report:
    """Every string of the report is hostile; all that are not enormous occur."""
    names = cycle([name for name in HOSTILE if len(name) < 10_000])
    return every_kind(lambda: next(names))
