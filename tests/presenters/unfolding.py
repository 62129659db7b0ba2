"""A report in a browser with all that is folded unfolded: what a reader can find there."""

import json
from pathlib import Path

from stepscope.presenters import html
from stepscope.report import Report
from tests.presenters.browser import Browser


class Opened:
    """The page of a report."""

    def __init__(self, browser: Browser, report: Report, path: Path, *, width: int = 1100) -> None:
        path.write_text(html.render(report), encoding="utf-8")
        self.browser = browser
        browser.open(path, width=width)
        browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        browser.value("document.querySelectorAll('button.more').forEach(one => one.click())")
        self.settle()

    def settle(self) -> None:
        """Waits until what was clicked on has been drawn."""
        self.browser.value("new Promise(done => setTimeout(() => done(1), 60))")

    def text(self) -> str:
        """All text of the page, its title and what appears when the mouse rests on a mark included."""
        found: str = self.browser.value("document.getElementById('page').textContent")
        return found

    def pieces(self) -> str:
        """The same, with a line end wherever another element begins."""
        walk = "document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT)"
        found: str = self.browser.value(
            f"(() => {{const walk = {walk}, found = []; "
            "while (walk.nextNode()) found.push(walk.currentNode.nodeValue); return found.join('\\n');})()"
        )
        return found

    def texts(self, selector: str) -> list[str]:
        """Texts of elements."""
        asked = f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent.trim())"
        found: list[str] = self.browser.value(asked)
        return found

    def count(self, selector: str) -> int:
        """How many elements there are."""
        found: int = self.browser.value(f"document.querySelectorAll({json.dumps(selector)}).length")
        return found
