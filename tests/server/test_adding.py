"""A recording that lies beside the one that is open is opened, too, by its number: no route takes a path."""

import gzip
import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from stepscope.errors import NothingFound
from stepscope.server.sibling_files import SiblingFiles
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.server.asking import Served

FIRST = SAMPLES / "tf_data" / "map_py_function.xplane.pb"


def _check(path: str) -> None:
    with trace.open(path, cache=False):
        pass


def test_what_lies_beside_is_offered_by_number(tmp_path: Path) -> None:
    for name in ("a.pb", "b.pb", ".hidden.pb"):
        shutil.copy(FIRST, tmp_path / name)
    (tmp_path / "notes").mkdir()
    (tmp_path / "train.py").write_text("")
    (tmp_path / "README.md").write_text("# What was recorded\n")
    for name in ("runs.zip", "model.keras", "model.pt"):
        (tmp_path / name).write_bytes(b"PK\x05\x06" + bytes(18))
    (tmp_path / "c.pb.gz").write_bytes(gzip.compress(FIRST.read_bytes()))
    paths = [str(tmp_path / "a.pb")]
    beside = SiblingFiles(paths, _check)
    with pytest.raises(IndexError):
        beside.add(0)  # nothing was offered yet
    assert beside.offer() == ["b.pb", "c.pb.gz", "notes", "runs.zip"]
    with pytest.raises(NothingFound):
        beside.add(2)
    assert paths == [str(tmp_path / "a.pb")], "what cannot be opened is not added"
    assert beside.add(0) == (str(tmp_path / "a.pb"), str(tmp_path / "b.pb"))
    assert beside.offer() == ["c.pb.gz", "notes", "runs.zip"]
    with pytest.raises(IndexError):
        beside.add(5)


def test_an_added_recording_is_in_the_catalog_and_in_sql(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        shutil.copy(FIRST, tmp_path / name / "run.pb")
    with closing(Served(str(tmp_path / "a"), beside=True)) as page:
        assert page.get("/api/beside").json["offered"] == ["b"]
        assert page.post("/api/add", {"number": 7}).status == 400
        assert page.post("/api/add", {"number": "../b"}).status == 400
        assert page.post("/api/add", {"number": 0}).json == {"opened": 2}
        assert len(page.get("/api/sides").json["sides"]) == 2
        assert page.sql("SELECT COUNT(*) AS n FROM source").json["rows"] == [[2]]


def test_a_page_that_was_given_nothing_to_add_offers_nothing(served: Served) -> None:
    assert served.get("/api/beside").json["offered"] == []
    assert served.post("/api/add", {"number": 0}).status == 400


@pytest.mark.repeats("exporters/test_perfetto.py counts them")
def test_the_file_for_perfetto_holds_every_slice() -> None:
    with closing(Served(str(FIRST))) as page, trace.open(FIRST, cache=False) as opened:
        answer = page.post("/api/export", {})
        assert answer.header("content-type") == "application/gzip"
        events = json.loads(gzip.decompress(answer.body))["traceEvents"]
        ((slices,),) = opened.query("SELECT COUNT(*) FROM slice").rows()
        assert sum(event["ph"] == "X" for event in events) == slices
        assert page.post("/api/export", {"path": "/tmp/x"}).status == 400
