"""`stepscope memory` fits one screen and leaves nothing unsaid: the rest is summed up, or is in --all."""

import json
from pathlib import Path

import pytest

from stepscope.cli import main

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
SCREEN = (80, 40)


@pytest.fixture(autouse=True)
def screen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(SCREEN[0]))
    monkeypatch.setenv("LINES", str(SCREEN[1]))


def shown(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["memory", "--no-cache", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.repeats("presenters/test_screen.py lays out what is longer")
@pytest.mark.parametrize(
    "sample",
    ["tf_data/two_maps_first_slow.xplane.pb.gz", "run_metadata/two_servers.pb", "profile/memory.json"],
)
def test_one_screen(sample: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, str(SAMPLES / sample)).splitlines()
    assert len(lines) <= SCREEN[1]
    assert lines[-1].endswith(" --all")
    assert len(shown(capsys, str(SAMPLES / sample), "--all").splitlines()) >= len(lines) - 3


def test_the_highest_peak_comes_first_and_the_others_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    servers = str(SAMPLES / "run_metadata" / "two_servers.pb")
    maps = str(SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz")
    told = json.loads(shown(capsys, servers, maps, "--format", "json"))["allocators"]
    assert len(told) == 2
    first, _, others = shown(capsys, servers, maps).partition("1 other peak")
    assert "The peak is 3.69 MiB" in first
    assert "two_servers.pb" not in first
    assert "two_servers.pb" in others
    assert "640" in others


def test_steps_differ_on_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    text = shown(capsys, str(SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz"))
    assert "Step 0 peaks at 3.69 MiB" in text
    assert "Step 0 against step" in text


def test_shares_add_up_to_the_peak(capsys: pytest.CaptureFixture[str]) -> None:
    """Holders that are left out are counted in the last row."""
    lines = shown(capsys, str(SAMPLES / "run_metadata" / "two_servers.pb")).splitlines()
    begin = next(i for i, line in enumerate(lines) if line.endswith(", at the peak"))
    rows = [line.split() for line in lines[begin + 2 : lines.index("", begin)]]
    shares = [float(row[-2].lstrip("<")) for row in rows]
    assert len(rows) <= 6
    assert sum(shares) == pytest.approx(100, abs=0.5)
