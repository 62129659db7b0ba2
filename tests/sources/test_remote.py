"""A tree in an object store gives the runs, hosts and sources that it gives on the disk."""

import gzip
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

import stepscope
from stepscope.sources.names import place_of, url_of
from tests.formats import capture_folder
from tests.lake.recordings import chrome
from tests.tiers import some

fsspec = pytest.importorskip("fsspec", reason="what reads remote paths is not installed")
SAMPLES = Path(__file__).parents[1] / "samples"


@pytest.fixture
def store() -> Iterator[Any]:
    """An object store in memory."""
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def tree(root: Path) -> Path:
    """Ranks of one run, a run in parts of the path, a TensorBoard folder, an archive, and no recording."""
    for rank in range(3):
        chrome(root / "run1" / f"rank-{rank}.json", f"r{rank}_")
    for host in ("h0", "h1"):
        chrome(root / "fleet" / "run=base" / f"host={host}" / "t.json", host)
    packed = root / "run1" / "rank-7.json.gz"
    packed.write_bytes(gzip.compress(chrome(root / "x.json", "packed").read_bytes()))
    profile = root / "tb" / "plugins" / "profile" / "2026_11_22"
    profile.mkdir(parents=True)
    (profile / "vm.xplane.pb").write_bytes(next((SAMPLES / "xplane").rglob("*.xplane.pb")).read_bytes())
    with zipfile.ZipFile(root / "more.zip", "w") as archive:
        archive.write(chrome(root / "x.json", "zipped"), "inner/rank-2.json")
    chrome(root / "x.json", "x")
    (root / "notes.txt").write_text("nothing")
    chrome(root / ".hidden" / "t.json")
    return root


def upload(system: Any, root: Path, to: str) -> str:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            system.pipe_file(f"/{to}/{path.relative_to(root).as_posix()}", path.read_bytes())
    return f"memory://{to}"


def facts(*paths: str | Path) -> dict[str, list[tuple[object, ...]]]:
    """Rows of run, host and source, without where they lie."""
    with stepscope.open(*paths, cache=False) as trace:
        sql = {
            "run": "SELECT run_id, name FROM run",
            "host": "SELECT * FROM host",
            "source": "SELECT * EXCLUDE (path) FROM source",
            "place": "SELECT source_id, regexp_replace(path, '.*/store/', '') FROM source",
        }
        return {name: sorted(trace.query(text).rows(), key=repr) for name, text in sql.items()}


@pytest.mark.parametrize(
    "part",
    some(
        ("", "run1", "fleet", "fleet/run=base/host=h1", "tb", "more.zip", "run1/rank-1.json"),
        ("", "fleet/run=base/host=h1", "more.zip", "run1/rank-1.json"),
        "a folder of the whole tree",
    ),
)
def test_the_same_tree_here_and_there(tmp_path: Path, store: Any, part: str) -> None:
    root = tree(tmp_path / "store")
    url = upload(store, root, "bucket/store")
    here = facts(root / part)
    assert facts(f"{url}/{part}".rstrip("/")) == here
    assert facts(f"file://{root / part}") == here


@pytest.mark.repeats("a lake of remote runs")
def test_a_lake_knows_remote_runs_by_their_folders(tmp_path: Path, store: Any) -> None:
    root = tree(tmp_path / "store")
    url = upload(store, root, "bucket/store")
    whole = stepscope.ingest([url], tmp_path / "one")
    for part in ("tb", "run1/rank-0.json", "more.zip", "run1", "fleet/run=base", "x.json"):
        stepscope.ingest([f"{url}/{part}"], tmp_path / "two")
    found = [
        {(row.run_id, row.host_id, row.source_id) for row in stepscope.ingest([url], tmp_path / lake)}
        for lake in ("one", "two")
    ]
    assert found[0] == found[1] == {(row.run_id, row.host_id, row.source_id) for row in whole}
    local = stepscope.ingest([root], tmp_path / "local")
    short = [sorted((row.run_id.rsplit("-", 1)[0], row.host_id) for row in rows) for rows in (whole, local)]
    assert short[0] == short[1]
    with stepscope.open(tmp_path / "one") as trace:
        paths = {path for (path,) in trace.query("SELECT path FROM run WHERE name = 'run1'").rows()}
    assert paths == {"memory://bucket/store/run1"}


def test_a_capture_has_its_pieces_there_too(tmp_path: Path, store: Any) -> None:
    folder = capture_folder.write(tmp_path / "store" / "cap")
    url = upload(store, tmp_path / "store", "bucket/store")
    assert facts(f"{url}/cap") == facts(folder)
    for table in ("iterator_model", "user_stage", "counter"):
        counts = []
        for path in (folder, f"{url}/cap"):
            with stepscope.open(path, cache=False) as trace:
                counts.append(trace.query(f"SELECT count(*) FROM {table}").rows())
        assert counts[0] == counts[1] != [(0,)]


@pytest.mark.parametrize(
    "url", ["s3://bucket/run/x.json", "memory://a", "/tmp/run=a/b", "http://host:80/a/b"]
)
def test_a_url_is_a_path_and_back(url: str) -> None:
    assert url_of(place_of(url)) == url
    assert url_of(place_of(url).parent) == str(PurePosixPath(url).parent).replace(":/", "://", 1)
