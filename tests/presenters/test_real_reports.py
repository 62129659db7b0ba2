"""Reports of real recordings in a browser, from a file: what they show is what the verbs print as JSON."""

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from stepscope import report, units
from stepscope.presenters import html
from stepscope.presenters import json as as_json
from stepscope.report import Report
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.presenters.browser import Browser
from tests.tiers import some

MOST_BYTES = 400_000
"""Size of the report of a recording that ships with the project."""


@functools.cache
def built(name: str) -> Report:
    """The report of a sample, with everything."""
    with trace.open(SAMPLES / name, cache=False) as recording:
        return report.build(recording, all=True)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Callable[[str], tuple[Report, dict[str, Any]]]:
    """Opens the report of a sample; the report, and what it is as JSON."""

    def open_(name: str) -> tuple[Report, dict[str, Any]]:
        made = built(name)
        path = tmp_path / "report.html"
        path.write_text(html.render(made), encoding="utf-8")
        assert path.stat().st_size < MOST_BYTES
        browser.open(path, width=1280, height=720)
        assert browser.complaints() == []
        assert browser.requests() == [path.as_uri()]
        return made, json.loads(as_json.render(made))

    return open_


def texts(browser: Browser, selector: str) -> list[str]:
    asked = f"[...document.querySelectorAll({json.dumps(selector)})].map(e => e.textContent.trim())"
    found: list[str] = browser.value(asked)
    return found


def test_the_bar_the_sentence_and_the_findings(browser: Browser, opened: Any) -> None:
    _, told = opened("capture/slow_map")
    section = next(one for one in told["sections"] if one["name"] == "step_parts")
    mean = next(row for row in section["table"]["rows"] if row["what"] == "mean")
    parts = sorted((mean[name] for name in section["chart"]["y"] if mean[name]), reverse=True)
    shares = texts(browser, ".where-a-step-goes .legend b")
    assert shares == [units.show(part / sum(parts), "ratio") for part in parts]
    assert sum(parts) == pytest.approx(mean["dur_ps"], abs=len(parts))  # means are whole picoseconds
    assert texts(browser, ".headline") == [told["headline"][0].replace("`", "")]
    shown = " ".join(texts(browser, ".finding > summary"))
    for finding in told["findings"]:
        assert finding["title"] in shown
        assert finding["action"].replace("`", "") in shown
    steps = told["facts"]["steps"] + told["facts"]["steps_left_out"]
    assert browser.value("document.querySelectorAll('.steps .step').length") == steps


def test_the_tree_of_the_pipeline_with_gains_and_lines(browser: Browser, opened: Any) -> None:
    _, told = opened("capture/slow_map")
    group = next(one for one in told["sections"] if one["name"] == "pipeline")
    tree = next(part["tree"] for part in group["parts"] if part["tree"])
    rows = texts(browser, "table.tree tbody tr")
    assert len(rows) == len(tree["nodes"])
    for row, node in zip(rows, tree["nodes"], strict=True):
        assert node["name"] in row
        assert ("bottleneck" in row) == (node["mark"] == "bottleneck")
        if node["line"]:
            assert f"{node['line']['file']}:{node['line']['line']}" in row
    changes = [change for part in group["parts"] if part["diff"] for change in part["diff"]["changes"]]
    shown = texts(browser, ".change")
    assert len(shown) == len(changes) > 3
    for text, change in zip(shown, changes, strict=True):
        assert change["what"].replace("`", "") in text
        if change["values"]["gain_ps"] is not None:
            assert units.show(change["values"]["gain_ps"], "ps") in text
            assert units.show(change["values"]["predicted_step_ps"], "ps") in text
        if change["edit"] and change["edit"]["after"]:
            assert f"+ {change['edit']['after']}" in text


def test_the_memory_curve_is_there_by_itself(browser: Browser, opened: Any) -> None:
    _, told = opened("run_metadata/two_servers.pb")
    group = next(one for one in told["sections"] if any(part["name"] == "curve" for part in one["parts"]))
    curve = next(part for part in group["parts"] if part["name"] == "curve")["table"]
    browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    points = browser.value("document.querySelector('#curve polygon').getAttribute('points')").split()
    heights = [150 - float(point.partition(",")[2]) for point in points[1:-1]]
    assert len(heights) == 2 * len(curve["rows"])
    held = [row["bytes"] for row in curve["rows"]]
    assert heights[::2] == pytest.approx([max(heights) * one / max(held) for one in held], abs=0.2)
    assert units.show(max(held), "bytes") in browser.value("document.body.innerText")


def test_what_is_incomplete_is_said_on_the_first_screen(browser: Browser, opened: Any) -> None:
    made, _ = opened("profile/stacks.collapsed")
    assert made.notes
    (notes,) = texts(browser, ".notes > summary")
    assert notes.startswith("Incomplete:")
    assert made.notes[0].detail.rstrip(".")[:60] in notes
    assert browser.value("document.querySelector('.notes').getBoundingClientRect().bottom") <= 720
    items = texts(browser, ".notes li")
    assert len(items) == len(made.notes)


@pytest.mark.parametrize(
    "name",
    some(
        ["chrome/kineto_cuda.json", "xplane/jax.xplane.pb.gz", "event_file", "graph"],
        ("chrome/kineto_cuda.json", "graph"),
        "one with devices and one without times differ most",
    ),
)
def test_other_recordings_open_without_complaint(browser: Browser, opened: Any, name: str) -> None:
    made, _ = opened(name)
    assert texts(browser, "h1") == [made.title]
    browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert browser.complaints() == []
    assert browser.value("document.documentElement.scrollWidth") <= 1280
