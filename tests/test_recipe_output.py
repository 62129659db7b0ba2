"""The recipe for an output: one new file, chosen by the extension that it names."""

from pathlib import Path

import pytest

from stepscope import exporters, presenters
from stepscope.cli import main

SAMPLE = str(Path(__file__).parent / "samples" / "capture" / "slow_map")

PRESENTER = '''
"""A report as an outline."""

EXTENSION = ".outline"


def render(report):
    """The title, and the titles of all sections with their kinds."""
    told = [f"{one.kind}: {one.title}" for outer in report.sections for one in outer.walk()]
    return "\\n".join([report.title, *told]) + "\\n"
'''

EXPORTER = '''
"""Names of slices, one a line."""

from stepscope.exporters import Written

EXTENSIONS = (".names",)
TEXT = True
DEFAULT = "slice"


def write(trace, out, table):
    """Writes the names."""
    names = [name for (name,) in trace.query("SELECT DISTINCT name FROM slice ORDER BY name").rows()]
    out.write_text("".join(f"{name}\\n" for name in names))
    return Written(str(out), {"slice": len(names)})
'''


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files count as files of the two rooms."""
    exporters.exporters.cache_clear()
    for room in (presenters, exporters):
        monkeypatch.setattr(room, "__path__", [*room.__path__, str(tmp_path / room.__name__)])
        (tmp_path / room.__name__).mkdir()
    yield tmp_path
    exporters.exporters.cache_clear()


def test_a_presenter_is_one_file(rooms: Path) -> None:
    (rooms / presenters.__name__ / "toy_outline.py").write_text(PRESENTER, encoding="utf-8")
    out = rooms / "r.outline"
    assert main(["report", SAMPLE, "-o", str(out)]) == 0
    lines = out.read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("slow_map: 1 run")
    assert {"tree: Stages", "diff: What a change would gain"} <= set(lines)


def test_an_exporter_is_one_file(rooms: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (rooms / exporters.__name__ / "toy_names.py").write_text(EXPORTER, encoding="utf-8")
    out = rooms / "r.names"
    assert main(["export", SAMPLE, "-o", str(out)]) == 0
    assert "Iterator::Root" in out.read_text(encoding="utf-8")
    assert main(["export", SAMPLE, "-o", "-", "--to", "names"]) == 0
    assert "Iterator::Root" in capsys.readouterr().out


def test_an_ending_that_nobody_writes_lists_those_that_are_known(
    rooms: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (rooms / presenters.__name__ / "toy_outline.py").write_text(PRESENTER, encoding="utf-8")
    assert main(["report", SAMPLE, "-o", str(rooms / "r.xyz")]) == 2
    assert ".outline" in capsys.readouterr().err
