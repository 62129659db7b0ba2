"""Every sentence of the verbs has a finding that produces it: verbs.md has them all."""

import pytest

from tests.report import verb_list
from tests.report.test_sentences import templates

MODULES = tuple(
    f"report/{name}.py"
    for name in ("memory", "memory_steps", "document_keys", "pipeline", "pipeline_changes", "tfprof")
)


NEVER_PRINTED = {"autograd detail": "what PyTorch calls a kind of memory; sentences have a word of their own"}


@pytest.fixture(scope="module")
def said() -> str:
    """What the verbs say now."""
    return verb_list.listed()


def test_sentences_are_as_they_were_read(said: str) -> None:
    """Exactly. `python -m tests.report.verb_list` writes the file anew: read what it changes."""
    assert said.splitlines() == verb_list.PATH.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("path", MODULES)
def test_every_template_was_produced(path: str, said: str) -> None:
    lower = said.lower()
    missing = {piece: line for piece, line in templates(path).items() if piece.lower() not in lower}
    assert set(missing) <= set(NEVER_PRINTED), missing


def test_templates_are_found() -> None:
    assert all(templates(path) for path in MODULES)
