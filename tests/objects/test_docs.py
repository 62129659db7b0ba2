"""The examples of the page about Python, and of the docstrings, run and print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "how-to" / "python-and-notebooks.md"
MODULES = ("answers", "comparison", "report_views", "result", "trace")


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def test_the_page_is_true() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 10
    assert found.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_docstrings_are_true(name: str) -> None:
    found = doctest.testmod(importlib.import_module(f"stepscope.objects.{name}"))
    assert found.attempted > 2
    assert found.failed == 0
