"""Each item of the five documents is answered as it is true of the sample; the page in the docs shows all."""

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
_PIPELINES = 6
"""The same of answers about a pipeline, each of which takes half a second; several items look at one."""
_AGAIN = pytest.mark.repeats("an answer of the same verb about what the document records in another form")
_ARCHIVE = pytest.mark.repeats("the archives are asked in instruments/test_tf1_recordings.py")


def _items(document: ModuleType) -> Iterator[ParameterSet]:
    """The items of a document."""
    summaries = 0
    pipelines: set[str] = set()
    for number, item in enumerate(document.ITEMS, 1):
        word = item.command.split()[1]
        summary = word not in VERBS and (SAMPLES / word).exists()
        summaries += summary
        if word == "pipeline" and len(pipelines) < _PIPELINES:
            pipelines.add(item.command)
        again = summaries > _SUMMARIES if summary else word == "pipeline" and item.command not in pipelines
        marks = [_AGAIN] if again else [_ARCHIVE] if ".tar." in item.command else []
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
