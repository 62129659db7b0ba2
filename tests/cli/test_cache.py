"""stepscope cache: what is kept is shown, cleared and limited."""

import json
from pathlib import Path

import pytest

from stepscope import config
from stepscope.cli import main
from stepscope.session.trace import user_cache
from tests.corpus import SAMPLES

TRACES = [str(SAMPLES / "chrome" / name) for name in ("horovod.json", "kineto_cuda.json")]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("STEPSCOPE_CACHE_BYTES", raising=False)


@pytest.fixture
def filled(capsys: pytest.CaptureFixture[str]) -> None:
    for path in TRACES:
        assert main(["query", path, "SELECT count(*) FROM slice"]) == 0
    capsys.readouterr()


def told(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["cache", *words]) == 0
    shown = capsys.readouterr()
    return shown.out + shown.err


@pytest.mark.usefixtures("filled")
def test_what_is_kept_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, _, *rows = told(capsys).splitlines()
    assert first.startswith(f"{tmp_path / 'cache'}: ")
    assert first.endswith(" of at most 20.0 GiB, 2 recordings")
    assert all(any(path in row for row in rows) for path in TRACES)
    listed = json.loads(told(capsys, "--format", "json"))["rows"]
    assert sorted(row["path"] for row in listed) == sorted(TRACES)
    assert all(row["bytes"] > 0 for row in listed)


@pytest.mark.usefixtures("filled")
def test_it_is_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(capsys, "clear").startswith("freed ")
    assert "0 recordings" in told(capsys)
    assert main(["query", TRACES[0], "SELECT count(*) FROM slice"]) == 0  # and made anew


@pytest.mark.usefixtures("filled")
def test_what_is_being_read_stays(capsys: pytest.CaptureFixture[str]) -> None:
    """In this process by another holder of the lock, as another process would be."""
    kept = user_cache()
    entry = kept.contents()[0].folder
    assert kept.locks.hold(entry)
    try:
        assert "1 recording stay, because they are being read" in told(capsys, "clear")
        assert "1 recording" in told(capsys)
    finally:
        kept.locks.release()


@pytest.mark.usefixtures("filled")
def test_it_is_limited_from_now_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "the cache keeps at most 1.00 KiB" in told(capsys, "limit", "1KiB")
    assert config.cache_bytes() == 1024
    assert "1 recording" in told(capsys)  # the one used last is never evicted
    told(capsys, "clear")
    assert config.cache_bytes() == 1024
    config.limit_file().write_text("much", encoding="utf-8")
    assert config.cache_bytes() == config.CACHE_BYTES


@pytest.mark.parametrize("words", [["limit"], ["clear", "5GiB"], ["limit", "much"], ["empty"]])
def test_mistakes(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", *words]) == 2
    assert capsys.readouterr().err.startswith("error: ")
