"""Recordings of nothing but asynchronous spans, as servers write of their requests."""

import json
from pathlib import Path
from typing import Any

from stepscope.report import summary
from stepscope.session import trace


def _told(folder: Path, events: list[dict[str, Any]]) -> Any:
    path = folder / "requests.json"
    path.write_text(json.dumps(events))
    with trace.open(path, cache=False) as opened:
        return summary.build(opened)


def _spans(number: int) -> list[dict[str, Any]]:
    """Requests of 3 ms, every 2 ms, each with a name of its own."""
    return [
        {"ph": end, "cat": "resnet50", "name": str(at), "id": str(at), "pid": 0, "ts": 2000.0 * at + later}
        for at in range(number)
        for end, later in (("b", 0.0), ("e", 3000.0))
    ]


def test_spans_are_told_by_how_long_and_how_many_at_once(tmp_path: Path) -> None:
    report = _told(tmp_path, _spans(20))
    # 60 ms of spans in 41 ms.
    said = "20 spans of resnet50: 3.00 ms on average, 95 % within 3.00 ms; 1.46 at once on average."
    assert report.headline[0] == said
    assert "not where its time went" in report.headline[1]
    assert "no-steps" not in {finding.slug for finding in report.findings}
    assert not {"step_list", "step_parts"} & {section.name for section in report.sections}


def test_spans_without_an_end_took_nobody_knows_how_long(tmp_path: Path) -> None:
    begun = [event for event in _spans(20) if event["ph"] == "b"]
    report = _told(tmp_path, begun)
    assert list(report.headline) == [
        "20 asynchronous spans began, and of 20 no end was recorded: how long they took is unknown, and "
        "nothing else was recorded."
    ]
    assert not any("on average" in line for line in report.headline)


def test_beside_anything_else_they_are_no_answer(tmp_path: Path) -> None:
    work = {"ph": "X", "cat": "cpu_op", "name": "work", "pid": 0, "tid": 1, "ts": 0.0, "dur": 9000.0}
    report = _told(tmp_path, [*_spans(10), work])
    assert not any("spans of" in line for line in report.headline)


def test_that_there_are_no_steps_is_said_once(tmp_path: Path) -> None:
    work = {"ph": "X", "cat": "cpu_op", "name": "work", "pid": 0, "tid": 1, "ts": 0.0, "dur": 9000.0}
    report = _told(tmp_path, [work, {**work, "ts": 9500.0}])
    assert "no-steps" in {finding.slug for finding in report.findings}
    assert "no-steps" not in {note.slug for note in report.other_notes}
    assert "step_list" not in {section.name for section in report.sections}
