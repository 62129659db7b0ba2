"""Programs too large to be held in memory are refused with the way that remains."""

from pathlib import Path

import pytest

from stepscope import _core
from stepscope.cli import main
from stepscope.formats.xla import hlo_files
from tests.corpus import SAMPLES

SAMPLE = SAMPLES / "xla_dump"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hlo_files, "_LARGE_BYTES", 1 << 10)
    monkeypatch.setattr(hlo_files, "MOST_INSTRUCTIONS", 20)


@pytest.mark.parametrize("verb", [["xla", "cost"], ["graph"]], ids=" ".join)
def test_a_large_program_is_refused(verb: list[str], small: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*verb, str(SAMPLE)]) == 2
    told = capsys.readouterr().err
    assert "too large to be held in memory" in told
    assert "the most are 20" in told
    assert "@hlo_instructions" in told


def test_what_is_asked_for_instead_is_answered(small: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", str(SAMPLE), "@hlo_instructions", "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 10


def test_a_large_file_of_few_instructions_is_read(small: None, tmp_path: Path) -> None:
    (path := tmp_path / "a.txt").write_text(
        "HloModule m\n\nENTRY e {\n  ROOT c = f32[999]{0} constant({" + "1, " * 998 + "1})\n}\n"
    )
    assert path.stat().st_size > hlo_files._LARGE_BYTES
    assert hlo_files.module(str(path))["instructions"] == 1
    path.write_text("no program" * 1000)
    with pytest.raises(_core.CoreError, match="neither HloProto"):
        hlo_files.module(str(path))
