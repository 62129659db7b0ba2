"""The results of benchmarks: one of each family, no folder of a machine, the page made of them."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from types import ModuleType

import pytest

from tests.scripts import load

ROOT = Path(__file__).resolve().parents[1]
RESULTS = sorted((ROOT / "benchmarks" / "results").iterdir())
WHEN = "2 cores, load 0.5"


@pytest.fixture(scope="module")
def table() -> ModuleType:
    return load(ROOT / "benchmarks" / "table.py")


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = load(ROOT / "benchmarks" / "kept.py")
    monkeypatch.setattr(module, "RESULTS", tmp_path)
    return module


def test_the_page_is_made_of_the_results(table: ModuleType) -> None:
    assert table.PAGE.read_text(encoding="utf-8") == table.text(), "stale: run `make measured`"


def test_the_newest_of_each_family_is_kept(table: ModuleType) -> None:
    assert sorted(table.kept.families().values()) == RESULTS


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_result_names_no_folder_of_a_machine(path: Path) -> None:
    assert not list(folders(json.loads(path.read_text(encoding="utf-8"))))


def folders(found: object) -> Iterator[str]:
    """Words that are absolute paths, or lead out of the repository."""
    if isinstance(found, str):
        for word in found.split():
            path = PurePosixPath(word.strip("`'\"(),;:"))
            if (path.is_absolute() and len(path.parts) > 1) or ".." in path.parts:
                yield word
    elif isinstance(found, dict):
        for part in (*found.keys(), *found.values()):
            yield from folders(part)
    elif isinstance(found, list):
        for part in found:
            yield from folders(part)


def test_folders_are_seen() -> None:
    found = {"a": [{"file": "/home/me/x.py"}], "../y": "see (/opt/z), 0.8 GB/s and train.py:3"}
    assert list(folders(found)) == ["../y", "/home/me/x.py", "(/opt/z),"]


def test_a_result_takes_the_place_of_an_older_one_of_its_family(kept: ModuleType, tmp_path: Path) -> None:
    for name in ("page-2026-11-01", "page-lake-2026-11-02"):
        (tmp_path / f"{name}.json").write_text("{}")
    written = kept.write("page", {"cores": 2})
    assert set(tmp_path.iterdir()) == {written, tmp_path / "page-lake-2026-11-02.json"}
    assert kept.read("page") == {"cores": 2}
    assert kept.read("gate") == {}


def test_entries_of_earlier_runs_keep_their_date(kept: ModuleType, tmp_path: Path) -> None:
    earlier = {"date": "2026-11-01", "seconds": 1}
    (tmp_path / "rows-2026-11-01.json").write_text(json.dumps({"rows": {"a": earlier, "b": earlier}}))
    kept.add("rows", "rows", "b", {"seconds": 2})
    rows = kept.read("rows")["rows"]
    assert rows["a"] == earlier
    assert (rows["b"]["date"], rows["b"]["seconds"]) == (kept.today(), 2)
    assert rows["b"]["machine"]["cores"]


def test_lines_of_a_row(table: ModuleType) -> None:
    """A ratio to a peer, one to the inside of ours, a part of both, and a number that was missed."""
    promise = {"part": "", "kept": True, "wanted": 3}
    row = {
        "date": "2026-11-22", "machine": {"cores": 2, "load": 0.5}, "about": "reading",
        "routes": {"ours": {"seconds": 2.0, "peak_mb": 100}, "json_loads": {"seconds": 8.0, "peak_mb": 400}},
        "inside": {
            "ours": {"seconds": 1.0, "parts": {"view": 0.5}}, "json_loads": {"parts": {"view": 4}},
        },
        "promises": [
            {**promise, "kind": "times", "ours": "ours", "other": "json_loads", "got": 8.0},
            {**promise, "kind": "memory", "ours": "ours", "other": "json_loads", "got": 4.0},
            {**promise, "kind": "times", "ours": "ours", "other": "json_loads", "part": "view", "got": 8.0},
            {**promise, "kind": "seconds", "ours": "ours", "other": "", "got": 3.14159, "kept": False},
        ],
    }  # fmt: skip
    inside, memory, part, number = table.rows({"rows": {"one": row}})
    peer = "Python's `json.loads` of the file"
    assert inside[1:] == ("1 s", f"{peer}, 8 s", "8 times as fast", "at least 3", f"2026-11-22, {WHEN}")
    assert memory[1:4] == ("100 MB", f"{peer}, 400 MB", "4 times less memory")
    assert part[:4] == ("`one`: reading: view", "0.5 s", f"{peer}, 4 s", "8 times as fast")
    assert number[:5] == ("`one`: reading: ours", "3.14 s", "", "", "at most 3, missed")
