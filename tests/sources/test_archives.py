"""Archives: what is in them is found, and nothing in them can do harm."""

import bz2
import contextlib
import gzip
import io
import json
import lzma
import random
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

import stepscope
from stepscope.errors import LimitReached, NothingFound, UnreadableSource
from stepscope.sources import limits, tars
from stepscope.sources.damage import DamagedArchive
from stepscope.sources.find import FoundSources, find
from stepscope.sources.source import ByteLocation, Source
from stepscope.sources.spool import Spool
from tests.sources.recordings import CHROME, FAKES, XPLANE

MEMBERS = {
    "logs/train/plugins/profile/d/vm.xplane.pb": XPLANE,
    "logs/eval/trace.json": CHROME,
    "logs/eval/packed.json.gz": gzip.compress(CHROME),
    "logs/readme.txt": b"nothing",
}


def make_zip(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def make_tar(path: Path, members: dict[str, bytes], mode: str) -> Path:
    with tarfile.open(path, mode) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def content(source: Source, spool: Spool) -> bytes:
    """The bytes as the native core would see them, unpacked."""
    place = source.spooled or spool.reach(source.bytes, source.path)
    with Path(place.path).open("rb") as file:
        file.seek(place.offset)
        data = file.read(-1 if place.length is None else place.length)
    if place.codec == "gzip":
        return gzip.decompress(data)
    if place.codec == "deflate":
        return zlib.decompress(data, wbits=-15)
    return data


def found_in(path: Path) -> tuple[FoundSources, dict[str, bytes]]:
    spool = Spool()
    try:
        found = find([str(path)], FAKES, spool)
        first = {one.member: content(one, spool) for one in found.sources}
        # A remembered source has lost what was spooled, and is unpacked when it is needed.
        again = {one.member: content(one._replace(spooled=None), spool) for one in found.sources}
        assert first == again
        return found, first
    finally:
        spool.close()


@pytest.mark.parametrize(
    "make",
    [
        lambda p: make_zip(p / "a.zip", MEMBERS),
        lambda p: make_zip(p / "a.zip", MEMBERS, zipfile.ZIP_STORED),
        lambda p: make_zip(p / "a.zip", MEMBERS, zipfile.ZIP_BZIP2),
        lambda p: make_zip(p / "a.zip", MEMBERS, zipfile.ZIP_LZMA),
        lambda p: make_tar(p / "a.tar", MEMBERS, "w"),
        lambda p: make_tar(p / "a.tar.gz", MEMBERS, "w:gz"),
        lambda p: make_tar(p / "a.tar.bz2", MEMBERS, "w:bz2"),
        lambda p: make_tar(p / "a.tar.xz", MEMBERS, "w:xz"),
        lambda p: make_tar(p / "no_suffix", MEMBERS, "w:gz"),
    ],
    ids=["zip", "stored", "zip-bz2", "zip-lzma", "tar", "tar.gz", "tar.bz2", "tar.xz", "no suffix"],
)
def test_recordings_in_archives(tmp_path: Path, make: object) -> None:
    archive: Path = make(tmp_path)  # type: ignore[operator]
    found, contents = found_in(archive)
    assert contents == {
        "logs/train/plugins/profile/d/vm.xplane.pb": XPLANE,
        "logs/eval/trace.json": CHROME,
        "logs/eval/packed.json.gz": CHROME,
    }
    assert {(one.run_name, one.host_id) for one in found.sources} == {
        ("logs/train", "vm"),
        ("logs/eval", "unknown"),
    }
    assert all(one.path == f"{archive}!{one.member}" for one in found.sources)
    assert dict(found.seen) == {"text file": 1}


@pytest.mark.parametrize("ending", ["tar.xz", "tar.bz2", "tar.gz", "tar", "zip"])
def test_members_are_reached_whole_without_walking_the_archive_again(tmp_path: Path, ending: str) -> None:
    """As they are where another process has looked at the archive: it knows their names. Each is longer than
    what is looked at to tell its format."""
    numbers = random.Random(7)
    members = {f"m{number}.bin": numbers.randbytes(200_000) for number in range(3)}
    path = tmp_path / f"in.{ending}"
    if ending == "zip":
        make_zip(path, members, zipfile.ZIP_LZMA)
        packing = "plain"
    else:
        packing = {"xz": "xz", "bz2": "bz2", "gz": "gzip", "tar": "plain"}[ending.split(".")[-1]]
        make_tar(path, members, f"w:{ending.partition('.')[2]}")
    spool = Spool()
    for name, data in members.items():
        place = spool.reach(ByteLocation(str(path), unpack=(packing, name)), name)
        assert Path(place.path).read_bytes() == data
    spool.close()


def test_an_archive_is_read_no_more_often_for_more_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members are asked for in any order: the largest is decoded first."""
    members = {f"m{number}.bin": bytes([number]) * 100 for number in range(30)}
    path = make_tar(tmp_path / "in.tar.xz", members, "w:xz")
    walked = []
    real = tars.members
    monkeypatch.setattr(tars, "members", lambda *given: walked.append(1) or real(*given))
    spool = Spool()
    for name in random.Random(7).sample(sorted(members), len(members)):
        place = spool.reach(ByteLocation(str(path), unpack=("xz", name)), name)
        assert Path(place.path).read_bytes() == members[name]
    assert len(walked) == 2
    spool.close()


@pytest.mark.parametrize(
    ("name", "packed"),
    [
        ("t.json.gz", gzip.compress(CHROME)),
        ("t.json.bz2", bz2.compress(CHROME)),
        ("t.json.xz", lzma.compress(CHROME)),
        ("t", gzip.compress(CHROME[:20]) + gzip.compress(CHROME[20:])),
    ],
    # Packed bytes hold the time, and processes that share the suite have to call their tests the same.
    ids=["gzip", "bz2", "xz", "gzip in two members"],
)
def test_packed_files(tmp_path: Path, name: str, packed: bytes) -> None:
    (tmp_path / name).write_bytes(packed)
    found, contents = found_in(tmp_path / name)
    assert contents == {"": CHROME}
    assert found.sources[0].name == name.removesuffix(".gz").removesuffix(".bz2").removesuffix(".xz")


def test_names_that_lead_out_are_refused(tmp_path: Path) -> None:
    bad = ["../evil.json", "/abs.json", "a/../../b.json", "C:\\x.json", "..\\up.json"]
    archive = make_zip(tmp_path / "a.zip", {**dict.fromkeys(bad, CHROME), "good.json": CHROME})
    found, contents = found_in(archive)
    assert list(contents) == ["good.json"]
    assert {(one.path.split("!")[1], one.slug) for one in found.skipped} == {
        (name, "unsafe-path") for name in bad
    }
    assert {path.name for path in tmp_path.iterdir()} == {"a.zip"}


def test_links_and_devices_in_archives_are_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name, kind in (("sym", tarfile.SYMTYPE), ("hard", tarfile.LNKTYPE), ("dev", tarfile.CHRTYPE)):
            info = tarfile.TarInfo(f"{name}.json")
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zipped:
        link = zipfile.ZipInfo("link.json")
        link.external_attr = 0o120777 << 16
        zipped.writestr(link, "/etc/passwd")
    for archive_path, count in ((tmp_path / "a.tar", 3), (tmp_path / "a.zip", 1)):
        with pytest.raises(NothingFound) as caught:
            find([str(archive_path)], FAKES, Spool())
        assert caught.value.seen.count("not followed") == count


def test_encrypted_members_are_told(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"secret.json": CHROME, "open.json": CHROME})
    data = bytearray(path.read_bytes())
    # Bit 0 of the flags, in the local header and in the directory of the first member.
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    found, contents = found_in(path)
    assert list(contents) == ["open.json"]
    assert [(one.slug, one.path.split("!")[1]) for one in found.skipped] == [
        ("encrypted-member", "secret.json")
    ]


def test_an_archive_in_an_archive_is_told(tmp_path: Path) -> None:
    inner = make_zip(tmp_path / "inner.zip", MEMBERS).read_bytes()
    outer = make_zip(tmp_path / "outer.zip", {"inner.zip": inner, "t.json": CHROME})
    found, contents = found_in(outer)
    assert list(contents) == ["t.json"]
    assert [one.slug for one in found.skipped] == ["nested-archive"]


def test_bombs_are_stopped(tmp_path: Path) -> None:
    zeros = b"\x00" * (70 << 20)
    archive = make_zip(tmp_path / "bomb.zip", {"t.json": CHROME + zeros})
    with pytest.raises(LimitReached) as caught:
        find([str(archive)], FAKES, Spool())
    assert "bytes unpacked from" in caught.value.seen
    make_tar(tmp_path / "bomb.tar.gz", {"zeros": zeros, "t.json": CHROME}, "w:gz")
    with pytest.raises(LimitReached):
        find([str(tmp_path / "bomb.tar.gz")], FAKES, Spool())
    # A bzip2 file has to be unpacked before it can be decoded: that is where it is stopped.
    (tmp_path / "bomb.json.bz2").write_bytes(bz2.compress(CHROME + zeros))
    spool = Spool()
    (source,) = find([str(tmp_path / "bomb.json.bz2")], FAKES, spool).sources
    with pytest.raises(LimitReached):
        spool.reach(source.bytes, source.path)
    spool.close()


def test_unpacking_stops_before_the_disk_is_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "disk_limit", lambda folder: 10)
    make_tar(tmp_path / "a.tar.gz", {"t.json": CHROME}, "w:gz")
    with pytest.raises(LimitReached):
        find([str(tmp_path / "a.tar.gz")], FAKES, Spool())


@pytest.mark.parametrize("make", ["zip", "tar", "tar.gz"])
def test_cut_and_damaged_archives_end_in_an_error_or_in_what_is_whole(tmp_path: Path, make: str) -> None:
    whole = tmp_path / f"whole.{make}"
    if make == "zip":
        make_zip(whole, MEMBERS)
    else:
        make_tar(whole, MEMBERS, "w:gz" if make == "tar.gz" else "w")
    data = whole.read_bytes()
    path = tmp_path / f"cut.{make}"
    for size in range(0, len(data), max(1, len(data) // 150)):
        for damaged in (data[:size], data[:size] + b"\xff\x00\x81" + data[size + 3 :]):
            path.write_bytes(damaged)
            spool = Spool()
            with contextlib.suppress(NothingFound, UnreadableSource, LimitReached):
                assert find([str(path)], FAKES, spool).sources
            spool.close()


def test_a_member_whose_directory_lies_is_told(tmp_path: Path) -> None:
    path = make_zip(tmp_path / "a.zip", {"t.json": CHROME, "u.json": CHROME})
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 42, 5)
    path.write_bytes(data)
    found, contents = found_in(path)
    assert list(contents) == ["u.json"]
    assert [one.slug for one in found.skipped] == ["damaged-archive"]


def test_gzip_files_behind_each_other_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"one ") + gzip.compress(b"two"))
    spool = Spool()
    place = ByteLocation(str(path), codec="gzip")
    assert spool.read(place, "a.gz", 100) == b"one two"
    spool.unpack(place, "a.gz", tmp_path / "a")
    assert (tmp_path / "a").read_bytes() == b"one two"
    with pytest.raises(LimitReached):
        spool.read(place, "a.gz", 5)


def _large(flipped: bool) -> bytes:
    """A Chrome trace that does not fit into what is looked at to recognise it."""
    events = [{"ph": "X", "name": f"op{i}", "ts": i, "dur": 1, "pid": 1, "tid": 1} for i in range(4000)]
    text = json.dumps({"traceEvents": events})
    return (text.replace("op3999", "op3998") if flipped else text).encode()


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED], ids=["deflated", "stored"])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_member_that_is_read_in_place_is_checked(tmp_path: Path, method: int, flipped: bool) -> None:
    """Its bytes are others than those of its checksum; they still unpack, and are still JSON."""
    path = make_zip(tmp_path / "a.zip", {"t.json": _large(flipped)}, method)
    crc = zlib.crc32(_large(False))
    data = path.read_bytes().replace(struct.pack("<I", zlib.crc32(_large(flipped))), struct.pack("<I", crc))
    path.write_bytes(data)
    with stepscope.open(path, cache=False) as trace:
        if flipped:
            with pytest.raises(UnreadableSource) as caught:
                trace.query("SELECT count(*) FROM slice")
            assert "checksum" in caught.value.seen
        else:
            assert trace.query("SELECT count(*) FROM slice").rows() == [(4000,)]
    spool = Spool()
    (source,) = find([str(path)], FAKES, spool).sources
    assert source.bytes.crc == crc
    if flipped:
        with pytest.raises(DamagedArchive, match="checksum"):
            spool.read(source.bytes, source.path, 1 << 20)
    else:
        assert spool.read(source.bytes, source.path, 1 << 20) == _large(False)
