"""Searching: what is found, how it is grouped, what is left out and what is said of it."""

import bz2
import gzip
import itertools
import lzma
import marshal
import os
import random
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope.errors import NothingFound, UnreadableSource, UsageError
from stepscope.sources.find import FoundSources, find
from stepscope.sources.spool import Spool
from tests.sources.recordings import CHROME, FAKES, GRAPH, RUN_METADATA, XPLANE, event_file
from tests.tiers import cases


def write(root: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def search(*paths: Path | str, **names: str) -> FoundSources:
    spool = Spool()
    try:
        return find([str(path) for path in paths], FAKES, spool, **names)
    finally:
        spool.close()


def places(found: FoundSources) -> list[tuple[str, str, str]]:
    return [(one.run_id, one.host_id, Path(one.path).name) for one in found.sources]


def test_tensorboard_folder_at_any_depth(tmp_path: Path) -> None:
    profile = "plugins/profile/2026_11_20_08_48_26"
    write(
        tmp_path / "logs",
        {
            f"train/{profile}/vm1.xplane.pb": XPLANE,
            f"train/{profile}/vm2.xplane.pb": XPLANE,
            f"deep/er/eval/{profile}/vm1.xplane.pb": XPLANE,
            "train/checkpoint": b"model_checkpoint_path",
        },
    )
    found = search(tmp_path / "logs")
    assert places(found) == [
        ("deep-er-eval", "vm1", "vm1.xplane.pb"),
        ("train", "vm1", "vm1.xplane.pb"),
        ("train", "vm2", "vm2.xplane.pb"),
    ]
    assert {one.capture for one in found.sources} == {"2026_11_20_08_48_26"}
    assert dict(found.seen) == {"checkpoint file": 1}
    # The same run has the same name wherever one begins to look.
    for inside in ("train", f"train/{profile}", f"train/{profile}/vm1.xplane.pb"):
        assert {one.run_id for one in search(tmp_path / "logs" / inside).sources} == {"train"}


def test_jax_writes_one_capture_three_times(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "plugins/profile/d/vm.xplane.pb": XPLANE,
            "plugins/profile/d/vm.trace.json.gz": gzip.compress(CHROME),
            "plugins/profile/d/perfetto_trace.json.gz": gzip.compress(CHROME),
        },
    )
    found = search(tmp_path)
    assert [one.name for one in found.sources] == ["vm.xplane.pb"]
    assert {(Path(one.path).name, one.slug) for one in found.skipped} == {
        ("vm.trace.json.gz", "same-capture"),
        ("perfetto_trace.json.gz", "same-capture"),
    }
    ((slug, detail),) = found.sources[0].notes
    assert slug == "same-capture"
    assert "vm.trace.json.gz" in detail
    # Without the XPlane the richer of the other two is read; what is named explicitly is always read.
    folder = tmp_path / "plugins/profile/d"
    both = search(tmp_path, folder / "perfetto_trace.json.gz")
    assert sorted(one.name for one in both.sources) == ["perfetto_trace.json", "vm.xplane.pb"]
    (folder / "vm.xplane.pb").unlink()
    assert [one.name for one in search(tmp_path).sources] == ["vm.trace.json"]


def test_profiler_hook_timelines_give_way_to_run_metadata(tmp_path: Path) -> None:
    write(
        tmp_path / "hook",
        {
            "timeline-5.json": CHROME,
            "timeline-10.json": CHROME,
            "timeline-15.json": CHROME,
            "events.out.tfevents.1795163227.vm": event_file("step_5", "step_10"),
        },
    )
    found = search(tmp_path / "hook")
    assert [(one.name, one.step) for one in found.sources] == [
        ("timeline-15.json", 15),
        ("events.out.tfevents.1795163227.vm", None),
    ]
    assert [Path(one.path).name for one in found.skipped] == ["timeline-10.json", "timeline-5.json"]
    (tmp_path / "hook" / "events.out.tfevents.1795163227.vm").unlink()
    assert [one.step for one in search(tmp_path / "hook").sources] == [5, 10, 15]


def test_text_and_packed_forms_are_read_once(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "run_meta_0005.pb": RUN_METADATA,
            "run_meta_0005.pbtxt": RUN_METADATA,
            "timeline_0005_df1.json": CHROME,
            "timeline_0006.json": CHROME,
            "trace.json": CHROME,
            "trace.json.gz": gzip.compress(CHROME),
        },
    )
    found = search(tmp_path)
    assert [Path(one.path).name for one in found.sources] == [
        "trace.json",
        "run_meta_0005.pb",
        "timeline_0006.json",
    ]
    assert len(found.skipped) == 3


def test_order_of_paths_does_not_matter(tmp_path: Path) -> None:
    names = ["b.json", "a.json", "timeline-2.json", "timeline-10.json"]
    write(tmp_path, dict.fromkeys(names, CHROME))
    write(tmp_path, {"run/x/trace.json": CHROME, "other/x/trace.json": CHROME})
    paths = [tmp_path / name for name in (*names, "run", "other")]
    wanted = [(one.path, one.run_id, one.host_id) for one in search(*paths).sources]
    for order in itertools.islice(itertools.permutations(paths), 0, None, cases(29, 1)):
        found = search(*order)
        assert [(one.path, one.run_id, one.host_id) for one in found.sources] == wanted
    assert [one.step for one in search(*paths).sources if one.run_id == "timeline"] == [2, 10]


def test_runs_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    write(tmp_path, {"one/logs/a.json": CHROME, "two/logs/a.json": CHROME, "two/Logs/a.json": CHROME})
    found = search(tmp_path / "one/logs", tmp_path / "two/logs", tmp_path / "two/Logs")
    runs = {one.run_id for one in found.sources}
    assert "one-logs" in runs
    assert len(runs) == 3


@pytest.mark.parametrize(
    ("name", "step", "rank", "host"),
    [
        ("timeline-15.json", 15, None, "unknown"),
        ("run_meta_0005.pb", 5, None, "unknown"),
        ("RunMetadata_7.pb", 7, None, "unknown"),
        ("trace_step_120.json", 120, None, "unknown"),
        ("vm_25524.1795165395410044346.pt.trace.json", None, None, "vm"),
        ("sampled_rank-3.json", None, 3, "rank-3"),
        ("127.0.0.1_53455.xplane.pb", None, None, "host-127.0.0.1_53455"),
        ("events.out.tfevents.1795165230.gpu-7.23083.0.v2", None, None, "gpu-7"),
        ("trace.json", None, None, "unknown"),
    ],
)
def test_what_names_tell(tmp_path: Path, name: str, step: int | None, rank: int | None, host: str) -> None:
    data = event_file("x") if "tfevents" in name else XPLANE if name.endswith("xplane.pb") else CHROME
    write(tmp_path, {name: data})
    (source,) = search(tmp_path / name).sources
    assert (source.step, source.rank, source.host_id) == (step, rank, host)


@pytest.mark.parametrize("name", ["2026", "Résumé Größe", "模型", "-", "..x", "a" * 300, "x\udcffy", "a\nb"])
def test_any_folder_name_gives_a_partition_value(tmp_path: Path, name: str) -> None:
    folder = tmp_path / (name[:200] if len(name) > 200 else name)
    write(folder, {"t.json": CHROME})
    (source,) = search(folder).sources
    assert re.fullmatch(r"[a-z][a-z0-9._-]*", source.run_id)
    assert len(source.run_id) <= 110


def test_names_that_were_asked_for_win(tmp_path: Path) -> None:
    write(tmp_path, {"a/t.json": CHROME, "b/vm.xplane.pb": XPLANE})
    found = search(tmp_path, run="Nightly 7", host="node")
    assert {(one.run_id, one.run_name, one.host_id) for one in found.sources} == {
        ("nightly-7", "Nightly 7", "node")
    }


def test_a_file_reached_twice_is_read_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/t.json": CHROME})
    (tmp_path / "a" / "link.json").symlink_to(tmp_path / "a" / "t.json")
    (tmp_path / "a" / "loop").symlink_to(tmp_path / "a")
    found = search(tmp_path, tmp_path / "a", tmp_path / "a" / "t.json")
    assert len(found.sources) == 1


def test_a_folder_of_checkpoints_belongs_to_the_run_above(tmp_path: Path) -> None:
    write(tmp_path / "job", {"run_meta_1.pb": RUN_METADATA, "ckpt/graph.pb": GRAPH})
    assert {one.run_id for one in search(tmp_path / "job").sources} == {"job"}


def test_nothing_found_says_what_was_seen(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "a.txt": b"hello",
            "b/c.txt": b"there",
            "empty": b"",
            "x.json": b'{"a": 1}',
            "p.png": b"\x89PNG....",
        },
    )
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NothingFound) as caught:
        search(tmp_path)
    for words in (
        "2 x text file",
        "1 x empty file",
        "1 x JSON file without trace events",
        "1 x image",
        "1 x dead link, pipe or device",
    ):
        assert words in caught.value.seen
    assert "TensorBoard" in caught.value.todo


@pytest.mark.parametrize(
    ("content", "seen", "todo"),
    [
        (
            b'{"alloc_samples": 17, "args": ["main.py"], "entrypoint_dir": "/me", "files": {}}',
            "Scalene",
            "record",
        ),
        (marshal.dumps({("train.py", 3, "step"): (1, 1, 0.5, 0.5, {})}), "cProfile", "when"),
        (
            b'[{"id": 1, "timestamps": [{"name": "REQUEST_START", "ns": 52943}]}]',
            "Triton Inference Server",
            "ops",
        ),
    ],
)
def test_recordings_that_no_decoder_reads_are_named(content, seen, todo, tmp_path: Path) -> None:
    write(tmp_path, {"x.json": content})
    with pytest.raises(NothingFound) as caught:
        search(tmp_path)
    assert seen in caught.value.seen
    assert todo in caught.value.todo


def test_an_empty_folder_and_a_missing_path(tmp_path: Path) -> None:
    with pytest.raises(NothingFound, match="no files at all"):
        search(tmp_path)
    with pytest.raises(UsageError, match="no file or folder"):
        search(tmp_path / "nowhere")
    with pytest.raises(UsageError):
        search()


def test_a_program_is_to_be_recorded(tmp_path: Path) -> None:
    write(tmp_path, {"train.py": b"import jax\n"})
    with pytest.raises(NothingFound) as caught:
        search(tmp_path / "train.py")
    assert caught.value.todo.endswith(f"stepscope record {tmp_path / 'train.py'}")
    with pytest.raises(NothingFound) as caught:
        search(tmp_path)
    assert "TensorBoard" in caught.value.todo


def test_files_that_may_not_be_read_are_told(tmp_path: Path) -> None:
    write(tmp_path, {"a.json": CHROME, "b.json": CHROME})
    (tmp_path / "b.json").chmod(0)
    if os.access(tmp_path / "b.json", os.R_OK):
        pytest.skip("this user may read everything")
    found = search(tmp_path)
    assert [one.slug for one in found.skipped] == ["no-access"]


def test_standard_input_is_spooled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "in"
    packed.write_bytes(gzip.compress(CHROME))
    with packed.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", type("Stdin", (), {"buffer": stream})())
        spool = Spool()
        found = find(["-"], FAKES, spool)
    (source,) = found.sources
    assert (source.path, source.run_id, source.bytes.codec) == ("-", "stdin", "gzip")
    assert gzip.decompress(Path(source.bytes.path).read_bytes()) == CHROME
    spool.close()
    assert not Path(source.bytes.path).exists()


def test_a_named_pipe_is_read_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(CHROME))
    writer.start()
    found = search(tmp_path / "pipe")
    writer.join()
    assert len(found.sources) == 1


def test_remote_paths_say_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(UsageError) as caught:
        search("gs://bucket/logs")
    assert "stepscope[remote]" in caught.value.todo


def test_a_graph_belongs_to_the_host_of_its_run(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"run/graph.pb": GRAPH, "run/events.out.tfevents.1.vm": event_file("step_1"), "g/x.pb": GRAPH},
    )
    found = search(tmp_path)
    assert {Path(one.path).name: one.host_id for one in found.sources} == {
        "graph.pb": "vm",
        "events.out.tfevents.1.vm": "vm",
        "x.pb": "unknown",
    }


def test_a_named_file_that_is_no_recording_is_told(tmp_path: Path) -> None:
    write(tmp_path, {"a.pb": XPLANE, "notes.txt": b"hello", "in/b.txt": b"hello"})
    found = search(tmp_path / "a.pb", tmp_path / "notes.txt", tmp_path / "in")
    assert [(Path(one.path).name, one.slug) for one in found.skipped] == [("notes.txt", "nothing-found")]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_small_packed_file_that_is_cut_is_recognised(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    noise = random.Random(1).randbytes(1 << 20 if pack is bz2.compress else 6000).hex().encode()
    packed = pack(CHROME[:-2] + b"," + noise)
    write(
        tmp_path, {"cut.json.gz": packed[: len(packed) * 99 // 100], "two.json.gz": pack(b"") + pack(CHROME)}
    )
    assert {one.format for one in search(tmp_path).sources} == {"chrome_trace"}
    assert len(search(tmp_path).sources) == 2


def test_what_may_not_be_read_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not that there is no recording: nobody has seen that."""
    (tmp_path / "a.xplane.pb").write_bytes(b"x")

    def refused(path: Path) -> str:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("stepscope.sources.find.identity", refused)
    with pytest.raises(UnreadableSource, match=r"a\.xplane\.pb cannot be read: permission denied") as caught:
        search(tmp_path / "a.xplane.pb")
    assert caught.value.slug == "no-access"


def test_a_folder_that_may_not_be_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def refused(path: Any = ".") -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", os.fspath(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refused)
    with pytest.raises(UnreadableSource, match="closed cannot be read: permission denied"):
        search(tmp_path / "closed")
    with pytest.raises(NothingFound) as caught:
        search(tmp_path)
    assert "1 x folder that may not be listed" in caught.value.seen
