"""The version is in one place, [workspace.package] of Cargo.toml. `packaging/version.py X.Y.Z` checks a tag.

pyproject.toml takes it from there (dynamic). `stepscope.__version__`, CITATION.cff, Cargo.lock, the changelog
and the tag must agree with it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def version() -> str:
    """The version in Cargo.toml."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    match = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', text, re.MULTILINE)
    if match is None:
        raise SystemExit("error: Cargo.toml has no version")
    return match[1]


def others() -> dict[str, str | None]:
    """Other places that name the version, and what they say."""
    cited = re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    changes = re.search(
        r"^## ([0-9][^\s,]*)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    lock = (ROOT / "Cargo.lock").read_text(encoding="utf-8")
    locked = re.search(r'name = "stepscope-core"\nversion = "([^"]+)"', lock)
    package = (ROOT / "src" / "stepscope" / "__init__.py").read_text(encoding="utf-8")
    told = re.search(r'^__version__ = "([^"]+)"', package, re.MULTILINE)
    return {
        "src/stepscope/__init__.py": told[1] if told else None,
        "CITATION.cff": cited[1] if cited else None,
        "CHANGELOG.md": changes[1] if changes else None,
        "Cargo.lock": locked[1] if locked else None,
    }


def main() -> int:
    """0 when the tag and all places agree."""
    wrong = {place: told for place, told in others().items() if told != version()}
    if len(sys.argv) > 1 and sys.argv[1] != version():
        wrong["the tag"] = sys.argv[1]
    released = re.search(
        r"^## .*not yet released", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    if len(sys.argv) > 1 and released:
        wrong["CHANGELOG.md"] = "not yet released"
    for place, told in wrong.items():
        print(f"error: {place} says {told}, Cargo.toml {version()}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
