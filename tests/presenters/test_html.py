"""The HTML report: whole, harmless, and drawn; checked as a file and in a browser."""

import base64
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from stepscope.presenters import brief, frame, markdown
from stepscope.presenters import html as presenter
from stepscope.presenters.plain import plain
from stepscope.report import Chart, Column, Note, Report, ReportFinding, Section, Table, Tree, TreeNode
from tests.presenters.browser import Browser
from tests.presenters.example import REPORT
from tests.presenters.hostile import HOSTILE
from tests.presenters.unfolding import Opened

VOID = {"meta", "br", "link", "img", "input", "hr"}


class Page(HTMLParser):
    """Tags, attributes and text of a page; complains of tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def hostile_report() -> Report:
    """A report whose every string is hostile."""
    names = HOSTILE

    def name(i: int) -> str:
        return names[i % len(names)]

    columns = (
        Column(name(0), "text", name(1), name(2)),
        Column("n", "ps", name(3)),
        Column("m", "ps", name(4)),
    )
    rows = tuple((text, i * 10**9, 10**9) for i, text in enumerate(names))
    table = Table(columns, rows, len(rows) + 3)
    sections = tuple(
        Section(name(i), name(i), name(i + 1), (name(i + 2),), table, chart, name(i + 3))
        for i, chart in enumerate(
            (
                Chart("bar", columns[0].name, ("n",), name(5)),
                Chart("stacked_bar", columns[0].name, ("n", "m"), name(6)),
                Chart("line", columns[0].name, ("n", "m"), name(7)),
                Chart("strip", columns[0].name, ("n",), name(8)),
                None,
            )
        )
    )
    findings = tuple(
        ReportFinding(
            "slug", "high", text, text, text, Table(columns, rows[:3], 3), text, (text,), text, text
        )
        for text in names[:48]
    )
    notes = tuple(Note("slug", "lost", text, 1, text, (text,)) for text in names)
    return Report(names[0], names, sections, findings, notes, names[:48])


@pytest.fixture(scope="module")
def hostile() -> str:
    return presenter.render(hostile_report())


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Callable[[Report], Opened]:
    """Shows a report with all that is folded unfolded."""
    return lambda report: Opened(browser, report, tmp_path / "report.html")


# --- as a file -----------------------------------------------------------------------------------


def test_the_page_is_one_file_and_its_policy_names_its_blocks() -> None:
    text = presenter.render(REPORT)
    page = Page(text)
    policy = next(a["content"] for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    outside = [a for _, a in page.tags if {"src", "srcset", "action", "style", "href"} & a.keys()]
    assert outside == []


@pytest.mark.parametrize("page", ["page", "frame"])
def test_the_notices_of_what_is_bundled_come_with_it(page: str) -> None:
    text = presenter.render(REPORT) if page == "page" else frame.render("overview")
    (comment,) = re.findall(r"</html>\n<!--(.*)-->\n\Z", text, re.DOTALL)
    assert "--" not in comment
    titles = {line[3:].partition(" - ")[0] for line in comment.splitlines() if line.startswith("## ")}
    assert "preact" in titles
    assert ("uplot" in titles) == ("uplot" in presenter.built(page, "page.js").lower())
    assert comment.count("Copyright") >= len(titles)


def test_the_data_are_not_executable_and_are_what_json_says() -> None:
    text = presenter.render(REPORT)
    data = [a for tag, a in Page(text).tags if tag == "script" and a]
    assert data == [{"type": "application/json", "id": "stepscope-data"}]
    (body,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
    assert "<" not in body
    told = json.loads(body)[presenter.SUMMARY]
    assert told["headline"] == list(REPORT.headline)
    assert told["sections"][1]["table"]["rows"] == [list(row) for row in REPORT.sections[1].table.rows]  # type: ignore[union-attr]


def test_the_policy_of_every_report_is_the_same() -> None:
    policy = re.compile(r'Content-Security-Policy" content="([^"]*)"')
    assert policy.findall(presenter.render(REPORT)) == policy.findall(presenter.render(hostile_report()))


def test_hostile_names_are_data_only(hostile: str) -> None:
    page = Page(hostile)
    tags = {tag for tag, _ in page.tags}
    assert not tags & {"b", "img", "iframe", "base", "link", "object", "embed", "form"}
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert sum(tag == "style" for tag, _ in page.tags) == 1
    assert not [a for _, a in page.tags if any(name.startswith("on") for name in a)]
    hidden = re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", hostile)
    assert hidden == []


def test_a_megabyte_of_name_is_cut_and_says_so(hostile: str) -> None:
    assert len(hostile) < 6_000_000
    assert "(1,000,000 characters)" in hostile


# --- in a browser --------------------------------------------------------------------------------

Show = Callable[[Report], Opened]


def test_findings_come_first_and_everything_is_there(opened: Show) -> None:
    page = opened(REPORT)
    shown = page.text()
    assert shown.index(REPORT.findings[0].title) < shown.index(REPORT.sections[0].question)
    for section in REPORT.sections:
        assert section.title in shown
        assert section.sql in shown
        assert all(sentence in shown for sentence in section.answer)
    for finding in REPORT.findings:
        assert finding.action in shown
    assert REPORT.notes[0].detail in shown
    assert "Weakens: step times." in shown
    assert REPORT.next_commands[0] in shown
    assert "29 rows left out" in shown


def test_what_matters_is_seen_without_a_click_and_the_rest_is_folded(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "folded.html"
    path.write_text(presenter.render(REPORT), encoding="utf-8")
    browser.open(path, width=1280, height=720)
    seen = browser.value("document.body.innerText")
    for text in (
        *REPORT.headline,
        REPORT.findings[0].title,
        REPORT.findings[0].action,
        REPORT.notes[0].detail,
    ):
        assert text in seen
    assert REPORT.findings[0].reasoning not in seen
    assert REPORT.sections[0].sql not in seen
    bottom = "[...document.querySelectorAll('.finding, .notes')].map(e => e.getBoundingClientRect().bottom)"
    assert max(browser.value(bottom)) <= 720


def test_where_all_rows_come_from_is_not_repeated(opened: Show) -> None:
    columns = (Column("host_id", "text", "Host"), Column("op", "text", "Op"))
    for rows, shown in (
        ((("h0", "a"), ("h0", "b")), False),
        ((("h0", "a"), ("h1", "b")), True),
        ((("h0", "a"),), True),
    ):
        section = Section("s", "s", "q", (), Table(columns, rows, len(rows)), None, "")
        page = opened(Report("t", (), (section,), (), (), ()))
        assert ("Host" in page.texts("th")) == shown
        assert "a" in page.texts("td")


def test_a_single_wide_row_is_read_downwards(opened: Show) -> None:
    columns = [Column(f"c{i}", "int", f"Count {i}") for i in range(9)]
    time = Column("took_ps", "ps", "Took", "how long <it> took")
    for more, rows, flat in (([time], 1, False), ([], 1, True), ([time], 2, True)):
        row = (*range(9), *(5_000_000_000 for _ in more))
        table = Table((*columns, *more), (row,) * rows, rows)
        report = Report("t", (), (Section("s", "s", "q", (), table, None, ""),), (), (), ())
        page, lines = opened(report), markdown.render(report).splitlines()
        assert bool(page.count("table")) == flat
        assert ("| Count 3 | 3 |" in lines) != flat
        if not flat:
            told = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
            assert told["Count 3"] == "3"
            assert told["Took"] == "5.00 ms"
            assert page.count('dl > div[title="how long <it> took"]') == 1
            assert "| Took | 5.00 ms |" in lines


def test_what_is_unknown_in_a_wide_row_has_no_unit(opened: Show) -> None:
    columns = tuple(Column(f"c{i}", "ps", f"Time {i}") for i in range(10))
    section = Section("s", "s", "q", (), Table(columns, ((None,) * 10,), 1), None, "")
    report = Report("t", (), (section,), (), (), ())
    page = opened(report)
    assert page.texts("dd") == ["\N{EN DASH}"] * 10
    assert "| Time 3 | \N{EN DASH} |" in markdown.render(report)


def test_backticks_are_code_and_nothing_else_becomes_markup(opened: Show) -> None:
    section = Section("s", "s", "q", ("ask `op_types` of <b>`x<y`</b>",), None, None, "")
    page = opened(Report("t", (), (section,), (), (), ()))
    assert "ask op_types of <b>x<y</b>" in page.text()
    assert page.texts("details.section > p code") == ["op_types", "x<y"]
    assert page.count("b:not(.brand)") == 0


def test_one_bar_is_not_drawn(opened: Show) -> None:
    columns = (Column("op", "text", "Op"), Column("self_ps", "ps", "Self"))
    chart = Chart("bar", "op", ("self_ps",), "Time by op")
    for rows in ((("a", 5),), (("a", 5), ("b", 7))):
        section = Section("s", "s", "q", (), Table(columns, rows, len(rows)), chart, "")
        page = opened(Report("t", (), (section,), (), (), ()))
        assert ("Time by op" in page.text()) == (len(rows) > 1)


def test_idle_is_grey_in_every_chart(opened: Show) -> None:
    page = opened(REPORT)
    assert page.count("rect.class-idle") == 4  # one a track
    assert page.count("i.swatch.class-idle") == 1
    assert page.count("rect.series-2") == 0


def test_hostile_names_stay_text(opened: Show) -> None:
    page = opened(hostile_report())
    assert page.browser.complaints() == []
    assert page.count("#page :is(script, img, iframe, base, link, object, embed, form, meta, style)") == 0
    assert page.count("[id=planted], [onload], [onerror], [onmouseover], [onfocus], [autofocus]") == 0
    shown = page.text()
    for text in (text for text in HOSTILE if len(text) <= 2_000):
        assert any(plain(text.replace("`", mark), most) in shown for most in (120, 160) for mark in ("`", ""))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown)


def test_a_report_of_nothing(opened: Show) -> None:
    empty = Report("nothing", (), (), (), (), ())
    assert "nothing" in opened(empty).text()
    table = Table((Column("x", "int", "x"), Column("y", "ps", "y")), (), 0)
    for kind in ("bar", "stacked_bar", "line", "strip", "area"):
        chart = Chart(kind, "x", ("y",), "none")  # type: ignore[arg-type]
        sections = tuple(
            Section("s", "s", "q", (), dataclasses.replace(table, rows=rows), chart, "")
            for rows in ((), ((1, None),), ((1, 0),), ((None, float("nan")),), ((1, -5),))
        )
        page = opened(dataclasses.replace(empty, sections=sections))
        assert page.count("details.section") == 5
        assert page.count("figure") == 0


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("report")
    found = {}
    long = dataclasses.replace(REPORT, sections=tuple(_longer(s) for s in REPORT.sections))
    for name, report in {"plain": REPORT, "hostile": hostile_report(), "long": long}.items():
        found[name] = folder / f"{name}.html"
        found[name].write_text(presenter.render(report), encoding="utf-8")
    return found


def _longer(section: Section) -> Section:
    if section.table is None:
        return section
    rows = section.table.rows * 10
    return dataclasses.replace(section, table=dataclasses.replace(section.table, rows=rows, total=len(rows)))


@pytest.mark.repeats("three pages in three sizes")
@pytest.mark.parametrize("name", ["plain", "hostile", "long"])
@pytest.mark.parametrize(("width", "dark"), [(1100, False), (1100, True), (390, False)])
def test_a_browser_shows_it_without_complaint(
    browser: Browser, pages: dict[str, Path], name: str, width: int, dark: bool
) -> None:
    browser.open(pages[name], width=width, dark=dark)
    assert browser.value("document.querySelectorAll('th button').length") > 0, "the script has not run"
    browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    assert browser.complaints() == []
    assert [url for url in browser.requests() if not url.startswith("file:")] == []
    assert browser.value("document.getElementById('planted')") is None
    # Nothing sticks out at the side; tables scroll within their own box.
    assert browser.value("document.documentElement.scrollWidth") <= width


def test_the_browser_would_complain(browser: Browser, pages: dict[str, Path], tmp_path: Path) -> None:
    planted = '<img src="http://example.invalid/x.png" onerror="alert(1)"><p style="color:red">x</p>'
    planted += "<script>1</script>"
    page = tmp_path / "planted.html"
    page.write_text(pages["plain"].read_text(encoding="utf-8").replace("<body>", "<body>" + planted))
    browser.open(page)
    for directive in ("img-src", "style-src", "script-src"):
        while directive not in "\n".join(browser.complaints()):  # they are told after the page has loaded
            browser.value("1")


def test_charts_are_drawn(opened: Show) -> None:
    page = opened(REPORT)
    boxes: Any = page.browser.value(
        "[...document.querySelectorAll('#op_types figure.chart, .sections figure.chart')]"
        ".map(f => [...f.querySelectorAll('rect')].map(r => r.getBoundingClientRect())"
        ".map(b => [b.width, b.height]))"
    )
    assert len(boxes) == 3  # each once, the picture that is open before those that are folded
    bars, strip, stacked = boxes
    assert len(strip) == 10
    assert min(height for _, height in strip) > 50
    widths = [width for width, _ in bars]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] > 200
    assert widths[1] / widths[0] == pytest.approx(91 / 123, rel=0.02)
    assert len([1 for width, _ in stacked if width > 5]) >= 11


def test_a_heading_sorts_its_table(opened: Show) -> None:
    page = opened(REPORT)
    column = "#op_types tbody tr > td:nth-child(2)"
    assert [int(text) for text in page.texts(column)] == [14 * i for i in range(1, 9)]
    for order in (range(8, 0, -1), range(1, 9)):
        page.browser.value("document.querySelectorAll('#op_types th button')[1].click()")
        page.settle()
        assert [int(text) for text in page.texts(column)] == [14 * i for i in order]


def test_long_tables_are_folded_and_unfold(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["long"])
    browser.value("document.querySelectorAll('details').forEach(one => { one.open = true; })")
    visible = "[...document.querySelectorAll('#s0 tbody tr')].filter(r => r.offsetHeight > 0).length"
    assert browser.value(visible) == 12
    browser.value("document.querySelector('#s0 button.more').click()")
    browser.value("new Promise(done => setTimeout(() => done(1), 100))")
    assert browser.value(visible) == 100


def test_dark_is_dark(browser: Browser, pages: dict[str, Path]) -> None:
    def brightness() -> int:
        color = browser.value("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", color)[:3]))

    browser.open(pages["plain"])
    light = brightness()
    browser.open(pages["plain"], dark=True)
    assert brightness() < 200 < 600 < light


FLAME = Section(
    "flame",
    "Python stacks",
    tree=Tree(
        (Column("time_ps", "ps", "Time"),),
        tuple(
            TreeNode(depth, name, (ms * 10**9,), kind=kind)
            for depth, name, ms, kind in (
                (0, "main", 80, "program"),
                (1, "load", 40, "program"),
                (2, "read", 40, "python"),
                (1, "call", 30, "library"),
                (0, "other", 20, "no such kind"),
            )
        ),
        size="time_ps",
    ),
)


def test_boxes_of_a_flame_graph_lie_within_what_called_them(opened: Show) -> None:
    page = opened(Report("t", (), (FLAME,)))
    asked = "['x', 'width', 'y'].map(name => b.getAttribute(name))"
    boxes = page.browser.value(f"[...document.querySelectorAll('.flame > .box')].map(b => {asked})")
    assert [(float(x[:-1]), float(width[:-1]), y) for x, width, y in boxes] == [
        (0, 80, "0"),
        (0, 40, "19"),
        (0, 40, "38"),
        (40, 30, "19"),
        (80, 20, "0"),
    ]
    looks = page.browser.value(
        "[...document.querySelectorAll('.flame rect')].map(r => r.getAttribute('class'))"
    )
    assert looks == ["f-program", "f-program", "f-python", "f-library", "f-unknown"]


def test_a_click_zooms_and_a_second_one_shows_all(opened: Show) -> None:
    page = opened(Report("t", (), (FLAME,)))
    box = "[...document.querySelectorAll('.flame > .box')].find(b => b.textContent.includes('call'))"
    asked = (
        f"(() => {{const b = {box}.querySelector('rect').getBoundingClientRect(); "
        "const a = document.querySelector('.flame').getBoundingClientRect(); "
        "return [(b.x - a.x) / a.width, b.width / a.width].map(n => Math.round(n * 100));})()"
    )
    click = f"{box}.dispatchEvent(new MouseEvent('click', {{bubbles: true}}))"
    assert page.browser.value(asked) == [40, 30]
    for wanted in ([0, 100], [40, 30]):
        page.browser.value(click)
        page.settle()
        assert page.browser.value(asked) == wanted
    assert page.browser.complaints() == []


def test_severities_have_the_colours_of_the_page() -> None:
    style = Path(__file__).parents[2] / "web" / "src" / "style.css"
    declared = style.read_text(encoding="utf-8")
    assert list(brief.SEVERITIES) == ["high", "medium"]
    for severity, colour in brief.SEVERITIES.items():
        assert f"  --{severity}: {colour};\n" in declared
