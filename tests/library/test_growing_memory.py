"""A variable that holds more after every step: recordings of the recorder's looks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import stepscope
from tests.formats.capture_folder import held, write


def grown(folder: Path) -> list[Any]:
    with stepscope.open(folder, cache=False) as opened:
        return list(opened.analysis("growing_memory"))


def test_a_variable_that_grows_is_found_with_its_line(tmp_path: Path) -> None:
    (row,) = grown(write(tmp_path / "c", xplane=False, **{"memory.ndjson": held()}))
    assert (row.holder, row.file, row.line, row.function) == ("kept", "train.py", 12, "main")
    assert (row.step_bytes, row.bytes, row.steps) == (2048, 24 * 2048, 24)
    assert row.each == "in one more array"
    assert row.place == "train.py:12 `main` keeps them"
    assert (row.severity, row.left) == ("low", ""), "10 GB last for five million steps"


@pytest.mark.parametrize(
    ("looks", "severity"),
    [
        (held(each=1 << 20), "high"),
        (held(each=100_000), "medium"),
        (held(steps=(4, 14)), "low"),
        (held(steps=(4, 14), arrays=0), None),  # one array that is larger: it may be as large as it gets
        (held(steps=(4, 8)), None),
        (held(each=1000), None),
        (held(steps=(4, 14, 14)), None),
    ],
)
def test_what_may_be_chance_is_no_growth(looks: bytes, severity: str | None, tmp_path: Path) -> None:
    found = grown(write(tmp_path / "c", xplane=False, **{"memory.ndjson": looks}))
    assert [row.severity for row in found] == ([severity] if severity else [])
