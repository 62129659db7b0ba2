"""Hostile names in every view: text where they are shown, and nothing else."""

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.presenters.browser import Browser
from tests.presenters.hostile import HOSTILE
from tests.tiers import some
from tests.web.test_page import _show, _until
from tests.web.test_timeline import served

NAMES = [name for name in HOSTILE if name.strip()]
PLANTED = (
    "#page :is(script, img, iframe, base, object, embed, form), [id=planted], [onload], [onerror], [onfocus]"
)
ROWS = quote("SELECT name, category, args_json FROM slice LIMIT 1000")


def recording(path: Path) -> Path:
    """A trace of which each name, category, argument, thread and process is hostile."""
    events: list[dict[str, object]] = []
    for number, name in enumerate(NAMES):
        where = {"pid": number % 7, "tid": number % 3}
        events.append({"ph": "M", "name": "process_name", **where, "args": {"name": name}})
        events.append({"ph": "M", "name": "thread_name", **where, "args": {"name": name}})
        other = NAMES[(number * 7 + 1) % len(NAMES)]
        arguments = {"name": other, "op": other, name: name} if len(name) < 10_000 else {"op": other}
        events.append({"ph": "X", "name": name, "cat": other[:1000], "ts": number * 100, "dur": 90, **where,
                       "args": arguments})  # fmt: skip
        events.append({"ph": "C", "name": name, "ts": number * 100, **where, "args": {other[:1000]: number}})
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    folder = tmp_path_factory.mktemp("hostile")
    with served(recording(folder / "trace <b id=planted>.json")) as browser:
        yield browser


VIEWS = {
    "overview": "!!document.querySelector('details.section')",
    "timeline?search=script": "!!document.querySelector('.tl-found li')",
    "ops": "!!document.querySelector('.ops-table tbody tr')",
    "pipeline": "!!document.querySelector('.empty, .stages')",
    "memory": "!!document.querySelector('.empty, .lifetimes')",
    f"sql?sql={ROWS}": "!!document.querySelector('.answer td')",
}


@pytest.mark.parametrize(
    "view", some(VIEWS, ("overview", "timeline?search=script", "ops"), "a view at a time")
)
def test_names_are_text_in_every_view(tab: Browser, view: str) -> None:
    _show(tab, view, VIEWS[view])
    tab.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    tab.value("document.querySelectorAll('button.more').forEach(one => one.click())")
    tab.value("new Promise(done => setTimeout(() => done(1), 300))")
    assert tab.value(f"document.querySelectorAll({json.dumps(PLANTED)}).length") == 0
    for number in range(tab.value("document.querySelectorAll('.segments button').length")):
        tab.value(f"document.querySelectorAll('.segments button')[{number}].click()")
        tab.value("new Promise(done => setTimeout(() => done(1), 200))")
        assert tab.value(f"document.querySelectorAll({json.dumps(PLANTED)}).length") == 0
    said = [one for one in tab.complaints() if "NavigationEntryMarkedSkippable" not in one]
    assert said == []
    hidden = r"/[\u0000-\u0008\u000b-\u001f\u202a-\u202e\u2066-\u2069]/"
    assert not tab.value(f"{hidden}.test(document.querySelector('main').textContent)")
    assert tab.value("document.documentElement.scrollWidth") <= 1280


@pytest.mark.repeats("hostile names")
def test_names_are_shown_as_they_are(tab: Browser) -> None:
    _show(tab, "overview", VIEWS["overview"])  # another table may have been chosen in the view of ops
    _show(tab, "ops", VIEWS["ops"])
    tab.value("document.querySelectorAll('.segments button')[1].click()")
    _until(tab, "document.querySelectorAll('.segments button')[1].ariaPressed === 'true'")
    tab.value("document.querySelectorAll('button.more').forEach(one => one.click())")
    for name in (
        "<img src=x onerror=alert(1)>",
        "__proto__",
        "constructor",
        "{{constructor.constructor('alert(1)')()}}",
    ):
        _until(tab, f"document.querySelector('.ops-table').textContent.includes({json.dumps(name)})")
