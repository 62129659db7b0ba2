"""Sampled stacks in the timeline: bars of functions whose counts and times are those of the samples."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from stepscope.engines import rows_of
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.formats.capture_folder import STARTED_NS, line, write
from tests.presenters.browser import Browser
from tests.server.asking import Served, cells
from tests.web.test_page import _until
from tests.web.test_timeline import DRAWN, click, complaints, panel, press, rest, served

RECORDING = SAMPLES / "capture" / "python_loop"


class Bar(NamedTuple):
    """A function without a pause."""

    thread: int
    depth: int
    stack: int
    begin: int
    end: int


def bars(path: Path) -> list[Bar]:
    """The bars as one would draw them by hand: sample after sample, each frame is open until it changes."""
    with trace.open(path, cache=False) as opened:
        parents = dict(opened.query("SELECT id, parent_id FROM stack").rows())
        samples = opened.query(
            "SELECT source_id, is_main, thread_name, track_id, ts_ps, weight_ps, stack_id, id"
            " FROM stack_sample"
        ).rows()
    keyed = [((row[0], not row[1], row[2] or "", -1 if row[3] is None else row[3]), row) for row in samples]
    numbers = {key: number for number, key in enumerate(sorted({key for key, _ in keyed}), 1)}
    found: list[Bar] = []
    for key, number in numbers.items():
        open_: list[tuple[int, int]] = []
        last = None
        for row in sorted((row for one, row in keyed if one == key), key=lambda row: (row[4], row[7])):
            begin, path_, at = row[4], [], row[6]
            while at is not None:
                path_.append(at)
                at = parents[at]
            path_.reverse()
            same = 0
            if last is not None and last >= begin:
                while same < min(len(open_), len(path_)) and open_[same][0] == path_[same]:
                    same += 1
            found += [
                Bar(-number, same + i, stack, first, last or 0)
                for i, (stack, first) in enumerate(open_[same:])
            ]
            open_ = open_[:same] + [(stack, begin) for stack in path_[same:]]
            last = begin + row[5]
        found += [Bar(-number, i, stack, first, last or 0) for i, (stack, first) in enumerate(open_)]
    return found


def many_stacks(folder: Path) -> Path:
    """Three threads, two of them without a name, 400 looks, pauses, and calls that come back."""
    frames: list[dict[str, Any]] = [{"begin_unix_ns": STARTED_NS}]
    for i in range(30):
        frames.append({"frame": i, "function": f"f{i % 9}", "file": "train.py", "line": i, "module": "m",
                       "code": "program" if i % 2 else "library"})  # fmt: skip
        frames.append({"stack": i, "frame": i, **({"in": i // 2} if i else {})})
    frames += [{"thread": 0, "name": "MainThread", "main": True}, {"thread": 1, "name": None},
               {"thread": 2, "name": "worker"}]  # fmt: skip
    for i in range(400):
        on = [[0, (i // 7) % 30, i * 10**6], [1, (i * i) % 30]]
        if i % 50 < 40:
            on.append([2, i % 3])
        frames.append({"unix_ns": STARTED_NS + (i * 10 + 5) * 10**6, "late_ns": 0, "on": on})
    frames.append({"end_unix_ns": STARTED_NS + 4000 * 10**6})
    return write(folder, xplane=False, **{"stacks.ndjson": b"".join(line(**one) for one in frames)})


@pytest.fixture(scope="module", params=["sample", "made"])
def recording(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return (
        RECORDING if request.param == "sample" else many_stacks(tmp_path_factory.mktemp("made") / "capture")
    )


def test_bars_are_those_drawn_by_hand(recording: Path) -> None:
    wanted = bars(recording)
    with trace.open(recording, cache=False) as opened:
        rows = opened.query(rows_of("_stack_bar", ("track", "depth", "id", "ts_ps", "dur_ps"))).rows()
        shift = opened.query("SELECT DISTINCT shift_ps FROM _source_shift").rows()[0][0]
    found = [Bar(row[0], row[1], -1 - row[2], row[3] - shift, row[3] - shift + row[4]) for row in rows]
    assert Counter(found) == Counter(wanted)
    assert len(found) > 30


def test_cells_hold_every_bar_of_a_window(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path))
    wanted = bars(recording)
    with closing(Served(str(recording))) as page:
        catalog = page.get("/api/catalog").json
        tracks = [one for one in catalog["tracks"] if one["kind"] == "stacks"]
        assert tracks[0]["name"] == "MainThread"
        with trace.open(recording, cache=False) as opened:
            samples = opened.query("SELECT COUNT(*) FROM stack_sample").rows()[0][0]
            shift = opened.query("SELECT DISTINCT shift_ps FROM _source_shift").rows()[0][0]
        assert sum(one["slices"] for one in tracks) == samples
        first, last = min(bar.begin for bar in wanted) + shift, max(bar.end for bar in wanted) + shift
        numbers = ",".join(str(one["track"]) for one in tracks)
        for px in (1, 7, 300, 5000):
            for a, b in ((0.0, 1.0), (0.2, 0.3), (0.45, 0.9), (0.999, 1.2)):
                begin, end = int(first + a * (last - first)), int(first + b * (last - first))
                header, rows = cells(
                    page.get(f"/api/timeline?from={begin}&to={end}&px={px}&tracks={numbers}")
                )
                inside = [
                    bar for bar in wanted
                    if begin <= bar.begin + shift < end or bar.begin + shift < begin < bar.end + shift
                ]  # fmt: skip
                assert header["events"] == sum(row["count"] for row in rows) == len(inside), (px, a, b)
        names = page.get("/api/names").json
        assert {catalog["classes"][names["classes"][row["name"]]] for row in rows} == {"python"}


def test_a_stack_is_its_frames_and_their_time(
    recording: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STEPSCOPE_CACHE_DIR", str(tmp_path))
    wanted = bars(recording)
    with trace.open(recording, cache=False) as opened:
        parents = dict(opened.query("SELECT id, parent_id FROM stack").rows())
        functions = dict(
            opened.query("SELECT k.id, f.function FROM stack k JOIN frame f ON f.id = k.frame_id").rows()
        )
        own = opened.query(
            "SELECT stack_id, SUM(weight_ps), COUNT(*) FROM stack_sample GROUP BY stack_id"
        ).rows()
    with closing(Served(str(recording))) as page:
        for stack in sorted({bar.stack for bar in wanted})[:12]:
            told = page.get(f"/api/stack/{stack}").json
            above, at = [], stack
            while at is not None:
                above.append(functions[at])
                at = parents[at]
            assert [frame["function"] for frame in told["frames"]] == above
            inside = {one for one in parents if stack in _around(one, parents)}
            assert int(told["time_ps"]) == sum(time for one, time, _ in own if one in inside)
            assert int(told["own_ps"]) == sum(time for one, time, _ in own if one == stack)
            assert told["samples"] == sum(count for one, _, count in own if one in inside)
            assert int(told["time_ps"]) == sum(bar.end - bar.begin for bar in wanted if bar.stack == stack)
        for odd in ("999999999", "-1", "x", "9" * 40):
            assert page.get(f"/api/stack/{odd}").status in (400, 404)


def _around(stack: int, parents: dict[int, int | None]) -> set[int]:
    found: set[int] = set()
    at: int | None = stack
    while at is not None:
        found.add(at)
        at = parents[at]
    return found


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    path = many_stacks(tmp_path_factory.mktemp("page") / "capture")
    with served(path) as browser:
        _until(browser, DRAWN)
        yield browser


def test_the_row_is_drawn_and_a_click_says_who_called(tab: Browser) -> None:
    _until(
        tab,
        "[...document.querySelectorAll('.tl-group .tl-title')].some(e => e.innerText.includes('Sampled'))",
    )
    press(tab, "Home")
    rest(tab, 500)
    row = (
        "(() => { const title = [...document.querySelectorAll('.tl-track')]"
        ".find(e => e.innerText.includes('MainThread')), a = title.getBoundingClientRect();"
        "const c = document.querySelector('.tl-area canvas').getBoundingClientRect();"
        "return [a.top - c.top, a.height] })()"
    )
    top, height = tab.value(row)
    assert height > 3 * 16
    while "Called from" not in panel(tab):  # a click before the bars are there meets nothing
        click(tab, 400, top + 8)
        rest(tab, 400)
    told = panel(tab)
    assert "f0" in told
    assert "1,120 on all threads" in told  # every sample begins with its outermost call
    assert "Nothing is around it" in told
    click(tab, 400, top + 8 + 16)
    _until(tab, "document.querySelector('.tl-panel').innerText.includes('f0')")
    assert complaints(tab) == []
    press(tab, "x")
    _until(tab, "!document.querySelector('.tl-panel').innerText.includes('Called from')")
