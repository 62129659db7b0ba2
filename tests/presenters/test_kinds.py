"""Every presenter shows every kind of section, whatever its strings are; none of them works a result out."""

import ast
import csv
import dataclasses
import functools
import io
import json
import re
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepscope import presenters
from stepscope.presenters import json as as_json
from stepscope.presenters import markdown, outline, scroll, terminal, tidy
from stepscope.presenters.cells import cells
from stepscope.report import Column, Report, Section, SourceLine, Tree, TreeNode
from tests.presenters import kinds
from tests.presenters.browser import Browser
from tests.presenters.test_files import outside_code
from tests.presenters.unfolding import Opened


def in_browser(browser: Browser, report: Report) -> str:
    """What a browser shows of the HTML."""
    with tempfile.TemporaryDirectory() as folder:
        page = Opened(browser, report, Path(folder) / "report.html")
        assert page.browser.complaints() == []
        assert page.count("#page :is(img, iframe, link, base, textarea, script, style)") == 0
        assert page.count("[id=planted], [onload], [onerror], [onmouseover], [onfocus]") == 0
        return page.pieces()


PRESENTERS: dict[str, Callable[[Report], str]] = {
    "json": as_json.render,
    "markdown": markdown.render,
    "tidy": tidy.render,
    "terminal": lambda report: terminal.render(report, everything=True),
    "first screen": lambda report: terminal.render(report, width=80),
    "scroll": lambda report: scroll.render(report),
}


@pytest.fixture(params=["html", *PRESENTERS])
def presenter(request: pytest.FixtureRequest) -> tuple[str, Callable[[Report], str]]:
    """The name of a presenter, and what it shows of a report."""
    name: str = request.param
    if name == "html":
        return name, functools.partial(in_browser, request.getfixturevalue("browser"))
    return name, PRESENTERS[name]


def essential(report: Report) -> set[str]:
    """What a reader must find: sentences, names of nodes, changes with their lines, advice of findings."""
    found = {report.title, *report.headline}
    for section in (one for outer in report.sections for one in outer.walk()):
        found |= {section.title, section.subject, *section.answer}
        if section.tree is not None:
            found |= {node.name for node in section.tree.nodes} | {node.mark for node in section.tree.nodes}
        if section.diff is not None:
            found |= {change.what for change in section.diff.changes}
            edits = [change.edit for change in section.diff.changes if change.edit is not None]
            found |= {text for edit in edits for text in (edit.at.file, edit.after or "")}
        found |= {text for finding in section.findings for text in (finding.title, finding.action)}
        if section.kind in ("table", "bars") and section.table is not None:
            found |= {row[0] for row in section.table.rows}
    return found - {""}


def test_every_kind_is_shown(presenter: tuple[str, Callable[[Report], str]]) -> None:
    name, render = presenter
    report = kinds.named()
    shown = render(report)
    words = set(re.findall(r"\bw\d+\b", shown))
    wanted = essential(report)
    if name == "tidy":  # holds values, no sentences
        wanted = {node.name for one in report.sections if one.tree for node in one.tree.nodes}
    if name == "first screen":  # what it has no room for is named in its last line; --all shows all
        assert "--all shows them" in " ".join(shown.split())
    elif name == "terminal":  # names in the gutter, and files of a tree, are cut where they are too long
        assert len(wanted - words) <= 2
    else:
        assert wanted <= words


def test_hostile_strings_stay_strings(presenter: tuple[str, Callable[[Report], str]]) -> None:
    name, render = presenter
    shown = render(kinds.hostile())
    if name == "html":
        assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", shown)
    elif name == "json":
        assert json.loads(shown)["format"] == 1
    elif name == "markdown":
        outside = outside_code(shown).replace("<details><summary>SQL</summary>", "").replace("</details>", "")
        assert "<" not in outside
    elif name == "tidy":
        assert {len(row) for row in csv.reader(io.StringIO(shown, newline=""))} == {6}
    else:
        assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cs") and c != "\n"]
        assert not re.search("[\u202a-\u202e\u2066-\u2069]", shown)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 140])
def test_lines_fit(width: int) -> None:
    report = kinds.hostile()
    commands = len(report.next_commands)
    for shown in (scroll.render(report, width=width), terminal.render(report, width=width, everything=True)):
        assert sum(cells(line) > width for line in shown.splitlines()) <= commands


def test_json_holds_raw_values_of_trees_and_changes() -> None:
    report = kinds.named()
    told = json.loads(as_json.render(report))
    tree = next(one for one in told["sections"] if one["kind"] == "tree")["tree"]
    source = next(one for one in report.sections if one.kind == "tree").tree
    assert source is not None
    assert [tuple(node["values"].values()) for node in tree["nodes"]] == [n.values for n in source.nodes]
    assert [node["depth"] for node in tree["nodes"]] == [node.depth for node in source.nodes]
    diff = next(one for one in told["sections"] if one["kind"] == "diff")["diff"]
    assert [change["helps"] for change in diff["changes"]] == [True, True, False, None]
    assert diff["changes"][0]["edit"]["at"]["line"] == 12
    *inner, group = told["sections"]
    assert [part["kind"] for part in group["parts"]] == [section["kind"] for section in inner]


def test_no_key_of_a_verb_hides_one_of_the_report() -> None:
    """What verbs have promised stands beside the keys of every report, at the same level."""
    samples = Path(__file__).resolve().parents[1] / "samples"
    from stepscope.instruments.memory import allocators
    from stepscope.instruments.pipeline import diagnoses
    from stepscope.report import memory, pipeline
    from stepscope.session import trace

    own = json.loads(as_json.render(Report("", ()))).keys()
    with trace.open(samples / "capture" / "slow_map", cache=False) as opened:
        one, other = pipeline.build(diagnoses.find(opened.query)), pipeline.build([])
        assert not own & {*one.document, *other.document}
        assert {section.kind for section in one.sections} == {"prose", "tree", "diff"}
    with trace.open(samples / "run_metadata" / "two_servers.pb", cache=False) as opened:
        held = memory.build([(found, ()) for found in allocators.find(opened.query, opened.stream)])
        assert not own & held.document.keys()
        assert {section.kind for section in held.sections} == {"prose", "curve", "bars", "table"}


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_branches_lead_from_each_node_to_its_parent(depths: list[int]) -> None:
    """Going up from the corner of a node over its rails ends at the branch or the name of its parent."""
    sound = [0]
    for depth in depths:
        sound.append(min(depth, sound[-1] + 1))
    drawn = outline.branches([TreeNode(depth, "", ()) for depth in sound])
    for at, (depth, before) in enumerate(zip(sound, drawn, strict=True)):
        assert len(before) == 3 * depth
        if not depth:
            continue
        assert before[-3] in "├└"
        column, above = 3 * (depth - 1), at - 1
        while sound[above] >= depth:
            assert drawn[above][column] in "│├"
            above -= 1
        assert sound[above] == depth - 1
        # Below a last child its column is empty until its parent's depth comes again.
        below = next((k for k in range(at + 1, len(sound)) if sound[k] <= depth), None)
        follows = below is not None and sound[below] == depth
        assert (before[-3] == "├") == follows


def test_a_narrow_tree_keeps_its_branches_and_places() -> None:
    names = ("program", "flat_map (transformation 2)", "TFRecordDataset of files", "from_tensor_slices")
    nodes = tuple(
        TreeNode(depth, name, (10**9,), SourceLine("input_pipeline.py", 120) if depth == 1 else None)
        for depth, name in enumerate(names)
    )
    tree = Tree((Column("self", "ps", "Self"),), nodes)
    plain = outline.tree_lines(tree, 48, lambda style, text: text)[1:]
    assert [line.index("└─") for line in plain[1:]] == [0, 3, 6]
    assert "input_pipeline.py:120" in plain[1]
    assert max(map(len, plain)) <= 48
    narrow = outline.tree_lines(tree, 24, lambda style, text: text)[1:]
    assert [line.index("└─") for line in narrow[1:]] == [0, 3, 6]
    # Columns beside a name shrink before the name does, except marks.
    told = [dataclasses.replace(node, about="much is to be told of it " * 8) for node in nodes]
    for marked in (told, [*told[:3], dataclasses.replace(told[3], mark="slow", about="")]):
        lines = outline.tree_lines(Tree(tree.columns, tuple(marked)), 110, lambda style, text: text)
        assert "flat_map (transformation 2)  input_pipeline.py:120" in lines[2]
        assert max(map(len, lines)) <= 110
    assert lines[-1].endswith("◀ slow")


def test_the_note_of_a_tree_is_a_whole_sentence() -> None:
    note = "Numbers in brackets are places in your chain of transformations; the source is 0."
    tree = Tree((Column("self", "ps", "Self"),), (TreeNode(0, "a", (1,)), TreeNode(1, "b", (1,))), note)
    report = Report("x", (), (Section("stages", "Stages", "Which?", tree=tree),))
    assert note in " ".join(scroll.render(report, width=60).split())


DRAWING = {"axis", "bars", "cells", "first_screen", "grid", "gutter", "outline", "plain"}
"""Modules that divide a screen, or a length by another."""


def test_presenters_work_nothing_out() -> None:
    """Means, shares and sums are the report's; only what lays out a drawing divides or adds lengths up."""
    for path in sorted(Path(presenters.__file__).parent.glob("*.py")):
        if path.stem in DRAWING:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            divides = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
            sums = isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("sum", "mean", "median")
            assert not divides, f"{path.name}:{node.lineno} divides"
            assert not sums, f"{path.name}:{node.lineno} sums"


def test_instruments_are_known_to_the_report_only() -> None:
    for path in Path(presenters.__file__).parent.glob("*.py"):
        assert "stepscope.instruments" not in path.read_text(encoding="utf-8"), path.name
