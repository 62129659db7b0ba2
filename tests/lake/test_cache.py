"""The cache: the second look decodes nothing, damage is mended, and it stays within its size."""

import json
import os
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

import stepscope
from stepscope import _core, strict_json
from stepscope.lake import cache as caching
from stepscope.lake import cache_folder
from stepscope.lake.schema import schema
from stepscope.session.trace import open as open_trace
from tests.lake.recordings import chrome
from tests.tiers import some

QUESTION = (
    "SELECT name, count(*), sum(dur_ps), sum(self_ps), max(args_json), max(step) "
    "FROM slice GROUP BY name ORDER BY name"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was decoded: one entry a call."""
    calls: list[str] = []
    real = _core.decode

    def counting(*arguments: object, **options: object) -> object:
        calls.append(str(arguments[0]))
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "decode", counting)
    return calls


def ask(*paths: Path, **options: bool) -> list[tuple[object, ...]]:
    with stepscope.open(*paths, **options) as trace:  # type: ignore[arg-type]
        return trace.query(QUESTION).rows()


def entries(folder: Path) -> list[Path]:
    return sorted((folder / "entries").iterdir())


def test_a_file_is_found_again_from_another_folder(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First by a relative path, then by a link that is gone later, then by its own name; and the cache has
    lost what was decoded."""
    (tmp_path / "there").mkdir()
    (tmp_path / "here").symlink_to("there")
    path = chrome(tmp_path / "there" / "a.json")
    monkeypatch.chdir(tmp_path)
    first = ask(Path("here/a.json"))
    (tmp_path / "here").unlink()
    monkeypatch.chdir(tmp_path / "there")
    for given in (path, Path("a.json")):
        for entry in entries(folder):
            shutil.rmtree(entry)
        assert ask(given) == first


def test_the_program_may_go_elsewhere_before_it_asks(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = chrome(tmp_path / "a.json")
    monkeypatch.chdir(tmp_path)
    with stepscope.open("a.json", cache=False) as trace:
        monkeypatch.chdir("/")
        assert trace.query(QUESTION).rows() == ask(path)


def test_the_second_look_decodes_nothing(tmp_path: Path, folder: Path, decoded: list[str]) -> None:
    path = chrome(tmp_path / "a.json")
    first = ask(path)
    assert len(decoded) == 1
    assert ask(path) == first
    assert ask(tmp_path / "a.json", tmp_path) == first
    assert len(decoded) == 1
    assert ask(path, cache=False) == first
    assert len(decoded) == 2


def test_a_copy_elsewhere_is_known_by_its_hash(tmp_path: Path, folder: Path, decoded: list[str]) -> None:
    path = chrome(tmp_path / "one" / "a.json")
    first = ask(path)
    (tmp_path / "two").mkdir()
    shutil.copy(path, tmp_path / "two" / "a.json")
    assert ask(tmp_path / "two" / "a.json") == first
    assert len(decoded) == 1
    # Under another name the same bytes may mean another step.
    shutil.copy(path, tmp_path / "two" / "timeline-7.json")
    ask(tmp_path / "two" / "timeline-7.json")
    assert len(decoded) == 2


def test_a_changed_file_is_decoded_anew(tmp_path: Path, folder: Path, decoded: list[str]) -> None:
    path = chrome(tmp_path / "a.json")
    first = ask(path)
    size, status = path.stat().st_size, path.stat()
    chrome(path, dur=3)
    assert path.stat().st_size == size
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert ask(path) != first
    assert len(decoded) == 2


def test_no_cache_keeps_nothing(tmp_path: Path, folder: Path) -> None:
    ask(chrome(tmp_path / "a.json"), cache=False)
    assert not folder.exists()


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 3, len(data), 7):
        data[at] ^= 0x55
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize("harm", some((flip, cut, Path.unlink), (flip,), "shorter, or gone"))
def test_damage_is_found_and_mended(
    tmp_path: Path, folder: Path, decoded: list[str], harm: Callable[[Path], object]
) -> None:
    path = chrome(tmp_path / "a.json")
    first = ask(path)
    (entry,) = entries(folder)
    names = sorted(one.name for one in entry.iterdir())
    assert len(names) > 3
    for number, name in enumerate(names):
        (entry,) = entries(folder)
        harm(entry / name)
        assert ask(path) == first, name
        assert ask(path) == first, name
        assert len(decoded) <= number + 2, f"{name}: decoded again and again"
    assert len(decoded) > 2


def test_an_entry_cut_by_a_crash_of_the_machine_is_not_believed(
    tmp_path: Path, folder: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = chrome(tmp_path / "a.json")
    ask(path)
    monkeypatch.setattr(caching, "_boot", lambda: "another")
    ask(path)
    assert len(decoded) == 2
    # What had time to settle is forced to the disk at the next look, and believed ever after.
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1000)
    ask(path)
    monkeypatch.setattr(caching, "_boot", lambda: "a third")
    ask(path)
    assert len(decoded) == 2


def test_other_decoders_make_other_entries(
    tmp_path: Path, folder: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = chrome(tmp_path / "a.json")
    ask(path)
    monkeypatch.setattr(_core, "DECODER_VERSION", _core.DECODER_VERSION + 1)
    ask(path)
    assert len(decoded) == 2


def test_what_was_used_longest_ago_goes_first(
    tmp_path: Path, folder: Path, decoded: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [chrome(tmp_path / f"{name}.json", name) for name in "abc"]
    for path in paths:
        ask(path)
        time.sleep(0.02)
    ask(paths[0])
    size = sum(one.stat().st_size for entry in entries(folder) for one in entry.iterdir())
    monkeypatch.setenv("STEPSCOPE_CACHE_BYTES", str(size))
    ask(chrome(tmp_path / "d.json", "d"))
    assert len(entries(folder)) == 3
    decoded.clear()
    ask(paths[0])
    assert decoded == []
    ask(paths[1])
    assert len(decoded) == 1


def test_leftovers_of_dead_processes_are_swept(tmp_path: Path, folder: Path) -> None:
    ask(chrome(tmp_path / "a.json"))
    dead = "0123456789abcdef" * 2
    (folder / "stage" / dead).mkdir()
    (folder / "stage" / dead / "slice.columns").write_bytes(b"x")
    (folder / "stage" / f"{dead}.lock").touch()
    ask(chrome(tmp_path / "b.json", "b"))
    assert list((folder / "stage").iterdir()) == []


def test_entries_of_another_layout_are_swept(tmp_path: Path, folder: Path) -> None:
    ask(chrome(tmp_path / "a.json"))
    (old,) = entries(folder)
    parts = old.name.split("-")
    assert parts[2] == f"d{_core.DECODER_VERSION}s{schema().version}l1"
    parts[2] = parts[2].removesuffix("1") + "2"
    old.rename(old.with_name("-".join(parts)))
    ask(chrome(tmp_path / "b.json", "b"))
    (left,) = entries(folder)
    assert left.name.split("-")[2] != parts[2]


@pytest.mark.parametrize("version", ["13.22.3", "1.1.1"])
def test_a_cache_from_before_the_first_release_is_made_anew(
    tmp_path: Path, folder: Path, decoded: list[str], version: str
) -> None:
    """Versions count from the first release: a 1 from before it is another version, not this one."""
    path = chrome(tmp_path / "a.json")
    wanted = ask(path)
    (entry,) = entries(folder)
    parts = entry.name.split("-")
    old = entry.rename(entry.with_name("-".join([*parts[:2], version, parts[3]])))
    (index,) = (folder / "index").iterdir()
    known = strict_json.unsealed(strict_json.read(index))
    # What it remembers of the file is wrong, and would be believed if its version were ours.
    known["hashes"] = dict.fromkeys(known["hashes"], "0" * 16)
    index.write_bytes(strict_json.sealed({**known, "version": version}))
    assert ask(path) == wanted
    assert len(decoded) == 2
    assert entries(folder) == [entry]
    assert not old.exists()
    assert ask(path) == wanted
    assert len(decoded) == 2


@pytest.mark.parametrize("magic", [b"stepsc\x001", b"stepsc\x003"])
def test_stores_from_before_the_first_release_are_made_anew(
    tmp_path: Path, folder: Path, decoded: list[str], magic: bytes
) -> None:
    path = chrome(tmp_path / "a.json")
    wanted = ask(path)
    index = entries(folder)[0] / "tables.index"
    now = index.read_bytes()
    assert now.startswith(b"SSSTORE\x01")
    index.write_bytes(magic + now[8:])
    assert ask(path) == wanted
    assert len(decoded) == 2
    assert index.read_bytes() == now


def test_a_cache_that_cannot_be_used_is_no_reason_not_to_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path / "file"))
    assert len(ask(chrome(tmp_path / "a.json"))) == 3


def test_a_full_disk_is_no_reason_not_to_answer(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = _core.decode

    def full(*arguments: object, **options: object) -> object:
        if len(arguments) > 2 and arguments[2] is not None:
            error = _core.CoreError("io", None, "No space left on device")
            error.kind, error.offset, error.seen = error.args
            raise error
        return real(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(_core, "decode", full)
    assert len(ask(chrome(tmp_path / "a.json"))) == 3
    assert entries(folder) == []


def test_members_of_an_archive_are_learned_at_once(tmp_path: Path, folder: Path) -> None:
    """Several threads write down what they learned of one file; nothing of it is lost."""
    packed = tmp_path / "a.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(40):
            archive.writestr(f"{number}.json", chrome(tmp_path / "x.json").read_bytes() + b" " * number)
    ask(packed)
    (index,) = (folder / "index").iterdir()
    assert len(json.loads(index.read_bytes())["hashes"]) == 40


def test_a_change_that_only_the_inode_shows(tmp_path: Path, folder: Path, decoded: list[str]) -> None:
    """Written in place: same size and inode, and the time of the last change set back."""
    path = chrome(tmp_path / "a.json")
    first = ask(path)
    before = path.stat()
    path.write_bytes(path.read_bytes().replace(b'"dur": 2', b'"dur": 3'))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    after = path.stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (
        before.st_size,
        before.st_mtime_ns,
        before.st_ino,
    )
    assert ask(path) != first
    assert len(decoded) == 2


def test_changes_within_one_tick_of_the_clock_show(tmp_path: Path, folder: Path) -> None:
    path = chrome(tmp_path / "a.json")
    data = path.read_bytes()
    for dur in range(1, 10):
        path.write_bytes(data.replace(b'"dur": 2', b'"dur": %d' % dur))
        assert [row[2] for row in ask(path)] == [count * dur * 1_000_000 for count in (7, 7, 6)]


def test_a_file_of_which_a_change_might_not_show_is_not_remembered(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file system that counts in seconds, or a clock that was set back."""
    path = chrome(tmp_path / "a.json")
    now = path.stat().st_ctime_ns
    monkeypatch.setattr(time, "time_ns", lambda: now - 1)
    assert ask(path) == ask(path)
    assert list((folder / "index").iterdir()) == []


@pytest.mark.parametrize("given", ["itself", "inner"])
def test_nothing_of_somebody_else_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """STEPSCOPE_CACHE_DIR names a folder of somebody's that has entries/ and stage/ in it."""
    theirs = tmp_path / "theirs"
    for name in ("entries/old", "entries/1f-00-4.6.3-x", "stage/work", "index"):
        (theirs / name).mkdir(parents=True)
        (theirs / name / "file").write_text("precious")
    (theirs / "stage" / "work.lock").touch()
    before = {path: path.read_bytes() for path in theirs.rglob("*") if path.is_file()}
    if given == "inner":
        # Their files came into a folder that was stepscope's before.
        (theirs / "stepscope-cache.json").write_text("{}")
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(theirs))
    monkeypatch.setenv("STEPSCOPE_CACHE_BYTES", "1")
    for name in "abc":
        ask(chrome(tmp_path / f"{name}.json", name))
    assert {path: path.read_bytes() for path in before} == before
    made = theirs / "stepscope" if given == "itself" else theirs
    assert (made / "stepscope-cache.json").is_file()
    assert any(cache_folder.is_own("entries", path.name) for path in (made / "entries").iterdir())


def test_a_cache_that_lost_its_mark_is_kept(tmp_path: Path, folder: Path, decoded: list[str]) -> None:
    path = chrome(tmp_path / "a.json")
    ask(path)
    (folder / "stepscope-cache.json").unlink()
    ask(path)
    assert len(decoded) == 1
    assert (folder / "stepscope-cache.json").is_file()


def test_links_in_the_cache_are_not_followed(tmp_path: Path, folder: Path) -> None:
    ask(chrome(tmp_path / "a.json"))
    (entry,) = entries(folder)
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious")
    size, content, _, hints = entry.name.split("-")
    (folder / "entries" / f"{size}-{content}-1.1.1-{hints}").symlink_to(outside)
    dead = "0123456789abcdef" * 2
    (folder / "stage" / dead).symlink_to(outside)
    (folder / "stage" / f"{dead}.lock").touch()
    ask(chrome(tmp_path / "b.json", "b"))
    assert (outside / "file").read_text() == "precious"
    assert not (folder / "stage" / dead).is_symlink()


def test_what_somebody_reads_is_not_evicted(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_trace(chrome(tmp_path / "a.json")) as trace:
        trace.begin()
        assert trace.query("SELECT count(*) FROM slice").rows() == [(20,)]
        (read,) = entries(folder)
        monkeypatch.setenv("STEPSCOPE_CACHE_BYTES", "1")
        for name in "bc":
            ask(chrome(tmp_path / f"{name}.json", name))
        assert read in entries(folder)
        assert len(trace.query(QUESTION).rows()) == 3
    ask(chrome(tmp_path / "d.json", "d"))
    assert read not in entries(folder)


@pytest.mark.parametrize("first", [True, False])
def test_what_is_gone_is_decoded_again(tmp_path: Path, folder: Path, first: bool) -> None:
    """Somebody empties the cache by hand between two queries of one trace."""
    path = chrome(tmp_path / "a.json")
    expected = ask(path, cache=False)
    if not first:
        ask(path)
    with stepscope.open(path) as trace:
        assert trace.query("SELECT count(*) FROM track").rows() == [(2,)]
        for _ in range(3):
            shutil.rmtree(folder, ignore_errors=True)
            assert trace.query(QUESTION).rows() == expected


PROGRAM = """
import sys
import stepscope
for turn in range(int(sys.argv[1])):
    for path in sys.argv[2:]:
        with stepscope.open(path) as trace:
            rows = trace.query("SELECT count(*), sum(dur_ps), max(length(args_json)) FROM slice").rows()
        assert rows == [(20, 40_000_000, 13)], rows
"""


@pytest.mark.repeats("a race, tried many times")
def test_queries_side_by_side_in_a_cache_that_is_too_small(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_BYTES", "1000")
    paths = [str(chrome(tmp_path / f"{name}.json", name)) for name in "abcdef"]
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "6", *paths[at:], *paths[:at]], stderr=subprocess.PIPE
        )
        for at in range(4)
    ]
    told = [one.communicate()[1].decode() for one in running]
    assert [one.returncode for one in running] == [0, 0, 0, 0], "\n".join(told)[-3000:]
    ask(chrome(tmp_path / "z.json", "z"))
    assert len(entries(folder)) == 1
