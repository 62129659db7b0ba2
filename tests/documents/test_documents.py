"""Each item of the five documents is answered as it is true of the sample; the page in the docs shows all."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from _pytest.mark import ParameterSet

from stepscope.cli import VERBS

from .item import Item
from .page import DOCUMENTS, PAGE, page

SAMPLES = Path(__file__).parents[1] / "samples"

_SUMMARIES = 2
"""Summaries of a document in the first tier. Each takes a second, an item of another verb a tenth."""
_AGAIN = pytest.mark.repeats("a summary of what the document records in another form")


def _items(document: ModuleType) -> Iterator[ParameterSet]:
    """The items of a document."""
    summaries = 0
    for number, item in enumerate(document.ITEMS, 1):
        word = item.command.split()[1]
        summary = word not in VERBS and (SAMPLES / word).exists()
        summaries += summary
        marks = [_AGAIN] if summary and summaries > _SUMMARIES else []
        yield pytest.param(item, id=f"{document.__name__.rpartition('.')[2]}-{number}", marks=marks)


@pytest.fixture
def reader(item: Item, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the samples that the item names, as a reader of the page has it, at 100 columns."""
    for sample in SAMPLES.iterdir():
        if sample.name in item.command:
            (tmp_path / sample.name).symlink_to(sample, target_is_directory=sample.is_dir())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


@pytest.mark.parametrize("item", [*itertools.chain.from_iterable(map(_items, DOCUMENTS))])
def test_an_item_is_answered(item: Item, reader: Path) -> None:
    if item.kept_by:
        module, _, test = item.kept_by.partition("::")
        assert hasattr(importlib.import_module(module.removesuffix(".py").replace("/", ".")), test)
        return
    item.run(reader)


def test_the_page_shows_all_items() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python -m tests.documents.page"
