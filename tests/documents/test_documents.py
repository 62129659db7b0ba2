"""Each item of the five documents is answered as it is true of the sample; the page in the docs shows all."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from .item import Item
from .page import DOCUMENTS, PAGE, page

SAMPLES = Path(__file__).parents[1] / "samples"

_ITEMS = [
    pytest.param(item, id=f"{document.__name__.rpartition('.')[2]}-{number}")
    for document in DOCUMENTS
    for number, item in enumerate(document.ITEMS, 1)
]


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty cache for all items: samples are decoded once."""
    return tmp_path_factory.mktemp("documents") / "cache"


@pytest.fixture
def reader(item: Item, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the samples that the item names, as a reader of the page has it, 100 columns wide."""
    for sample in SAMPLES.iterdir():
        if sample.name in item.command:
            (tmp_path / sample.name).symlink_to(sample, target_is_directory=sample.is_dir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(cache))
    return tmp_path


@pytest.mark.parametrize("item", _ITEMS)
def test_an_item_is_answered(item: Item, reader: Path) -> None:
    if item.kept_by:
        module, _, test = item.kept_by.partition("::")
        assert hasattr(importlib.import_module(module.removesuffix(".py").replace("/", ".")), test)
        return
    item.run(reader)


def test_the_page_shows_all_items() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.documents.page"
