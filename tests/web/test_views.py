"""Model, graph and compare in Chromium: what they show is what the verbs and SQL say."""

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stepscope.cli import main
from stepscope.session import trace
from tests.corpus import SAMPLES
from tests.formats.capture_folder import data
from tests.presenters.browser import Browser
from tests.web.test_page import _becomes, _show, _until
from tests.web.test_timeline import complaints, rest, served

STEPS = SAMPLES / "run_metadata" / "two_servers.pb"
A = SAMPLES / "tf_data" / "two_maps_first_slow.xplane.pb.gz"
B = SAMPLES / "tf_data" / "not_bottleneck_prefetch.xplane.pb.gz"


def printed(*words: str) -> Any:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        assert main(list(words)) == 0
    return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def model() -> Iterator[Browser]:
    with served(STEPS) as browser:
        yield browser


@pytest.fixture(scope="module")
def pair() -> Iterator[Browser]:
    with served(A, B) as browser:
        yield browser


def test_the_models_tree_is_tfprofs(model: Browser) -> None:
    _show(model, "model", "document.querySelectorAll('.tree tbody tr').length > 1")
    model.value(
        "[...document.querySelectorAll('.model button')].find(b => b.innerText === 'Expand all').click()"
    )
    words = ["-order_by=micros", "-select=micros,params,float_ops,bytes", "-format=json"]
    wanted = printed("tfprof", "scope", str(STEPS), *words)["sections"][0]["tree"]["nodes"]
    _until(model, f"document.querySelectorAll('.tree tbody tr').length === {min(len(wanted), 400)}")
    name = "e => e.innerText.trim().replace(/^[▸▾ ]+/, '')"
    names = [node["name"].replace("_TFProfRoot", "(all)") for node in wanted[:400]]
    _becomes(model, f"[...document.querySelectorAll('.tree td.branch')].map({name})", names)
    assert complaints(model) == []


def test_the_views_and_options_of_the_model_are_controls(model: Browser) -> None:
    _show(model, "model", "document.querySelectorAll('.tree tbody tr').length > 1")
    model.value("document.querySelectorAll('.model input[name=view]')[2].click()")
    _until(
        model, "document.querySelector('.model section:last-of-type h2').innerText.startsWith('The op view')"
    )
    _until(model, "document.querySelector('.model code').innerText.includes('stepscope tfprof op PATH')")


def test_the_graph_has_every_node_in_a_box(model: Browser) -> None:
    _show(model, "graph", "document.querySelectorAll('.graph .box').length > 0")
    with trace.open(STEPS, cache=False) as opened:
        largest = opened.query(
            "SELECT COUNT(*) AS n FROM node GROUP BY source_id, graph ORDER BY n DESC LIMIT 1"
        )
        (nodes,) = largest.rows()[0]
    labels = model.value(
        "[...document.querySelectorAll('.graph .box')].map(e => e.getAttribute('aria-label'))"
    )
    held = [int(label.rsplit(", ", 1)[1].split()[0].replace(",", "")) for label in labels]
    assert sum(held) == nodes
    assert complaints(model) == []


def test_a_scope_opens_in_place(model: Browser) -> None:
    _show(model, "graph", "document.querySelectorAll('.graph .opens').length > 0")
    held = "document.querySelector('.graph .opens').getAttribute('aria-label')"
    scope = model.value(held).split(", ")[0]
    opens = "document.querySelector('.graph .opens')"
    model.value(f"{opens}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))")
    inside = "[...document.querySelectorAll('.graph .box')].map(e => e.getAttribute('aria-label'))"
    _until(model, f"{inside}.some(label => label.startsWith({json.dumps(scope + '/')}))")
    _until(model, "document.querySelector('.graph-about').innerText.startsWith('Open:')")


def test_comparing_says_what_the_verb_says(pair: Browser) -> None:
    _show(pair, "compare", "!!document.querySelector('.compare .headline')")
    shown = pair.value("document.querySelector('.compare .headline').innerText")
    wanted = printed("diff", str(A), str(B), "--format", "json")["headline"][0]
    back = printed("diff", str(B), str(A), "--format", "json")["headline"][0]
    assert shown in (wanted, back)
    _until(pair, "document.querySelector('.compare').innerText.includes('not known')")
    assert complaints(pair) == []


def test_one_recording_says_how_to_compare(model: Browser) -> None:
    _show(model, "compare", "document.querySelector('.compare pre')?.innerText.includes('stepscope')")
    _until(model, "document.querySelector('.compare').innerText.includes('stepscope diff A B')")


def test_a_recording_without_a_graph_says_where_graphs_are(pair: Browser) -> None:
    _show(pair, "graph", "document.querySelector('main').innerText.includes('no graph')")
    _until(pair, "document.querySelector('main').innerText.includes('has no graph')")


def show_all(tab: Browser, *switches: str) -> None:
    """Turns switches of the graph, which opens where it can be read, and moves away until all is in view."""
    for name in switches:
        tab.value(f"document.querySelector('input[name={name}]').click()")
        rest(tab, 800)
    tab.value(
        "document.querySelector('svg.graph').dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'Home', bubbles: true, cancelable: true}))"
    )


@pytest.mark.repeats("thousands of boxes")
def test_thousands_of_boxes_are_painted_and_read_where_one_zooms_in(tmp_path: Path) -> None:
    names = [f"wide_{n}" for n in range(3000)]
    nodes = [data(1, data(1, name.encode()) + data(2, b"Op") + data(3, b"source")) for name in names]
    source = data(1, data(1, b"source") + data(2, b"Placeholder"))
    (tmp_path / "wide.pb").write_bytes(source + b"".join(nodes))
    with served(tmp_path / "wide.pb") as tab:
        _show(tab, "graph", "document.querySelectorAll('.graph .box').length > 0")  # what can be read
        show_all(tab, "given")
        _until(tab, "document.querySelector('.graph-far')?.innerText.startsWith('3,001 boxes')")
        rest(tab, 800)
        colours = (
            "(() => { const c = document.querySelector('.graph-drawing canvas'), k = c.getContext('2d');"
            "const seen = new Uint32Array(k.getImageData(0, 0, c.width, c.height).data.buffer);"
            "return seen.reduce((n, one) => n + (one !== 0), 0) / seen.length })()"
        )
        assert tab.value(colours) > 0.05
        assert tab.value("document.querySelectorAll('.graph .box').length") == 0
        tab.value(
            "(() => { const s = document.querySelector('svg.graph'), b = s.getBoundingClientRect();"
            "for (let i = 0; i < 12; i++) s.dispatchEvent(new WheelEvent('wheel', {deltaY: -100,"
            "bubbles: true, cancelable: true, clientX: b.left + b.width / 2,"
            "clientY: b.top + b.height / 2})); })()"
        )
        tab.value(
            "(() => { const s = document.querySelector('svg.graph'), b = s.getBoundingClientRect();"
            "s.dispatchEvent(new MouseEvent('click', {bubbles: true, clientX: b.left + b.width / 2,"
            "clientY: b.top + b.height / 2})); })()"
        )
        _until(tab, "document.querySelectorAll('.graph .box').length > 0")
        labels = tab.value(
            "[...document.querySelectorAll('.graph .box')].map(e => e.getAttribute('aria-label'))"
        )
        assert set(labels) <= {f"{name}, 1 node" for name in [*names, "source"]}
        assert complaints(tab) == []


@pytest.mark.repeats("graphs are drawn alike; tests/server has those of XLA")
def test_a_program_of_xla_is_drawn() -> None:
    with served(SAMPLES / "xla_dump") as browser:
        _show(browser, "graph", "document.querySelectorAll('.graph .box').length > 1")
        chosen = browser.value("document.querySelector('select[name=graph] option').innerText")
        assert "jit_train_step" in chosen
        show_all(browser, "fold", "given")
        nodes = (
            "[...document.querySelectorAll('.graph .box')].map(e => e.getAttribute('aria-label'))"
            ".reduce((n, label) => n + Number(label.split(', ').pop().split(' ')[0].replace(',', '')), 0)"
        )
        _until(browser, f"{json.dumps(chosen)}.includes(`(${{({nodes}).toLocaleString('en')}} nodes)`)")
        for view in ("overview", "timeline", "ops", "memory", "model", "sql"):
            _show(
                browser,
                view,
                f"!!document.querySelector('main.{view} :is(h1, .tl-bar, .ops, .problem, .editor, section)')",
            )
            assert "itself failed" not in browser.value("document.body.innerText"), view
