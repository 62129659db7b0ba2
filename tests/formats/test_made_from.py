"""A timeline under any name is known by its nodes for what it was made from."""

import re
import shutil
from pathlib import Path

import pytest

from stepscope import formats
from stepscope.formats import _timeline_origin as made_from
from stepscope.sources.find import FoundSources, find
from stepscope.sources.source import ByteLocation, Source
from stepscope.sources.spool import Spool

SAMPLES = Path(__file__).resolve().parents[1] / "samples"
EVENTS = SAMPLES / "event_file" / "events.out.tfevents.1795163227.vm"


def search(folder: Path) -> FoundSources:
    spool = Spool()
    try:
        return find([str(folder)], formats, spool)
    finally:
        spool.close()


def source(path: Path) -> Source:
    return Source(str(path), path.name, ByteLocation(str(path)), path.stat().st_size, "chrome_trace")


def steps_within() -> list[Path]:
    """The timelines that were made from the event file among the samples."""
    whole = source(EVENTS)
    timelines = sorted((SAMPLES / "profiler_hook").glob("*.json"))
    return [path for path in timelines if made_from.holds(whole, made_from.nodes(source(path)))]


def test_renamed_timelines_give_way(tmp_path):
    shutil.copy(EVENTS, tmp_path)
    made = steps_within()
    assert made
    for number, path in enumerate(made):
        shutil.copy(path, tmp_path / f"tl_{'abcdef'[number]}.json")
    found = search(tmp_path)
    assert [one.name for one in found.sources] == [EVENTS.name]
    assert [(Path(one.path).name, one.slug) for one in found.skipped] == [
        (f"tl_{'abcdef'[number]}.json", "same-capture") for number in range(len(made))
    ]


def test_another_step_of_the_same_nodes_is_read(tmp_path):
    shutil.copy(EVENTS, tmp_path)
    text = steps_within()[0].read_text()
    # The same names a second later: another step.
    later = re.sub(r'("ts": ?)(\d{16})', lambda match: f"{match[1]}{int(match[2]) + 1_000_000}", text)
    assert later != text
    (tmp_path / "tl.json").write_text(later)
    assert {one.name for one in search(tmp_path).sources} == {EVENTS.name, "tl.json"}


def test_memory_before_the_nodes_hides_nothing(tmp_path):
    text = steps_within()[0].read_text()
    tensors = '{"ph": "N", "name": "t", "pid": 2, "tid": 0, "id": 7, "ts": 3, "args": {"size": 5}},' * 9000
    (tmp_path / "a.json").write_text(text)
    (tmp_path / "b.json").write_text(re.sub(r'(\{\s*"ph": "X")', tensors + r"\1", text, count=1))
    wanted = made_from.nodes(source(tmp_path / "a.json"))
    assert len(wanted) == 8
    assert made_from.nodes(source(tmp_path / "b.json")) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{" * 5000,
        '{"name": "x Compute"}' + '{"ph": "X", "args": {"name": 1, "op": 2}, "ts": "3"}' * 3,
        '"Allocators"' + '{"ph": "X", "args": {"name": "a", "op": "b"}, "ts": -4}',
    ],
)
def test_what_only_looks_like_a_timeline_names_no_nodes(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_text(text)
    assert made_from.nodes(source(path)) == []
    assert not made_from.holds(source(path), [])
    assert not made_from.holds(source(path), [("a", 5)])
