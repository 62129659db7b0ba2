"""A path that is too long, or holds what no path may hold, is the user's mistake wherever it is given."""

from pathlib import Path

import pytest

from stepscope.cli import main
from tests import corpus

SAMPLE = str(corpus.SAMPLES / "graph")
ODD = {
    "4 KB": "a/" * 2100 + "a",
    "long name": "a" * 300,
    "long ending": "a" * 300 + ".json",
    "NUL": "a\x00b",
    "NUL ending": "a\x00b.json",
    "newline": "a\nb",
    "surrogate": "a\udcffb",
    "half pair": "\ud800.json",
    "empty": "",
    "escape": "\x1b[2J",
    "url": "nosuch+scheme://a\x00b",
    "file as folder": f"{__file__}/x/y",
}
WORDS = [
    ("@",),
    ("summary", "@"),
    ("pipeline", "@"),
    ("pipeline", "--verify", "@", "--", "true"),
    ("pipeline", SAMPLE, "--out", "@"),
    ("memory", "@"),
    ("query", "@", "SELECT 1"),
    ("query", "--lake", "@", "SELECT 1"),
    ("query", SAMPLE, "-f", "@"),
    ("ingest", "@", "--lake", "lake"),
    ("ingest", SAMPLE, "--lake", "@"),
    ("export", "@", "-o", "x.csv"),
    ("export", SAMPLE, "-o", "@"),
    ("export", SAMPLE, "-o", "@/x.csv"),
    ("export", "@", "-o", "x.json", "--style", "tf-timeline"),
    ("report", "@", "-o", "x.md"),
    ("report", SAMPLE, "-o", "@"),
    ("report", SAMPLE, "-o", "@/x.md"),
    ("record", "--out", "@", "--", "no-such-program"),
    ("record", "--out", "x", "--", "@"),
    ("tfprof", "@"),
    ("tfprof", "scope", "@"),
    ("tfprof", "scope", "--graph_path", "@"),
    ("tfprof", "scope", "--run_meta_path", "@"),
    ("tfprof", "scope", "--op_log_path", "@"),
    ("tfprof", "scope", "--checkpoint_path", "@"),
    ("tfprof", "scope", "--profile_path", "@"),
    ("tfprof", "scope", SAMPLE, "-output", "file:outfile=@"),
    ("tfprof", "scope", SAMPLE, "-output", "timeline:outfile=@"),
    ("docs", "@"),
    ("docs", "--write", "@"),
]


@pytest.mark.parametrize("words", WORDS, ids=lambda words: " ".join(w for w in words if w != SAMPLE))
def test_odd_paths(
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for odd, path in ODD.items():
        folder = tmp_path / odd
        folder.mkdir()
        monkeypatch.chdir(folder)
        code = main([word.replace("@", path) for word in words])
        said = capsys.readouterr().err
        assert code in (0, 2), odd
        assert "itself failed" not in said, odd
        assert "docs system-refused" not in said, f"{odd}: this is known to be a path"
        if code == 2:
            assert "seen:" in said, odd
            assert "to do:" in said, odd
        assert "\x1b" not in said, odd
        assert not list(folder.glob(".part*")), odd
