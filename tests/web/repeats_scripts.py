"""Strings that would run as scripts, in every place that has a name: no view and no report runs any.

Dialogs and violations of the policy are hooked (tests/presenters/browser.py), not inferred from what is seen.
"""

import html
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from tests.presenters.browser import Browser
from tests.presenters.scripts import SCRIPTS
from tests.web.hostile_recordings import STAGES, everywhere
from tests.web.test_page import PATIENCE_S, _show, _until
from tests.web.test_timeline import click, complaints, panel, pointer, press, rest, served

PLANTED = (
    "#page :is(script, img, iframe, frame, base, object, embed, form, video, audio, marquee, link, meta)"
)
HANDLERS = (
    "[id=planted], [autofocus], [onload], [onerror], [onfocus], [ontoggle], [onpointerover], [onmouseover]"
)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return everywhere(tmp_path_factory.mktemp("scripts"), SCRIPTS)


@pytest.fixture(scope="module")
def tab(recordings: list[Path]) -> Iterator[Browser]:
    with served(*recordings) as browser:
        yield browser


def shown(browser: Browser) -> int:
    """How many of the strings are on the page as they are; nothing of them is more than text."""
    assert browser.value(f"document.querySelectorAll({json.dumps(f'{PLANTED}, {HANDLERS}')}).length") == 0
    # Errors that the server answers on purpose are in the log, too.
    assert [one for one in complaints(browser) if '"source": "network"' not in one] == []
    assert {urlsplit(one).hostname for one in browser.requests() if one.startswith("http")} <= {"127.0.0.1"}
    text = browser.value("document.querySelector('main').textContent")
    return sum(name in text for name in SCRIPTS)


UNHEARD = ("/api/news", "/api/session")
"""What the page asks for all the time, and the answer that it does not read."""


def settled(browser: Browser) -> None:
    """Waits until the page has what its view has asked for, and has drawn it."""
    rest(browser, 200)  # a view asks once it is drawn
    end = time.monotonic() + PATIENCE_S
    while any(urlsplit(one).path not in UNHEARD for one in browser.unanswered()):
        assert time.monotonic() < end, browser.unanswered()
        rest(browser, 100)
    rest(browser, 100)


def unfold(browser: Browser) -> None:
    for _ in range(3):  # what is folded may hold more that is
        browser.value("document.querySelectorAll('main details').forEach(one => { one.open = true; })")
        browser.value("document.querySelectorAll('main button.more').forEach(one => one.click())")
        settled(browser)


def point(browser: Browser, selector: str) -> None:
    """Moves a pointer over what is found and puts the focus there: some names are shown only then."""
    browser.value(
        f"document.querySelectorAll({json.dumps(selector)}).forEach(one => {{"
        "one.focus?.({preventScroll: true});"
        "for (const kind of ['pointerover', 'pointerenter', 'pointermove', 'mouseover', 'mousemove'])"
        "one.dispatchEvent(new PointerEvent(kind, {bubbles: true, clientX: 600, clientY: 300})); })"
    )
    rest(browser, 200)


def test_there_are_enough_and_they_would_run(tmp_path: Path) -> None:
    """The hooks hear dialogs and what a policy stops; many of the strings run where a name is HTML."""
    assert len(set(SCRIPTS)) >= 150
    page = tmp_path / "open.html"
    with Browser() as browser:
        page.write_text("<body><script>alert(1)</script>")
        browser.open(page)
        assert any("hooked:" in one and '"alert"' in one for one in browser.complaints())
        policy = "<meta http-equiv=content-security-policy content=\"script-src 'none'\">"
        page.write_text(f"<html>{policy}<body><img src=x onerror=alert(1)>")
        browser.open(page)
        assert any("hooked:" in one and '"policy"' in one for one in browser.complaints())
        frames = "".join(
            f"<iframe name=n{i} srcdoc='{html.escape(inside)}'></iframe>"
            for i, inside in enumerate(f'<p title="{one}">{one}</p>' for one in SCRIPTS)
        )
        page.write_text(f"<meta charset=utf-8><body>{frames}", encoding="utf-8")
        browser.open(page)
        heard: set[str] = set()
        end = time.monotonic() + PATIENCE_S
        while len(heard) < 100:
            assert time.monotonic() < end, f"{len(heard)} of {len(SCRIPTS)} ran"
            rest(browser, 100)
            heard = {name for one in browser.complaints() for name in re.findall(r'"value": "(n\d+)"', one)}


def test_overview(tab: Browser) -> None:
    _show(tab, "overview", "!!document.querySelector('details.section')")
    unfold(tab)
    point(tab, ".steps .step, .bar i, figure *")
    assert shown(tab) >= 100


def test_timeline_with_search_slices_and_a_range(tab: Browser) -> None:
    _show(tab, "timeline", "document.querySelectorAll('.tl-track').length > 0")
    for name in SCRIPTS[::9]:
        text = json.dumps(name)
        tab.value(
            "(() => { const box = document.querySelector('.tl-bar input[name=search]'); box.value = "
            f"{text}; box.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )
        _until(tab, "!!document.querySelector('.tl-count')")
        rest(tab, 150)
        tab.value("document.querySelector('.tl-bar input[name=search]').blur()")
        press(tab, "n")
        _until(tab, "!!document.querySelector('.tl-panel h2')")
        assert any(one in panel(tab) for one in SCRIPTS)
        assert shown(tab) >= 1
    press(tab, "x")
    press(tab, "Home")
    rest(tab, 300)
    for y in range(30, 500, 18):
        click(tab, 300, y)
    tab.value(
        "(() => { const c = document.querySelector('.tl-area canvas'), b = c.getBoundingClientRect();"
        "for (let y = 20; y < 500; y += 9) c.dispatchEvent(new PointerEvent('pointermove',"
        "{clientX: b.left + 300, clientY: b.top + y, bubbles: true})); })()"
    )
    rest(tab, 300)
    shown(tab)
    way = (
        ("pointerdown", 5, 40),
        ("pointermove", 400, 80),
        ("pointermove", 700, 500),
        ("pointerup", 700, 500),
    )
    pointer(tab, *((kind, x, y, True) for kind, x, y in way))
    _until(tab, "!!document.querySelector('.tl-panel .wide td')")
    unfold(tab)
    assert shown(tab) >= 20


def test_ops_by_everything(tab: Browser) -> None:
    _show(tab, "ops", "!!document.querySelector('.segments button')")
    most = 0
    for number in range(tab.value("document.querySelectorAll('.segments button').length")):
        tab.value(f"document.querySelectorAll('.segments button')[{number}].click()")
        unfold(tab)
        point(tab, ".picture *, .treemap *, .flame *")
        most = max(most, shown(tab))
    assert most >= 150


def test_input_pipeline(tab: Browser) -> None:
    _show(tab, "pipeline", "document.querySelectorAll('.stages *, .flow *').length > 10")
    unfold(tab)
    point(tab, "main svg *, main input")
    assert shown(tab) >= STAGES // 2


def test_memory_of_every_allocator(tab: Browser) -> None:
    _show(tab, "memory", "!!document.querySelector('select[name=allocator]')")
    most = 0
    for number in range(tab.value("document.querySelector('select[name=allocator]').options.length")):
        tab.value(
            "(() => { const box = document.querySelector('select[name=allocator]');"
            f"box.value = '{number}'; box.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )
        unfold(tab)
        point(tab, ".lifetimes *, figure *")
        most = max(most, shown(tab))
    assert most >= 30


def test_model_in_each_view(tab: Browser) -> None:
    _show(tab, "model", "document.querySelectorAll('.model input[name=view]').length > 0")
    most = 0
    for number in range(tab.value("document.querySelectorAll('.model input[name=view]').length")):
        tab.value(f"document.querySelectorAll('.model input[name=view]')[{number}].click()")
        settled(tab)
        tab.value(
            "[...document.querySelectorAll('.model button')].find(b => b.innerText === 'Expand all')?.click()"
        )
        unfold(tab)
        most = max(most, shown(tab))
    assert most >= 150


def test_graphs_open_searched_and_with_a_path(tab: Browser) -> None:
    _show(tab, "graph", "document.querySelectorAll('.graph .box').length > 0")
    most = 0
    for number in range(tab.value("document.querySelector('select[name=graph]').options.length")):
        tab.value(
            "(() => { const box = document.querySelector('select[name=graph]');"
            f"box.value = '{number}'; box.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
        )
        settled(tab)
        for turn in range(6):
            tab.value(
                f"document.querySelectorAll('.graph .box')[{turn}]"
                "?.dispatchEvent(new MouseEvent('click', {bubbles: true}))"
            )
            settled(tab)
        tab.value(
            "(() => { const box = document.querySelector('input[name=find]'); box.value = '<';"
            "box.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )
        _until(tab, "document.querySelectorAll('.graph-found li').length > 50")
        for one in (3, 20):
            tab.value(f"document.querySelectorAll('.graph-found li button')[{one}].click()")
            settled(tab)
            tab.value(
                "[...document.querySelectorAll('.graph-about button')]"
                ".find(b => b.innerText.startsWith('Path'))?.click()"
            )
            settled(tab)
        for colouring in ("device", "cluster", "type"):
            tab.value(
                "(() => { const box = document.querySelector('select[name=colouring]');"
                f"box.value = '{colouring}'; box.dispatchEvent(new Event('input', {{bubbles: true}})); }})()"
            )
            settled(tab)
        most = max(most, shown(tab))
    assert most >= 100


def test_compare(tab: Browser) -> None:
    _show(tab, "compare", "!!document.querySelector('.compare select[name=B]')")
    _until(tab, "!!document.querySelector('.compare .headline, .compare .problem, .compare [role=alert]')")
    unfold(tab)
    shown(tab)
    assert "onerror=alert(1)" in tab.value("document.querySelector('main').textContent")


COLUMN = '"{0}" AS "{0}"'


@pytest.mark.parametrize("asked", [
    "SELECT name, category, args_json FROM slice LIMIT 1000",
    "SELECT name, op_type, device, args_json FROM node LIMIT 1000",
    "SELECT function, file, module FROM frame LIMIT 1000",
    "SELECT name, series FROM counter LIMIT 1000",
    "VALUES",
    "ERRORS",
], ids=lambda asked: asked.split(" FROM ")[-1].split()[0].lower())  # fmt: skip
def test_sql_with_answers_titles_and_errors(tab: Browser, asked: str) -> None:
    if asked == "ERRORS":
        for name in SCRIPTS[::12]:
            _ask(
                tab,
                f"SELECT {name} FROM slice",
                "!!document.querySelector('.console .problem, .console [role=alert]')",
            )
            shown(tab)
        return
    if asked == "VALUES":
        titles = [name.replace('"', '""') for name in SCRIPTS]
        asked = "SELECT " + ", ".join(f'{i} AS "{one}"' for i, one in enumerate(titles))
    _ask(tab, asked, "!!document.querySelector('.answer td')")
    unfold(tab)
    tab.value("document.querySelectorAll('.answer .segments button')[1].click()")
    rest(tab, 300)
    shown(tab)
    tab.value("document.querySelectorAll('.answer .segments button')[0].click()")
    unfold(tab)
    assert shown(tab) >= 100


def _ask(tab: Browser, sql: str, until: str) -> None:
    _show(tab, "overview", "!!document.querySelector('details.section')")
    _show(tab, f"sql?sql={quote(sql)}", until)


def test_palette_help_and_addresses(tab: Browser) -> None:
    for name in SCRIPTS[::8]:
        _show(
            tab,
            f"timeline?search={quote(name)}&slice={quote(name)}&from={quote(name)}",
            "!!document.querySelector('.tl-scroll')",
        )
        rest(tab, 150)
        _show(tab, quote(name), "!!document.querySelector('main > *')")
        shown(tab)


LEAST_IN_REPORT = (50, 0, 50, 50, STAGES)
"""A report says of a graph how large it is, and names nothing of it."""


@pytest.mark.parametrize("which", range(5))
def test_report(recordings: list[Path], which: int, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    command = [sys.executable, "-m", "stepscope", "report", str(recordings[which]), "-o", str(out)]
    subprocess.run(
        command, check=True, capture_output=True, env={**os.environ, "STEPSCOPE_CACHE_DIR": str(tmp_path)}
    )
    with Browser() as browser:
        browser.open(out, width=1280, height=720)
        _until(browser, "!!document.querySelector('main')")
        unfold(browser)
        point(browser, "main figure *, main svg *")
        assert shown(browser) >= LEAST_IN_REPORT[which]
