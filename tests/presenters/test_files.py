"""The report as JSON, Markdown and CSV; bars and axes."""

import csv
import dataclasses
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope import presenters
from stepscope.presenters import bars, markdown, tidy
from stepscope.presenters import json as as_json
from stepscope.report import Chart, Column, Table
from tests.presenters.example import OP_TYPES, REPORT, TRACKS
from tests.presenters.test_html import hostile_report


def test_presenters_are_found_by_extension() -> None:
    assert set(presenters.file_presenters()) == {".html", ".md", ".json"}


def test_json_is_raw_and_whole() -> None:
    read: dict[str, Any] = json.loads(as_json.render(REPORT))
    assert read["format"] == 1
    assert read["facts"] == REPORT.facts
    for section, found in zip(REPORT.sections, read["sections"], strict=True):
        assert found["answer"] == list(section.answer)
        assert found["sql"] == section.sql
        if section.table is not None:
            assert [tuple(row.values()) for row in found["table"]["rows"]] == list(section.table.rows)
            assert found["table"]["total"] == section.table.total
    for finding, found in zip(REPORT.findings, read["findings"], strict=True):
        assert (found["slug"], found["action"]) == (finding.slug, finding.action)
        assert (found["reasoning"], found["formula"]) == (finding.reasoning, finding.formula)
    assert read["notes"][0]["weakens"] == ["step times"]


def test_json_of_hostile_names() -> None:
    report = hostile_report()
    read = json.loads(as_json.render(report))
    assert read["headline"] == list(report.headline)


def test_markdown_shows_everything() -> None:
    text = markdown.render(REPORT)
    for section in REPORT.sections:
        assert f"## {section.title}" in text
        assert section.sql in text
    assert "A step that waits does nothing else." in text
    assert "Formula: share = wait / step; told when share" in text
    assert "| Conv2DBackpropFilter | 14 | 12.30 | 12.30 | 31.0 |" in text
    assert "29 more rows left out." in text


def outside_code(text: str) -> str:
    """Markdown without its fenced blocks."""
    fence, kept = "", []
    for line in text.split("\n"):
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if line == fence else fence
        elif len(ticks) >= 3:
            fence = ticks
        else:
            kept.append(line)
    assert fence == ""
    return "\n".join(kept)


def test_markdown_of_hostile_names() -> None:
    text = markdown.render(hostile_report())
    outside = outside_code(text).replace("<details><summary>SQL</summary>", "").replace("</details>", "")
    assert "<" not in outside
    assert "](" not in outside.replace("\\](", "").replace("\\]\\(", "")
    assert len(text) < 3_000_000


def test_tidy_csv_has_every_value() -> None:
    rows = list(csv.DictReader(io.StringIO(tidy.render(REPORT), newline="")))
    wanted = sum(len(s.table.rows) * len(s.table.columns) for s in REPORT.sections if s.table)
    wanted += sum(len(f.evidence.rows) * len(f.evidence.columns) for f in REPORT.findings)
    assert len(rows) == wanted
    assert {row["value"] for row in rows if row["name"] == "op_types" and row["column"] == "op_type"} == {
        row[0]
        for row in OP_TYPES.table.rows  # type: ignore[union-attr]
    }


def test_bars_keep_their_proportions() -> None:
    assert OP_TYPES.table is not None
    assert OP_TYPES.chart is not None
    lengths = [len(parts[0][1]) for parts in bars.bars(OP_TYPES.table, OP_TYPES.chart, 24)]
    assert lengths[0] == 24
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] == 0


@given(st.integers(min_value=1, max_value=60))
def test_stacked_bars_never_exceed_their_room(width: int) -> None:
    assert TRACKS.table is not None
    assert TRACKS.chart is not None
    for parts in bars.bars(TRACKS.table, TRACKS.chart, width):
        assert sum(len(text) for _, text in parts) <= width


@pytest.mark.parametrize("value", [None, "x", -1, float("nan"), float("inf"), True])
def test_what_is_no_length_is_not_drawn(value: object) -> None:
    table = dataclasses.replace(OP_TYPES.table, rows=(("a", 1, 1, value, 0.1),))  # type: ignore[type-var]
    assert OP_TYPES.chart is not None
    assert bars.bars(table, OP_TYPES.chart, 10) == [[("", "")]]


def test_unknown_points_of_a_curve_are_blank() -> None:
    columns = (Column("x", "int", "X"), Column("y", "ps", "Wait"))
    rows = tuple(enumerate((2, 4, None, None, 0)))
    ((curve, label),) = bars.spark(Table(columns, rows, 5), Chart("line", "x", ("y",), "Waits"), 60)
    assert (curve, label) == ("▅█  ▁", "0 to 4 ps")


def test_the_axis_is_not_pressed_flat() -> None:
    assert bars.ceiling([306.0, 34, 33, 35, 36, 34]) == 36
    assert bars.ceiling([1.0, 100.0]) == 100
    assert bars.ceiling([1.0, 1, 1, 100, 100, 100]) == 100
    assert bars.ceiling([]) == 0
