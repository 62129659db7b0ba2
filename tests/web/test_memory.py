"""The memory view in Chromium: the curve, the peak and the lifetimes are those of the recording."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from stepscope import units
from tests.corpus import SAMPLES
from tests.presenters.browser import Browser
from tests.web.test_page import _show, _until
from tests.web.test_timeline import ask, served

RECORDING = SAMPLES / "run_metadata" / "two_servers.pb"
ATTRIBUTES = "e => ['x', 'width', 'y'].map(name => Number(e.getAttribute(name)))"


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    with served(RECORDING) as browser:
        _show(browser, "memory", "!!document.querySelector('.lifetimes')")
        yield browser


def test_every_block_is_a_bar_where_it_lived(tab: Browser) -> None:
    rows = ask(
        "SELECT born_ps, freed_ps, lane, bytes, at_peak FROM buffer ORDER BY bytes DESC, id", RECORDING
    )
    first, last = min(row[0] for row in rows), max(row[1] for row in rows)
    bars = tab.value(f"[...document.querySelectorAll('.lanes rect')].map({ATTRIBUTES})")
    assert len(bars) == len(rows)
    high = 14.0
    for (x, width, y), (born, freed, lane, _, _) in zip(bars, rows, strict=True):
        assert x == pytest.approx(1000 * (born - first) / (last - first), abs=0.01)
        assert width == pytest.approx(max(1000 * (freed - born) / (last - first), 0.8), abs=0.01)
        assert y == lane * high
    assert tab.value("document.querySelectorAll('.lanes rect:not(.faint)').length") == sum(r[4] for r in rows)
    titles = tab.value("[...document.querySelectorAll('.lanes title')].map(e => e.textContent)")
    assert all(units.show(row[3], "bytes") in title for title, row in zip(titles, rows, strict=True))


def test_the_curve_is_what_the_blocks_add_up_to(tab: Browser) -> None:
    rows = ask("SELECT born_ps, freed_ps, bytes FROM buffer", RECORDING)
    first, last = min(row[0] for row in rows), max(row[1] for row in rows)
    points = tab.value("document.querySelector('.held polyline').getAttribute('points')").split()
    corners = [tuple(map(float, point.split(","))) for point in points]
    lowest = max(y for _, y in corners)
    assert lowest == 150
    held_at = {
        moment: sum(size for born, freed, size in rows if born <= moment < freed)
        for moment in sorted({at for row in rows for at in row[:2]})
    }
    highest = max(held_at.values())
    peak = min(y for _, y in corners)
    for (x, y), (following, _) in pairwise(corners[1:]):
        if following - x > 1:  # the level of a stretch
            middle = first + (last - first) * (x + following) / 2 / 1000
            held = sum(size for born, freed, size in rows if born <= middle < freed)
            assert 150 - y == pytest.approx((150 - peak) * held / highest, abs=0.2)
    text = tab.value("document.querySelector('main').innerText")
    assert f"The peak is {units.show(highest, 'bytes')}" in text


def test_a_part_can_be_looked_at_and_leads_to_the_timeline(tab: Browser) -> None:
    box = "document.querySelector('.lifetimes .window')"
    drag = (
        "(() => { const e = %s, b = e.getBoundingClientRect(); e.setPointerCapture = () => {};"
        "const at = part => ({clientX: b.left + part * b.width, clientY: b.top + 20, button: 0, pointerId: 3,"
        " bubbles: true}); e.dispatchEvent(new PointerEvent('pointerdown', at(0.5)));"
        "e.dispatchEvent(new PointerEvent('pointermove', at(1))); })()"
    )
    tab.value(drag % box)
    _until(tab, "!!document.querySelector('.lifetimes .selection')")
    tab.value(f"{box}.dispatchEvent(new PointerEvent('pointerup', {{pointerId: 3, bubbles: true}}))")
    _until(tab, "document.querySelector('.lifetimes').innerText.includes('Show all')")
    link = tab.value("document.querySelector('.lifetimes a').getAttribute('href')")
    window = [int(part.partition("=")[2]) for part in link.partition("?")[2].split("&")]
    ((first, last),) = ask("SELECT MIN(born_ps), MAX(freed_ps) FROM buffer", RECORDING)
    assert window[1] - window[0] == pytest.approx((last - first) / 2, rel=0.01)
    tab.value("document.querySelector('.lifetimes button.plain').click()")
    _until(tab, "!document.querySelector('.lifetimes').innerText.includes('Show all')")
    assert tab.value("document.querySelectorAll('.lanes rect').length") == 6
