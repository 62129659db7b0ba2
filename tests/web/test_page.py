"""The page of `stepscope serve` in Chromium: what it shows is what the recording holds."""

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote

import pytest

from stepscope.cli import main
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.presenters.browser import PATIENCE_S, Browser, RefusedError

RECORDING = SAMPLES / "tf_data" / "map_py_function.xplane.pb"
QUERY = "SELECT COUNT(*) AS slices, SUM(dur_ps) AS total_ps FROM slice"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The URL that the verb prints, token included."""
    command = [sys.executable, "-m", "stepscope", "serve", str(RECORDING), "--no-open"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().strip()
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate()


def _printed(verb: str, *options: str) -> dict[str, Any]:
    """What the command line says of the same recording."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main([verb, str(RECORDING), *options, "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    return _printed("summary", "--all")


@pytest.fixture(scope="module")
def pipeline() -> dict[str, Any]:
    return _printed("pipeline")


@pytest.fixture(scope="module")
def tab(address: str) -> Iterator[Browser]:
    with Browser() as browser:
        browser.open(address, width=1280, height=720)
        _until(browser, "!!document.querySelector('.bar')")
        yield browser


def _until(browser: Browser, expression: str) -> None:
    """Waits for an expression to be true."""
    deadline = time.monotonic() + PATIENCE_S
    while not _now(browser, expression):
        assert time.monotonic() < deadline, (expression, browser.value("document.body.innerText")[:500])
        time.sleep(0.1)


def _becomes(browser: Browser, expression: str, wanted: object) -> None:
    """Waits for an expression to have a value: a view is drawn before the last answer has come, and anew with
    it. What it has instead is told by the assertion."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := _now(browser, expression)) != wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    assert found == wanted


def _now(browser: Browser, expression: str) -> Any:
    """The value of an expression; none where it asks for something of an element that is not there yet, and
    while the page goes to another document."""
    later = "if (error instanceof TypeError) return null; throw error"
    asked = f"(() => {{ try {{ return {expression} }} catch (error) {{ {later} }} }})()"
    try:
        return browser.value(asked)
    except RefusedError:
        return None


def _show(browser: Browser, view: str, until: str) -> None:
    browser.value(f"location.hash = {json.dumps(view)}")
    _until(browser, until)


def test_the_token_leaves_the_address(tab: Browser, address: str) -> None:
    token = address.partition("#t=")[2]
    assert len(token) > 30
    assert token not in tab.value("location.href")


def test_the_overview_says_what_the_report_says(tab: Browser, report: dict[str, Any]) -> None:
    _show(tab, "overview", "!!document.querySelector('.bar') && !!document.querySelector('.steps .step')")
    for said in (*report["headline"], *(finding["title"] for finding in report["findings"])):
        _until(tab, f"document.querySelector('main').innerText.includes({json.dumps(said)})")
    (parts,) = (section for section in report["sections"] if section["name"] == "step_parts")
    mean = next(row for row in parts["table"]["rows"] if row["what"] == "mean")
    values = sorted((mean[name] for name in parts["chart"]["y"] if mean[name]), reverse=True)
    _becomes(tab, SHARES, [f"{100 * value / sum(values):.1f} %" for value in values])
    widths = tab.value("[...document.querySelectorAll('.bar i')].map(e => e.getBoundingClientRect().width)")
    whole = tab.value("document.querySelector('.bar').getBoundingClientRect().width")
    assert widths == pytest.approx([whole * value / sum(values) for value in values], abs=1.0)
    assert tab.value("document.querySelectorAll('.steps .step').length") == report["facts"]["steps"]


SHARES = "[...document.querySelectorAll('.where-a-step-goes .legend b')].map(e => e.innerText)"


def test_brushed_steps_have_the_bar_that_sql_gives_them(tab: Browser) -> None:
    _show(tab, "overview", "!!document.querySelector('.steps .step')")
    event = "new KeyboardEvent('keydown', {key: %r, bubbles: true})"
    press = f"document.querySelector('.steps').dispatchEvent({event})"
    tab.value(press % "ArrowRight")
    tab.value(press % "ArrowRight")
    _until(tab, "document.querySelector('.steps-card').innerText.includes('Selected: step 1.')")
    # The parts of each step come with the whole report, after the first one.
    _until(tab, "document.querySelector('.where-a-step-goes').innerText.includes('a step, step 1')")
    asked = (
        "SELECT p.label, p.dur_ps, s.ts_ps, s.dur_ps FROM step_part p JOIN step s ON s.id = p.step_id "
        "WHERE s.step = 1 AND p.dur_ps > 0 ORDER BY p.dur_ps DESC"
    )
    with trace.open(str(RECORDING)) as opened:
        rows = opened.query(asked).rows()
    _becomes(tab, SHARES, [f"{100 * row[1] / row[3]:.1f} %" for row in rows])
    link = tab.value("[...document.querySelectorAll('.steps-card a')].pop().getAttribute('href')")
    asked_for = parse_qs(link.partition("?")[2])
    assert int(asked_for["to"][0]) - int(asked_for["from"][0]) == pytest.approx(rows[0][3], abs=2000)
    tab.value(press % "Escape")
    _until(tab, "!document.querySelector('.steps-card').innerText.includes('Selected')")


def test_every_analysis_of_the_report_is_a_table_a_click_away(tab: Browser, report: dict[str, Any]) -> None:
    last = len(report["sections"]) - 1
    _show(tab, "overview", f"!!document.querySelector('#s{last}')")  # the second answer has come, too
    tab.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    tab.value("document.querySelectorAll('button.more').forEach(one => one.click())")
    for number, section in enumerate(report["sections"]):
        if section["table"]:
            rows = f"document.querySelectorAll('#s{number} > :is(div.grid, .rows) tbody tr').length"
            wide = len(section["table"]["rows"]) == 1 and len(section["table"]["columns"]) > 9
            _becomes(tab, rows, 0 if wide else len(section["table"]["rows"]))


def test_a_header_sorts(tab: Browser, report: dict[str, Any]) -> None:
    _show(tab, "overview", "!!document.querySelector('details.section')")
    (number,) = (i for i, section in enumerate(report["sections"]) if section["name"] == "op_types")
    section = report["sections"][number]
    title = next(c["title"] for c in section["table"]["columns"] if c["name"] == "slices")
    header = f"[...document.querySelectorAll('#s{number} th')].find(e => e.textContent.startsWith({title!r}))"
    tab.value(f"{header}.querySelector('button').click()")
    _until(tab, f"{header}.getAttribute('aria-sort') === 'descending'")
    most = max(section["table"]["rows"], key=lambda row: row["slices"])["op_type"]
    _becomes(tab, f"document.querySelector('#s{number} tbody td').textContent.trim()", most)


def test_ops_are_those_of_the_library(tab: Browser) -> None:
    _show(tab, "ops", "!!document.querySelector('.ops-table tbody tr')")
    from stepscope import library, units

    with trace.open(str(RECORDING)) as opened:
        answer = {name: opened.ask(library.named(name)).rows() for name in ("op_types", "ops")}
    for number, name in enumerate(("op_types", "ops")):
        tab.value(f"document.querySelectorAll('.segments button')[{number}].click()")
        _until(tab, f"document.querySelectorAll('.segments button')[{number}].ariaPressed === 'true'")
        rows = [row for row in answer[name] if row[1] == "host"]
        cells = "r => [...r.cells].map(c => c.innerText.trim())"
        asked = f"[...document.querySelectorAll('.ops-table tbody tr')].map({cells})"
        _becomes(tab, f"{asked}.map(row => row[0])", [row[0] for row in rows])
        shown = tab.value(asked)
        counts = 5
        assert [int(row[counts].replace(",", "")) for row in shown] == [row[5] for row in rows]
        assert [row[3] for row in shown] == [units.show(row[3], "ratio").removesuffix(" %") for row in rows]
    area = "(b => b.width * b.height)(e.getBoundingClientRect())"
    boxes = f"[...document.querySelectorAll('.treemap rect')].map(e => {area})"
    areas, self_ps = tab.value(boxes), sorted((row[2] for row in answer["ops"] if row[2]), reverse=True)
    assert areas == pytest.approx([sum(areas) * value / sum(self_ps) for value in self_ps], rel=0.02, abs=4)


def test_a_row_of_ops_leads_to_its_slices(tab: Browser) -> None:
    _show(tab, "ops", "!!document.querySelector('.ops-table tbody tr')")
    link = tab.value("document.querySelector('.ops-table tbody a').getAttribute('href')")
    op = tab.value("document.querySelector('.ops-table tbody td').innerText")
    sql = unquote(link.partition("sql=")[2])
    with trace.open(str(RECORDING)) as opened:
        found = opened.query(sql)
        rows = found.rows()
    assert {row[found.columns.index("op_type")] for row in rows} == {op}
    tab.value("document.querySelector('.ops-table tbody a').click()")
    _until(tab, "!!document.querySelector('.answer .beside a')")
    number = rows[0][found.columns.index("slice_id")]
    href = "document.querySelector('.answer .beside a').getAttribute('href')"
    _becomes(tab, href, f"#timeline?slice={number}")


EDITOR = "document.querySelector('.editor').shadowRoot"


def test_sql_answers_what_the_library_answers(tab: Browser) -> None:
    # The answer of this statement: that of the test before may still be there.
    heading = "[...document.querySelectorAll('.answer th')].some(e => e.innerText.startsWith('slices'))"
    _show(tab, f"sql?sql={quote(QUERY)}", heading)
    _becomes(tab, f"{EDITOR}.querySelector('.cm-content').innerText", QUERY)
    shown = tab.value(
        "[...document.querySelectorAll('.answer td')].map(e => e.innerText.replaceAll(',', ''))"
    )
    with trace.open(str(RECORDING)) as opened:
        ((slices, total),) = opened.query(QUERY).rows()
    assert [int(value) for value in shown] == [slices, total]
    heads = tab.value("[...document.querySelectorAll('.answer th')].map(e => e.innerText)")
    assert heads == ["slices", "total_ps"], "names as SQL has them"


def test_the_editor_completes_names_of_the_schema(tab: Browser) -> None:
    _show(tab, "sql?sql=", "!!document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')")
    tab.value(f"{EDITOR}.querySelector('.cm-content').focus()")
    tab._call("Input.insertText", text="SELECT name FROM stack_sam")
    offered = f"[...{EDITOR}.querySelectorAll('.cm-tooltip-autocomplete li')]"
    _until(tab, f"{offered}.some(e => e.innerText.includes('stack_sample'))")


def test_keys_typed_into_the_editor_are_text(tab: Browser) -> None:
    """Each of them is a command elsewhere in the page."""
    _show(tab, "sql?sql=", "!!document.querySelector('.editor')?.shadowRoot?.querySelector('.cm-content')")
    tab.value(f"{EDITOR}.querySelector('.cm-content').focus()")
    theme = tab.value("document.documentElement.dataset.theme")
    for key in "1t?":
        for kind in ("keyDown", "keyUp"):
            text = {"text": key} if kind == "keyDown" else {}
            tab._call("Input.dispatchKeyEvent", type=kind, key=key, **text)
    _until(tab, f"{EDITOR}.querySelector('.cm-content').innerText.includes('1t?')")
    assert tab.value("location.hash").startswith("#sql")
    assert tab.value("document.documentElement.dataset.theme") == theme
    assert not tab.value("!!document.querySelector('.veil')")


def test_every_statement_of_the_views_is_a_click_away(tab: Browser) -> None:
    from stepscope import library

    _show(tab, "sql", "!!document.querySelector('aside button.link')")
    titles = tab.value("[...document.querySelectorAll('aside button.link')].map(e => e.innerText)")
    assert len(titles) == len(library.names("analysis")) + len(library.names("finding"))
    entry = library.named("op_types")
    tab.value(f"[...document.querySelectorAll('aside button.link')][{titles.index(entry.title)}].click()")
    with trace.open(str(RECORDING)) as opened:
        rows = opened.ask(entry).rows()
    first = json.dumps(str(rows[0][0]))
    _until(tab, f"document.querySelector('.answer td')?.innerText.trim() === {first}")
    assert tab.value("document.querySelectorAll('.answer tbody tr').length") == min(len(rows), 103)
    tab.value("document.querySelectorAll('.answer .segments button')[1].click()")
    labels = "[...document.querySelectorAll('.quickchart .row .label')].map(e => e.innerText)"
    _becomes(tab, labels, [row[0] for row in rows][:25])


def test_numbers_over_numbers_are_curves(tab: Browser) -> None:
    query = "SELECT step, dur_ps FROM step ORDER BY step"
    _show(tab, f"sql?sql={quote(query)}", "document.querySelector('.answer th')?.innerText === 'step'")
    tab.value("document.querySelectorAll('.answer .segments button')[1].click()")
    _until(tab, "!!document.querySelector('.curves canvas')")
    pixels = (
        "(() => {const c = document.querySelector('.curves canvas'); const d = c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data; return d.some(value => value > 0);})()"
    )
    _until(tab, pixels)


def test_downloads_are_asked_of_the_server(tab: Browser) -> None:
    _show(tab, f"sql?sql={quote(QUERY)}", "!!document.querySelector('.answer td')")
    _until(tab, "document.querySelector('.answer th')?.innerText === 'slices'")
    _until(tab, "!document.querySelector('.console > .toolbar span button').disabled")
    before = sum("/api/sql/download" in url for url in tab.requests())
    for number in range(1, 4):
        tab.value(f"document.querySelectorAll('.console > .toolbar span button')[{number - 1}].click()")
        while sum("/api/sql/download" in url for url in tab.requests()) < before + number:
            tab.value("new Promise(done => setTimeout(() => done(1), 100))")
        _until(tab, "!document.querySelector('.console > .toolbar span button').disabled")
    assert not tab.value("document.querySelector('.problem')?.innerText ?? ''")


def _typed(tab: Browser, text: str) -> None:
    """Into the palette, which is open."""
    tab.value(
        "(e => { e.value = " + json.dumps(text) + "; e.dispatchEvent(new Event('input', {bubbles: true})); })"
        "(document.querySelector('.overlay input'))"
    )


def test_the_palette_finds_ops_tables_findings_and_recordings(tab: Browser, report: dict[str, Any]) -> None:
    _show(tab, "overview", "!!document.querySelector('.finding')")
    with trace.open(str(RECORDING)) as opened:
        op = opened.query("SELECT op_type FROM op_sum WHERE op_type IS NOT NULL ORDER BY 1 LIMIT 1").rows()[0]
    finding = report["findings"][0]
    press = (
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'k', ctrlKey: true, bubbles: true}))"
    )
    for text, kind, where in (
        (op[0], "op", f"#timeline?search={quote(op[0], safe='')}"),
        ("stack_sample", "table", "#sql?sql="),
        (RECORDING.name, "recording", "#timeline?from="),
        (finding["title"], "finding", f"#overview?finding={finding['slug']}"),
    ):
        tab.value(press)
        _until(tab, "!!document.querySelector('.overlay input')")
        _typed(tab, text)
        options = "[...document.querySelectorAll('[role=option]')]"
        option = f"{options}.find(e => e.innerText.trim().endsWith('{kind}'))"
        _until(tab, f"!!{option}")
        tab.value(f"{option}.click()")
        _until(tab, f"location.hash.startsWith({json.dumps(where)})")
    _until(tab, "document.querySelector('.finding').open")


def test_an_address_that_names_no_view_says_so(tab: Browser) -> None:
    _show(tab, "timelime", "document.querySelector('main .empty')?.innerText.includes('timelime')")
    tab.value("document.querySelector('main .empty a').click()")
    _until(tab, "!!document.querySelector('main.overview')")


def test_palette_and_help_open_by_key(tab: Browser) -> None:
    press = "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: %r, ctrlKey: %s, bubbles: true}))"
    tab.value(press % ("k", "true"))
    _until(tab, "!!document.querySelector('[role=listbox]')")
    tab.value(press % ("Escape", "false"))
    _until(tab, "!document.querySelector('.veil')")
    tab.value(press % ("?", "false"))
    _until(tab, "!!document.querySelector('.keys')")
    tab.value(press % ("Escape", "false"))


def test_nothing_is_complained_of_and_no_other_host_is_asked(tab: Browser, address: str) -> None:
    for view in ("overview", "ops", "pipeline", "memory", "sql"):
        _show(
            tab, view, f"!!document.querySelector('main.{view}') && !document.querySelector('[role=status]')"
        )
        assert not tab.value("document.querySelector('.problem')?.innerText ?? ''"), view
    # A script that follows a link is no user: Chromium notes that "back" may skip such entries.
    assert [said for said in tab.complaints() if "NavigationEntryMarkedSkippable" not in said] == []
    origin = address.partition("/#")[0] + "/"
    assert all(url.startswith((origin, "data:", "blob:")) for url in tab.requests())


def test_a_wrong_statement_is_marked_and_leaves_no_rows(tab: Browser) -> None:
    """After the test of complaints: Chromium notes that the server refused something."""
    _show(tab, f"sql?sql={quote(QUERY)}", "!!document.querySelector('.answer .segments')")
    tab.value("document.querySelector('.answer .segments button').click()")  # a table, whatever was before
    _until(tab, "!!document.querySelector('.answer td')")
    _show(tab, f"sql?sql={quote('SELECT nme FROM slice')}", "!!document.querySelector('.problem')")
    _until(tab, "document.querySelector('.answer') === null")
    _until(tab, f"{EDITOR}.querySelector('.cm-wrong')?.innerText === 'nme'")
    rows = "SELECT * FROM slice ORDER BY id LIMIT 2"
    _show(tab, f"sql?sql={quote(rows)}", "!!document.querySelector('.answer .beside a')")
    with trace.open(str(RECORDING)) as opened:
        found = opened.query(rows)
        ids = [str(row[found.columns.index("id")]) for row in found.rows()]
    cells = "[...document.querySelectorAll('.answer tbody tr')].map(row => row.cells[0].innerText)"
    _becomes(tab, cells, ids)
    links = "[...document.querySelectorAll('.answer .beside a')].map(a => a.getAttribute('href'))"
    _becomes(tab, links, [f"#timeline?slice={number}" for number in ids])


def test_without_a_session_the_page_says_what_to_do(address: str) -> None:
    with Browser() as browser:
        browser.open(address.partition("#")[0])
        _until(browser, "!!document.querySelector('.problem .todo')")
        assert browser.value("document.querySelector('.problem').innerText").count("\n") >= 2


@pytest.mark.repeats("pictures in three sizes and two themes")
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080), (3840, 2160)])
def test_pictures(tab: Browser, address: str, dark: bool, width: int, height: int, tmp_path: Path) -> None:
    folder = Path(os.environ.get("STEPSCOPE_PICTURES", tmp_path))
    tab.open("about:blank")  # a change of the fragment alone loads nothing
    tab.open(address, width=width, height=height, dark=dark)
    shown = {
        "overview": ".bar",
        "ops": "tbody",
        "pipeline": ".stages",
        "memory": "main.memory :is(tbody, .empty)",
        "sql": "aside details",
    }
    for view, until in shown.items():
        _show(tab, view, f"!!document.querySelector('{until}')")
        tab.picture(folder / f"{view}-{width}-{'dark' if dark else 'light'}.png")
        ground = tab.value("getComputedStyle(document.body).backgroundColor")
        assert (sum(int(n) for n in ground[4:-1].split(",")) < 300) == dark
        assert tab.value("document.documentElement.scrollWidth") <= width, view


def test_one_screen_answers(tab: Browser, address: str, report: dict[str, Any]) -> None:
    """At 1280x720 the bar, the sentence, the worst findings with what to do, and the steps are seen."""
    tab.open("about:blank")
    tab.open(address, width=1280, height=720)
    _show(tab, "overview", "!!document.querySelector('.steps .step')")
    box = "const b = e.getBoundingClientRect();"
    inside = f"(e => {{{box} return b.top >= 0 && b.bottom <= 720 && b.width > 0;}})"
    seen = [".bar", ".legend", ".headline", ".finding .todo", ".steps"]
    _until(tab, f"{json.dumps(seen)}.every(name => {inside}(document.querySelector(name)))")
    said = json.dumps(report["headline"][0])
    _until(tab, f"document.querySelector('.headline').innerText.includes({said})")
