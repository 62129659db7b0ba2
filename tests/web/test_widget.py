"""The page in a notebook: its frame asks by messages, the kernel's side answers; no network is asked."""

import base64
import contextlib
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the group test has starlette")

from stepscope import objects
from stepscope.presenters import frame
from stepscope.presenters.frame import VIEWS
from stepscope.server.notebook_routes import Within
from stepscope.session import trace
from tests.presenters.browser import PATIENCE_S, Browser, RefusedError
from tests.tiers import some

SAMPLES = Path(__file__).parents[1] / "samples"
SLOW = SAMPLES / "capture" / "slow_map"
WIDGET = Path(objects.__file__).with_name("widget.js")

HOST = """<!doctype html><meta charset="utf-8"><title>notebook</title>
<body data-jp-theme-light="THEME"><div id="cell"></div><p id="below">the notebook goes on</p>
<script type="application/json" id="told">TOLD</script>
<script type="module">
const told = JSON.parse(document.getElementById("told").textContent), heard = [];
window.asked = [];
const model = {
  get: (name) => told[name],
  send: (message) => window.asked.push(message),
  on: (what, hear) => heard.push(hear),
  off: (what, hear) => heard.splice(heard.indexOf(hear), 1),
};
const script = URL.createObjectURL(new Blob([told.script], { type: "text/javascript" }));
const { default: widget } = await import(script);
const end = widget.render({ model, el: document.getElementById("cell") });
window.answer = ({ content, ...message }) => {
  const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0));
  for (const hear of heard) hear(message, [new DataView(bytes.buffer)]);
};
window.leave = () => { end(); return heard.length; };
</script>"""


class Notebook:
    """A page that holds a widget, and the kernel's side of it."""

    def __init__(self, browser: Browser, within: Within, folder: Path) -> None:
        self.browser, self._within, self._folder = browser, within, folder
        self.paths: list[str] = []

    def show(self, view: str, light: str = "true") -> None:
        """Opens a notebook with a widget that begins with a view."""
        told = {"page": frame.render(view), "height": 700, "title": "slow_map", "script": WIDGET.read_text()}
        text = json.dumps(told).replace("<", "\\u003c")
        path = self._folder / f"{view}-{light}.html"
        path.write_text(HOST.replace("THEME", light).replace("TOLD", text), encoding="utf-8")
        self.paths.clear()
        self.browser.open(path)

    def until(self, words: str) -> str:
        """Answers what the frame asks until its text has these words; the text."""
        end = time.monotonic() + PATIENCE_S
        while True:
            for one in self.browser.value("window.asked.splice(0)"):
                status, content = self._within.ask(
                    one["method"], one["path"], (one.get("body") or "").encode()
                ).result(PATIENCE_S)
                self.paths.append(one["path"])
                answer = {"id": one["id"], "of": one["of"], "status": status}
                answer["content"] = base64.b64encode(content).decode()
                self.browser.value(f"window.answer({json.dumps(answer)})")
            text = ""
            if self._frames():
                with contextlib.suppress(RefusedError):  # it is about to show another document
                    text = self.inside("document.body ? document.body.innerText : ''")
            if re.search(words, text):
                return str(text)
            assert time.monotonic() < end, text
            time.sleep(0.05)

    def _frames(self) -> list[str]:
        tree = self.browser._call("Page.getFrameTree")["frameTree"]
        return [one["frame"]["id"] for one in tree.get("childFrames", ())]

    def inside(self, expression: str) -> Any:
        """The value of an expression in the frame, which is of another origin."""
        (frame_id,) = self._frames()
        world = self.browser._call("Page.createIsolatedWorld", frameId=frame_id)["executionContextId"]
        answer = self.browser._call(
            "Runtime.evaluate", expression=expression, contextId=world, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")


@pytest.fixture(scope="module")
def within() -> Iterator[Within]:
    made = Within(lambda: trace.open(str(SLOW)))
    yield made
    made.close()


@pytest.fixture(scope="module")
def notebook(within: Within, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Notebook]:
    with Browser(one_process=True) as browser:
        yield Notebook(browser, within, tmp_path_factory.mktemp("notebook"))


def test_the_frame_has_the_views_of_the_page() -> None:
    files = (Path(__file__).parents[2] / "web" / "src" / "views").glob("*.tsx")
    assert {path.stem for path in files} - {"sql", "live"} == set(VIEWS)


WORDS = {
    "overview": "Where a step goes",
    "timeline": r"\d+ tracks?",
    "pipeline": "bottleneck",
    "ops": "PyFunc",
    "memory": "The process takes|peak|nothing about memory",
    "model": "The scope view",
    "graph": "without scopes|no graph",
    "compare": "Serve two",
}


@pytest.mark.parametrize("view", some(VIEWS, ("overview",), "the page has the same views"))
def test_a_view_is_shown_and_nothing_is_asked_of_a_network(notebook: Notebook, view: str) -> None:
    notebook.show(view)
    text = notebook.until(WORDS[view])
    assert "the notebook goes on" not in text
    assert notebook.browser.complaints() == []
    assert all(re.match("file:|blob:|about:|data:", one) for one in notebook.browser.requests())
    assert notebook.paths
    assert notebook.browser.value("document.getElementById('below').textContent") == "the notebook goes on"


def test_the_timeline_draws_and_links_lead_to_it(notebook: Notebook) -> None:
    notebook.show("overview")
    notebook.until("Where a step goes")
    notebook.inside(
        "[...document.querySelectorAll('header a')].find((a) => a.textContent === 'Timeline').click()"
    )
    notebook.until(r"on screen")
    notebook.until(r"\d+ tracks?")
    deadline = time.monotonic() + PATIENCE_S
    colours = (
        "(() => { const c = document.querySelector('.tl-area canvas'); if (!c || !c.width) return 0;"
        " const drawn = c.getContext('2d').getImageData(0, 60, c.width, c.height - 60).data;"
        " return new Set(new Uint32Array(drawn.buffer)).size; })()"
    )
    while notebook.inside(colours) <= 6:
        assert time.monotonic() < deadline
        notebook.until(r"\d+ tracks?")
    assert any(path.startswith("/api/timeline?") for path in notebook.paths)


def test_the_theme_is_the_notebooks(notebook: Notebook) -> None:
    shades = []
    for light in ("true", "false"):
        notebook.show("overview", light)
        notebook.browser._call("Emulation.setEmulatedMedia", features=[])  # it would go before the notebook's
        notebook.until("Where a step goes")
        shade = notebook.inside("getComputedStyle(document.body).backgroundColor")
        shades.append(sum(map(int, re.findall(r"\d+", shade)[:3])))
    assert shades[0] > 600 > 200 > shades[1]


def test_a_widget_that_leaves_hears_nothing_more(notebook: Notebook) -> None:
    notebook.show("overview")
    notebook.until("Where a step goes")
    assert notebook.browser.value("window.leave()") == 0


@pytest.mark.parametrize(
    ("method", "target", "status"),
    [
        ("GET", "/api/catalog", 200),
        ("POST", "/api/sql", 404),
        ("POST", "/api/session", 404),
        ("GET", "/", 404),
        ("PUT", "/api/catalog", 405),
        ("GET", "/api/timeline?from=5", 400),
        ("POST", "/api/graph", 400),
        ("GET", "/api/analysis/%00", 404),
    ],
)
def test_answers_are_those_of_the_server(within: Within, method: str, target: str, status: int) -> None:
    found, content = within.ask(method, target, b"[]").result(PATIENCE_S)
    assert found == status
    assert ("error" in json.loads(content)) == (status != 200)
