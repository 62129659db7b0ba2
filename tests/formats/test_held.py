"""memory.ndjson of a capture folder: what variables held, who holds the peak, and what grows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope.cli import main
from stepscope.session import trace
from tests.formats.capture_folder import STARTED_NS, held, line, write


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


def test_memory_says_who_holds_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "c", xplane=False, **{"memory.ndjson": held()})
    assert main(["memory", "--no-cache", "--format", "json", str(folder)]) == 0
    told = json.loads(capsys.readouterr().out)
    (allocator,) = told["allocators"]
    assert allocator["peak_bytes"] == 24 * 2048 + 100
    assert main(["memory", "--no-cache", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "was held by variables of the program" in said
    assert "kept, train.py:12 main" in said
    assert "The process takes 9 B" in said


@pytest.mark.parametrize(
    "more",
    [
        b"[]\n",
        line(look=9, holder="x", bytes=1),  # of a look that is not there
        line(look=1, bytes=-1, unix_ns=STARTED_NS, steps=1),
        line(look=1, bytes=1 << 63, unix_ns=STARTED_NS, steps=1),
        line(bytes=1, unix_ns=STARTED_NS, steps=1),
        line(look=1, holder=7, bytes=1),
        line(look=1, bytes=1, unix_ns=STARTED_NS),
    ],
)
def test_odd_lines_are_lost_and_told(more: bytes, tmp_path: Path) -> None:
    folder = write(tmp_path / "c", xplane=False, **{"memory.ndjson": held() + more})
    assert len(grown(folder)) == 1
    with trace.open(folder, cache=False) as opened:
        (note,) = opened.query("SELECT events, detail FROM source_note WHERE slug = 'damaged-piece'").rows()
    assert note[0] == 1
    assert "memory.ndjson" in note[1]
