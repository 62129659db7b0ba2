"""The corpus beside the clone, when it is there."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1].parent / "shared" / "corpus"
SAMPLES = Path(__file__).resolve().parent / "samples"


def path(name: str) -> Path:
    """The file or folder `name` of the corpus; skips the test, visibly, when there is none."""
    found = ROOT / name
    if not found.exists():
        pytest.skip(f"no corpus beside the clone: ../shared/corpus/{name}")
    return found


def files(pattern: str) -> list[Path]:
    """All files of the corpus that match a glob; empty without a corpus."""
    return sorted(ROOT.glob(pattern)) if ROOT.exists() else []
