"""The matrix of versions: its page says what the results say, and what was not run is not filled in."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from tests.scripts import load

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def versions() -> ModuleType:
    return load(ROOT / "benchmarks" / "versions.py")


def test_the_page_is_made_of_the_last_results(versions: ModuleType) -> None:
    assert versions.PAGE.read_text(encoding="utf-8") == versions.page(versions.last()), (
        "stale: run `python benchmarks/versions.py --page`"
    )


def test_results_hold_no_paths_and_know_their_cells(versions: ModuleType) -> None:
    cells = versions.last()
    assert "/tmp/" not in json.dumps(cells)
    assert len({versions.key(cell) for cell in cells}) == len(cells)
    for cell in cells:
        assert cell["status"] in ("all", "partly", "failed", "not run")
        assert ("why" in cell) == (cell["status"] in ("failed", "not run"))
        if cell["status"] in ("all", "partly"):
            wanted = versions.FRAMEWORKS[cell["framework"]]
            lacks = [name for name in wanted.finds if not cell["rows"][name]]
            cause = [] if cell["cause"] == wanted.cause else [f"cause: {cell['cause']}"]
            assert cell["lacks"] == lacks + cause
            assert (cell["status"] == "all") == (not cell["lacks"])


def test_what_was_not_run_says_so(versions: ModuleType) -> None:
    cell = {
        "framework": "jax", "python": "3.14", "which": "newest", "version": "0.12.0", "date": "2026-11-23",
        "status": "not run", "why": "Python 3.14 was not there",
    }  # fmt: skip
    page = versions.page([cell])
    assert "| 3.14 | 0.12.0 (newest) | not run: Python 3.14 was not there | 2026-11-23 |" in page
    assert page.count("not tried yet") == 2 * 2 * len(versions.PYTHONS) - 1


def test_a_cell_that_got_worse_is_seen(versions: ModuleType) -> None:
    before = {"status": "partly", "lacks": ["models"]}
    assert not versions.is_worse({"status": "partly", "lacks": ["models"]}, before)
    assert not versions.is_worse({"status": "all", "lacks": []}, before)
    assert versions.is_worse({"status": "partly", "lacks": ["models", "steps"]}, before)
    assert versions.is_worse({"status": "failed", "why": "x"}, before)
    assert versions.is_worse({"status": "failed", "why": "x"}, None)
    assert not versions.is_worse({"status": "not run", "why": "x"}, before)


def test_releases_are_in_order(versions: ModuleType) -> None:
    told = ["2.8.0", "2.10.1", "2.9.0", "2.15.0.post1", "2.15.1"]
    assert sorted(told, key=versions._numbers) == ["2.8.0", "2.9.0", "2.10.1", "2.15.0.post1", "2.15.1"]
