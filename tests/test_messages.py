"""Every slug that the sources use is explained, and nothing explained has gone."""

import re
from pathlib import Path

from stepscope.messages import ERRORS, MESSAGES, NOTES

ROOT = Path(__file__).resolve().parents[1]
PYTHON = sorted((ROOT / "src").rglob("*.py"))
RUST = sorted((ROOT / "crates").glob("*/src/**/*.rs"))

# How a slug is written: as a keyword or attribute in Python, as the first argument of note() and as a
# constant in both languages.
_PYTHON = re.compile(r"""\bslug(?:: str)? ?= ?\(?\s*"([a-z][a-z0-9-]*)"|\bnote\(\s*"([a-z][a-z0-9-]*)\"""")
_RUST = re.compile(r'\bnote(?:_at)?\(\s*"([a-z][a-z0-9-]*)"')


def used() -> dict[str, str]:
    found = {}
    for files, pattern in ((PYTHON, _PYTHON), (RUST, _RUST)):
        for path in files:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".rs":  # what stands in tests of the core is no note that users see
                text = text.split("#[cfg(test)]", 1)[0]
            for match in pattern.finditer(text):
                found[next(group for group in match.groups() if group)] = str(path.relative_to(ROOT))
    return found


def test_every_slug_in_the_sources_is_explained() -> None:
    slugs = used()
    assert len(slugs) > 10, "the pattern finds no slugs any more"
    missing = {slug: path for slug, path in slugs.items() if slug not in MESSAGES}
    assert not missing, f"add them to src/stepscope/messages.py: {missing}"


def test_every_explained_slug_is_used() -> None:
    text = "\n".join(
        path.read_text(encoding="utf-8") for path in (*PYTHON, *RUST) if path.name != "messages.py"
    )
    unused = [slug for slug in MESSAGES if f'"{slug}"' not in text]
    assert not unused, f"remove them from src/stepscope/messages.py: {unused}"


def test_messages_are_sentences_in_order() -> None:
    for table in (ERRORS, NOTES):
        assert list(table) == sorted(table)
    assert not set(ERRORS) & set(NOTES)
    for slug, message in MESSAGES.items():
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", slug)
        assert message.title, slug
        assert not message.title.endswith("."), slug
        assert message.explanation.endswith("."), slug
        assert message.todo.endswith("."), slug
