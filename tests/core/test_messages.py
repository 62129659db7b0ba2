"""The tables of TensorFlow's messages are those of the TensorFlow that is pinned."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("tensorflow", reason="its descriptors are what the tables are made from")

SCRIPT = Path(__file__).parents[2] / "crates" / "core" / "messages.py"


def test_the_tables_are_current() -> None:
    spec = importlib.util.spec_from_file_location("generate_messages", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.OUT.read_text() == script.text(), f"run python {SCRIPT.relative_to(Path.cwd())}"
