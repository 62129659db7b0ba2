"""The peaks of this machine: measured with what is installed, and an error where nothing is."""

import sys
from pathlib import Path

import pytest

from stepscope.cli import main
from stepscope.errors import UsageError
from stepscope.xla_tools import peaks
from tests.corpus import SAMPLES

SAMPLE = str(SAMPLES / "xla_dump")


def _without(folder: Path, *modules: str) -> str:
    """A Python that cannot import some modules."""
    for name in modules:
        (folder / f"{name}.py").write_text("raise ImportError")
    script = folder / "python"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={folder} exec {sys.executable} "$@"\n')
    script.chmod(0o755)
    return str(script)


def test_numpy_measures_where_jax_is_not(tmp_path: Path) -> None:
    found = peaks.measured(_without(tmp_path, "jax"))
    assert (found.device, found.library.split()[0]) == ("cpu", "NumPy")
    assert 1e8 < found.flops < 1e15
    assert 1e8 < found.bytes < 1e14


@pytest.mark.parametrize("python", ["", "none"], ids=["no library", "no python"])
def test_nothing_to_measure_with(python: str, tmp_path: Path) -> None:
    path = str(tmp_path / python) if python else _without(tmp_path, "jax", "numpy")
    with pytest.raises(UsageError, match="could not be measured") as raised:
        peaks.measured(path)
    if not python:
        assert "neither jax nor NumPy" in raised.value.seen


def test_what_binds_at_measured_peaks(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As if the same numbers were given."""
    monkeypatch.setattr(peaks, "measured", lambda: peaks.Peaks(200e9, 40e9, "cpu", "jax 1"))
    said = {}
    for peak in ("measured", "200G,40G"):
        assert main(["xla", "cost", SAMPLE, "--peak", peak, "--format", "csv"]) == 0
        said[peak] = capsys.readouterr()
    assert said["measured"].out == said["200G,40G"].out
    assert "(cpu, jax 1, 32-bit floats): 200 Gflop/s, 40.0 GB/s" in said["measured"].err
    recording = str(SAMPLES / "xplane" / "jax.xplane.pb.gz")
    assert main(["xla", "ops", recording, "--peak", "measured"]) == 0
    assert "bound" in capsys.readouterr().out
