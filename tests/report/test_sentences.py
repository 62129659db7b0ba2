"""Every sentence has a recording that produces it: sentences.md has them all, and a template that no
recording reaches fails here."""

import ast
import re
from pathlib import Path

import pytest

import stepscope
from stepscope import library
from tests.report import sentence_list

SOURCE = Path(stepscope.__file__).parent
MODULES = tuple(
    f"report/{name}.py"
    for name in (
        *("cause_beginnings", "cause_text", "cause_phrases", "ops_text", "input_text", "compile_text"),
        *("judgement_text", "answer_document", "run_table"),
        *("headline", "section_text", "step_text", "program_text", "verdict_text"),
        *("advice", "verification", "flame"),
    )
)
RENEW = "read what `python -m tests.report.sentence_list` changes in sentences.md"
_WORD = re.compile(r"[A-Za-z]{2,}")


@pytest.fixture
def said() -> str:
    """What the file lists; the test below holds it against what the recordings produce."""
    return sentence_list.PATH.read_text(encoding="utf-8")


@pytest.mark.repeats("it makes some fifty reports")
@pytest.mark.timeout(900)  # it makes some fifty reports
def test_sentences_are_as_they_were_read(said: str) -> None:
    """Exactly, with their numbers and units. `python -m tests.report.sentence_list` writes the file anew:
    read what it changes, or name the recordings that changed, which takes seconds."""
    assert sentence_list.listed().splitlines() == said.splitlines()


def test_judgements_and_findings_say_what_was_read(said: str) -> None:
    """Those that take no whole report."""
    lines = {line.removeprefix("- ") for line in said.splitlines()}
    assert [line for line in sentence_list.brief() if line not in lines] == [], RENEW


def test_one_recording_is_read_anew(said: str) -> None:
    """By the beginning of its name; what is not named stays as it is."""
    line, other = "- medium: Large constants are part of the program.", "## few_steps\n\n- low:"
    assert said.count(line) == 1
    assert said.count(other) == 1
    changed = said.replace(line, "- another sentence").replace(other, f"{other} as written by hand,")
    found = sentence_list.listed(changed, ("large_constants", "loop_dominates"))
    assert found == said.replace(other, f"{other} as written by hand,")


def templates(path: str) -> dict[str, int]:
    """Pieces of at least two words of the strings in a module, with their lines: what an f-string or a
    template has between its values. Docstrings are left out, and errors, which are no part of a report."""
    tree = ast.parse((SOURCE / path).read_text(encoding="utf-8"))
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    raised = (node for node in ast.walk(tree) if isinstance(node, ast.Raise))
    skipped |= {id(part) for node in raised for part in ast.walk(node)}
    found = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in skipped:
            continue
        for piece in re.split(r"\{\w*\}", node.value):
            if len(_WORD.findall(piece)) >= 2 and " " in piece.strip():
                found[piece.strip()] = node.lineno
    return found


def test_templates_are_found() -> None:
    """An empty list would pass every test below."""
    assert ", called by" in templates("report/input_text.py")
    assert "has another value each time" in templates("report/compile_text.py")


@pytest.mark.parametrize("path", MODULES)
def test_every_template_was_produced(path: str, said: str) -> None:
    lower = said.lower()  # a piece may begin a sentence
    missing = {piece: line for piece, line in templates(path).items() if piece.lower() not in lower}
    assert missing == {}, "draw a recording that says it: tests/report/recordings.py"


def _alternatives(template: str) -> list[str]:
    """The pieces of a finding's template between its values, each form of those that have two, and what is
    left out where nothing is known."""
    flat = re.sub(r"\{\w+:([^|}]*)\|([^}]*)\}", r"{}\1{}\2{}", re.sub(r"[\[\]]", "{}", template))
    return [piece for piece in re.split(r"\{\w*\}", flat) if len(_WORD.findall(piece)) >= 2]


@pytest.mark.parametrize("entry", library.entries("finding"), ids=lambda entry: entry.name)
def test_every_finding_was_produced(entry: library.Entry, said: str) -> None:
    name = entry.name
    renew = f"draw it as {name} in recordings.py, then `python -m tests.report.sentence_list {name}`"
    assert f": {entry.title.rstrip('.')}. " in said, renew
    assert [piece for piece in _alternatives(entry.impact) if piece.strip() not in said] == [], renew
