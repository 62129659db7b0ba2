"""memory.ndjson of a capture folder: what variables held, and who holds the peak."""

import json
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.session import trace
from tests.formats.capture_folder import STARTED_NS, held, line, write


def test_memory_says_who_holds_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = write(tmp_path / "c", xplane=False, **{"memory.ndjson": held()})
    assert main(["memory", "--no-cache", "--format", "json", str(folder)]) == 0
    told = json.loads(capsys.readouterr().out)
    (allocator,) = told["allocators"]
    assert allocator["peak_bytes"] == 24 * 2048 + 100
    assert main(["memory", "--no-cache", str(folder)]) == 0
    said = capsys.readouterr().out
    assert "Variables of the program held 48.1 KiB on cpu:0." in said
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
    with trace.open(folder, cache=False) as opened:
        (note,) = opened.query("SELECT events, detail FROM source_note WHERE slug = 'damaged-piece'").rows()
        (kept,) = opened.query("SELECT count(*) FROM instant WHERE name = '[held]'").rows()
    assert (note[0], kept[0]) == (1, 6)
    assert "memory.ndjson" in note[1]
