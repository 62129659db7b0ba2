"""Damage in archives and packed files, generated: it costs what is damaged and nothing beside it."""

import bz2
import functools
import gzip
import io
import lzma
import os
import random
import re
import tarfile
import tempfile
import threading
import time
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stepscope.errors import LimitReached, NothingFound, UnreadableSource, UsageError
from stepscope.sources import limits, spool
from stepscope.sources.damage import DamagedArchive
from stepscope.sources.find import FoundSources, find
from stepscope.sources.spool import Spool
from tests.asked import ask
from tests.sources.recordings import CHROME, FAKES, XPLANE
from tests.sources.test_archives import content, make_tar, make_zip
from tests.tiers import cases, some

NAMES = [f"run{i}/t{i}.json" for i in range(6)]
ZIPS = {
    "stored": zipfile.ZIP_STORED,
    "deflate": zipfile.ZIP_DEFLATED,
    "bzip2": zipfile.ZIP_BZIP2,
    "lzma": zipfile.ZIP_LZMA,
}
TARS = {"tar": "w", "tgz": "w:gz", "tbz": "w:bz2", "txz": "w:xz"}
KINDS = [*ZIPS, *TARS]


@functools.cache
def member(i: int) -> bytes:
    """A recording that hardly packs, so that what comes out before the damage is in proportion to it."""
    return CHROME + random.Random(i).randbytes(3000)


@functools.cache
def archive(kind: str) -> bytes:
    members = {name: member(i) for i, name in enumerate(NAMES)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "a")
        if kind in ZIPS:
            return make_zip(path, members, ZIPS[kind]).read_bytes()
        return make_tar(path, members, TARS[kind]).read_bytes()


def search(data: bytes) -> tuple[FoundSources, dict[str, bytes], dict[str, str]]:
    """What is found in a folder with an archive of these bytes and a good file: the content of each member
    that can be read, and what is said of those that cannot."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "archive").write_bytes(data)
        Path(folder, "good.json").write_bytes(CHROME)
        store = Spool()
        try:
            found = find([folder], FAKES, store)
            assert f"{folder}/good.json" in [one.path for one in found.sources]
            contents, failed = {}, {one.path: one.detail for one in found.skipped}
            for one in found.sources:
                if one.path.startswith(f"{folder}/archive"):
                    try:
                        contents[one.member] = content(one, store)
                        store.reach(one.bytes, one.path)
                    except (
                        DamagedArchive,
                        zlib.error,
                        EOFError,
                    ) as error:  # zlib: as the core would report it
                        failed[one.path] = str(error)
            return found, contents, failed
        finally:
            store.close()


def before(kind: str, cut: int) -> list[str]:
    """Members that lie whole before the end of an archive that was cut, with room for what unpackers hold."""
    data = archive(kind)
    if kind in ZIPS:
        with zipfile.ZipFile(io.BytesIO(data)) as whole:
            listed = whole.infolist()
        ends = [*(one.header_offset for one in listed[1:]), whole.start_dir]
        return [one.filename for one, end in zip(listed, ends, strict=True) if end <= cut]
    unpackers = {"tgz": zlib.decompressobj(31), "tbz": bz2.BZ2Decompressor(), "txz": lzma.LZMADecompressor()}
    there = unpackers[kind].decompress(data[:cut]) if kind in unpackers else data[:cut]
    ends = [512 + 3584 * i + len(member(i)) for i in range(len(NAMES))]
    # A packed stream is read by whole blocks of a tar, of 10 KiB.
    slack = 0 if kind == "tar" else 20480
    return [name for name, end in zip(NAMES, ends, strict=True) if end + slack <= len(there)]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=cases(10, 60), deadline=None)
@given(share=st.floats(0, 1))
def test_a_cut_archive_costs_its_end(kind: str, share: float) -> None:
    data = archive(kind)
    cut = int(share * (len(data) - 1))
    found, contents, failed = search(data[:cut])
    for name in before(kind, cut):
        assert contents[name] == member(NAMES.index(name)), name
    lost = set(NAMES) - {name for name, data in contents.items() if data == member(NAMES.index(name))}
    if lost and cut:
        assert failed or found.seen, f"{sorted(lost)} lost in silence"


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=cases(10, 60), deadline=None)
@given(data=st.data())
def test_a_damaged_archive_costs_what_is_damaged(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(archive(kind))
    for at in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=4)):
        damaged[at] ^= data.draw(st.integers(1, 255))
    found, contents, failed = search(bytes(damaged))
    if kind in ("tgz", "tbz", "txz", "bzip2", "lzma"):
        # These have checksums: what comes out whole is right, or something is said.
        wrong = [name for name in NAMES if contents.get(name) != member(NAMES.index(name))]
        assert not wrong or failed or found.seen, f"{wrong} changed in silence"


@pytest.mark.parametrize("kind", ["tgz", "tbz", "txz", "tar"])
def test_the_end_of_a_cut_tar_is_not_lost_in_silence(kind: str) -> None:
    _, contents, failed = search(archive(kind)[: len(archive(kind)) // 2])
    assert len(contents) < len(NAMES)
    # A bzip2 block of 900 KB gives all or nothing.
    told = r"ended before the end" if kind == "tbz" else r"after \d+ members?: "
    assert any(re.search(told, detail) for detail in failed.values()), failed


def test_a_damaged_header_in_a_tar_is_told(tmp_path: Path) -> None:
    data = bytearray(archive("tar"))
    data[3584 + 5] ^= 1  # the name in the second header, whose checksum no longer matches
    _, contents, failed = search(bytes(data))
    assert list(contents) == NAMES[:1]
    assert [detail for path, detail in failed.items() if path.endswith("archive")] == [
        "after 1 member: bad checksum"
    ]


def test_members_of_a_zip_without_its_directory_are_read() -> None:
    data = archive("deflate")
    _, contents, failed = search(data[: data.index(b"PK\x01\x02")])
    assert contents == {name: member(i) for i, name in enumerate(NAMES)}
    assert "its directory cannot be used" in next(iter(failed.values()))


def test_a_tar_that_ends_in_a_zip_is_a_tar(tmp_path: Path) -> None:
    inner = make_zip(tmp_path / "inner.zip", {"t.json": CHROME}).read_bytes()
    data = make_tar(tmp_path / "outer.tar", {"a/x.json": CHROME, "inner.zip": inner}, "w").read_bytes()
    _, contents, failed = search(data[: data.rindex(b"PK\x05\x06") + 22])
    assert contents == {"a/x.json": CHROME}
    assert any("archive within an archive" in detail for detail in failed.values())


@pytest.mark.repeats("other archives are damaged beside it")
@pytest.mark.parametrize(
    "method", some((zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA), (zipfile.ZIP_BZIP2,), "zipfile reads both alike")
)
def test_a_zip_whose_directory_lies_is_unpacked_in_small_pieces(tmp_path: Path, method: int) -> None:
    """zipfile gives all that comes out of a few packed bytes at once."""
    path = make_zip(tmp_path / "a.zip", {"t.json": CHROME + bytes(150 << 20)}, method)
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    data[at + 24 : at + 28] = (60 << 20).to_bytes(4, "little")  # it says that it unpacks to 60 MB
    path.write_bytes(data)
    tracemalloc.start()
    with pytest.raises((UnreadableSource, LimitReached)):
        find([str(path)], FAKES, Spool())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20, f"{peak:,} bytes"


def test_a_tar_with_an_endless_header_is_stopped(tmp_path: Path) -> None:
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 7 << 30
    path = tmp_path / "a.tar"
    path.write_bytes(info.tobuf(tarfile.USTAR_FORMAT))
    with pytest.raises(UnreadableSource) as caught:
        find([str(path)], FAKES, Spool())
    assert "a header of 7,516,192,768 bytes" in caught.value.seen


def test_a_sparse_file_is_stopped_at_once(tmp_path: Path) -> None:
    (tmp_path / "good.json").write_bytes(CHROME)
    with (tmp_path / "hole.json").open("wb") as file:
        file.write(CHROME)
        file.truncate(50 << 30)
    found = find([str(tmp_path)], FAKES, Spool())
    assert [one.name for one in found.sources] == ["good.json"]
    assert [(one.slug, one.detail.split(",")[0]) for one in found.skipped] == [
        ("limit-reached", "a sparse file of 53")
    ]
    with pytest.raises(LimitReached):
        find([str(tmp_path / "hole.json")], FAKES, Spool())


def test_a_pipe_that_nobody_writes_to_is_not_waited_for_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr(spool, "PATIENCE_SECONDS", 0.3)
    with pytest.raises(UsageError, match="Nothing writes to this pipe"):
        find([str(pipe)], FAKES, Spool())
    (tmp_path / "good.json").write_bytes(CHROME)
    found = find([str(tmp_path)], FAKES, Spool())
    assert [one.name for one in found.sources] == ["good.json"]


def test_a_device_that_never_ends_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "zeros.json"
    link.symlink_to("/dev/zero")
    for path in ("/dev/zero", str(link)):
        with pytest.raises(UsageError, match="A device holds no recording"):
            find([path], FAKES, Spool())
    with open("/dev/zero") as zeros, monkeypatch.context() as patch:  # noqa: PTH123
        patch.setattr("sys.stdin", zeros)
        with pytest.raises(UsageError, match="may never end"):
            find(["-"], FAKES, Spool())
    (tmp_path / "good.json").write_bytes(CHROME)
    found = find([str(tmp_path)], FAKES, Spool())
    assert [one.name for one in found.sources] == ["good.json"]
    with pytest.raises(NothingFound, match="empty"):
        find(["/dev/null"], FAKES, Spool())


@pytest.mark.parametrize("pause", [0.0, 0.4])
def test_a_pipe_with_a_slow_writer_is_read(
    tmp_path: Path, pause: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "PATIENCE_SECONDS", 240.0)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write() -> None:
        time.sleep(pause)
        with pipe.open("wb", buffering=0) as file:
            time.sleep(pause)
            file.write(CHROME[:20])
            time.sleep(pause)
            file.write(CHROME[20:])

    writer = threading.Thread(target=write)
    writer.start()
    store = Spool()
    (source,) = find([str(pipe)], FAKES, store).sources
    assert content(source, store) == CHROME
    writer.join()
    store.close()


@pytest.mark.parametrize(
    ("ending", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_a_damaged_packed_file_is_one_unread_source(tmp_path: Path, ending: str, pack: object) -> None:
    events = ",".join(
        f'{{"ph":"X","name":"op{i}","ts":{i},"dur":1,"pid":1,"tid":{random.Random(i).random()}}}'
        for i in range(9000)
    )
    whole: bytes = pack(f'{{"traceEvents":[{events}]}}'.encode())  # type: ignore[operator]
    (tmp_path / "good.json").write_bytes(CHROME)
    for size in range(30, len(whole), len(whole) // 6):
        (tmp_path / f"bad.json.{ending}").write_bytes(whole[:size])
        assert "a" in [name for (name,) in ask(tmp_path, "SELECT DISTINCT name FROM slice")]


def test_a_full_disk_of_temporary_files_is_one_skipped_member(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_tar(tmp_path / "a.tgz", {"t.xplane.pb": XPLANE}, "w:gz")
    (tmp_path / "good.json").write_bytes(CHROME)

    class Full(io.BytesIO):
        def write(self, data: object) -> int:
            raise OSError(28, "No space left on device")

    original = Path.open
    monkeypatch.setattr(
        Path, "open", lambda self, mode="r", **more: Full() if mode == "xb" else original(self, mode, **more)
    )
    found = find([str(tmp_path)], FAKES, Spool())
    assert [one.name for one in found.sources] == ["good.json"]
    assert [(one.slug, one.detail) for one in found.skipped] == [("limit-reached", "No space left on device")]


def test_no_place_for_temporary_files_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_tar(tmp_path / "a.tgz", {"t.xplane.pb": XPLANE}, "w:gz")
    monkeypatch.setattr(tempfile, "mkdtemp", lambda prefix: Path("/nowhere/at/all").mkdir())
    with pytest.raises(LimitReached) as caught:
        find([str(tmp_path / "a.tgz")], FAKES, Spool())
    assert "No such file" in caught.value.seen
    assert limits.FREE_BYTES
