"""The timeline in Chromium: what it draws, finds, selects and adds up is what the recording holds."""

import itertools
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.presenters.browser import Browser
from tests.presenters.hostile import HOSTILE
from tests.web.test_page import _becomes, _show, _until

RECORDING = SAMPLES / "tf_data" / "map_py_function.xplane.pb"
DRAWN = "document.querySelectorAll('.tl-track').length > 0"


@contextmanager
def served(*paths: Path) -> Iterator[Browser]:
    """A browser on the timeline of some recordings."""
    command = [sys.executable, "-m", "stepscope", "serve", *map(str, paths), "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        address = server.stdout.readline().strip()
        with Browser() as browser:
            browser.open(address, width=1280, height=720)
            _show(browser, "timeline", "!!document.querySelector('.tl-scroll')")
            yield browser
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with served(RECORDING) as browser:
        _until(browser, DRAWN)
        yield browser


def ask(sql: str, path: Path = RECORDING) -> list[tuple[Any, ...]]:
    with trace.open(path, cache=False) as opened:
        return [tuple(row) for row in opened.query(sql).rows()]


def pixels(browser: Browser) -> int:
    """Different colours on the canvas."""
    return int(
        browser.value(
            "(() => { const c = document.querySelector('.tl-area canvas');"
            "const d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer);"
            "return new Set(d).size })()"
        )
    )


POINTER = """(() => {
  const c = document.querySelector('.tl-area canvas'), box = c.getBoundingClientRect();
  c.setPointerCapture = () => {};
  for (const [kind, x, y, shift] of %s) c.dispatchEvent(new PointerEvent(kind, {
    clientX: box.left + x, clientY: box.top + y, button: 0, pointerId: 7, bubbles: true, shiftKey: shift }));
})()"""


def pointer(browser: Browser, *events: tuple[str, float, float, bool]) -> None:
    browser.value(POINTER % json.dumps(events))


def click(browser: Browser, x: float, y: float) -> None:
    pointer(browser, ("pointerdown", x, y, False), ("pointerup", x, y, False))


def rest(browser: Browser, milliseconds: int) -> None:
    """Lets the page's own timers go first: after 350 ms the address has the window, the slice and the range.
    They are set once the page is drawn. What the server must answer is waited for by _until()."""
    drawn(browser)
    browser.value(f"new Promise(done => setTimeout(() => done(1), {milliseconds}))")


def drawn(browser: Browser) -> None:
    """Waits for two frames: what a scroll changes is drawn in the first."""
    browser.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


def complaints(browser: Browser) -> list[str]:
    return [one for one in browser.complaints() if "NavigationEntryMarkedSkippable" not in one]


TITLES = "[...document.querySelectorAll('.tl-track .tl-title')].map(e => e.title)"


def panel(browser: Browser) -> str:
    return str(browser.value("document.querySelector('.tl-panel').innerText"))


def press(browser: Browser, key: str) -> None:
    event = f"new KeyboardEvent('keydown', {{key: {json.dumps(key)}, bubbles: true}})"
    browser.value(f"document.body.dispatchEvent({event})")


def test_every_track_with_slices_has_a_row(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    wanted = ask(
        "SELECT COALESCE(t.name, ''), COUNT(*) FROM slice AS s JOIN track AS t ON t.id = s.track_id "
        "GROUP BY t.id, t.name"
    )
    seen: set[str] = set()
    height = tab.value("document.querySelector('.tl-scroll').scrollHeight")
    for top in range(0, height, 300):
        tab.value(f"document.querySelector('.tl-scroll').scrollTop = {top}")
        drawn(tab)
        seen |= set(tab.value(TITLES))
    tab.value("document.querySelector('.tl-scroll').scrollTop = 0")
    told = {
        (title.split("\n")[0], title.split("\n")[1].split(" slice")[0].replace(",", "")) for title in seen
    }
    assert told == {(name, str(count)) for name, count in wanted}
    while pixels(tab) <= 10:
        drawn(tab)


COUNTED = """(async () => {
  const own = {headers: {'X-Stepscope': '1'}};
  const n = (await (await fetch('/api/catalog', own)).json()).tracks.length;
  const bytes = await (await fetch('/api/timeline?' + %s + [...Array(n).keys()], own)).arrayBuffer();
  const size = new DataView(bytes).getUint32(0, true);
  return JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, size))).events
})()"""


def test_cells_of_any_window_count_every_slice(tab: Browser) -> None:
    """The page asks as it does when it draws; the sum of its cells is what SQL counts."""
    slices = ask("SELECT ts_ps, dur_ps FROM slice")
    first = min(ts for ts, _ in slices)
    last = max(ts + dur for ts, dur in slices)
    for begin, end, px in (
        (first, last + 1, 1000),
        (first + 10**9, first + 4 * 10**10, 300),
        (first, first + 5 * 10**8, 7),
    ):
        query = f"from={begin}&to={end}&px={px}&tracks="
        got = tab.value(COUNTED % json.dumps(query))
        wanted = sum(begin <= ts < end or (ts < begin < ts + dur) for ts, dur in slices)
        assert got == wanted


def test_a_click_tells_what_sql_knows_of_a_slice(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    found = None
    for x in itertools.cycle(range(300, 340, 8)):  # until what was asked for is there to be clicked at
        click(tab, x, 150)
        rest(tab, 400)
        if found := tab.value("/slice=([-0-9]+)/.exec(location.hash)?.[1] ?? null"):
            break
    ((name, dur_ps, children),) = ask(
        "SELECT s.name, s.dur_ps, (SELECT COUNT(*) FROM slice AS c WHERE c.parent_id = s.id) "
        f"FROM slice AS s WHERE s.id = {found}"
    )
    _until(tab, f"document.querySelector('.tl-panel').innerText.includes({json.dumps(name)})")
    for said in (f"{dur_ps / 1e9:.3g} ms", f"{children:,} child" if children else ""):
        _until(tab, f"document.querySelector('.tl-panel').innerText.includes({json.dumps(said)})")
    press(tab, "f")
    rest(tab, 400)
    window = tab.value("/window=([-0-9]+)~([-0-9]+)/.exec(location.hash).slice(1).map(Number)")
    assert window[1] - window[0] == pytest.approx(2 * dur_ps, rel=0.05)
    press(tab, "x")
    press(tab, "Home")


def test_a_range_adds_up(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    press(tab, "Home")
    rest(tab, 200)
    # What is on the screen now: the panel that opens below leaves room for less.
    names = [title.split("\n")[0] for title in tab.value(TITLES)]
    moves = (("pointerdown", 300), ("pointermove", 500), ("pointerup", 500))
    pointer(tab, *((kind, x, 10, False) for kind, x in moves))
    _until(tab, "document.querySelector('.tl-panel').innerText.includes('In parallel')")
    rest(tab, 400)
    begin, end = tab.value("/range=([-0-9]+)~([-0-9]+)/.exec(location.hash).slice(1).map(Number)")
    (first,) = ask("SELECT MIN(ts_ps) FROM slice")[0]
    rows = ask(
        "SELECT s.ts_ps, s.dur_ps FROM slice AS s JOIN track AS t ON t.id = s.track_id "
        f"WHERE t.name IN ({', '.join(repr(n) for n in names)})"
    )
    wanted = sum(ts < first + end and ts + dur > first + begin for ts, dur in rows)
    told = panel(tab)
    number = int(told.split("Slices")[1].split()[0].replace(",", ""))
    # Slices that only touch the range may count either way.
    assert abs(number - wanted) <= 2
    press(tab, "x")


def test_a_range_tells_its_slices_at_once_and_can_be_stopped(tab: Browser) -> None:
    """While it is added up, which is held up here."""
    (count,) = ask("SELECT count(*) FROM slice")[0]
    _show(tab, "timeline", DRAWN)
    press(tab, "Home")
    rest(tab, 200)
    tab.value("""(() => {
      window.fetched = window.fetch;
      window.ended = 0;
      window.fetch = (path, given) => path.startsWith('/api/range?')
        ? new Promise((_, fail) => given.signal.addEventListener('abort', () => {
            window.ended++;
            fail(new DOMException('dropped', 'AbortError'));
          }))
        : window.fetched(path, given);
    })()""")
    try:
        moves = (("pointerdown", 300), ("pointermove", 500), ("pointerup", 500))
        pointer(tab, *((kind, x, 10, False) for kind, x in moves))
        told = "(document.querySelector('.tl-panel [role=status]') || {}).textContent || ''"
        _until(tab, f"/adding up [\\d,]+ slices/.test({told})")
        slices = tab.value(f"Number(/adding up ([\\d,]+) slices/.exec({told})[1].replace(/,/g, ''))")
        assert 0 < slices <= count
        tab.value("document.querySelector('.tl-panel [role=status] button').click()")
        _until(tab, f"window.ended === 1 && {told} === ''")
        assert tab.value("document.querySelector('.tl-panel .problem') === null")
    finally:
        tab.value("void (window.fetch = window.fetched)")


def test_a_range_says_where_its_whole_steps_go(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    press(tab, "Home")
    rest(tab, 200)
    wide = tab.value("document.querySelector('.tl-area canvas').clientWidth")
    moves = (("pointerdown", 40), ("pointermove", wide - 40), ("pointerup", wide - 40))
    pointer(tab, *((kind, x, 10, False) for kind, x in moves))
    _until(tab, "document.querySelector('.tl-panel').innerText.includes('whole step')")
    rest(tab, 400)
    begin, end = tab.value("/range=([-0-9]+)~([-0-9]+)/.exec(location.hash).slice(1).map(Number)")
    (origin,) = ask("SELECT MIN(ts_ps) FROM slice")[0]
    parts = ask(
        "SELECT p.label, SUM(p.dur_ps), COUNT(DISTINCT s.id) FROM step AS s "
        "JOIN step_part AS p ON p.step_id = s.id "
        f"WHERE s.ts_ps >= {origin + begin} AND s.ts_ps + s.dur_ps <= {origin + end} "
        "GROUP BY p.label ORDER BY 2 DESC"
    )
    steps = max(row[2] for row in parts)
    assert steps > 1
    _until(tab, f"document.querySelector('.tl-panel').innerText.includes('{steps} whole steps')")
    legend = "[...document.querySelectorAll('.tl-panel .legend li')]"
    _becomes(tab, f"{legend}.map(e => e.childNodes[1].data.trim())", [row[0] for row in parts])
    press(tab, "x")


def test_a_search_counts_and_visits(tab: Browser) -> None:
    _show(tab, "timeline?search=MapV2", "!!document.querySelector('.tl-count')")
    (wanted,) = ask("SELECT COUNT(*) FROM slice WHERE LOWER(name) LIKE '%mapv2%'")[0]
    _until(tab, f"document.querySelector('.tl-count').innerText.includes('{wanted:,} slice')")
    tab.value("document.activeElement.blur()")
    press(tab, "n")
    _until(tab, "document.querySelector('.tl-panel h2')?.innerText.toLowerCase().includes('mapv2')")
    _until(tab, "document.querySelector('.tl-count').innerText.includes('1 of')")


def test_what_was_arranged_survives_a_reload(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    tab.value("document.querySelector('.tl-scroll').scrollTop = 0")  # the slice that was visited lies below
    drawn(tab)
    tab.value("document.querySelector('.tl-track [aria-pressed]').click()")
    _until(tab, "document.querySelector('.tl-group .tl-title').innerText.startsWith('Pinned')")
    kept = "Object.entries(localStorage).find(([key]) => key.startsWith('stepscope.timeline'))[1]"
    _until(tab, f"JSON.parse({kept}).arrangement.pinned.length > 0")
    tab.value("document.querySelector('.tl-track [aria-pressed=true]').click()")


WINDOW = "/window=([-0-9]+)~([-0-9]+)/.exec(location.hash).slice(1).map(Number)"


def window(browser: Browser) -> tuple[int, int]:
    rest(browser, 350)
    begin, end = browser.value(WINDOW)
    return begin, end


def test_the_first_view_is_that_of_the_steps(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    press(tab, "Home")
    whole = window(tab)
    press(tab, "0")
    begin, end = window(tab)
    ((origin, first, last, until),) = ask(
        "SELECT (SELECT MIN(ts_ps) FROM slice), MIN(ts_ps), MAX(ts_ps + dur_ps),"
        " (SELECT MAX(ts_ps + dur_ps) FROM slice) FROM step"
    )
    long = last - first
    assert begin == pytest.approx(first - origin - 0.02 * long, abs=0.01 * long)
    assert end == pytest.approx(last - origin + 0.02 * long, abs=0.01 * long)
    assert whole[0] <= 0
    assert whole[1] >= until - origin


def test_a_key_zooms_where_the_mouse_is(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    press(tab, "Home")
    before = window(tab)
    wide = tab.value("document.querySelector('.tl-area canvas').clientWidth")
    pointer(tab, ("pointermove", wide / 4, 12, False))
    press(tab, "w")
    after = window(tab)
    assert after[1] - after[0] == pytest.approx(0.8 * (before[1] - before[0]), rel=0.001)
    under = [begin + (end - begin) / 4 for begin, end in (before, after)]
    assert under[0] == pytest.approx(under[1], abs=(before[1] - before[0]) / 1000)
    pointer(tab, ("pointerleave", 0, 0, False))
    press(tab, "Home")


def test_what_is_clicked_stays_in_view_until_its_details_are_closed(tab: Browser) -> None:
    """The lowest slice on the screen, where the details open."""
    _show(tab, "timeline", DRAWN)
    press(tab, "x")
    press(tab, "0")
    _until(tab, "!document.querySelector('.tl-close')")
    tab.value("document.querySelector('.tl-scroll').scrollTop = 0")
    drawn(tab)
    high = int(tab.value("document.querySelector('.tl-scroll').clientHeight"))
    for y in itertools.cycle(range(high - 6, high // 2, -8)):
        click(tab, tab.value("document.querySelector('.tl-area canvas').clientWidth") / 2, y)
        rest(tab, 400)
        if tab.value("!!document.querySelector('.tl-close')"):
            break
    _until(tab, "document.querySelector('.tl-scroll').scrollTop > 0")
    _until(tab, "document.querySelector('.tl-panel').innerText.includes('Duration')")
    tab.value("document.querySelector('.tl-close').click()")
    _until(tab, "!document.querySelector('.tl-close')")
    moves = (("pointerdown", 300), ("pointermove", 500), ("pointerup", 500))
    pointer(tab, *((kind, x, 10, False) for kind, x in moves))
    _until(tab, "!!document.querySelector('.tl-close')")
    press(tab, "Escape")
    _until(tab, "!document.querySelector('.tl-close')")


def test_names_of_threads_are_for_people(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    names = tab.value("[...document.querySelectorAll('.tl-track .tl-name')].map(e => e.textContent)")
    assert len(set(names)) == len(names) > 1
    assert not any(sum(character.isdigit() for character in name) > 8 for name in names)


def test_keys_zoom_and_move(tab: Browser) -> None:
    _show(tab, "timeline", DRAWN)
    spans = []
    for key in ("Home", "w", "w", "d", "s"):
        press(tab, key)
        rest(tab, 350)
        spans.append(tab.value("/window=([-0-9]+)~([-0-9]+)/.exec(location.hash).slice(1).map(Number)"))
    lengths = [end - begin for begin, end in spans]
    assert lengths[0] > lengths[1] > lengths[2]
    assert lengths[3] == pytest.approx(lengths[2])
    assert spans[3][0] > spans[2][0]
    assert lengths[4] > lengths[3]


def test_the_page_complains_of_nothing(tab: Browser) -> None:
    assert complaints(tab) == []
    assert all(url.startswith(("http://127.0.0.1:", "data:")) for url in tab.requests())


def chrome(path: Path, events: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return path


@pytest.mark.repeats("test_hostile.py shows them in this view, too; here they are clicked at")
def test_hostile_names_stay_text(tmp_path: Path) -> None:
    events = [
        {
            "ph": "X",
            "name": name,
            "cat": name,
            "pid": 1,
            "tid": 1,
            "ts": 100 * i,
            "dur": 90,
            "args": {name: name},
        }
        for i, name in enumerate(HOSTILE)
    ]
    events += [{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": HOSTILE[0]}}]
    recording = chrome(tmp_path / "t.json", events)
    with served(recording) as browser:
        browser.value("window.alert = window.confirm = window.prompt = () => { window.dialogs = 1 }")
        _until(browser, DRAWN)
        for x in range(30, 1000, 60):
            click(browser, x, 75)
            rest(browser, 60)
        press(browser, "Home")
        _show(browser, "timeline?search=script", "!!document.querySelector('.tl-count')")
        assert browser.value("window.dialogs ?? 0") == 0
        assert (
            browser.value(
                "document.querySelectorAll('.timeline script, .timeline iframe, .timeline img').length"
            )
            == 0
        )
        assert complaints(browser) == []


@pytest.mark.repeats("ten thousand tracks, and odd recordings one by one")
@pytest.mark.parametrize("events", [
    [],
    [{"ph": "X", "name": "only", "pid": 1, "tid": 1, "ts": 5, "dur": 1}],
    [{"ph": "X", "name": "day", "pid": 1, "tid": 1, "ts": -5, "dur": 86_400_000_000}],
    [{"ph": "X", "name": "n" * 1_000_000, "pid": 1, "tid": 1, "ts": 5, "dur": 1}],
], ids=["none", "one", "a day that begins before the origin", "a name of a megabyte"])  # fmt: skip
def test_odd_recordings_are_shown(tmp_path: Path, events: list[dict[str, Any]]) -> None:
    with served(chrome(tmp_path / "t.json", events)) as browser:
        if events:
            _until(browser, DRAWN)
            _until(browser, "!document.querySelector('.tl-panel .problem')")
            rest(browser, 500)
            click(browser, 510, 75)
            _until(browser, "!!document.querySelector('.tl-panel h2')")
        else:
            _until(browser, "document.querySelector('.tl-panel').innerText.includes('no slices')")
        assert complaints(browser) == []


@pytest.mark.repeats("ten thousand tracks, and odd recordings one by one")
def test_ten_thousand_tracks_scroll(tmp_path: Path) -> None:
    events = [
        {"ph": "X", "name": f"op{i % 7}", "pid": i // 100, "tid": i, "ts": i, "dur": 5000}
        for i in range(10_000)
    ]
    with served(chrome(tmp_path / "t.json", events)) as browser:
        _until(browser, DRAWN)
        assert browser.value("document.querySelectorAll('.tl-row').length") < 100
        browser.value("document.querySelector('.tl-scroll').scrollTop = 1e9")
        rest(browser, 500)
        assert browser.value("document.querySelector('.tl-overview span').innerText") == "10,000 tracks"
        titles = browser.value(
            "[...document.querySelectorAll('.tl-track .tl-title')].map(e => e.title).join('|')"
        )
        assert "9999" in titles or "9,999" in titles
