"""The reader of stepscope's own JSON, and odd values in every file that it reads."""

import contextlib
import json
import math
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import stepscope
from stepscope import _core, formats, strict_json
from stepscope.cli import main
from stepscope.errors import StepscopeError
from stepscope.lake import derived_tables, leftovers, reader, rows, writer
from stepscope.lake.cache import Cache
from stepscope.lake.hash_checks import Checked
from stepscope.session.decoding import decode_source
from stepscope.sources.find import find
from stepscope.sources.spool import Spool
from tests import odd_json
from tests.formats import capture_folder
from tests.lake.recordings import chrome
from tests.tiers import cases, some

COUNT = cases(3, 400)


@pytest.mark.parametrize("data", [*odd_json.ODD, *odd_json.WHOLE], ids=lambda data: repr(data[:20]))
def test_every_oddity_is_a_value_or_one_error(data: bytes) -> None:
    for lenient in (False, True):
        with contextlib.suppress(strict_json.OddJson):
            found = strict_json.parse(data, lenient=lenient)
            json.dumps(found, allow_nan=False)
            if lenient:
                json.dumps(found, ensure_ascii=False).encode()


@given(st.binary() | st.text().map(str.encode) | st.from_regex(rb'[\[{"\\ud8c0-9e+.:,tfn}\]]{0,40}'))
def test_any_bytes_are_a_value_or_one_error(data: bytes) -> None:
    with contextlib.suppress(strict_json.OddJson):
        assert strict_json.parse(data) == json.loads(data)
    with contextlib.suppress(strict_json.OddJson):
        assert strict_json.parse(data, lenient=True) == without_odd_numbers(json.loads(data))


def without_odd_numbers(found: object) -> object:
    """The value with None for numbers that are not finite, or do not fit into 64 bits."""
    if isinstance(found, dict):
        return {key: without_odd_numbers(value) for key, value in found.items()}
    if isinstance(found, list):
        return [without_odd_numbers(value) for value in found]
    if isinstance(found, float) and not math.isfinite(found):
        return None
    return None if isinstance(found, int) and not -(1 << 63) <= found < 1 << 64 else found


def test_what_is_told() -> None:
    told = {
        b"\xff": "byte 0 is not UTF-8",
        b'{"a": 1, "a": 2}': "a key appears twice",
        b"[1e400]": "the number 1e400 is too large",
        b"[NaN]": "NaN is not JSON",
        b"[99999999999999999999]": "does not fit into 64 bits",
        b'["\\ud800"]': "half of a surrogate pair",
        b"[" * 65 + b"]" * 65: "nested deeper than 64 levels",
        b"[" * 100_000: "nested too deeply",
        b'{"\xc3\xa9": }': "Expecting value (byte 7)",
    }
    for data, expected in told.items():
        with pytest.raises(strict_json.OddJson) as caught:
            strict_json.parse(data)
        assert expected in str(caught.value)
    assert strict_json.parse(b"[" * 64 + b"]" * 64)
    assert strict_json.parse(b'"\\udc80"') == "\udc80", "a byte of a name that is not UTF-8"
    odd = b'[NaN, 1e400, 99999999999999999999, "a\\ud800b", {"a": 1, "a": 2}]'
    assert strict_json.parse(odd, lenient=True) == [None, None, None, "a\N{REPLACEMENT CHARACTER}b", {"a": 2}]


def test_files_that_are_not_plain_or_too_large(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(strict_json.OddJson, match="plain file"):
        strict_json.read(tmp_path / "pipe")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(50 << 30)
    with pytest.raises(strict_json.OddJson, match="more than"):
        strict_json.read(tmp_path / "large")
    with pytest.raises(OSError, match="No such file"):
        strict_json.read(tmp_path / "nothing")


class _Row(NamedTuple):
    name: str
    count: int
    rest: str | None
    flag: bool


def test_records_have_exactly_their_fields() -> None:
    good = {"name": "x", "count": 3, "rest": None, "flag": True}
    assert strict_json.record(_Row, good) == _Row("x", 3, None, True)
    for name, odd in (
        ("name", 1),
        ("count", True),
        ("count", -1),
        ("count", 1 << 63),
        ("rest", 0),
        ("flag", 1),
    ):
        with pytest.raises(strict_json.OddJson, match=name):
            strict_json.record(_Row, {**good, name: odd})
    for wrong in ({}, [], None, {**good, "more": 1}, {key: good[key] for key in list(good)[1:]}):
        with pytest.raises(strict_json.OddJson):
            strict_json.record(_Row, wrong)


def survives(act: Callable[[], object], what: str) -> None:
    """A result or one of stepscope's errors."""
    try:
        act()
    except StepscopeError:
        pass
    except Exception as error:  # noqa: BLE001 - named with the value that did it
        pytest.fail(f"{what}: {type(error).__name__}: {error}")


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording and the lake that it was ingested into."""
    folder = tmp_path_factory.mktemp("ready")
    stepscope.ingest([chrome(folder / "in" / "a.json")], folder / "lake")
    return folder


@pytest.fixture
def lake(ready: Path, tmp_path: Path) -> Path:
    shutil.copytree(ready, tmp_path, dirs_exist_ok=True)
    return tmp_path / "lake"


def commands(lake: Path) -> list[list[str]]:
    return [
        ["query", str(lake), "SELECT * FROM source"],
        ["ingest", str(lake.parent / "in"), "--lake", str(lake)],
    ]


def tried(
    path: Path, made: Iterator[tuple[str, bytes]], act: Callable[[], object], every: list[list[str]], err: Any
) -> None:
    """Puts each document there, acts, and now and then asks the command line."""
    before = path.read_bytes()
    count = 0
    for count, (what, data) in enumerate(made):
        path.write_bytes(data)
        survives(act, what)
        if count % 50 == 0:
            for command in every:
                assert main(command) in (0, 2), what
                assert "itself failed" not in err.readouterr().err, what
    assert count >= COUNT * 7 // 8, "too few documents"
    path.write_bytes(before)


def sealed(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Odd values as if they had been written so."""
    for what, changed in odd_json.documents(data, 2 * COUNT):
        with contextlib.suppress(ValueError, RecursionError):
            found = json.loads(changed)
            if isinstance(found, dict):
                found.pop("digest", None)
                yield what, strict_json.sealed(found)


@pytest.mark.parametrize("name", ["manifest", "sealed manifest", "mark", "plan", "old plan"])
def test_odd_values_in_the_files_of_a_lake(
    lake: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (announced,) = (lake / "_manifest").iterdir()
    stage = lake / "_stage"
    plan = json.dumps(
        {"manifest": announced.name, "files": [f"slice/run=a/host=h/{'0' * 32}-4.parquet"]}
    ).encode()

    def read() -> None:
        for one in reader.open_lake(lake).manifests:
            assert all(isinstance(value, (str, int, type(None))) for value in one.source)

    if name == "manifest":
        made = odd_json.documents(announced.read_bytes(), COUNT)
        tried(announced, made, read, commands(lake), capsys)
    elif name == "sealed manifest":
        tried(announced, sealed(announced.read_bytes()), read, commands(lake), capsys)
    elif name == "mark":
        mark = lake / "stepscope-lake.json"
        longer = json.dumps(
            {"schema_version": 7, "made_by": "stepscope 7.0.0", **{f"field{n}": n for n in range(8)}}
        ).encode()
        tried(mark, odd_json.documents(longer, COUNT), lambda: writer.create(lake), commands(lake), capsys)
    else:
        monkeypatch.setattr(leftovers, "OLD_SECONDS", -1)
        longer = json.dumps({**json.loads(plan), "more": [1, 2, 3, {"a": "b", "c": [4]}]}).encode()
        for number, (what, data) in enumerate(odd_json.documents(longer, COUNT)):
            if name == "plan":
                inner = stage / f"{number:032x}"
                inner.mkdir()
                (stage / f"{number:032x}.lock").touch()
                (inner / "plan.json").write_bytes(data)
            else:
                (stage / f"old-{number:032x}.json").write_bytes(data)
            assert leftovers.sweep(lake).removed == 1, what
        read()


@pytest.mark.parametrize("again", [False, True], ids=["as they are", "sealed"])
def test_odd_values_in_what_derived_tables_were_made_of(
    lake: Path, again: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """They only cost making the tables again."""
    (announced,) = (lake / derived_tables.FOLDER).iterdir()
    before = derived_tables.read(lake, announced.stem)
    assert before is not None
    assert derived_tables.intact(lake, before)

    def read() -> None:
        found = derived_tables.read(lake, announced.stem)
        assert again or found in (None, before)
        if found is not None:
            derived_tables.intact(lake, found)
            found.current(reader.read_manifests(lake), {"tfprof_node": 1})

    data = announced.read_bytes()
    made = sealed(data) if again else odd_json.documents(data, COUNT)
    asked = [["query", str(lake), "SELECT count(*) FROM tfprof_node"]]
    tried(announced, made, read, asked, capsys)


@pytest.mark.parametrize("name", ["entry", "index", "sealed index", "checked"])
def test_odd_values_in_the_files_of_the_cache(
    lake: Path, name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They only cost another decoding."""
    folder = lake.parent / "cache"
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(folder))
    path = lake.parent / "in" / "a.json"
    with stepscope.open(path) as trace:
        trace.query("SELECT count(*) FROM slice").rows()

    def look() -> None:
        cache, spool = Cache(folder, 1 << 30, _core.DECODER_VERSION), Spool()
        (source,) = find([str(path)], formats, spool, memory=cache.files).sources
        cache.find(source)
        cache.tidy()
        cache.locks.release()
        decoded = decode_source(source, spool)
        assert decoded.error is None or name == "sealed index"
        spool.close()

    asked = [["query", str(path), "SELECT count(*) FROM slice"]]
    if name == "entry":
        (entry,) = (folder / "entries").iterdir()
        file = entry / "entry.json"
        tried(file, odd_json.documents(file.read_bytes(), COUNT), look, [], capsys)
        assert main(asked[0]) == 0
        return
    if name == "index":
        (file,) = (folder / "index").iterdir()
        tried(file, odd_json.documents(file.read_bytes(), COUNT), look, asked, capsys)
        return
    if name == "sealed index":
        (file,) = (folder / "index").iterdir()
        tried(file, sealed(file.read_bytes()), look, asked, capsys)
        return
    opened = reader.open_lake(lake)
    (announced,) = opened.manifests
    Checked(lake, folder).keep([(one, (lake / one.path).stat()) for one in announced.files])
    (file,) = (folder / "checked").iterdir()

    def check() -> None:
        opened.verify(contents=True, checked=Checked(lake, folder))

    tried(file, odd_json.documents(file.read_bytes(), COUNT), check, [], capsys)


PIECES = [
    "capture.json", "steps.ndjson", "machine.ndjson", "stacks.ndjson", "compilations.ndjson",
    "pipeline/models.ndjson", "pipeline/datasets.json",
]  # fmt: skip


@pytest.mark.parametrize(
    "name", some(PIECES, ("capture.json", "pipeline/models.ndjson"), "one reader reads all lines")
)
def test_odd_values_in_the_files_of_a_capture(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = capture_folder.write(tmp_path / "capture", xplane=False)
    steps = folder / "steps.ndjson"
    if not steps.exists():
        second = 10**9
        told = [
            {"step": n, "begin_unix_ns": n * second, "end_unix_ns": n * second + 5, "recorded": True}
            for n in (1, 2)
        ]
        steps.write_text("".join(json.dumps(one) + "\n" for one in told))

    def decode() -> None:
        spool = Spool()
        for source in find([str(folder)], formats, spool).sources:
            if source.format == "capture":
                decoded = decode_source(source, spool)
                rows.small_tables(source, 0, decoded.facts, decoded.error)
        spool.close()

    every = odd_json.lines if name.endswith(".ndjson") else odd_json.documents
    asked = [
        [
            "query",
            "--no-cache",
            str(folder),
            "SELECT * FROM counter, user_stage, source_note, stack_sample, compilation",
        ]
    ]
    tried(folder / name, every((folder / name).read_bytes(), COUNT), decode, asked, capsys)
