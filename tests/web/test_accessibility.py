"""Every view for those who see little or use no mouse: names, contrast, focus, the order of keys."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from tests.corpus import SAMPLES
from tests.presenters.browser import Browser
from tests.tiers import some
from tests.web.test_page import _show, _until
from tests.web.test_timeline import complaints, rest, served

VIEWS = {
    "overview": "!!document.querySelector('details.section') && !!document.querySelector('.bar')",
    "timeline": "document.querySelectorAll('.tl-track').length > 0",
    "ops": "!!document.querySelector('.ops-table tbody tr')",
    "pipeline": "document.querySelectorAll('.stages tr').length > 1",
    "memory": "!!document.querySelector('.lifetimes, select[name=allocator]')",
    "model": "document.querySelectorAll('.tree tbody tr').length > 1",
    "graph": "document.querySelectorAll('.graph .box').length > 0",
    "compare": "!!document.querySelector('.compare .headline')",
    "sql?sql=SELECT%20name%2C%20dur_ps%20FROM%20slice%20LIMIT%205": "!!document.querySelector('.answer td')",
}
CONTROLS = {
    *(
        "button",
        "link",
        "textbox",
        "searchbox",
        "combobox",
        "checkbox",
        "radio",
        "slider",
        "spinbutton",
        "tab",
    ),
    *("listbox", "menuitem", "switch", "dialog", "img", "group", "radiogroup", "toolbar", "navigation"),
}
NEED_NO_NAME = {"group", "img"}
"""A details element is a group; pictures that only decorate are not in the tree."""

HERE = Path(__file__).parent
CONTRAST, FOCUSED, FOCUSABLE = (
    (HERE / f"{name}.js").read_text(encoding="utf-8") for name in ("contrast", "focused", "focusable")
)


@pytest.fixture(scope="module")
def tab() -> Iterator[Browser]:
    paths = (
        SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz",
        SAMPLES / "run_metadata" / "two_servers.pb",
    )
    with served(*paths) as browser:
        browser._call("Accessibility.enable")
        yield browser


def open_view(tab: Browser, view: str) -> None:
    _show(tab, view, VIEWS[view])
    rest(tab, 300)


def unfold(tab: Browser) -> None:
    tab.value("document.querySelectorAll('main details').forEach(one => { one.open = true; })")
    rest(tab, 300)


@pytest.mark.parametrize("view", some(VIEWS, ("overview", "timeline"), "a view at a time"))
def test_controls_have_names(tab: Browser, view: str) -> None:
    open_view(tab, view)
    unfold(tab)
    nodes = tab._call("Accessibility.getFullAXTree")["nodes"]
    nameless = []
    controls = 0
    for node in nodes:
        role = node.get("role", {}).get("value")
        if node.get("ignored") or role not in CONTROLS - NEED_NO_NAME:
            continue
        controls += 1
        if not node.get("name", {}).get("value", "").strip():
            nameless.append((role, _html(tab, node)))
    assert controls > 12
    assert nameless == []


def _html(tab: Browser, node: dict[str, Any]) -> str:
    try:
        found: str = tab._call("DOM.getOuterHTML", backendNodeId=node["backendDOMNodeId"])["outerHTML"]
    except AssertionError:
        return str(node)
    return found[:200]


@pytest.mark.repeats("every view in two themes")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_text_stands_out(tab: Browser, view: str, dark: bool) -> None:
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    tab._call("Emulation.setEmulatedMedia", features=[scheme])
    open_view(tab, view)
    unfold(tab)
    assert tab.value(CONTRAST) == []


@pytest.mark.repeats("every view in two themes")
def test_the_measure_of_contrast_measures(tab: Browser) -> None:
    """Grey on grey is told, black on white is not; what lies between a text and the page counts."""
    open_view(tab, "compare")
    put = (
        "(() => { const p = document.createElement('p'); p.id = 'probe'; p.textContent = 'probe';"
        "p.style.color = '%s'; p.style.backgroundColor = '%s'; document.querySelector('main').append(p); })()"
    )
    for ink, back, told in (
        ("#777", "#888", 1),
        ("#767676", "#fff", 0),
        ("#777777", "#fff", 1),
        ("#000", "#fff8", 0),
    ):
        tab.value(put % (ink, back))
        assert len([one for one in tab.value(CONTRAST) if "probe" in one]) == told, (ink, back)
        tab.value("document.getElementById('probe').remove()")


@pytest.mark.repeats("a hundred keys a view")
@pytest.mark.parametrize("view", VIEWS)
def test_keys_reach_all_controls_and_show_where_they_are(tab: Browser, view: str) -> None:
    open_view(tab, view)
    assert tab.value("[...document.querySelectorAll('[tabindex]')].filter(e => e.tabIndex > 0).length") == 0
    wanted = tab.value(FOCUSABLE)
    tab.value(
        "window.order = undefined; document.activeElement?.blur(); window.getSelection()?.removeAllRanges()"
    )
    tab.value("document.body.tabIndex = -1, document.body.focus(), document.body.removeAttribute('tabindex')")
    unseen, seen = [], set()
    for _ in range(min(wanted, 150) + 12):
        for kind in ("rawKeyDown", "keyUp"):
            tab._call("Input.dispatchKeyEvent", type=kind, key="Tab", code="Tab", windowsVirtualKeyCode=9)
        found = tab.value(FOCUSED)
        if found is None:
            continue
        if found["number"] not in seen and not found["shows"]:
            unseen.append(found["what"])
        seen.add(found["number"])
        if "cm-content" in found["what"]:  # the editor takes Tab for itself; Escape gives it back
            for kind in ("rawKeyDown", "keyUp"):
                tab._call(
                    "Input.dispatchKeyEvent", type=kind, key="Escape", code="Escape", windowsVirtualKeyCode=27
                )
    assert unseen == []
    assert len(seen) >= min(wanted, 150) - 1, (len(seen), wanted)


@pytest.mark.repeats("by keyboard")
def test_the_palette_and_the_help_are_dialogs_that_keys_open_and_close(tab: Browser) -> None:
    open_view(tab, "overview")
    for key, modifiers, name in (("k", 2, "Commands"), ("?", 0, "Keys")):
        tab.value("document.querySelector('header button').focus()")
        tab._call("Input.dispatchKeyEvent", type="keyDown", key=key, modifiers=modifiers)
        _until(
            tab, f"document.querySelector('[role=dialog]')?.getAttribute('aria-label') === {json.dumps(name)}"
        )
        assert tab.value("document.querySelector('[role=dialog]').getAttribute('aria-modal')") == "true"
        assert tab.value(CONTRAST) == []
        inside = "document.querySelector('[role=dialog]').contains(document.activeElement)"
        _until(tab, inside)
        assert tab.value("['header', 'main'].map(one => document.querySelector(one).inert)") == [True, True]
        for kind in ("rawKeyDown", "keyUp"):
            tab._call(
                "Input.dispatchKeyEvent", type=kind, key="Escape", code="Escape", windowsVirtualKeyCode=27
            )
        _until(tab, "!document.querySelector('[role=dialog]')")
        _until(tab, "document.activeElement === document.querySelector('header button')")


@pytest.mark.repeats("every view in two themes")
def test_views_with_nothing_to_show_say_why_and_what_to_do() -> None:
    """A GPU recording of PyTorch has no stages, no allocations, no graph, and nothing to compare with."""
    with served(SAMPLES / "chrome" / "kineto_cuda.json") as browser:
        browser._call("Accessibility.enable")
        for dark in (False, True):
            scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
            browser._call("Emulation.setEmulatedMedia", features=[scheme])
            for view in ("pipeline", "memory", "graph", "compare"):
                _show(browser, view, f"!!document.querySelector('main.{view} .empty h1')")
                texts = "[...document.querySelectorAll('.empty p')].map(one => one.innerText).join(' ')"
                assert browser.value(f"{texts}.length") > 40, view
                assert browser.value("document.querySelector('.empty pre').innerText").startswith(
                    "stepscope "
                )
                assert browser.value(CONTRAST) == [], view


@pytest.mark.repeats("every view in two themes")
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_report_has_names_and_stands_out(dark: bool, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    recording = SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz"
    assert main(["report", str(recording), "-o", str(path)]) == 0
    with Browser() as browser:
        browser.open(path, width=1280, height=720, dark=dark)
        browser._call("Accessibility.enable")
        _until(browser, "!!document.querySelector('details.section')")
        unfold(browser)
        assert browser.value(CONTRAST) == []
        nodes = browser._call("Accessibility.getFullAXTree")["nodes"]
        controls = [
            node
            for node in nodes
            if not node.get("ignored") and node.get("role", {}).get("value") in CONTROLS - NEED_NO_NAME
        ]
        assert len(controls) > 12
        assert [_html(browser, one) for one in controls if not one["name"].get("value", "").strip()] == []
        assert complaints(browser) == []
