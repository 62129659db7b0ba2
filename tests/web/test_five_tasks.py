"""Five questions that one opens a trace with, and how many actions each takes: benchmarks/README.md has
Perfetto's beside them."""

import json
from typing import Any

import pytest

from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.presenters.browser import Browser
from tests.web.test_page import _show, _until
from tests.web.test_timeline import complaints, served

RECORDING = SAMPLES / "gpu" / "torch_svd.json.gz"


class Hand:
    """A mouse that counts its clicks."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.actions = 0

    def click(self, selector: str) -> None:
        """Clicks into the middle of what a selector finds."""
        found = json.dumps(selector)
        where = self.browser.value(
            f"(() => {{ const e = document.querySelector({found}); e.scrollIntoView({{block: 'nearest'}});"
            "const b = e.getClientRects()[0]; return [b.left + b.width / 2, b.top + b.height / 2] })()"
        )
        at: dict[str, Any] = {"x": where[0], "y": where[1], "button": "left", "clickCount": 1}
        for kind in ("mousePressed", "mouseReleased"):
            self.browser._call("Input.dispatchMouseEvent", type=kind, **at)
        self.actions += 1

    def reads(self, selector: str) -> str:
        """Text of what a selector finds, once it is there."""
        _until(self.browser, f"!!document.querySelector({json.dumps(selector)})")
        return str(self.browser.value(f"document.querySelector({json.dumps(selector)}).innerText"))


@pytest.mark.repeats("each view has a test of its own")
def test_five_tasks_take_two_clicks() -> None:
    with trace.open(RECORDING, cache=False) as opened:
        (number, first, until) = opened.query(
            "SELECT step, ts_ps, ts_ps + dur_ps FROM step ORDER BY dur_ps DESC LIMIT 1"
        ).rows()[0]
        (op, slice_id) = opened.query(
            "SELECT op, slice_id FROM op_slice WHERE works AND place = 'device'"
            f" AND ts_ps >= {first} AND ts_ps < {until} ORDER BY self_ps DESC, slice_id LIMIT 1"
        ).rows()[0]
        ((launch,),) = opened.query(
            "SELECT c.name FROM slice AS c JOIN slice AS k ON k.correlation_id = c.correlation_id"
            f" AND k.id = {slice_id} AND c.id <> k.id"
        ).rows()
    with served(RECORDING) as browser:
        hand = Hand(browser)
        _show(browser, "overview", "!!document.querySelector('.steps-card figcaption a')")

        slowest = hand.reads(".steps-card figcaption a")
        assert (slowest.split()[-1], hand.actions) == (str(number), 0)

        hand.click(".steps-card figcaption a")
        longest = hand.reads(".tl-longest li button")
        assert (longest in op, hand.actions) == (True, 1)

        _until(browser, "document.querySelector('.tl-longest').innerText.includes('Longest waits')")
        waited = hand.reads(".tl-longest")
        assert ("for " in waited.split("Longest waits")[1], hand.actions) == (True, 1)

        hand.click(".tl-longest li button")
        origin = hand.reads(".tl-origin")
        assert (origin.split(" in ")[0], hand.actions) == (f"Launched by {launch}", 2), origin
        assert " in aten::" in origin

        assert ("Line th.py:" in origin, hand.actions) == (True, 2)
        assert f"slice={slice_id}" in browser.value(
            "new Promise(done => setTimeout(() => done(location.hash), 400))"
        )
        assert complaints(browser) == []
