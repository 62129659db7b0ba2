"""What is said of Spark without one: refusals, missing packages, what executors are sent."""

import importlib
import shutil
from pathlib import Path
from typing import Any

import pytest

import stepscope
from stepscope import _core
from stepscope.cli import main
from stepscope.session import on_spark
from tests import corpus


def test_executors_that_lack_what_they_need() -> None:
    said = "PythonException: Traceback\nimport pyarrow as pa\nModuleNotFoundError: No module named 'pyarrow'"
    error = on_spark._failed(RuntimeError(said))
    assert "no pyarrow" in error.happened
    assert error.seen == "ModuleNotFoundError: No module named 'pyarrow'"
    assert "disk" not in on_spark._failed(RuntimeError("Job aborted\nValueError: x")).happened


def test_spark_is_asked_for_wrongly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*words: str) -> str:
        assert main(list(words)) == 2
        return capsys.readouterr().err

    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    lake = tmp_path / "lake"
    stepscope.ingest([corpus.SAMPLES / "chrome" / "phases.json"], lake)
    assert "needs a lake" in told("summary", str(corpus.SAMPLES), "--engine", "spark")
    assert "Only one engine" in told("summary", str(lake), "--remote", "sc://x")
    assert "Only Spark" in told("ingest", str(corpus.SAMPLES), "--lake", str(tmp_path), "--remote", "sc://x")
    newer = tmp_path / "newer"
    shutil.copytree(lake, newer)
    (newer / "stepscope-lake.json").write_text('{"schema_version": 9999, "made_by": "stepscope 9.8.7"}')
    assert "newer stepscope" in told("summary", str(newer), "--engine", "spark", "--remote", "sc://x")

    real = importlib.import_module

    def lacking(name: str, *more: Any) -> Any:
        if name == "pyspark":
            raise ImportError("No module named 'pyspark'")
        return real(name, *more)

    monkeypatch.setattr(importlib, "import_module", lacking)
    assert "stepscope[spark]" in told("summary", str(lake), "--engine", "spark", "--remote", "sc://x")


def test_the_archive_is_whole(tmp_path: Path) -> None:
    archive, name = on_spark.packed(tmp_path)
    assert name.startswith("stepscope-")
    shutil.unpack_archive(archive, tmp_path / "out", "gztar")
    core = Path(_core.__file__)
    assert (tmp_path / "out" / "stepscope" / core.name).read_bytes() == core.read_bytes()
    assert on_spark.packed(tmp_path)[1] == name
