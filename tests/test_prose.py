"""Prose that a native technical writer would not write: translated phrases, and the wrong number."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PLACES = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "docs",
    "src/stepscope",
)
"""What a user reads, and what a contributor does."""

PATTERNS = {
    r"\b(is|are|was|were) told\b": "is reported, is stored, says",
    r"\bstands? (in|above|beside|behind|under|below)\b": "is in, is above, follows",
    r"\bwhoever\b": "the person who, anyone who",
    r"\bnothing of (it|them)\b": "none of it",
    r"(?<!there )\b(is|are) no [\w-]+": "is not a, are not",
    r"\bin 1 [a-z]+s\b": "one and many",
    r"\b1 of \d+ [a-z]+s (take|are|have|wait)\b": "one and many",
    r"\bof (--)?[\w-]+ alone\b": "only",
    r"\bas they stand\b": "unchanged",
    r"\bheld against\b": "compared with",
}

ALLOWED = ("is no longer", "are no longer")


def prose() -> list[Path]:
    """The tracked files of PLACES that hold prose."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--", *PLACES], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("not a git checkout: no list of tracked files")
    names = (ROOT / name for name in listed.stdout.splitlines())
    return [path for path in names if path.suffix in (".md", ".py", ".sql") and path.exists()]


def found(text: str) -> list[tuple[int, str, str]]:
    """Line, words and what to write instead, of each turn of phrase."""
    odd = []
    for pattern, better in PATTERNS.items():
        for match in re.finditer(pattern, text, re.IGNORECASE):
            around = text[max(match.start() - 9, 0) : match.end()]
            if not any(allowed in around for allowed in ALLOWED):
                odd.append((text.count("\n", 0, match.start()) + 1, match[0], better))
    return sorted(odd)


def test_prose_is_plain() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {words!r}; write: {better}"
        for path in prose()
        for line, words, better in found(path.read_text(encoding="utf-8"))
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("The hash is told when it stands in the table.", 2),
        ("Rows that are no slices", 1),
        ("There is no recording, and it is no longer read.", 0),
        ("in 1 calls, and 1 of 10 steps take", 2),
        ("in 11 calls", 0),
        ("of --verify alone", 1),
    ],
)
def test_the_patterns_find_what_they_are_for(text: str, number: int) -> None:
    assert len(found(text)) == number
